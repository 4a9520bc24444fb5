"""Wrong calls to a model or a fit: the class, what the message names, and that nothing was changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import (
    MissingColumn,
    MissingValue,
    ModelError,
    NotFinite,
    NotSolvable,
    PlatewrightError,
    ShapeError,
    SizeError,
    SourceError,
    SupportError,
    UnknownName,
    UnseenLevel,
)
from run.row_examples import example

Bad = tuple[Callable[[pw.Model, dict[str, Any]], object], type[PlatewrightError], tuple[str, ...]]


def learning(**changes: object) -> Callable[[pw.Model, dict[str, Any]], object]:
    return lambda m, data: m.learn({**data, **changes})


def hole(values: np.ndarray, value: float) -> np.ndarray:
    changed = np.array(values, dtype=float)
    changed.flat[4] = value
    return changed


REGRESSION: dict[str, Bad] = {
    "goal": (lambda m, d: m.learn(d, goal="best"), UnknownName, ("`best`", "goal=", "posterior")),
    "goal of a plan": (lambda m, d: m.derive(["y"], goal="best"), UnknownName, ("`best`", "goal=")),
    "schema": (lambda m, d: m.learn(d, by="magic"), UnknownName, ("`magic`", "by=", "exact")),
    "backend": (lambda m, d: m.learn(d, backend="fortran"), UnknownName, ("`fortran`", "numpy")),
    "known": (lambda m, d: m.derive(["yy"]), UnknownName, ("`yy`", "known=", "did you mean `y`?")),
    "no data": (lambda m, d: m.learn(None), SourceError, ("NoneType", "dict of arrays")),
    "a number as data": (lambda m, d: m.learn(3), SourceError, ("int",)),
    "a missing input": (lambda m, d: m.learn({"y": d["y"]}), MissingColumn, ("`X`", "n, c")),
    "an extra column": (learning(extra=[1.0]), UnknownName, ("`extra`",)),
    "a NaN in an input": (lambda m, d: m.learn({**d, "X": hole(d["X"], np.nan)}), MissingValue, ("`X`", "row 1")),
    "an infinity": (lambda m, d: m.learn({**d, "y": hole(d["y"], np.inf)}), NotFinite, ("`y`", "row 4")),
    "two lengths": (lambda m, d: m.learn({**d, "y": d["y"][:5]}), ShapeError, ("plate `n`", "5", "`X`")),
    "too few axes": (lambda m, d: m.learn({**d, "X": d["y"]}), ShapeError, ("X",)),
    "draws": (lambda m, d: m.learn(d).draws(0), PlatewrightError, ("0 draws",)),
    "posterior of nobody": (lambda m, d: m.learn(d)["ww"], UnknownName, ("`ww`", "fit[...]", "`w`")),
    "posterior of data": (lambda m, d: m.learn(d)["y"], UnknownName, ("`y`", "fit[...]")),
    "source": (lambda m, d: m.learn(d).source("fortran"), UnknownName, ("`fortran`",)),
    "quantile": (lambda m, d: m.learn(d)["w"].quantile(1.5), PlatewrightError, ("1.5", "from 0 to 1")),
    "quantile of text": (lambda m, d: m.learn(d)["w"].quantile("a"), PlatewrightError, ("'a'", "numbers")),
    "density of text": (lambda m, d: m.learn(d)["w"].log_density("a"), PlatewrightError, ("'a'", "numbers")),
    "density of a wrong shape": (
        lambda m, d: m.learn(d)["w"].log_density([1.0, 2.0]),
        PlatewrightError,
        ("(2,)", "(3,)", "`w`"),
    ),
    "density of half a point": (
        lambda m, d: m.learn(d).posterior.log_density({"w": np.zeros(3)}),
        PlatewrightError,
        ("lacks `a`",),
    ),
    "evidence of a mode": (lambda m, d: m.learn(d, goal="map").log_evidence, PlatewrightError, ("`map`", "posterior")),
    "prediction of nobody": (lambda m, d: m.learn(d).predict({"X": d["X"]})["q"], UnknownName, ("`q`", "prediction")),
    "more columns than learned": (
        lambda m, d: m.learn(d).update({"X": np.zeros((2, 4)), "y": np.zeros(2)}),
        ShapeError,
        ("plate `c`", "4", "3"),
    ),
}

TABLE: dict[str, Bad] = {
    "an unseen level": (learning(c=[0, 5] * 15), SupportError, ("`c` is 5", "row 1", "0 to 1")),
    "half a level": (learning(x=[0.5, 1.0] * 15), PlatewrightError, ("column x", "fractions")),
    "an unseen level to predict": (lambda m, d: m.learn(d).predict({"c": [7]}), SupportError, ("`c` is 7", "row 0")),
    "an unseen label to predict": (
        lambda m, d: m.learn({"c": ["u", "v"] * 15, "x": d["x"]}).predict({"c": ["w"]}),
        UnseenLevel,
        ("c", "w", "row 0"),
    ),
}

COUNTS: dict[str, Bad] = {
    "a negative count": (learning(x=[-1] * 30), SupportError, ("`x`", "row 0", "-1")),
    "half a count": (learning(x=[0.5] * 30), PlatewrightError, ("`x`", "row 0", "0.5")),
}


def refuses(name: str, bad: Bad) -> None:
    act, kind, words = bad
    model, data = example(name)
    before = dict(model.plates), dict(model.variables), {key: values.copy() for key, values in data.items()}
    with pytest.raises(kind) as caught:
        act(model, data)
    shown = str(caught.value)
    for word in words:
        assert word in shown, shown
    assert (dict(model.plates), dict(model.variables)) == before[:2]
    for key, values in before[2].items():
        np.testing.assert_array_equal(values, data[key])


@pytest.mark.parametrize("case", REGRESSION)
def test_wrong_calls_on_a_regression(case: str) -> None:
    refuses("regression", REGRESSION[case])


@pytest.mark.parametrize("case", TABLE)
def test_wrong_calls_on_a_table(case: str) -> None:
    refuses("table", TABLE[case])


@pytest.mark.parametrize("case", COUNTS)
def test_wrong_calls_on_counts(case: str) -> None:
    refuses("exposure", COUNTS[case])


def test_the_size_of_a_plate_that_nothing_tells() -> None:
    m = pw.Model("sizeless")
    n, k = m.plate("n"), m.plate("k")
    m.mu = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Normal(m.mu[2], sd=1, plates=n)
    with pytest.raises(ModelError, match="size of plate `k`"):
        m.learn({"y": [1.0, 2.0]})


def test_a_model_that_nothing_solves_says_why() -> None:
    m = pw.Model("logistic")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Bernoulli(logit=m.b * m.x, plates=n)
    with pytest.raises(NotSolvable) as caught:
        m.learn({"y": [0, 1], "x": [1.0, 2.0]}, by="exact")
    assert "`logistic`" in str(caught.value) and "exact declined" in str(caught.value) and "b" in str(caught.value)


def test_draws_that_would_not_fit_are_refused_before_any_memory_is_taken() -> None:
    model, data = example("coin")
    with pytest.raises(SizeError, match="`x`"):
        _ = model.learn(data).predict(10**9).draws


def test_coefficients_that_would_not_fit_are_refused_before_any_memory_is_taken() -> None:
    m = pw.Model("wide")
    n, k = m.plate("n"), m.plate("k", 2000)
    m.z = pw.Input(plates=n, levels=k)
    m.mu = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    fit = m.learn({"z": [0, 1], "y": [1.0, 2.0]})
    with pytest.raises(SizeError, match="`mu`"):
        _ = fit.predict({"z": np.zeros(30_000, dtype=int)})["y"]


def large_table() -> None:
    m = pw.Model("large table")
    n, a, b = m.plate("n"), m.plate("a", 10**6), m.plate("b", 10**6)
    m.u, m.v = pw.Input(plates=n, levels=a), pw.Input(plates=n, levels=b)
    m.p = pw.Beta(1, 1, plates=(a, b))
    m.x = pw.Bernoulli(m.p[m.u, m.v], plates=n)
    m.learn({"u": [0, 1], "v": [0, 1], "x": [0, 1]})


def large_block() -> None:
    m = pw.Model("large block")
    n, a = m.plate("n"), m.plate("a", 10**6)
    m.u, m.v = pw.Input(plates=n, levels=a), pw.Input(plates=n, levels=a)
    m.w = pw.Normal(0, sd=1, plates=a)
    m.y = pw.Normal(m.w[m.u] - m.w[m.v], sd=1, plates=n)
    m.learn({"u": [0, 1], "v": [1, 2], "y": [0.0, 1.0]})


@pytest.mark.parametrize("learn", [large_table, large_block])
def test_tables_that_would_not_fit_are_refused(learn: Callable[[], None]) -> None:
    with pytest.raises(SizeError):
        learn()


@pytest.mark.parametrize(
    "act",
    [
        lambda m, d: m.learn(d, goal=None),
        lambda m, d: m.learn(d, backend=3),
        lambda m, d: m.learn(d)[3],
        lambda m, d: m.learn(d).draws("many"),
    ],
)
def test_words_of_another_type_are_refused(act: Callable[[pw.Model, dict[str, Any]], object]) -> None:
    model, data = example("regression")
    with pytest.raises(PlatewrightError):
        act(model, data)


def test_half_a_point_has_no_joint_density() -> None:
    model, data = example("regression")
    with pytest.raises(PlatewrightError):
        model.learn(data).log_joint_at({"w": np.zeros(3)})


def test_an_option_that_nobody_takes_is_refused() -> None:
    model, data = example("regression")
    with pytest.raises(PlatewrightError):
        model.learn(data, chain=3)


def test_a_schema_that_declined_is_not_advised() -> None:
    m = pw.Model("edges")
    edge, site = m.plate("edge"), m.plate("site", 4)
    m.a, m.b = pw.Input(plates=edge, levels=site), pw.Input(plates=edge, levels=site)
    m.x = pw.Undirected(levels=2, plates=site)
    m.w = pw.Normal(0, sd=1.0)
    m.potential("tie", m.w * m.x[m.a] * m.x[m.b])
    with pytest.raises(NotSolvable, match="gibbs declined") as caught:
        m.derive(known=["x"])
    assert "try by=" not in str(caught.value)
    with pytest.raises(NotSolvable, match="or try by='gibbs'"):
        m.derive(known=["x"], by="exact")
