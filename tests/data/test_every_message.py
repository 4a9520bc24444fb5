"""One bad input for each message: its class, and the words that help to mend it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import xarray

from data.sources import ARRAYS, SIGNATURE, columns, flat, one_column, plates
from platewright import errors
from platewright.algebra.domain import BINARY, MATRIX, NATURAL, POSITIVE, REAL, SIMPLEX, UNIT, Domain
from platewright.data import ColumnSpec, PlateSpec, Signature, bind
from platewright.data.cells import check_cell_count

LEVELS = Domain("levels", levels="k")

BAD_COLUMNS: list[tuple[str, Domain, Any, type[Exception], list[str]]] = [
    (
        "nan",
        REAL,
        [1.0, float("nan"), float("nan")],
        errors.MissingValue,
        ["`x` has 2 missing", "row 1", "2 such in all"],
    ),
    ("null", REAL, [1.0, None], errors.MissingValue, ["row 1"]),
    ("pandas NA", NATURAL, pandas.array([1, None], dtype="Int64"), errors.MissingValue, ["row 1"]),
    ("masked", REAL, np.ma.masked_array([1.0, 2.0], [False, True]), errors.MissingValue, ["row 1"]),
    ("masked integers", NATURAL, np.ma.masked_array([1, 2], [True, False]), errors.MissingValue, ["row 0"]),
    ("missing category", LEVELS, ["a", None], errors.MissingValue, ["row 1"]),
    ("missing level", LEVELS, pandas.Series(["a", None], dtype="category"), errors.MissingValue, ["row 1"]),
    ("missing code", LEVELS, [0.0, float("nan")], errors.MissingValue, ["row 1"]),
    ("infinite", REAL, [1.0, float("-inf")], errors.NotFinite, ["1 infinite", "row 1"]),
    ("infinite count", NATURAL, [1.0, float("inf")], errors.NotFinite, ["row 1"]),
    ("infinite, bounded", POSITIVE, [1.0, float("inf")], errors.NotFinite, ["row 1"]),
    ("zero", POSITIVE, [1.0, 0.0, -2.0], errors.SupportError, ["`x` is 0", "row 1", "2 such in all"]),
    ("above one", UNIT, [0.0, 1.0, 1.5], errors.SupportError, ["`x` is 1.5", "row 2", "1 such in all"]),
    ("fraction", NATURAL, [1.0, 2.5], errors.SupportError, ["2.5", "row 1"]),
    ("negative count", NATURAL, [1, -1], errors.SupportError, ["-1", "row 1"]),
    ("not binary", BINARY, [0, 1, 2], errors.SupportError, ["`x` is 2", "row 2"]),
    ("too large", NATURAL, np.array([2**63], dtype=np.uint64), errors.SupportError, ["row 0"]),
    ("huge integers", REAL, [2**70, 10**400], errors.WrongType, ["64 bits"]),
    ("fractions as categories", LEVELS, [0.5, 1.5], errors.SupportError, ["fractions"]),
    ("text", REAL, ["a", "b"], errors.WrongType, ["holds text: 'a'", "row 0"]),
    ("text of numbers", NATURAL, np.array(["1", "2"]), errors.WrongType, ["holds text: '1'"]),
    ("mixture", REAL, [1, "a"], errors.MixedTypes, ["1 and 'a'", "row 0, and row 1"]),
    ("mixed categories", LEVELS, ["a", 1], errors.MixedTypes, ["'a' and 1"]),
    ("complex", REAL, [1j], errors.WrongType, ["complex numbers"]),
    ("complex objects", REAL, np.array([1j], dtype=object), errors.WrongType, ["complex numbers"]),
    ("objects", REAL, np.array([object()]), errors.WrongType, ["objects of type object"]),
    ("dates", REAL, np.array(["2020-01-01"], dtype="datetime64[D]"), errors.WrongType, ["dates"]),
    ("bytes", LEVELS, np.array([b"a"]), errors.WrongType, ["bytes"]),
    ("records", REAL, np.zeros(1, dtype=[("a", float)]), errors.WrongType, ["records"]),
    ("scalar", REAL, 1.0, errors.ShapeError, ["0 axes", "axes in this order: (row)"]),
    ("matrix", REAL, [[1.0]], errors.ShapeError, ["2 axes (1 x 1)", "1 plate"]),
    ("huge code", LEVELS, [0, 2**40], errors.SizeError, ["convert the column to text"]),
]


@pytest.mark.parametrize(
    ("domain", "values", "error", "words"), [row[1:] for row in BAD_COLUMNS], ids=[r[0] for r in BAD_COLUMNS]
)
def test_a_bad_column_is_named(domain: Domain, values: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        bind(one_column(domain), {"x": values})
    assert type(caught.value) is error
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("domain", "axes", "values", "error", "words"),
    [
        (
            REAL,
            ("f",),
            [[1.0, 2.0], [3.0]],
            errors.ShapeError,
            ["ragged", "row 0 has 2 items, row 1 has 1", "long table"],
        ),
        (REAL, ("f",), [[1.0, 2.0], [3.0, float("nan")]], errors.MissingValue, ["row 1, f 1"]),
        (SIMPLEX, ("f",), [[0.5, 0.5], [0.5, 0.6]], errors.SupportError, ["sum to 1.1", "row 1"]),
        (SIMPLEX, ("f",), [[1.5, -0.5]], errors.SupportError, ["least is -0.5"]),
        (MATRIX, ("f", "g"), [[[1.0, 0.5], [0.4, 1.0]]], errors.SupportError, ["not symmetric", "row 0"]),
        (MATRIX, ("f", "g"), [np.eye(2), -np.eye(2)], errors.SupportError, ["not positive definite", "row 1"]),
        (MATRIX, ("f", "g"), [np.ones((2, 3))], errors.ShapeError, ["square"]),
    ],
)
def test_a_bad_array_is_named(
    domain: Domain, axes: tuple[str, ...], values: Any, error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        bind(one_column(domain, *axes), {"x": values})
    for word in words:
        assert word in str(caught.value)


WRONG_DIMS = xarray.Dataset(
    {name: (("row", "f") if name == "x" else ("row",), np.array(values)) for name, values in ARRAYS.items()}
)
WRONG_LABELS = xarray.Dataset({"x": (("feature",), [1.0, 2.0])}, {"feature": ["height", "age"]})
MIXED_FEATURES = pandas.DataFrame({**flat(), "x[weight]": list("abcd")})

BAD_DATA: list[tuple[str, Any, type[Exception], list[str]]] = [
    ("unknown key", {**ARRAYS, "cuont": [1]}, errors.UnknownName, ["no `cuont`", "did you mean `count`?"]),
    ("not a name", {**ARRAYS, 3: [1]}, errors.UnknownName, ["no `3`"]),
    ("sizes", {**ARRAYS, "wait": [1.0]}, errors.ShapeError, ["plate `row` has size 4 in `y` and 1 in `wait`"]),
    ("labels", {**ARRAYS, "x": np.ones((4, 3))}, errors.ShapeError, ["`feature` has size 2 in the model and 3 in `x`"]),
    ("absent", {"y": [1.0], "x": [[1.0, 2.0]]}, errors.MissingColumn, ["no column `wait`", "found: `y`, `x`"]),
    ("absent in frame", pandas.DataFrame({"y": [1.0]}), errors.MissingColumn, ["no column `wait`"]),
    ("spaces", pandas.DataFrame({" y ": [1.0]}), errors.MissingColumn, ["a column ' y '", "rename it to `y`"]),
    ("nothing", pandas.DataFrame({"q": [1.0]}), errors.MissingColumn, ["none of the columns", "`q`"]),
    (
        "no names",
        pandas.DataFrame([[1.0]], columns=pandas.MultiIndex.from_tuples([("y", "a")])),
        errors.MissingColumn,
        ["none of the columns"],
    ),
    ("half a matrix", pandas.DataFrame({"x[height]": [1.0]}), errors.MissingColumn, ["needs a column `x[weight]`"]),
    ("twice", pandas.DataFrame([[1, 2]], columns=["y", "y"]), errors.DuplicateColumn, ["'y' 2 times"]),
    ("twice, arrow", pyarrow.table([[1], [2]], names=["y", "y"]), errors.DuplicateColumn, ["'y' 2 times"]),
    ("None", None, errors.SourceError, ["NoneType", "a dict of arrays"]),
    ("array", np.ones(3), errors.SourceError, ["ndarray"]),
    ("no file", "nowhere.csv", errors.SourceError, ["no such file", "nowhere.csv"]),
    ("other file", "rows.xlsx", errors.SourceError, ["*.xlsx", ".csv or .parquet"]),
    ("dims", WRONG_DIMS, errors.ShapeError, ["dimensions (row, f)"]),
    ("coordinates", WRONG_LABELS, errors.UnseenLevel, ["only in one"]),
    ("mixed frame column", pandas.DataFrame({**flat(), "y": [1, "a", 2, 3]}), errors.MixedTypes, ["1 and 'a'"]),
    ("mixed columns", MIXED_FEATURES, errors.MixedTypes, ["`x[height]` and `x[weight]`"]),
]


@pytest.mark.parametrize(("data", "error", "words"), [row[1:] for row in BAD_DATA], ids=[row[0] for row in BAD_DATA])
def test_a_bad_source_is_named(data: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        bind(SIGNATURE, data)
    for word in words:
        assert word in str(caught.value)


BAD_FILES: list[tuple[str, str, type[Exception], list[str]]] = [
    ("text", "x\n1\nabc\n", errors.WrongType, ["holds text: 'abc'", "row 1"]),
    ("missing", "x\n1\nNA\n", errors.MissingValue, ["row 1"]),
    ("ragged", "x,y\n1,2\n3\n", errors.ShapeError, ["row 1 has 1 cells, the header 2"]),
    ("duplicate", "x,x\n1,2\n", errors.DuplicateColumn, ["2 columns are named `x`"]),
    ("no header", "", errors.SourceError, ["no header"]),
    (
        "space in a name",
        "a, x\n1, 2\n",
        errors.MissingColumn,
        ["a column ' x'", "rename it to `x`, without the spaces"],
    ),
    ("capitals", "X\n1\n", errors.MissingColumn, ["a column 'X'", "rename it to `x`"]),
    ("semicolons", "x;y\n1;2\n", errors.SourceError, ["one name, 'x;y'", "separated by commas"]),
]


@pytest.mark.parametrize(("text", "error", "words"), [row[1:] for row in BAD_FILES], ids=[row[0] for row in BAD_FILES])
def test_a_bad_file_is_named(tmp_path: Path, text: str, error: type[Exception], words: list[str]) -> None:
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(error) as caught:
        bind(one_column(REAL), tmp_path / "bad.csv")
    for word in words:
        assert word in str(caught.value)


def test_a_file_that_is_not_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_text("not parquet")
    with pytest.raises(errors.SourceError, match="not Parquet"):
        bind(one_column(REAL), tmp_path / "bad.parquet")


def test_rows_of_a_table_cannot_be_on_two_plates() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("k", None)),
        columns(ColumnSpec("x", ("row",), REAL), ColumnSpec("mu", ("k",), REAL, required=False)),
    )
    with pytest.raises(errors.ShapeError, match="`mu` lives on plate `k`, `x` on `row`"):
        bind(signature, pandas.DataFrame({"x": [1.0], "mu": [2.0]}))


def test_an_unseen_category_is_named_with_the_known_ones() -> None:
    signature = one_column(LEVELS)
    learned = bind(signature, {"x": ["a", "b"]}).labels
    for data in ({"x": ["a", "c"]}, pandas.DataFrame({"x": ["a", "c"]}), polars.DataFrame({"x": ["a", "c"]})):
        with pytest.raises(errors.UnseenLevel) as caught:
            bind(signature, data, labels=learned)
        for word in ("'c'", "column `x`, row 1", "'a', 'b'"):
            assert word in str(caught.value)


def test_labels_of_an_unknown_plate_are_refused() -> None:
    with pytest.raises(errors.UnknownName, match="no `q`"):
        bind(one_column(LEVELS), {"x": ["a"]}, labels={"q": ("a",)})


def test_codes_outside_a_fixed_plate_are_named() -> None:
    with pytest.raises(errors.SupportError, match=r"a code 0 to 1"):
        bind(one_column(LEVELS, size=2), {"x": [0, 1, 2]})
    with pytest.raises(errors.SupportError, match="row 0"):
        bind(one_column(LEVELS, size=2), {"x": [-1]})


def test_names_that_do_not_fill_a_fixed_plate_are_refused() -> None:
    for names in (["a"], ["a", "b", "c"]):
        with pytest.raises(errors.ShapeError, match="has size 2"):
            bind(one_column(LEVELS, size=2), {"x": names})


def test_decimals_are_numbers() -> None:
    assert bind(one_column(REAL), {"x": [Decimal("0.5"), Decimal(2)]}).columns["x"].tolist() == [0.5, 2.0]


def test_a_finite_block_whose_sum_overflows_is_good() -> None:
    assert bind(one_column(REAL), {"x": [1.7e308, 1.7e308]}).sizes["row"] == 2


def test_the_first_of_many_blocks_with_a_fault_is_named() -> None:
    values = np.zeros(200_000)
    values[[150_000, 199_999]] = np.nan
    with pytest.raises(errors.MissingValue, match=r"row 150000 .*2 such in all"):
        bind(one_column(REAL), {"x": values})


def test_an_array_too_large_is_refused_before_it_is_made() -> None:
    wide = np.broadcast_to(np.float32(0), (2**20, 2**12))
    with pytest.raises(errors.SizeError, match="1048576 x 4096"):
        bind(one_column(REAL, "f"), {"x": wide})
    with pytest.raises(errors.SizeError):
        check_cell_count("x", (2**62, 2**62))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: PlateSpec("k", 2, labels=("a",)), errors.PlateError),
        (lambda: PlateSpec("k", None, labels=("a", "a")), errors.PlateError),
        (lambda: Signature({}, columns(ColumnSpec("x", ("row",), REAL))), errors.UnknownName),
        (lambda: Signature(plates(PlateSpec("a", None, within="b")), {}), errors.UnknownName),
        (
            lambda: Signature(plates(PlateSpec("a", None, like="b"), PlateSpec("b", None, like="a")), {}),
            errors.PlateError,
        ),
    ],
)
def test_a_signature_without_meaning_is_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()
