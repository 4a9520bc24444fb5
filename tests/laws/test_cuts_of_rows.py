"""The same rows give the same bits: in memory or from a file, in batches of any size, with one thread or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from pyarrow import csv, parquet

import platewright as pw
from example_models import MAKERS, Example
from platewright import pipeline
from platewright.algebra.build import call
from platewright.algebra.expression import Index, Indicator, Reference
from platewright.backends.c.program import CPass, c_program
from platewright.program.program import Program
from platewright.program.statements import Statistic
from platewright.run.exact import native_blocks, runner

ROWS = 700
LOGICAL = 64
BLOCK = 16
N, J, K = Index("n", "n"), Index("j", "j"), Index("k", "k")
IN_A_FILE = tuple(name for name in MAKERS if name != "two_row_plates")  # which no one table can hold


def several_sequences(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("several sequences")
    g = m.plate("g")
    s = m.plate("s", within=g, ordered=True)
    m.tau = pw.Gamma(1, rate=1)
    m.phi = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.phi * m.lag("y"), precision=m.tau, start=0.0, plates=s)
    return m, {"y": rng.normal(size=rows), "g": np.sort(rng.integers(0, 12, rows))}


def far_from_zero(rng: np.random.Generator, rows: int) -> Example:
    m, data = MAKERS["regression"](rng, rows)
    return m, {**data, "X": np.round(data["X"], 3) + 1e7}  # pooled once more, exactly


CASES: Mapping[str, Callable[[np.random.Generator, int], Example]] = {
    **{name: MAKERS[name] for name in IN_A_FILE},
    "several_sequences": several_sequences,
    "far_from_zero": far_from_zero,
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(runner, "ROWS_IN_A_BATCH", LOGICAL)
    monkeypatch.setattr(native_blocks, "ROWS_IN_BLOCK", BLOCK)
    monkeypatch.setattr(native_blocks, "WORK_FOR_A_THREAD", 1)
    native_blocks.cut_rows.cache_clear()
    yield
    native_blocks.cut_rows.cache_clear()


def written(path: Path, data: Mapping[str, Any]) -> Path:
    columns: dict[str, Any] = {}
    for name, values in data.items():
        columns |= {name: values} if values.ndim == 1 else {f"{name}_{k}": v for k, v in enumerate(values.T)}
    if path.suffix == ".csv":
        csv.write_csv(pyarrow.table(columns), path)
    else:
        parquet.write_table(pyarrow.table(columns), path, row_group_size=97)
    return path


def bits(fit: Any) -> dict[str, bytes]:
    return {name: np.asarray(value).tobytes() for name, value in fit.computed.items()}


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("name", CASES)
def test_files_in_batches_of_any_size_give_the_bits_of_memory(
    name: str, backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    m, data = CASES[name](np.random.default_rng(4), ROWS)
    whole = m.learn(data, backend=backend)
    wanted = bits(whole)
    files = [written(tmp_path / f"rows.{ending}", data) for ending in ("csv", "parquet")]
    for size in (7, BLOCK, LOGICAL, 100, 5 * LOGICAL, 10 * ROWS):
        monkeypatch.setattr(pipeline, "ROWS_IN_A_BATCH", size)
        for path in files:
            assert bits(m.learn(path, backend=backend)) == wanted, (size, path.suffix)


@pytest.mark.parametrize("name", CASES)
def test_threads_do_not_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m, data = CASES[name](np.random.default_rng(5), ROWS)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("PLATEWRIGHT_THREADS", threads)
        found.append(bits(m.learn(data, backend="c")))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_small_blocks_are_more_than_one(backend: str) -> None:
    """The law above says something: other cuts give other bits."""
    m, data = CASES["regression"](np.random.default_rng(6), ROWS)
    cut = m.learn(data, backend=backend)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "ROWS_IN_A_BATCH", 10 * ROWS)
        patch.setattr(native_blocks, "ROWS_IN_BLOCK", 10 * ROWS)
        native_blocks.cut_rows.cache_clear()
        whole = m.learn(data, backend=backend)
    assert bits(cut) != bits(whole)
    np.testing.assert_allclose(cut.log_evidence, whole.log_evidence, rtol=1e-12)


def a_pass(*over: Index) -> CPass:
    """A table over `k` from rows, with one logarithm a row."""
    x = Reference("x", tuple(over))
    table = Statistic("table", (K,), tuple(over), Indicator(Reference("z", (N,)), K) * call("log", x))
    return c_program(Program("blocks", {"x": tuple(over), "z": (N,)}, (table,), ())).passes[0]


@pytest.mark.parametrize("cells", [1, 100, 3_000])
@pytest.mark.parametrize("wide", [1, 6, 100])
def test_a_block_is_a_power_of_two_and_four_times_as_long_as_what_it_fills(cells: int, wide: int) -> None:
    found = native_blocks.block_rows(a_pass(N, J) if wide > 1 else a_pass(N), {"n": 10**6, "j": wide, "k": cells})
    assert found & (found - 1) == 0
    assert found * wide >= 4 * cells
    assert found <= max(BLOCK / wide, 8 * cells / wide, 1)


def test_the_work_of_a_pass_grows_with_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_blocks, "WORK_FOR_A_THREAD", 1000)
    worth = [native_blocks.cut_rows(a_pass(N), (("n", rows), ("k", 2)), 2 * rows).worth for rows in (1000, 7000)]
    assert worth == [12, 84]  # two numbers and a function of ten a row
