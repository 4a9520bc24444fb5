"""A law over the shelf: a parameter from a column with one value outside its range is refused, wherever the data are.

The refusal names the row, counted over the whole file, and the column; in memory and from files it is the same text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import platewright as pw
from platewright import pipeline
from platewright.algebra.domain import Domain
from platewright.errors import ImpossibleWarning, ModelError, NotFinite, SupportError
from platewright.families import FAMILIES, FAMILY_BY_NAME
from platewright.family import Family, Parameter

ROWS, BAD_ROW = 50, 37
SCALAR = [family for family in FAMILIES if family.rank == 0 and hasattr(pw, family.name) and family.parameters]


def words(family: Family, parameter: str) -> list[str]:
    return list(family.spelled.get(parameter, {parameter: None}))


CASES = [
    (family.name, word)
    for family in SCALAR
    for parameter in family.parameters
    for word in words(family, parameter.name)
    if family.argument(word).rank == 0 and family.argument(word).domain.lower > -np.inf
]


def inside(parameter: Parameter) -> float:
    domain = parameter.domain
    return 3.0 if domain.kind == "integer" else 0.5 if domain.upper <= 1 else 0.8


def outside(parameter: Parameter) -> list[float]:
    domain: Domain = parameter.domain
    found = [-1.0]
    found += [0.0] if domain.upper == np.inf and domain.kind == "real" and not parameter.may_be_zero else []
    found += [1.5] if domain.upper == 1 else []
    return found + ([2.5] if domain.kind == "integer" else [])


def value_of(family: Family) -> float:
    match family.domain:
        case Domain("integer"):
            return 1.0
        case Domain("levels"):
            return 0.0
    return 0.4 if family.domain.upper <= 1 else 0.9


def model_of(family: Family, word: str) -> pw.Model:
    """One parameter is a column, the others are numbers; something else is learned beside it."""
    m = pw.Model("given")
    row = m.plate("row")
    m.column = pw.Input(plates=row)
    m.share = pw.Beta(1, 1)
    m.seen = pw.Bernoulli(m.share, plates=row)
    others: dict[str, object] = {}
    for parameter in family.parameters:
        spelled = words(family, parameter.name)
        if word in spelled:
            others[word] = m.column
        elif parameter.name == "upper":
            others["upper"] = 2.0
        else:
            others[spelled[0]] = 0.1 if parameter.domain.is_unbounded else inside(family.argument(spelled[0]))
    m.x = getattr(pw, family.name)(plates=row, **others)
    return m


def table_of(family: Family, word: str, bad: float | None) -> dict[str, np.ndarray]:
    column = np.full(ROWS, inside(family.argument(word)))
    if bad is not None:
        column[BAD_ROW] = bad
    return {"column": column, "seen": np.arange(ROWS) % 2, "x": np.full(ROWS, value_of(family))}


def refused(model: pw.Model, data: object) -> str:
    with pytest.raises(SupportError) as caught:
        model.learn(data)
    return str(caught.value)


@pytest.mark.parametrize(("name", "word"), CASES, ids=["-".join(case) for case in CASES])
def test_a_value_outside_is_refused_alike_in_memory_and_from_files(
    name: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "ROWS_IN_A_BATCH", 16)
    family = FAMILY_BY_NAME[name]
    model = model_of(family, word)
    model.learn(table_of(family, word, None))
    for bad in outside(family.argument(word)):
        data = table_of(family, word, bad)
        message = refused(model, data)
        assert f"row {BAD_ROW}" in message and "`column`" in message and f"{word} of `x` is {bad:g}" in message
        frame = pd.DataFrame(data)
        frame.to_csv(tmp_path / "rows.csv", index=False)
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=16)
        assert refused(model, tmp_path / "rows.csv") == message
        assert refused(model, tmp_path / "rows.parquet") == message


def test_a_function_of_columns_is_looked_at_too() -> None:
    m = pw.Model("errors")
    row = m.plate("row")
    m.se = pw.Input(plates=row)
    m.wider = m.se * 2
    m.mean = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mean, sd=m.wider, plates=row)
    assert "sd of `y` is -4" in refused(m, {"se": [1.0, -2.0], "y": [0.0, 1.0]})


def test_a_precision_that_is_the_square_of_a_negative_number_is_none() -> None:
    m = pw.Model("squares")
    row = m.plate("row")
    m.root = pw.Input(plates=row)
    m.mean = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mean, precision=m.root**2, plates=row)
    m.learn({"root": [1.0, -2.0], "y": [0.0, 1.0]})


def test_a_parameter_that_no_unknown_could_bring_into_range_is_refused() -> None:
    m = pw.Model("exposure")
    row = m.plate("row")
    m.e = pw.Input(plates=row)
    m.lam = pw.Gamma(1, rate=1)
    m.y = pw.Poisson(m.e * m.lam, plates=row)
    assert "rate of `y`" in refused(m, {"e": [1.0, -2.0], "y": [0, 0]})
    sloped = pw.Model("slope")
    row = sloped.plate("row")
    sloped.e = pw.Input(plates=row)
    sloped.b = pw.Normal(0, sd=1)
    sloped.y = pw.Normal(0.0, sd=1 + sloped.e * sloped.b, plates=row)
    sloped.learn({"e": [1.0, -2.0], "y": [0.0, 0.1]}, draws=20, warm_up=20, chains=1)


def test_more_rows_are_looked_at_as_the_first_were() -> None:
    model = model_of(FAMILY_BY_NAME["Normal"], "sd")
    fit = model.learn(table_of(FAMILY_BY_NAME["Normal"], "sd", None))
    with pytest.raises(SupportError, match="sd of `x` is -1"):
        fit.update(table_of(FAMILY_BY_NAME["Normal"], "sd", -1.0))


IMPOSSIBLE: list[tuple[str, Mapping[str, object]]] = [
    ("count", {"e": [1.0, 0.0, 2.0], "y": [1, 3, 1]}),
    ("coin", {"e": [0.5, 0.0, 1.0], "y": [1, 1, 0]}),
]


def impossible(kind: str) -> pw.Model:
    m = pw.Model(kind)
    row = m.plate("row")
    m.e = pw.Input(plates=row)
    m.lam = pw.Gamma(1, rate=1)
    m.seen = pw.Poisson(m.lam, plates=row)
    m.y = pw.Poisson(m.e * m.lam, plates=row) if kind == "count" else pw.Bernoulli(m.e, plates=row)
    return m


@pytest.mark.parametrize(("kind", "data"), IMPOSSIBLE)
def test_data_that_cannot_be_are_named_by_their_row(kind: str, data: Mapping[str, object], tmp_path: Path) -> None:
    table = {**data, "seen": [0, 1, 2]}
    message = refused(impossible(kind), table)
    assert "row 1 " in message and "`y`" in message and "probability zero" in message
    pd.DataFrame(table).to_csv(tmp_path / "rows.csv", index=False)
    assert refused(impossible(kind), tmp_path / "rows.csv") == message
    with pytest.warns(ImpossibleWarning, match="row 1"):
        assert impossible(kind).learn(table, goal="evidence").log_evidence == -np.inf


def test_columns_too_large_beside_a_proper_prior_are_not_called_improper() -> None:
    m = pw.Model("twins")
    row, column = m.plate("row"), m.plate("column")
    m.x = pw.Input(plates=(row, column))
    m.w = pw.Normal(0, sd=1, plates=column)
    m.y = pw.Normal(pw.dot(m.w, m.x, over=column), sd=1.0, plates=row)
    with pytest.raises(NotFinite, match="follow from each other"):
        m.learn({"x": np.full((5, 2), 1e15), "y": np.arange(5.0)})


def test_a_vector_of_no_probabilities_is_named() -> None:
    m = pw.Model("levels")
    row, k = m.plate("row"), m.plate("k")
    m.p = pw.Dirichlet(1.0, over=k)
    m.z = pw.Categorical(m.p, plates=row)
    with pytest.raises(ModelError, match="plate `k` has no elements"):
        m.learn({"z": []})
