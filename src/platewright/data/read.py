"""Tell what kind of source the user gave, and read it with the room that knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from platewright.data.cells import Table, concatenate_tables
from platewright.data.csv_file import count_csv_rows, read_csv, read_header
from platewright.data.foreign import in_our_words
from platewright.data.frames import is_frame, read_frame
from platewright.data.labelled import is_labelled, read_labelled
from platewright.data.layout import Labels, Layout, find_layout
from platewright.data.mappings import read_mapping
from platewright.data.parquet_file import count_parquet_rows, read_names, read_parquet
from platewright.data.signature import Signature
from platewright.errors import SourceError

PIECE_ROWS = 65_536


def read_table(signature: Signature, data: object, labels: Labels) -> Table:
    """The whole of a source, as it holds it."""
    if path := as_path(data):
        return concatenate_tables(list(read_pieces(path, file_layout(signature, path, labels), PIECE_ROWS)))
    if isinstance(data, Mapping) and not is_labelled(data):
        return read_mapping(signature, data)
    kind = type(data).__name__
    with in_our_words(f"a {kind}", lambda: "the data", hint="give a dict of NumPy arrays"):
        if is_labelled(data):
            return read_labelled(signature, data, labels)
        if is_frame(data):
            return read_frame(signature, data, labels)
    raise SourceError(
        f"data of type {type(data).__name__} cannot be read",
        expected="a dict of arrays, a pandas, polars or Arrow table, an xarray Dataset, or a .csv or .parquet path",
    )


def as_path(data: object) -> Path | None:
    """The file that is meant, or None when the data are in memory."""
    if not isinstance(data, (str, Path)):
        return None
    path = Path(data)
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise SourceError(f"files named `*{path.suffix}` cannot be read", where=str(path), expected=".csv or .parquet")
    if not path.is_file():
        raise SourceError("there is no such file", where=str(path))
    return path


def file_layout(signature: Signature, path: Path, labels: Labels) -> Layout:
    """Where the model's variables are in a file."""
    names = read_header(path) if path.suffix.lower() == ".csv" else read_names(path)
    return find_layout(signature, names, labels)


def read_pieces(path: Path, layout: Layout, rows: int) -> Iterator[Table]:
    """The file piece by piece; the first piece may be empty and then only tells the columns."""
    return read_csv(path, layout, rows) if path.suffix.lower() == ".csv" else read_parquet(path, layout, rows)


def count_file_rows(path: Path) -> int:
    """Number of rows in a file."""
    return count_csv_rows(path) if path.suffix.lower() == ".csv" else count_parquet_rows(path)
