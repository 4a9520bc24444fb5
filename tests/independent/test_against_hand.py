"""Models read twice: by Platewright, and by hand with scipy.stats and loops."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from independent import counts, gaussians, networks, plates
from independent.checking import check_against_hand
from platewright.errors import NotSolvable

PROBLEMS = {
    f"{room.__name__.split('.')[-1]}: {found.__name__}": found
    for room in (plates, gaussians, counts, networks)
    for found in room.PROBLEMS
}
SOLVED = [name for name, made in PROBLEMS.items() if made().by_hand is not None]
DECLINED = [name for name in PROBLEMS if name not in SOLVED]


@pytest.mark.parametrize("name", SOLVED)
def test_a_model_says_what_was_written_by_hand(name: str) -> None:
    check_against_hand(PROBLEMS[name]())


@pytest.mark.parametrize("name", DECLINED)
def test_a_model_without_a_closed_form_is_declined(name: str) -> None:
    problem = PROBLEMS[name]()
    with pytest.raises(NotSolvable) as caught:
        problem.model.learn(dict(problem.data), by="exact")
    assert problem.declined in str(caught.value)


def test_counts_beyond_the_whole_numbers_of_doubles_are_summed_exactly() -> None:
    m = pw.Model("huge counts")
    n = m.plate("n")
    m.rate = pw.Gamma(1, rate=1)
    m.y = pw.Poisson(m.rate, plates=n)
    y = np.array([2**53 + 1, 2**53 + 1, 2**53 + 1], dtype=np.int64)
    for backend in ("numpy", "c"):
        fit = m.learn({"y": y}, backend=backend)
        assert int(fit.statistics["sum_y"]) == 3 * (2**53 + 1)
        assert fit["rate"].parameters["shape"] == float(3 * (2**53 + 1) + 1)


def test_zero_inflated_counts_are_learned_by_every_schema() -> None:
    m = pw.Model("zero inflated")
    n = m.plate("n")
    m.p, m.rate = pw.Beta(1, 1), pw.Gamma(1, rate=1)
    m.z = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Poisson(pw.where(m.z, m.rate, 0), plates=n)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.6, rng.poisson(3, 200), 0)
    for by, options in (("em", {}), ("gibbs", {"chains": 1, "draws": 200, "warm_up": 50}), ("mean-field", {})):
        fit = m.learn({"y": y}, by=by, **options)
        assert abs(float(fit["rate"].mean) - 3) < 0.5
        assert m.derive(["y"], by=by).verify().passed


def test_what_cannot_happen_has_no_evidence() -> None:
    m = pw.Model("impossible")
    n = m.plate("n")
    m.e = pw.Input(plates=n)
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.rate * m.e, plates=n)
    for backend in ("numpy", "c"):
        assert np.isfinite(m.learn({"y": [0, 2], "e": [0.0, 1.0]}, backend=backend).log_evidence)
        with pytest.raises(pw.errors.SupportError, match="`y` = 1 at n 0"):
            m.learn({"y": [1, 2], "e": [0.0, 1.0]}, backend=backend)
        with pytest.warns(pw.errors.ImpossibleWarning, match="`y` = 1 at n 0"):
            fit = m.learn({"y": [1, 2], "e": [0.0, 1.0]}, backend=backend, goal="evidence")
        assert fit.log_evidence == -np.inf
