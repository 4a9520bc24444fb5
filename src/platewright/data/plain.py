"""Large arrays of reals that need nothing done to them: taken as they are, with their shapes alone looked at.

Much the usual case of a large fit, and bound in a fraction of the time; whatever is not plain takes the long way, which
also says what is wrong with it.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.data.axes import agree_sizes, spread
from platewright.data.cells import is_upright
from platewright.data.dataset import Dataset
from platewright.data.signature import ColumnSpec, Signature
from platewright.data.support import MUCH, freeze


def bind_plain(signature: Signature, data: object, upright: bool) -> Dataset | None:
    """The data set of large real arrays on unordered plates that lie as they should; None where one does not."""
    if type(data) is not dict or not _has_plain_plates(signature):
        return None
    for name, values in data.items():
        column = signature.columns.get(name)
        if column is None or not _is_plain(column, values, upright):
            return None
    if any(column.required and name not in data for name, column in signature.columns.items()):
        return None
    shapes = [(signature.columns[name], values.shape) for name, values in data.items()]
    sizes = spread(signature, agree_sizes(signature, {}, shapes))
    return Dataset({name: freeze(values) for name, values in data.items()}, sizes, {}, {}, {}, {})


def _is_plain(column: ColumnSpec, values: Any, upright: bool) -> bool:
    """Whether an array is what the column wants, without a look at its cells."""
    if type(values) is not np.ndarray or values.dtype != np.float64 or values.size < MUCH:
        return False
    domain = column.domain
    is_free = domain.kind in ("real", "vector") and domain.lower == -inf and domain.upper == inf
    return is_free and values.ndim == len(column.plates) and _lies_well(values, upright)


def _lies_well(values: NDArray[Any], upright: bool) -> bool:
    flags = values.flags
    return bool(flags.c_contiguous and flags.aligned) or (upright and is_upright(values))


def _has_plain_plates(signature: Signature) -> bool:
    """Whether no plate has names, groups or an order that the data would have to tell."""
    plates = signature.plates.values()
    return all(plate.labels is None and plate.within is None and not plate.ordered for plate in plates)
