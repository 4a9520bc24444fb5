"""Long tables: which outer element each row belongs to, and where each series begins."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
import xarray

from data.sources import columns, plates
from platewright.algebra.domain import REAL, Domain
from platewright.data import ColumnSpec, PlateSpec, Signature, bind
from platewright.errors import DataError, MissingColumn, ShapeError, UnseenLevel

WORDS = Signature(
    plates(PlateSpec("doc", None), PlateSpec("word", None, within="doc"), PlateSpec("vocabulary", None)),
    columns(
        ColumnSpec("token", ("word",), Domain("levels", levels="vocabulary")),
        ColumnSpec("length", ("doc",), REAL, required=False),
    ),
)
SERIES = Signature(
    plates(PlateSpec("series", None), PlateSpec("time", None, within="series", ordered=True)),
    columns(ColumnSpec("x", ("time",), REAL)),
)


def test_each_row_has_the_code_of_its_outer_element() -> None:
    for data in (
        {"token": ["x", "y", "x"], "doc": ["q", "p", "q"]},
        {"token": ["x", "y", "x"], "doc[word]": ["q", "p", "q"]},
        pandas.DataFrame({"token": ["x", "y", "x"], "doc": ["q", "p", "q"]}),
        xarray.Dataset({"token": ("word", ["x", "y", "x"]), "doc": ("word", ["q", "p", "q"])}),
    ):
        dataset = bind(WORDS, data)
        assert dataset.parents["word"].tolist() == [1, 0, 1]
        assert dataset.parents["word"].dtype == np.int64
        assert dataset.labels["doc"] == ("p", "q")
        assert dataset.sizes == {"word": 3, "doc": 2, "vocabulary": 2}
        assert dataset.first == {}


def test_an_array_on_the_outer_plate_fixes_its_size() -> None:
    data = {"token": ["x"], "doc": [1], "length": [1.0, 2.0, 3.0]}
    assert bind(WORDS, data).sizes["doc"] == 3
    with pytest.raises(ShapeError, match="has size 3"):
        bind(WORDS, {**data, "doc": ["p"]})


def test_an_outer_label_that_was_not_learned_is_unseen() -> None:
    with pytest.raises(UnseenLevel, match="'new'"):
        bind(WORDS, {"token": ["x"], "doc": ["new"]}, labels={"doc": ("old",)})


def test_rows_without_an_outer_element_are_refused() -> None:
    with pytest.raises(MissingColumn, match="which `doc` each row belongs to"):
        bind(WORDS, {"token": ["x"]})


def test_a_series_begins_where_the_outer_code_changes() -> None:
    dataset = bind(SERIES, {"x": [1, 2, 3, 4], "series": ["b", "b", "a", "c"]})
    assert dataset.first["time"].tolist() == [True, False, True, True]
    assert dataset.first["time"].dtype == np.bool_


def test_a_series_in_two_pieces_is_refused() -> None:
    with pytest.raises(DataError, match="row 2, where") as caught:
        bind(SERIES, {"x": [1, 2, 3], "series": ["b", "a", "b"]})
    assert "sort the rows by `series`" in str(caught.value)


def test_a_plate_in_order_without_an_outer_one_begins_once() -> None:
    signature = Signature(plates(PlateSpec("time", None, ordered=True)), columns(ColumnSpec("x", ("time",), REAL)))
    assert bind(signature, {"x": [1, 2, 3]}).first["time"].tolist() == [True, False, False]
    assert bind(signature, {"x": []}).first["time"].tolist() == []


NESTED = Signature(
    plates(
        PlateSpec("doc", None),
        PlateSpec("sentence", None, within="doc"),
        PlateSpec("word", None, within="sentence"),
    ),
    columns(ColumnSpec("x", ("word",), REAL)),
)


def test_outer_groups_of_a_table_are_lifted_to_their_inner_groups() -> None:
    table = {"x": [1.0, 2.0, 3.0], "sentence": ["s", "t", "s"], "doc": ["d", "c", "d"]}
    by_row = bind(NESTED, pandas.DataFrame(table))
    by_group = bind(NESTED, {**table, "doc": ["d", "c"]})
    for dataset in (by_row, by_group):
        assert dataset.parents["word"].tolist() == [0, 1, 0]
        assert dataset.parents["sentence"].tolist() == [1, 0]
        assert dataset.sizes == {"word": 3, "sentence": 2, "doc": 2}


def test_an_inner_group_has_one_outer_group() -> None:
    table = {"x": [1.0, 2.0], "sentence": ["s", "s"], "doc": ["d", "c"]}
    with pytest.raises(DataError, match="two different values of `doc`"):
        bind(NESTED, pandas.DataFrame(table))
