"""The same seed gives the same bits: rows in memory or in a file, however it is cut into groups, and any threads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import csv, parquet

import platewright as pw
from platewright.backends.c.compile import find_compiler
from platewright.run.hidden import em_backend
from run.test_em_in_batches import (
    close_rows,
    coded,
    coded_rows,
    common,
    count_rows,
    factor_rows,
    factors,
    in_batches,
    in_turn,
    series_rows,
)
from schemas import sequences

Table = dict[str, Any]


def causes() -> pw.Model:
    """Two hidden classes that meet in what is seen."""
    m = pw.Model("two hidden causes")
    row, a, b, seen = m.plate("row"), m.plate("a", 2), m.plate("b", 3), m.plate("seen", 4)
    m.p = pw.Dirichlet(1.5, over=a)
    m.q = pw.Dirichlet(1.5, over=b)
    m.table = pw.Dirichlet(1.2, over=seen, plates=(a, b))
    m.i = pw.Categorical(m.p, plates=row)
    m.j = pw.Categorical(m.q, plates=row)
    m.y = pw.Categorical(m.table[m.i, m.j], plates=row)
    m.chance = pw.Beta(2, 2, plates=a)
    m.w = pw.Bernoulli(m.chance[m.i], plates=row)
    return m


def cause_rows() -> Table:
    rng = np.random.default_rng(21)
    i, j = rng.integers(0, 2, 400), rng.integers(0, 3, 400)
    return {"y": (i + j) % 4, "w": (rng.random(400) < 0.2 + 0.5 * i).astype(int)}


RUNS: dict[str, tuple[Callable[[], pw.Model], Callable[[], Table], dict[str, Any]]] = {
    "EM": (common, close_rows, {"goal": "map", "backend": "numpy"}),
    "EM in C": (common, close_rows, {"goal": "map", "backend": "c"}),
    "EM in turn": (in_turn, close_rows, {"goal": "map", "backend": "numpy"}),
    "EM with codes": (coded, coded_rows, {"goal": "map", "backend": "numpy"}),
    "EM with codes in C": (coded, coded_rows, {"goal": "map", "backend": "c"}),
    "EM with chains": (lambda: sequences.gaussians(several=True), series_rows, {"goal": "map", "backend": "numpy"}),
    "EM with chains in C": (lambda: sequences.counts(several=True), count_rows, {"goal": "map", "backend": "c"}),
    "EM with Gaussians": (factors, factor_rows, {"goal": "map", "backend": "numpy"}),
    "EM with ties": (causes, cause_rows, {"goal": "map", "backend": "numpy"}),
    "mean field": (common, close_rows, {"by": "mean-field"}),
    "mean field with codes": (coded, coded_rows, {"by": "mean-field"}),
    "mean field in C": (common, close_rows, {"by": "mean-field", "backend": "c"}),
    "mean field with codes in C": (coded, coded_rows, {"by": "mean-field", "backend": "c"}),
    "mean field with chains in C": (
        lambda: sequences.counts(several=True),
        count_rows,
        {"by": "mean-field", "backend": "c"},
    ),
}


def bits(fit: Any) -> dict[str, bytes]:
    """Parameters, the way to them, and what was learned about the rows."""
    found = getattr(fit, "estimate", None) or fit.result
    track = np.array(getattr(found, "objective", None) or found.bounds)
    rows = {name: fit.expected(name) for name in sorted(fit.plan.latent.names)}
    everything = {**found.values, "track": track, **rows}
    return {name: np.ascontiguousarray(values).tobytes() for name, values in everything.items()}


@pytest.mark.parametrize("name", RUNS)
def test_memory_and_files_of_any_cut_give_the_same_bits(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, rows, options = RUNS[name]
    if options.get("backend") == "c" and find_compiler() is None:
        pytest.skip("no C compiler")
    options = {**options, "restarts": 2, "iterations": 6, "seed": 3}
    table = pyarrow.table(rows())
    in_batches(monkeypatch, 90)
    fit = model().learn(table, **options)
    assert "in batches" not in fit.how
    whole = bits(fit)
    for groups in (7, 90, 10_000):
        path = tmp_path / f"{groups}.parquet"
        parquet.write_table(table, path, row_group_size=groups)
        found = model().learn(path, **options)
        assert "in batches" in found.how
        assert bits(found) == whole, groups
    csv.write_csv(table, tmp_path / "rows.csv")
    assert bits(model().learn(tmp_path / "rows.csv", **options)) == whole
    for threads in ("1", "2"):
        monkeypatch.setenv("PLATEWRIGHT_THREADS", threads)
        assert bits(model().learn(table, **options)) == whole
        assert bits(model().learn(tmp_path / "7.parquet", **options)) == whole


@pytest.mark.parametrize("backend", ["auto", "c"])
def test_c_for_classes_that_meet_gives_the_bits_of_memory(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_compiler() is None:
        pytest.skip("no C compiler")
    monkeypatch.setattr(em_backend, "STEPS_FOR_C", 100)
    in_batches(monkeypatch, 90, held=2**20)
    options: dict[str, Any] = {"goal": "map", "backend": backend, "restarts": 2, "iterations": 6, "seed": 3}
    table = pyarrow.table(cause_rows())
    whole = causes().learn(table, **options)
    assert whole.backend == "c"
    for groups in (7, 90, 10_000):
        path = tmp_path / f"{groups}.parquet"
        parquet.write_table(table, path, row_group_size=groups)
        assert bits(causes().learn(path, **options)) == bits(whole), groups
