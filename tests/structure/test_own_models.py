"""Columns with a model of their own: what is derived of the rows of one group scores every state of the parents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ModelError, PlatewrightError, SupportError
from platewright.structure.columns import read_rows
from platewright.structure.families import observed_means
from platewright.structure.incomplete import Incomplete
from platewright.structure.missing_cells import first_filling
from structure.tables import Table


def written(prior: Callable[[], object], rows: Callable[..., object]) -> pw.Model:
    """A model of one group: one unknown number `u`, and the rows `x`."""
    m = pw.Model("group")
    row = m.plate("row")
    m.u = prior()
    m.x = rows(m.u, plates=row)
    return m


MODELS: dict[str, tuple[pw.Model, Callable[[np.random.Generator, np.ndarray], np.ndarray]]] = {
    "waiting times": (
        written(lambda: pw.Gamma(1, rate=1), lambda u, plates: pw.Exponential(rate=u, plates=plates)),
        lambda rng, a: rng.exponential(np.where(a == 1, 4.0, 0.5)),
    ),
    "by their scale": (
        written(lambda: pw.InverseGamma(2, scale=1), lambda u, plates: pw.Exponential(scale=u, plates=plates)),
        lambda rng, a: rng.exponential(np.where(a == 1, 4.0, 0.5)),
    ),
    "tries": (
        written(lambda: pw.Beta(1, 2), lambda u, plates: pw.Geometric(u, plates=plates)),
        lambda rng, a: rng.geometric(np.where(a == 1, 0.2, 0.8)),
    ),
    "lifetimes": (
        written(lambda: pw.Gamma(2, rate=1), lambda u, plates: pw.Weibull(shape=1.5, rate=u, plates=plates)),
        lambda rng, a: rng.weibull(1.5, len(a)) * np.where(a == 1, 3.0, 0.7),
    ),
    "logs of known mean": (
        written(lambda: pw.Gamma(1, rate=2), lambda u, plates: pw.LogNormal(0.5, precision=u, plates=plates)),
        lambda rng, a: np.exp(0.5 + rng.normal(size=len(a)) * np.where(a == 1, 2.0, 0.3)),
    ),
    "amounts": (
        written(lambda: pw.Gamma(1, rate=1), lambda u, plates: pw.Gamma(2.5, rate=u, plates=plates)),
        lambda rng, a: rng.gamma(2.5, np.where(a == 1, 3.0, 0.4)),
    ),
}


def table(name: str, rows: int = 60) -> tuple[pw.Model, Table]:
    """A category, another that says nothing, and a column that hangs on the first."""
    model, draw = MODELS[name]
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, rows)
    return model, {"a": a, "b": rng.integers(0, 3, rows), "own": draw(rng, a)}


@pytest.mark.parametrize("name", MODELS)
def test_the_score_is_the_evidence_of_the_model_in_each_group(name: str) -> None:
    model, data = table(name)
    family = pw.Structures(data, kinds={"own": model})
    for parents in ([], ["a"], ["a", "b"]):
        best = family.score(data, [(parent, "own") for parent in parents])
        states = {tuple(row) for row in zip(*(data[parent].tolist() for parent in parents), strict=True)} or {()}
        wanted = 0.0
        for state in states:
            chosen = np.all([data[parent] == level for parent, level in zip(parents, state, strict=True)], axis=0)
            rows = data["own"][chosen] if parents else data["own"]
            wanted += model.learn({"x": rows}).log_evidence
        assert best.local_evidence["own"] == pytest.approx(wanted, rel=1e-12)
        assert best.fit.log_evidence == pytest.approx(best.log_evidence, rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_the_parent_is_found_and_predictions_are_those_of_the_fit(name: str) -> None:
    model, data = table(name)
    family = pw.Structures(data, kinds={"own": model}, forbid=[("a", "b"), ("b", "a"), ("b", "own")])
    exact = family.enumerate(data)
    assert exact.best.graph.arcs == {("a", "own")}
    new = {column: values[:2] for column, values in data.items()}
    assert exact.average(new, top=1) == pytest.approx(exact.best.fit.log_predictive(new), rel=1e-9)


@pytest.mark.parametrize("name", ["waiting times", "tries"])
def test_missing_cells_are_summed_out(name: str) -> None:
    """A missing parent over its levels; a missing cell of the column itself says nothing of the other rows."""
    model, data = table(name, 25)
    family = pw.Structures(data, kinds={"own": model})
    gone = {column: np.array(values, dtype=float) for column, values in data.items()}
    gone["a"][[2, 5]] = np.nan
    gone["own"][7] = np.nan
    arcs = [("a", "own")]
    logs = []
    kept = np.delete(np.arange(25), 7)
    for first in (0, 1):
        for second in (0, 1):
            filled = {column: np.array(values) for column, values in data.items()}
            filled["a"][[2, 5]] = first, second
            without = {column: values[kept] for column, values in filled.items()}
            terms = family.score(filled, arcs).local_evidence
            logs.append(terms["a"] + terms["b"] + family.score(without, arcs).local_evidence["own"])
    rows = read_rows(family.columns, gone)
    scorer = family._scored(first_filling(rows, np.random.default_rng(0)), observed_means(rows))
    found = Incomplete(pw.Network(family.names, frozenset(arcs)), scorer, family.make_model, missing_from=rows)
    assert found.log_evidence == pytest.approx(np.logaddexp.reduce(logs), abs=0.05)
    assert found.estimate.error < 0.05


def two() -> pw.Model:
    m = pw.Model("two")
    row = m.plate("row")
    m.u = pw.Gamma(1, rate=1)
    m.x, m.y = pw.Exponential(rate=m.u, plates=row), pw.Exponential(rate=m.u, plates=row)
    return m


REFUSED: dict[str, tuple[type[PlatewrightError], str, Callable[[], object]]] = {
    "two variables": (ModelError, "2 variables with rows", two),
    "no conjugate prior": (
        ModelError,
        "no function of sums",
        lambda: written(lambda: pw.LogNormal(0, sd=1), lambda u, plates: pw.Exponential(rate=u, plates=plates)),
    ),
    "out of range": (SupportError, "row 0", lambda: MODELS["tries"][0]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_models_are_refused(name: str) -> None:
    error, words, model = REFUSED[name]
    with pytest.raises(error, match=words):
        pw.Structures({"own": [0.3, 1.5, 2.2], "a": [0, 1, 1]}, kinds={"own": model()})


def test_no_regression_has_such_a_column_as_an_input() -> None:
    model, data = table("waiting times")
    with pytest.raises(ModelError, match="no regression has"):
        pw.Structures({**data, "w": data["own"] * 2.0}, kinds={"own": model}, require=[("own", "w")])


def test_families_that_differ_in_such_a_model_are_compared() -> None:
    model, data = table("waiting times")
    other = written(lambda: pw.Gamma(2, rate=3), lambda u, plates: pw.Exponential(rate=u, plates=plates))
    one, same, apart = (pw.Structures(data, kinds={"own": found}).score(data, []) for found in (model, model, other))
    assert pw.bayes_factor(one, same).log == 0.0
    wanted = model.learn({"x": data["own"]}).log_evidence - other.learn({"x": data["own"]}).log_evidence
    assert pw.bayes_factor(one, apart).log == pytest.approx(wanted, rel=1e-10)
