"""Messages and paths that only unusual data reach."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
import xarray

import platewright as pw
from data.sources import columns, one_column, plates
from platewright import errors
from platewright.algebra.domain import REAL, SIMPLEX, Domain
from platewright.data import ColumnSpec, PlateSpec, Signature, batches, bind, csv_file, parquet_file

LEVELS = Domain("levels", levels="k")


def labelled(*labels: object) -> Signature:
    specs = plates(PlateSpec("row", None), PlateSpec("k", None, labels=labels))
    return Signature(specs, columns(ColumnSpec("x", ("row",), LEVELS)))


def test_text_beside_integers_is_a_mixture() -> None:
    table = pyarrow.table({"x_0": ["a", "b"], "x_1": [0, 1]})
    with pytest.raises(errors.MixedTypes, match="`x_0` and `x_1`"):
        bind(one_column(LEVELS, "item"), table)


def test_a_cell_too_long_for_csv_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.csv").write_text("x\n" + "a" * 200_000 + "\n")
    monkeypatch.setattr(csv_file, "find_spec", lambda name: None)
    with pytest.raises(errors.SourceError, match="not CSV"):
        bind(one_column(LEVELS), tmp_path / "rows.csv")


def test_a_missing_number_is_named_without_pyarrow_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.csv").write_text("x\n1\nNA\n")
    monkeypatch.setattr(csv_file, "find_spec", lambda name: None)
    with pytest.raises(errors.MissingValue, match="row 1"):
        bind(one_column(REAL), tmp_path / "rows.csv")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows.parquet").touch()
    monkeypatch.setattr(parquet_file, "find_spec", lambda name: None)
    with pytest.raises(errors.SourceError, match="pip install pyarrow"):
        bind(one_column(REAL), tmp_path / "rows.parquet")


def test_bracketed_names_must_fill_a_fixed_plate() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("f", 3)), columns(ColumnSpec("x", ("row", "f"), REAL))
    )
    with pytest.raises(errors.ShapeError, match="2 columns, but plate `f` has size 3"):
        bind(signature, pandas.DataFrame({"x[a]": [1.0], "x[b]": [2.0]}))


def test_numbers_in_brackets_are_put_in_order() -> None:
    dataset = bind(one_column(REAL, "f"), pandas.DataFrame({"x[1]": [1.0], "x[0]": [0.0]}))
    assert (dataset.columns["x"].tolist(), dataset.labels["f"]) == ([[0.0, 1.0]], (0, 1))


def test_an_inner_group_without_rows_has_no_known_outer_group() -> None:
    signature = Signature(
        plates(
            PlateSpec("doc", None),
            PlateSpec("sentence", None, within="doc"),
            PlateSpec("word", None, within="sentence"),
        ),
        columns(ColumnSpec("x", ("word",), REAL)),
    )
    with pytest.raises(errors.DataError, match="sentence 1 has no rows"):
        bind(signature, pandas.DataFrame({"x": [1.0, 2.0], "sentence": [0, 2], "doc": [0, 0]}))


def test_a_simplex_is_not_a_single_number() -> None:
    with pytest.raises(errors.ShapeError, match="single number"):
        bind(Signature({}, columns(ColumnSpec("x", (), SIMPLEX))), {"x": 1.0})


def test_a_single_bad_value_is_named_by_its_column() -> None:
    with pytest.raises(errors.MissingValue, match=r"where:    column `x`\n"):
        bind(Signature({}, columns(ColumnSpec("x", (), REAL))), {"x": float("nan")})


def test_fractions_and_bools_of_a_csv_file_match_labels_of_their_type(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x\n0.5\n1.0\n")
    assert bind(labelled(1.0, 0.5), tmp_path / "rows.csv").columns["x"].tolist() == [1, 0]
    (tmp_path / "rows.csv").write_text("x\ntrue\nmaybe\n")
    for labels in ((False, True), (0.5, 1.0)):
        with pytest.raises(errors.UnseenLevel):
            bind(labelled(*labels), tmp_path / "rows.csv")


def test_decimals_objects_and_variable_width_text_are_read() -> None:
    table = pyarrow.table({"x": pyarrow.array([Decimal("0.5"), Decimal("2")])})
    assert bind(one_column(REAL), table).columns["x"].tolist() == [0.5, 2.0]
    assert bind(one_column(LEVELS), {"x": np.array([True, False], dtype=object)}).columns["x"].tolist() == [1, 0]
    text = np.array(["b", "a"], dtype=np.dtypes.StringDType())
    assert bind(one_column(LEVELS), {"x": text}).columns["x"].tolist() == [1, 0]


def test_a_masked_array_without_a_mask_is_an_array() -> None:
    assert bind(one_column(REAL), {"x": np.ma.masked_array([1.0, 2.0])}).columns["x"].tolist() == [1.0, 2.0]


def test_a_data_array_binds_by_its_dimensions() -> None:
    array = xarray.DataArray([[1.0, 2.0, 3.0]], dims=("f", "row"), name="x")
    for data in (array, {"x": array}):
        assert bind(one_column(REAL, "f"), data).columns["x"].tolist() == [[1.0], [2.0], [3.0]]


def test_widely_spread_negative_integers_are_names() -> None:
    assert bind(one_column(LEVELS), {"x": [10**12, -5]}).labels["k"] == (-5, 10**12)


def test_batches_along_a_later_axis_are_contiguous_copies_with_their_labels() -> None:
    signature = Signature(
        plates(PlateSpec("f", 2), PlateSpec("row", None)), columns(ColumnSpec("x", ("f", "row"), REAL))
    )
    data = xarray.Dataset({"x": (("f", "row"), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}, {"row": ["p", "q", "r"]})
    pieces = list(batches(signature, data, rows=2, along="row"))
    assert [piece.columns["x"].tolist() for piece in pieces] == [[[1.0, 2.0], [4.0, 5.0]], [[3.0], [6.0]]]
    assert all(piece.columns["x"].flags.c_contiguous for piece in pieces)
    assert [piece.labels["row"] for piece in pieces] == [("p", "q"), ("r",)]


def test_series_with_different_indices_are_not_matched_by_position() -> None:
    m = pw.Model("two series")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.b * m.x, sd=1, plates=n)
    x = pandas.Series([1.0, 2.0, 3.0], index=[2, 1, 0])
    with pytest.raises(errors.DataError, match="different indices"):
        m.learn({"x": x, "y": pandas.Series([1.0, 2.0, 3.0])})
    same = m.learn({"x": x, "y": pandas.Series([1.0, 2.0, 3.0], index=[2, 1, 0])})
    assert same.log_evidence == m.learn({"x": x.to_numpy(), "y": [1.0, 2.0, 3.0]}).log_evidence


def test_a_csv_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("x,note\n1,caf\xe9\n".encode("latin-1"))
    m = pw.Model("coin")
    m.p = pw.Beta(1, 1)
    m.x = pw.Bernoulli(m.p, plates=m.plate("n"))
    with pytest.raises(errors.SourceError, match="not UTF-8 text: byte 0xe9"):
        m.learn(path)
