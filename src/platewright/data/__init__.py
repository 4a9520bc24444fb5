"""Binding of data to models: from frames, arrays and files to typed columns, plate sizes and category labels."""

from platewright.data.bind import bind
from platewright.data.dataset import Dataset
from platewright.data.signature import ColumnSpec, PlateSpec, Signature
from platewright.data.stream import batches, count_rows

__all__ = ["ColumnSpec", "Dataset", "PlateSpec", "Signature", "batches", "bind", "count_rows"]
