"""Draws where each point of the held numbers runs a program of its own: few points, and the posterior all the same."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import platewright as pw
from platewright.backends.kernels import lattice
from platewright.run.exact.posterior import Posterior
from platewright.run.points.apart import Apart
from platewright.run.points.fit import DISTINCT, QuadratureFit
from result_kinds import crowd

COUNT = 4000


def counts() -> QuadratureFit:
    fit = crowd().learn({"y": np.arange(25) % 4}, by="quadrature")
    assert isinstance(fit, QuadratureFit) and isinstance(fit.given, Apart)
    return fit


def walk() -> QuadratureFit:
    m = pw.Model("walk")
    time = m.plate("t", ordered=True)
    m.s = pw.HalfNormal(sd=1.0)
    m.x = pw.Normal(m.lag("x"), sd=m.s, start=0.0, plates=time)
    m.y = pw.Normal(m.x, sd=0.5, plates=time)
    fit = m.learn({"y": 0.5 * np.random.default_rng(0).normal(size=30).cumsum()}, by="quadrature")
    assert isinstance(fit, QuadratureFit) and isinstance(fit.given, Apart)
    return fit


def agree(fit: QuadratureFit, held: str, drawn: Mapping[str, np.ndarray]) -> None:
    """The draws of what was held have its moments and quantiles, to five standard errors of half as many."""
    number, error = fit[held], np.sqrt(2 / COUNT)
    assert abs(drawn[held].mean() - number.mean) < 5 * number.sd * error
    assert abs(drawn[held].std() / number.sd - 1) < 5 * error
    for q in (0.1, 0.5, 0.9):
        assert abs((drawn[held] <= number.quantile(q)).mean() - q) < 2.5 * error


@pytest.mark.parametrize("make", [counts, walk])
def test_a_point_is_evaluated_once_for_all_its_draws(
    make: type[QuadratureFit], monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = make()
    (held,) = fit.derivation.held
    evaluated: list[float] = []
    posterior = Apart.posterior

    def told(self: Apart, values: Mapping[str, np.ndarray]) -> Posterior:
        evaluated.append(float(values[held]))
        return posterior(self, values)

    monkeypatch.setattr(Apart, "posterior", told)
    drawn = fit.draws(COUNT, 1)
    assert len(evaluated) == len(set(evaluated)) <= DISTINCT
    assert set(drawn[held]) == set(evaluated)
    agree(fit, held, drawn)


def test_what_goes_with_a_number_is_drawn_given_that_very_number() -> None:
    """`each | rate, y` is Gamma(2 + y, rate + 1): in units of that rate its draws know nothing of the rate."""
    fit = counts()
    drawn = fit.draws(COUNT, 2)
    sums = (drawn["each"] * (drawn["rate"][:, None] + 1)).sum(axis=1)
    shape = (2 + np.asarray(fit.columns["y"])).sum()
    assert abs(sums.mean() - shape) < 5 * np.sqrt(shape / COUNT)
    assert abs(sums.var() / shape - 1) < 5 * np.sqrt(2 / COUNT)
    assert abs(np.corrcoef(sums, drawn["rate"])[0, 1]) < 5 / np.sqrt(COUNT)


def test_draws_in_the_order_of_the_points_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = counts()
    monkeypatch.setattr(np, "argsort", lambda values, **_: np.arange(len(values)))
    drawn = fit.draws(COUNT, 2)
    sums = (drawn["each"] * (drawn["rate"][:, None] + 1)).sum(axis=1)
    assert abs(np.corrcoef(sums, drawn["rate"])[0, 1]) > 5 / np.sqrt(COUNT)


def test_ratios_that_are_forgotten_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = counts()
    monkeypatch.setattr(lattice.Proposal, "log_density", lambda self, u: np.zeros(len(u)))
    with pytest.raises(AssertionError):
        agree(fit, "rate", fit.draws(COUNT, 1))


def test_few_draws_have_a_point_each() -> None:
    drawn = counts().draws(DISTINCT, 3)
    assert len(set(drawn["rate"])) == DISTINCT
