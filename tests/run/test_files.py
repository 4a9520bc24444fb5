"""The same numbers from a dict, a data frame, an Arrow table, a labelled array, or a file read in batches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

import platewright as pw
from platewright import pipeline
from platewright.data import parquet_file as parquet_file_room
from platewright.errors import DataError, MissingColumn, SourceError, SupportError
from run.row_examples import same_posterior

RNG = np.random.default_rng(9)
COLUMNS: dict[str, Any] = {
    "X": RNG.normal(size=(60, 2)),
    "kind": np.array(["new", "old", "worn"])[RNG.integers(0, 3, 60)],
    "y": RNG.normal(size=60),
    "failed": RNG.integers(0, 2, 60),
}


def model() -> pw.Model:
    m = pw.Model("machines")
    n, c, k = m.plate("n"), m.plate("c", 2), m.plate("k", labels=["new", "old", "worn"])
    m.X = pw.Input(plates=(n, c))
    m.kind = pw.Input(plates=n, levels=k)
    m.tau = pw.Gamma(2, rate=1)
    m.a = pw.Normal(0, precision=m.tau, plates=k)
    m.w = pw.Normal(0, precision=m.tau, plates=c)
    m.y = pw.Normal(m.a[m.kind] + pw.dot(m.X, m.w, over=c), precision=m.tau, plates=n)
    m.p = pw.Beta(1, 1, plates=k)
    m.failed = pw.Bernoulli(m.p[m.kind], plates=n)
    return m


def flat() -> dict[str, Any]:
    return {
        "X_0": COLUMNS["X"][:, 0],
        "X_1": COLUMNS["X"][:, 1],
        **{key: COLUMNS[key] for key in ("kind", "y", "failed")},
    }


def csv_file(folder: Path) -> Path:
    path = folder / "machines.csv"
    pd.DataFrame(flat()).to_csv(path, index=False)
    return path


def parquet_file(folder: Path) -> Path:
    path = folder / "machines.parquet"
    pl.DataFrame(flat()).write_parquet(path)
    return path


def labelled(_: Path) -> xr.Dataset:
    dims = {"X": ("n", "c"), "kind": ("n",), "y": ("n",), "failed": ("n",)}
    return xr.Dataset({key: (dims[key], values) for key, values in COLUMNS.items()})


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(flat()),
    "polars": lambda _: pl.DataFrame(flat()),
    "pyarrow": lambda _: pa.table(flat()),
    "xarray": labelled,
    "csv": csv_file,
    "parquet": parquet_file,
    "path as text": lambda folder: str(csv_file(folder)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_fit(source: str, tmp_path: Path) -> None:
    same_posterior(model().learn(SOURCES[source](tmp_path)), model().learn(COLUMNS))


@pytest.mark.parametrize("source", ["csv", "parquet"])
@pytest.mark.parametrize("rows", [1, 7, 60, 1000])
def test_a_file_in_batches_gives_the_same_fit(
    source: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "ROWS_IN_A_BATCH", rows)
    fit = model().learn(SOURCES[source](tmp_path))
    same_posterior(fit, model().learn(COLUMNS))
    assert fit.sizes["n"] == 60


def test_a_fit_from_a_file_predicts_and_is_updated(tmp_path: Path) -> None:
    fit, whole = model().learn(csv_file(tmp_path)), model().learn(COLUMNS)
    new = {"X": COLUMNS["X"][:3], "kind": COLUMNS["kind"][:3]}
    np.testing.assert_allclose(fit.predict(new)["y"].mean, whole.predict(new)["y"].mean)
    rows = {key: values[:5] for key, values in COLUMNS.items()}
    same_posterior(fit.update(rows), whole.update(rows))
    np.testing.assert_allclose(fit.log_predictive(rows), whole.log_predictive(rows))


@pytest.mark.parametrize("act", ["leave_one_out", "prequential"])
def test_rows_that_were_not_kept_cannot_be_scored(act: str, tmp_path: Path) -> None:
    fit = model().learn(csv_file(tmp_path))
    with pytest.raises(DataError, match="not kept"):
        getattr(fit, act)()


def test_rows_that_were_not_kept_cannot_be_forgotten(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not kept"):
        model().learn(csv_file(tmp_path)).forget([0])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        model().learn(tmp_path / "nothing.csv")


def test_a_file_without_a_column(tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    pd.DataFrame(flat()).drop(columns="kind").to_csv(path, index=False)
    with pytest.raises(MissingColumn, match="`kind`"):
        model().learn(path)


def test_a_bad_value_in_a_late_batch_names_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "ROWS_IN_A_BATCH", 8)
    table = pd.DataFrame(flat())
    table.loc[41, "failed"] = 2
    path = tmp_path / "bad.csv"
    table.to_csv(path, index=False)
    with pytest.raises(SupportError, match="row 41"):
        model().learn(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_nobody_reads_on_after_an_error(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "ROWS_IN_A_BATCH", 16)
    m = pw.Model("known scales")
    n = m.plate("n")
    m.s = pw.Input(plates=n)
    m.mu = pw.Normal(0, sd=5)
    m.y = pw.Normal(m.mu, sd=m.s, plates=n)
    scales = np.where(np.arange(400) == 20, -1.0, 1.0)
    table = pl.DataFrame({"s": scales, "y": np.zeros(400)})
    path = tmp_path / f"rows.{ending}"
    table.write_csv(path) if ending == "csv" else table.write_parquet(path, row_group_size=16)
    before = set(threading.enumerate())
    with pytest.raises(DataError) as error:  # which holds on to every frame that it came through
        m.learn(path)
    reading = [thread for thread in set(threading.enumerate()) - before if "(read)" in thread.name]
    assert not reading, error


def test_unknown_rows_make_a_file_be_read_whole(tmp_path: Path) -> None:
    m = pw.Model("latent rows")
    n = m.plate("n")
    m.w = pw.Gamma(2, rate=2, plates=n)
    m.y = pw.Normal(0, precision=m.w, plates=n)
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y": COLUMNS["y"]}).to_csv(path, index=False)
    same_posterior(m.learn(path), m.learn({"y": COLUMNS["y"]}))


def slopes() -> pw.Model:
    m = pw.Model("slopes")
    n, c = m.plate("n"), m.plate("c")
    m.tau = pw.Gamma(2, rate=1)
    m.w = pw.Normal(0, precision=m.tau, plates=c)
    m.X = pw.Input(plates=(n, c))
    m.y = pw.Normal(pw.dot(m.X, m.w, over=c), precision=m.tau, plates=n)
    return m


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("rows_in_a_group", [50_000, 30_001])
def test_a_wide_parquet_file_is_read_once_and_gives_the_numbers_of_the_arrays(
    backend: str, rows_in_a_group: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "ROWS_IN_A_BATCH", 50_000)
    generator = np.random.default_rng(0)
    data = {"X": generator.normal(size=(130_000, 3)), "y": generator.normal(3.0, size=130_000)}
    columns = {f"X_{k}": data["X"][:, k] for k in range(3)}
    path = tmp_path / "wide.parquet"
    pl.DataFrame({**columns, "y": data["y"]}).write_parquet(path, row_group_size=rows_in_a_group)
    read: list[int] = []
    plain = parquet_file_room._plain_numbers

    def counted(batch: Any, layout: Any) -> Any:
        read.append(len(batch))
        return plain(batch, layout)

    monkeypatch.setattr(parquet_file_room, "_plain_numbers", counted)
    fit, wanted = slopes().learn(path, backend=backend), slopes().learn(data, backend="numpy")
    assert sum(read) == 130_000
    same_posterior(fit, wanted)
