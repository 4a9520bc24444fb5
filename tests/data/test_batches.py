"""Batches put together again are the whole, and cost no memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from data.sources import SIGNATURE, all_sources, assert_same, columns, one_column, plates
from platewright.algebra.domain import REAL, VECTOR, Domain
from platewright.data import ColumnSpec, Dataset, PlateSpec, Signature, batches, bind, count_rows, csv_file
from platewright.errors import DataError, MissingValue, ShapeError, WrongType

LEVELS = Domain("levels", levels="k")
SERIES = Signature(
    plates(PlateSpec("series", None), PlateSpec("time", None, within="series", ordered=True)),
    columns(ColumnSpec("x", ("time",), REAL)),
)


def joined(signature: Signature, pieces: list[Dataset], row: str) -> Dataset:
    """Batches below each other."""
    columns = {name: np.concatenate([piece.columns[name] for piece in pieces]) for name in pieces[0].columns}
    parents = {name: np.concatenate([piece.parents[name] for piece in pieces]) for name in pieces[0].parents}
    first = {name: np.concatenate([piece.first[name] for piece in pieces]) for name in pieces[0].first}
    sizes = {**pieces[0].sizes, row: sum(piece.sizes[row] for piece in pieces)}
    return Dataset(columns, sizes, pieces[0].labels, parents, first)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 100])
def test_batches_of_any_source_join_to_the_whole(tmp_path: Path, rows: int) -> None:
    for source in all_sources(tmp_path).values():
        whole = bind(SIGNATURE, source)
        pieces = list(batches(SIGNATURE, source, rows=rows))
        assert [piece.sizes["row"] for piece in pieces[:-1]] == [rows] * (len(pieces) - 1)
        assert_same(whole, joined(SIGNATURE, pieces, "row"))
        assert count_rows(SIGNATURE, source) == 4


def test_batches_of_a_csv_file_need_no_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = all_sources(tmp_path)["csv"]
    monkeypatch.setattr(csv_file, "find_spec", lambda name: None)
    assert_same(bind(SIGNATURE, source), joined(SIGNATURE, list(batches(SIGNATURE, source, rows=3)), "row"))


@given(st.lists(st.sampled_from(["a", "b", "c", "10", "true"]), max_size=30), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_any_partition_of_a_file_gives_the_same_codes(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], rows: int
) -> None:
    folder = tmp_path_factory.mktemp("partition")
    signature = one_column(LEVELS)
    (folder / "rows.csv").write_text("x\n" + "".join(f"{text}\n" for text in texts))
    parquet.write_table(pyarrow.table({"x": pyarrow.array(texts, pyarrow.string())}), folder / "rows.parquet")
    for path in (folder / "rows.csv", folder / "rows.parquet"):
        assert_same(bind(signature, path), joined(signature, list(batches(signature, path, rows=rows)), "row"))


@given(st.permutations(range(6)))
@settings(max_examples=30, deadline=None)
def test_permuted_rows_give_permuted_columns(order: list[int]) -> None:
    frame = pandas.DataFrame({"x": ["b", "a", "c", "a", "b", "b"]})
    signature = one_column(LEVELS)
    straight, permuted = bind(signature, frame), bind(signature, frame.iloc[order])
    assert straight.labels == permuted.labels
    np.testing.assert_array_equal(straight.columns["x"][order], permuted.columns["x"])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
@settings(max_examples=50, deadline=None)
def test_numbers_go_through_a_csv_file_unchanged(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    path = tmp_path_factory.mktemp("numbers") / "rows.csv"
    path.write_text("x\n" + "".join(f"{value!r}\n" for value in values))
    assert bind(one_column(REAL), path).columns["x"].tolist() == values


def test_batches_of_memory_are_views() -> None:
    values = np.zeros((1000, 3))
    for batch in batches(one_column(VECTOR, "feature"), {"x": values}, rows=300):
        assert np.shares_memory(batch.columns["x"], values)
        assert batch.sizes["row"] in (300, 100)


def test_arrays_on_other_plates_are_whole_in_each_batch() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("k", 2)),
        columns(ColumnSpec("x", ("row",), LEVELS), ColumnSpec("mu", ("k",), REAL)),
    )
    pieces = list(batches(signature, {"x": [0, 1, 1], "mu": [1.0, 2.0]}, rows=2))
    assert [piece.columns["x"].tolist() for piece in pieces] == [[0, 1], [1]]
    assert all(piece.columns["mu"].tolist() == [1.0, 2.0] for piece in pieces)


@given(st.lists(st.integers(1, 7), min_size=1, max_size=8), st.integers(1, 10))
@settings(max_examples=40, deadline=None)
def test_a_batch_never_cuts_a_series(tmp_path_factory: pytest.TempPathFactory, lengths: list[int], rows: int) -> None:
    names = [f"s{series}" for series, length in enumerate(lengths) for _ in range(length)]
    table = pyarrow.table({"x": [float(row) for row in range(len(names))], "series": names})
    path = tmp_path_factory.mktemp("series") / "rows.parquet"
    parquet.write_table(table, path, row_group_size=3)
    whole = bind(SERIES, table)
    for source in (path, table):
        pieces = list(batches(SERIES, source, rows=rows))
        assert all(piece.first["time"][0] for piece in pieces)
        assert all(piece.sizes["time"] >= rows for piece in pieces[:-1])
        assert_same(whole, joined(SERIES, pieces, "time"))


def test_a_series_that_begins_again_in_a_later_batch_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,series\n1,a\n2,a\n3,b\n4,b\n5,a\n")
    with pytest.raises(DataError, match="row 4, where"):
        list(batches(SERIES, path, rows=2))


def test_a_fault_is_named_by_its_row_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "1\n" * 10 + "NA\n")
    with pytest.raises(MissingValue, match="row 10 "):
        list(batches(one_column(REAL), path, rows=4))
    path.write_text("x\n" + "1\n" * 10 + "abc\n")
    with pytest.raises(WrongType, match="row 10"):
        list(batches(one_column(REAL), path, rows=4))


def test_a_file_without_rows_gives_one_empty_batch(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x\n")
    assert [batch.sizes["row"] for batch in batches(one_column(REAL), tmp_path / "rows.csv")] == [0]
    assert [batch.sizes["row"] for batch in batches(one_column(REAL), {"x": []})] == [0]


def test_a_fixed_number_of_rows_is_checked_over_all_batches(tmp_path: Path) -> None:
    signature = Signature(plates(PlateSpec("row", 3)), columns(ColumnSpec("x", ("row",), REAL)))
    (tmp_path / "rows.csv").write_text("x\n1\n2\n3\n")
    assert len(list(batches(signature, tmp_path / "rows.csv", rows=2))) == 2
    (tmp_path / "rows.csv").write_text("x\n1\n2\n")
    with pytest.raises(ShapeError, match="3 in the model, and 2"):
        list(batches(signature, tmp_path / "rows.csv", rows=2))


def test_rows_that_are_not_plain_must_be_named() -> None:
    signature = Signature(
        plates(PlateSpec("a", None), PlateSpec("b", None)),
        columns(ColumnSpec("x", ("a",), REAL), ColumnSpec("y", ("b",), REAL)),
    )
    data = {"x": [1.0, 2.0], "y": [3.0]}
    with pytest.raises(DataError, match="along="):
        list(batches(signature, data))
    assert [batch.sizes["a"] for batch in batches(signature, data, rows=1, along="a")] == [1, 1]


def test_a_plate_that_others_refer_to_is_not_cut() -> None:
    with pytest.raises(DataError, match="cannot be cut"):
        list(batches(one_column(LEVELS), {"x": [0]}, along="k"))


def test_a_batch_has_at_least_one_row() -> None:
    with pytest.raises(DataError, match="at least one row"):
        batches(one_column(REAL), {"x": [1.0]}, rows=0)


def test_true_and_false_in_a_number_column_of_a_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x\n1\ntrue\nfalse\n")
    assert bind(one_column(Domain("integer", 0.0, 1.0)), tmp_path / "rows.csv").columns["x"].tolist() == [1, 1, 0]


def test_quoted_line_breaks_are_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('x,y\n"a\nb",1\nc,2\n')
    dataset = bind(one_column(LEVELS), tmp_path / "rows.csv")
    assert dataset.labels["k"] == ("a\nb", "c")
    assert count_rows(one_column(LEVELS), tmp_path / "rows.csv") == 2


def test_a_lazy_frame_is_counted() -> None:
    assert count_rows(one_column(REAL), polars.LazyFrame({"x": [1.0, 2.0]})) == 2
