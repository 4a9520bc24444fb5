"""Sources for data with missing cells read tables with holes, and give the numbers of the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from backends.running import run_file

Cells = dict[str, list[Any]]


def two_kinds() -> tuple[pw.Model, Cells]:
    """A number and a colour for each row, some missing."""
    m = pw.Model("two kinds")
    row, kind, colour = m.plate("row"), m.plate("kind", 2), m.plate("colour", labels=["red", "white"])
    m.share = pw.Dirichlet(2.0, over=kind)
    m.hue = pw.Dirichlet(1.5, over=colour, plates=kind)
    m.mu = pw.Normal(0, sd=5, plates=kind)
    m.spread = pw.InverseGamma(3, scale=2, plates=kind)
    m.z = pw.Categorical(m.share, plates=row)
    m.x = pw.Normal(m.mu[m.z], variance=m.spread[m.z], plates=row)
    m.c = pw.Categorical(m.hue[m.z], plates=row)
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-2, 0.5, 15), rng.normal(2, 0.5, 15)])
    numbers = [None if k % 7 == 3 else float(value) for k, value in enumerate(x)]
    return m, {"x": numbers, "c": [None if k % 9 == 4 else ["red", "white"][k > 13] for k in range(30)]}


def two_columns() -> tuple[pw.Model, Cells]:
    """Columns that share a hidden cause, with holes."""
    m = pw.Model("a common cause")
    row, column = m.plate("row"), m.plate("column", 3)
    m.mu = pw.Normal(0, sd=3, plates=column)
    m.w = pw.Normal(0, sd=1, plates=column)
    m.noise = pw.InverseGamma(3, scale=1)
    m.cause = pw.Normal(0, sd=1, plates=row)
    m.x = pw.Normal(m.mu + m.w * m.cause, variance=m.noise, plates=(row, column))
    rng = np.random.default_rng(1)
    x = rng.normal(size=(25, 1)) * np.array([1.0, -1.0, 0.5]) + 0.3 * rng.normal(size=(25, 3)) + 1.0
    holes = rng.random((25, 3)) < 0.15
    return m, {f"x[{j}]": [None if holes[n, j] else float(x[n, j]) for n in range(25)] for j in range(3)}


def bound(cells: Cells) -> dict[str, Any]:
    """The same cells in memory."""
    if "x[0]" not in cells:
        return {"x": np.array([np.nan if v is None else v for v in cells["x"]]), "c": cells["c"]}
    table = np.array([[np.nan if v is None else v for v in column] for column in cells.values()])
    return {"x": table.T}


def texts(cells: Cells) -> Cells:
    return {name: ["" if value is None else value for value in column] for name, column in cells.items()}


@pytest.mark.parametrize("made", [two_kinds, two_columns], ids=lambda made: made.__name__)
def test_em_over_holes_is_the_library_s(made: Any, tmp_path: Path) -> None:
    m, cells = made()
    fit = m.learn(bound(cells), goal="map", backend="numpy", iterations=15, restarts=1)
    source = fit.source().replace("restarts=5, iterations=1000", "restarts=1, iterations=15")
    found = run_file(source, texts(cells), tmp_path)
    assert found["log_joint"] == pytest.approx(fit.log_joint, rel=1e-9)
    assert np.allclose(found["mu"], fit["mu"].value, rtol=1e-7)


@pytest.mark.parametrize("made", [two_kinds, two_columns], ids=lambda made: made.__name__)
def test_draws_over_holes_are_the_library_s(made: Any, tmp_path: Path) -> None:
    m, cells = made()
    fit = m.learn(bound(cells), by="gibbs", backend="numpy", chains=1, draws=20, warm_up=5)
    source = fit.source().replace("chains=4, draws=1000, warm_up=500", "chains=1, draws=20, warm_up=5")
    found = run_file(source, texts(cells), tmp_path)
    assert np.allclose(found["mu mean"], fit.chains["mu"].mean(axis=(0, 1)), rtol=1e-7)
