"""Many rows are started from a choice of them; parameters of each row, and rows that are looked up, need all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.backends.kernels import starting_rows as module
from platewright.run.hidden import printed
from platewright.run.hidden.printed import printed_em, printed_field

Y = np.concatenate([np.random.default_rng(0).normal(-3, 1, 20), np.random.default_rng(1).normal(3, 1, 20)])


def mixture(own_rates: bool) -> pw.Model:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(0, sd=5, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    if own_rates:
        m.u = pw.Gamma(2, rate=2, plates=n)
        m.c = pw.Poisson(m.u, plates=n)
    return m


def rows(own_rates: bool) -> dict[str, Any]:
    return {"y": Y, **({"c": np.arange(40) % 3} if own_rates else {})}


def rows_for(own_rates: bool, by: str) -> int:
    data = rows(own_rates)
    plan: Any = mixture(own_rates).derive(tuple(data), goal="map" if by == "em" else "posterior", by=by).plan
    text = printed_em(plan) if by == "em" else printed_field(plan)
    if "starting_rows" not in text:
        return 40
    columns, sizes = text("starting_rows")(text.named(data), {"n": 40, "k": 2}, 0)
    assert len(columns["y"]) == sizes["n"]
    return int(sizes["n"])


@pytest.mark.parametrize("by", ["em", "mean-field"])
def test_a_choice_of_rows_is_taken_unless_each_row_has_parameters_of_its_own(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer(monkeypatch)
    assert rows_for(False, by) == 10
    assert rows_for(True, by) == 40


def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows are enough to start from: for what is printed now, and for the tools that it calls."""
    printed._em.cache_clear()
    printed._field.cache_clear()
    monkeypatch.setattr(module, "ROWS_TO_START", 10)


@pytest.mark.parametrize("series", [None, np.arange(60) % 12 == 0])
def test_rows_to_start_do_not_depend_on_where_batches_begin(series: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory the rows are drawn as those of a file are."""
    monkeypatch.setattr(module, "ROWS_TO_START", 17)
    found = module.rows_to_start(60, 4, series)
    assert len(found) == 17 and (np.diff(found) > 0).all()
    keys = np.random.default_rng([4, 17]).random(60 if series is None else 5)
    unit = np.arange(60) if series is None else np.cumsum(series) - 1
    assert set(found) == set(sorted(range(60), key=lambda row: (keys[unit[row]], row))[:17])


@pytest.mark.parametrize("own_rates", [False, True])
@pytest.mark.parametrize("by", ["em", "mean-field"])
def test_a_run_that_starts_from_some_rows_ends_where_one_from_all_does(
    by: str, own_rates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"by": by, "goal": "map" if by == "em" else "posterior", "backend": "numpy"}

    def means() -> Any:
        return np.sort(mixture(own_rates).learn(rows(own_rates), **options)["mu"].mean)

    wanted = means()
    fewer(monkeypatch)
    np.testing.assert_allclose(means(), wanted, rtol=1e-3)
