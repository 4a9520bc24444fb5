"""One small data set in every form that a user may hold it, and the model that asks for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import xarray
from pyarrow import parquet

from platewright.algebra.domain import BINARY, NATURAL, POSITIVE, REAL, Domain
from platewright.data import ColumnSpec, Dataset, PlateSpec, Signature

COLOURS = ("green", "red", "blue")
FEATURES = ("height", "weight")


def plates(*specs: PlateSpec) -> dict[str, PlateSpec]:
    return {spec.name: spec for spec in specs}


def columns(*specs: ColumnSpec) -> dict[str, ColumnSpec]:
    return {spec.name: spec for spec in specs}


def one_column(domain: Domain, *axes: str, size: int | None = None) -> Signature:
    """A model of one variable `x` on plate `row` (and further plates), with categories in plate `k`."""
    names = dict.fromkeys(("row", *axes))
    specs = [PlateSpec(name, None) for name in names] + [PlateSpec("k", size)]
    return Signature(plates(*specs), columns(ColumnSpec("x", tuple(("row", *axes)), domain)))


SIGNATURE = Signature(
    plates(
        PlateSpec("row", None),
        PlateSpec("feature", None, labels=FEATURES),
        PlateSpec("colour", None),
    ),
    columns(
        ColumnSpec("y", ("row",), REAL),
        ColumnSpec("wait", ("row",), POSITIVE),
        ColumnSpec("count", ("row",), NATURAL),
        ColumnSpec("win", ("row",), BINARY),
        ColumnSpec("hue", ("row",), Domain("levels", levels="colour")),
        ColumnSpec("x", ("row", "feature"), REAL),
        ColumnSpec("z", ("row",), REAL, required=False),
    ),
)

ARRAYS: dict[str, Any] = {
    "y": [0.5, -1.25, 3.0, 2.0],
    "wait": [1.0, 2.0, 0.25, 8.0],
    "count": [0, 3, 1, 12],
    "win": [True, False, False, True],
    "hue": ["red", "green", "red", "blue"],
    "x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
}


def flat() -> dict[str, Any]:
    """The same columns as a table has them."""
    table = {name: values for name, values in ARRAYS.items() if name != "x"}
    for position, feature in enumerate(FEATURES):
        table[f"x[{feature}]"] = [row[position] for row in ARRAYS["x"]]
    return table


def all_sources(folder: Path) -> dict[str, object]:
    """Each source type with the same content."""
    table = flat()
    frame = pandas.DataFrame(table)
    frame.to_csv(folder / "rows.csv", index=False)
    arrow = pyarrow.table(table)
    parquet.write_table(arrow, folder / "rows.parquet", row_group_size=3)
    dims = {name: ("row", "feature") if name == "x" else ("row",) for name in ARRAYS}
    labelled = xarray.Dataset(
        {name: (dims[name], np.array(values)) for name, values in ARRAYS.items()}, coords={"feature": list(FEATURES)}
    )
    return {
        "dict of lists": ARRAYS,
        "dict of arrays": {name: np.array(values) for name, values in ARRAYS.items()},
        "dict of series": {name: pandas.Series(values) if name != "x" else values for name, values in ARRAYS.items()},
        "pandas": frame,
        "polars": polars.DataFrame(table),
        "polars lazy": polars.LazyFrame(table),
        "polars categorical": polars.DataFrame(table).with_columns(polars.col("hue").cast(polars.Categorical)),
        "arrow": arrow,
        "xarray": labelled,
        "xarray transposed": labelled.transpose("feature", "row").isel(feature=[1, 0]),
        "csv": folder / "rows.csv",
        "csv by name": str(folder / "rows.csv"),
        "parquet": folder / "rows.parquet",
    }


def assert_same(one: Dataset, other: Dataset) -> None:
    """Equal in every array, type, size and label."""
    assert one.columns.keys() == other.columns.keys()
    for name, values in one.columns.items():
        assert values.dtype == other.columns[name].dtype
        assert other.columns[name].flags.c_contiguous
        np.testing.assert_array_equal(values, other.columns[name])
    assert one.sizes == other.sizes
    assert one.labels == other.labels
    for mine, theirs in ((one.parents, other.parents), (one.first, other.first)):
        assert mine.keys() == theirs.keys()
        for plate, values in mine.items():
            np.testing.assert_array_equal(values, theirs[plate])
