"""The same content gives the same Dataset, whatever holds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import xarray

from data.sources import ARRAYS, SIGNATURE, all_sources, assert_same, columns, flat, one_column, plates
from platewright.algebra.domain import MATRIX, REAL, SIMPLEX, VECTOR, Domain
from platewright.data import ColumnSpec, PlateSpec, Signature, bind, csv_file

LEVELS = Domain("levels", levels="k")


def test_every_source_gives_the_same_dataset(tmp_path: Path) -> None:
    expected = bind(SIGNATURE, ARRAYS)
    for name, source in all_sources(tmp_path).items():
        print(name)
        assert_same(expected, bind(SIGNATURE, source))


def test_a_dataset_has_typed_read_only_arrays() -> None:
    dataset = bind(SIGNATURE, ARRAYS)
    assert {name: values.dtype.name for name, values in dataset.columns.items()} == {
        "y": "float64",
        "wait": "float64",
        "count": "int64",
        "win": "int64",
        "hue": "int64",
        "x": "float64",
    }
    assert not any(values.flags.writeable for values in dataset.columns.values())
    assert dataset.sizes == {"row": 4, "feature": 2, "colour": 3}
    assert dataset.labels == {"feature": ("height", "weight"), "colour": ("blue", "green", "red")}
    assert dataset.columns["hue"].tolist() == [2, 1, 2, 0]
    assert dataset.known == frozenset(ARRAYS)


def test_a_duckdb_relation_binds(tmp_path: Path) -> None:
    frame = pandas.DataFrame(flat())
    relation = duckdb.sql("select * from frame")
    assert len(frame) == 4
    assert_same(bind(SIGNATURE, ARRAYS), bind(SIGNATURE, relation))


def test_a_csv_file_binds_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = all_sources(tmp_path)["csv"]
    monkeypatch.setattr(csv_file, "find_spec", lambda name: None)
    assert_same(bind(SIGNATURE, ARRAYS), bind(SIGNATURE, source))


def test_a_large_array_is_not_copied() -> None:
    signature = one_column(VECTOR, "feature")
    values = np.zeros((1000, 20))
    bound = bind(signature, {"x": values}).columns["x"]
    assert np.shares_memory(bound, values)
    assert values.flags.writeable


def test_a_frame_column_of_floats_is_not_copied() -> None:
    frame = pandas.DataFrame({"x": np.zeros(1000)})
    assert np.shares_memory(bind(one_column(REAL), frame).columns["x"], frame["x"].to_numpy())


def test_an_integer_column_of_codes_is_not_copied() -> None:
    values = np.arange(1000) % 3
    assert np.shares_memory(bind(one_column(LEVELS), {"x": values}).columns["x"], values)


def test_strided_and_foreign_arrays_become_contiguous() -> None:
    values = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    for given in (values, values.astype(">f8"), values.astype(np.float32), values.astype(int)):
        bound = bind(one_column(REAL, "feature"), {"x": given}).columns["x"]
        assert bound.flags.c_contiguous and bound.dtype == np.float64
        np.testing.assert_array_equal(bound, values)


@pytest.mark.parametrize("library", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
@pytest.mark.parametrize(
    "table",
    [
        {"x": [[1.0, 2.0], [3.0, 4.0]]},
        {"x[height]": [1.0, 3.0], "x[weight]": [2.0, 4.0]},
        {"x[weight]": [2.0, 4.0], "x[height]": [1.0, 3.0]},
        {"x_0": [1.0, 3.0], "x_1": [2.0, 4.0]},
        {"weight": [2.0, 4.0], "height": [1.0, 3.0], "other": [0, 0]},
    ],
)
def test_a_matrix_is_found_in_a_frame_under_any_spelling(library: type, table: dict[str, list[object]]) -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("feature", None, labels=("height", "weight"))),
        columns(ColumnSpec("x", ("row", "feature"), REAL)),
    )
    assert bind(signature, library(table)).columns["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_names_in_brackets_label_a_plate_without_labels() -> None:
    dataset = bind(one_column(REAL, "feature"), pandas.DataFrame({"x[b]": [1.0], "x[a]": [2.0]}))
    assert dataset.labels["feature"] == ("b", "a")
    assert dataset.sizes["feature"] == 2


def test_numbered_names_count_a_plate_of_unknown_size() -> None:
    dataset = bind(one_column(REAL, "feature"), polars.DataFrame({"x_0": [1.0], "x_1": [2.0], "x_2": [3.0]}))
    assert dataset.columns["x"].tolist() == [[1.0, 2.0, 3.0]]


def test_a_latent_table_does_not_take_columns_that_happen_to_have_its_labels() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("doc", None), PlateSpec("topic", None, labels=("a", "b"))),
        columns(
            ColumnSpec("x", ("row",), REAL),
            ColumnSpec("weight", ("row", "topic"), REAL, required=False),
            ColumnSpec("share", ("doc", "topic"), SIMPLEX, required=False),
        ),
    )
    assert bind(signature, pandas.DataFrame({"x": [1.0], "a": [2.0]})).known == {"x"}
    assert bind(signature, pandas.DataFrame({"x": [1.0], "a": [2.0], "b": [3.0]})).known == {"x", "weight"}


def test_lists_of_fixed_size_bind() -> None:
    fixed = polars.DataFrame({"x": polars.Series([[1.0, 2.0], [3.0, 4.0]], dtype=polars.Array(polars.Float64, 2))})
    arrow = pyarrow.table({"x": pyarrow.array([[1.0, 2.0], [3.0, 4.0]], pyarrow.list_(pyarrow.float64(), 2))})
    for table in (fixed, arrow, arrow.slice(0, 2)):
        assert bind(one_column(REAL, "feature"), table).columns["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert bind(one_column(REAL, "feature"), arrow.slice(1)).columns["x"].tolist() == [[3.0, 4.0]]


def test_text_items_side_by_side_share_their_categories() -> None:
    frame = pandas.DataFrame({"x_0": ["no", "yes"], "x_1": ["yes", "maybe"]})
    dataset = bind(one_column(LEVELS, "item"), frame)
    assert dataset.labels["k"] == ("maybe", "no", "yes")
    assert dataset.columns["x"].tolist() == [[1, 2], [2, 0]]


def test_a_single_value_needs_no_plate() -> None:
    signature = Signature({}, columns(ColumnSpec("x", (), REAL)))
    assert bind(signature, {"x": 2}).columns["x"] == 2.0


def test_vectors_and_matrices_have_their_event_axes_last() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("i", None), PlateSpec("j", None, like="i")),
        columns(ColumnSpec("p", ("row", "i"), SIMPLEX), ColumnSpec("s", ("i", "j"), MATRIX)),
    )
    dataset = bind(signature, {"p": [[0.25, 0.75]], "s": np.eye(2)})
    assert dataset.sizes == {"row": 1, "i": 2, "j": 2}


def test_coordinates_put_elements_into_the_known_order() -> None:
    signature = Signature(
        plates(PlateSpec("row", None), PlateSpec("feature", None, labels=("a", "b"))),
        columns(ColumnSpec("x", ("row", "feature"), REAL)),
    )
    data = xarray.Dataset({"x": (("feature", "row"), [[1.0, 2.0], [3.0, 4.0]])}, coords={"feature": ["b", "a"]})
    assert bind(signature, data).columns["x"].tolist() == [[3.0, 1.0], [4.0, 2.0]]


def test_rows_may_be_labelled_anew_at_prediction() -> None:
    signature = one_column(REAL)
    old = bind(signature, xarray.Dataset({"x": ("row", [1.0, 2.0])}, coords={"row": ["p", "q"]}))
    new = bind(signature, xarray.Dataset({"x": ("row", [3.0])}, coords={"row": ["s"]}), labels=old.labels)
    assert (old.labels["row"], new.labels["row"]) == (("p", "q"), ("s",))


def test_optional_columns_may_be_absent_or_present() -> None:
    assert "z" not in bind(SIGNATURE, ARRAYS).known
    assert bind(SIGNATURE, {**ARRAYS, "z": [0, 0, 0, 1]}).columns["z"].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_no_rows_are_legal(tmp_path: Path) -> None:
    empty = {name: values[:0] for name, values in flat().items()}
    (tmp_path / "empty.csv").write_text(",".join(empty) + "\n")
    arrays = {name: np.array(values)[:0] for name, values in ARRAYS.items()}
    sources = [
        arrays,
        {name: [] for name in ARRAYS},
        pandas.DataFrame(empty),
        polars.DataFrame(empty),
        pyarrow.table(flat()).slice(0, 0),
        tmp_path / "empty.csv",
    ]
    for source in sources:
        dataset = bind(SIGNATURE, source, labels={"colour": ("red",)})
        assert dataset.sizes == {"row": 0, "feature": 2, "colour": 1}
        assert dataset.columns["x"].shape == (0, 2)
        assert bind(SIGNATURE, source).sizes["colour"] == 0


def test_importing_the_room_loads_no_frame_library() -> None:
    program = (
        "import sys, platewright.data\n"
        "print([name for name in ('pandas', 'polars', 'pyarrow', 'xarray', 'narwhals') if name in sys.modules])"
    )
    environment = {"PYTHONPATH": str(Path(csv_file.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
