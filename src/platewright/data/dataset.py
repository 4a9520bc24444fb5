"""Data bound to a model: typed arrays, plate sizes, category labels, and the outer groups of long tables.

columns["x"]     float64, or int64 codes and counts; axes in the order the model declared; read-only, C-contiguous
                 (a matrix from columns of a file may be Fortran-contiguous, where that was asked for)
sizes["row"]     number of elements of a plate
labels["k"]      what code 0, 1, ... of plate k stands for
parents["word"]  for each word, the code of its outer element
first["time"]    true where a series begins
missing["x"]     true where a cell had no value; only for variables with such cells
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from platewright.data.signature import Signature

Column = NDArray[np.float64] | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Checked data. Columns that the data do not have are absent; arrays may share memory with the user's."""

    columns: Mapping[str, Column]
    sizes: Mapping[str, int]
    labels: Mapping[str, tuple[object, ...]]
    parents: Mapping[str, NDArray[np.int64]]
    first: Mapping[str, NDArray[np.bool_]]
    missing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    @property
    def known(self) -> frozenset[str]:
        """The variables that the data make known, some of them perhaps only partly."""
        return frozenset(self.columns)


def slice_rows(dataset: Dataset, signature: Signature, row: str, start: int, stop: int) -> Dataset:
    """The elements `start` to `stop` of plate `row`, as views wherever `row` is the first axis."""
    columns = {
        name: _slice_axis(values, signature.columns[name].plates, row, start, stop)
        for name, values in dataset.columns.items()
    }
    sizes = {**dataset.sizes, row: stop - start}
    labels = dict(dataset.labels)
    if row in labels:
        labels[row] = labels[row][start:stop]
    parents = {name: codes[start:stop] if name == row else codes for name, codes in dataset.parents.items()}
    first = {name: flags[start:stop] if name == row else flags for name, flags in dataset.first.items()}
    return replace(dataset, columns=columns, sizes=sizes, labels=labels, parents=parents, first=first)


def _slice_axis(values: Column, plates: tuple[str, ...], row: str, start: int, stop: int) -> Column:
    """Cut the axis of plate `row`; a cut along a later axis must be copied to stay contiguous."""
    if row not in plates:
        return values
    axis = plates.index(row)
    cut = values[(slice(None),) * axis + (slice(start, stop),)]
    if cut.flags.c_contiguous:
        return cut
    copied: Column = cut.copy(order="C")
    copied.flags.writeable = False
    return copied
