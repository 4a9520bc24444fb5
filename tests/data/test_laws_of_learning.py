"""Laws of data: what permuting rows, splitting them, doubling a weight, or renaming variables may not change."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import platewright as pw
from laws.identity import check_identity
from run.row_examples import ONE_PLATE_OF_ROWS, chosen, example, same_posterior


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    model, data = example(name)
    order = np.random.default_rng(1).permutation(30)
    same_posterior(model.learn(chosen(data, order)), model.learn(data))


@settings(max_examples=30)
@given(cuts=st.lists(st.integers(3, 30), max_size=4), name=st.sampled_from(ONE_PLATE_OF_ROWS))
def test_any_partition_of_the_rows_gives_the_same_fit(cuts: list[int], name: str) -> None:
    model, data = example(name)
    edges = [0, *sorted({12, *(cut for cut in cuts if cut > 12)}), 30]
    fit = model.learn(chosen(data, slice(edges[0], edges[1])))
    for start, stop in pairwise(edges[1:]):
        fit = fit.update(chosen(data, slice(start, stop)))
    same_posterior(fit, model.learn(data))


def weighted_mean(weighted: bool) -> pw.Model:
    m = pw.Model("weights")
    n = m.plate("n")
    if weighted:
        m.weight = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.mu, precision=m.weight * m.tau if weighted else m.tau, plates=n)
    return m


def test_doubling_a_weight_moves_the_mean_like_a_second_copy_of_the_row() -> None:
    rng = np.random.default_rng(3)
    y, weight = rng.normal(size=10), rng.integers(1, 4, 10).astype(float)
    by_weight = weighted_mean(True).learn({"y": y, "weight": weight})
    by_copies = weighted_mean(False).learn({"y": np.repeat(y, weight.astype(int))})
    np.testing.assert_allclose(by_weight["mu"].mean, by_copies["mu"].mean, rtol=1e-12)
    np.testing.assert_allclose(by_weight["tau"].parameters["rate"], by_copies["tau"].parameters["rate"], rtol=1e-12)


def test_an_exposure_of_two_is_two_periods_of_one() -> None:
    m = pw.Model("exposure")
    n = m.plate("n")
    m.e = pw.Input(plates=n)
    m.rate = pw.Gamma(2, rate=3)
    m.y = pw.Poisson(m.rate * m.e, plates=n)
    one = m.learn({"y": [3, 1], "e": [2.0, 1.0]})["rate"]
    two = m.learn({"y": [1, 2, 1], "e": [1.0, 1.0, 1.0]})["rate"]
    assert (float(one.parameters["shape"]), float(one.parameters["rate"])) == (6.0, 6.0)
    assert (float(two.parameters["shape"]), float(two.parameters["rate"])) == (6.0, 6.0)


def test_all_weights_at_one_are_no_weights() -> None:
    y = np.random.default_rng(4).normal(size=8)
    same_posterior(
        weighted_mean(True).learn({"y": y, "weight": np.ones(8)}), weighted_mean(False).learn({"y": y}), 1e-12
    )


def regression(names: dict[str, str]) -> pw.Model:
    """A grouped regression whose variables and plates are named by the table."""
    m = pw.Model("renamed")
    n, c, k = m.plate(names["n"]), m.plate(names["c"]), m.plate(names["k"], 2)
    setattr(m, names["X"], pw.Input(plates=(n, c)))
    setattr(m, names["z"], pw.Input(plates=n, levels=k))
    setattr(m, names["tau"], pw.Gamma(2, rate=3))
    tau = getattr(m, names["tau"])
    setattr(m, names["w"], pw.Normal(0, precision=tau, plates=c))
    setattr(m, names["a"], pw.Normal(0, precision=tau, plates=k))
    mean = getattr(m, names["a"])[getattr(m, names["z"])]
    mean = mean + pw.dot(getattr(m, names["X"]), getattr(m, names["w"]), over=c)
    setattr(m, names["y"], pw.Normal(mean, precision=tau, plates=n))
    return m


PLAIN = ("n", "c", "k", "X", "z", "tau", "w", "a", "y")
NAMES = st.from_regex(r"[a-zA-Zé][a-zA-Z0-9_é]{0,6}", fullmatch=True)


@settings(max_examples=40)
@given(chosen_names=st.lists(NAMES, min_size=9, max_size=9, unique=True))
def test_renaming_variables_and_plates_changes_nothing(chosen_names: list[str]) -> None:
    from platewright.errors import NameTaken

    table = dict(zip(PLAIN, chosen_names))
    rng = np.random.default_rng(5)
    data = {"X": rng.normal(size=(12, 2)), "z": rng.integers(0, 2, 12), "y": rng.normal(size=12)}
    try:
        model = regression(table)
    except NameTaken:
        return
    fit = model.learn({table[key]: values for key, values in data.items()})
    plain = regression(dict(zip(PLAIN, PLAIN))).learn(data)
    assert fit.log_evidence == pytest.approx(plain.log_evidence, rel=1e-12)
    for key in ("w", "a", "tau"):
        np.testing.assert_allclose(fit[table[key]].mean, plain[key].mean, rtol=1e-10)
    drawn: Any = fit.draws(3)
    assert set(drawn) == {table[key] for key in ("w", "a", "tau")}


FREE = [
    "np",
    "special",
    "data",
    "rows",
    "grouped",
    "lambda_",
    "print",
    "e1",
    "shape",
    "rate",
    "y_shape",
    "draw",
    "n_levels",
]


@pytest.mark.parametrize("word", [*FREE, "size", "found", "well_pooled", "size_n", "tau_shape", "block1_root"])
def test_names_of_the_emitted_program_are_free_for_users(word: str) -> None:
    table = {**dict(zip(PLAIN, PLAIN)), "X": word}
    rng = np.random.default_rng(5)
    data = {"X": rng.normal(size=(12, 2)), "z": rng.integers(0, 2, 12), "y": rng.normal(size=12)}
    fit = regression(table).learn({table[key]: values for key, values in data.items()})
    plain = regression(dict(zip(PLAIN, PLAIN))).learn(data)
    assert fit.log_evidence == plain.log_evidence
    check_identity(fit)


def test_an_input_that_no_factor_reads_changes_nothing() -> None:
    m = weighted_mean(False)
    m.idle = pw.Input(plates=m.plates["n"])
    y = np.random.default_rng(6).normal(size=5)
    same_posterior(m.learn({"y": y, "idle": np.arange(5.0)}), weighted_mean(False).learn({"y": y}), 1e-15)
