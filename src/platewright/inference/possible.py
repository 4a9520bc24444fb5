"""Drop levels that cannot occur, before any order is chosen.

    y = x or z, and y is known to be 0      leaves      x = 0, z = 0

A level of a variable is impossible when some table is zero wherever it holds. Dropping it may make others impossible,
and so on until nothing changes. A variable with one level left is as good as known: the tables shrink, and often the
width with them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from platewright.family import Array
from platewright.inference.factor import Table
from platewright.inference.propagation import ZeroProbability

Levels = Mapping[str, Array]


def possible_levels(tables: Sequence[Table], sizes: Mapping[str, int]) -> dict[str, Array]:
    """The positions that are not ruled out, for each variable."""
    left = {name: np.arange(size) for name, size in sizes.items()}
    touching: dict[str, list[int]] = {name: [] for name in sizes}
    for at, table in enumerate(tables):
        for name in table.names:
            touching[name].append(at)
    with_zeros = [bool((table.log_values == -np.inf).any()) for table in tables]
    waiting = deque(at for at, holds in enumerate(with_zeros) if holds)
    queued = set(waiting)
    while waiting:
        at = waiting.popleft()
        queued.discard(at)
        for name, kept in _narrowed(tables[at], left):
            left[name] = kept
            for other in touching[name]:
                if other != at and with_zeros[other] and other not in queued:
                    waiting.append(other)
                    queued.add(other)
    return left


def _narrowed(table: Table, left: Levels) -> list[tuple[str, Array]]:
    """The variables of a table that lose levels, with what they keep."""
    allowed = restricted(table.log_values, [left[name] for name in table.names]) > -np.inf
    if not allowed.any():
        raise ZeroProbability
    found = []
    for axis, name in enumerate(table.names):
        others = tuple(other for other in range(allowed.ndim) if other != axis)
        keep = allowed.any(axis=others)
        if not keep.all():
            found.append((name, left[name][keep]))
    return found


def restricted(values: Array, levels: Sequence[Array]) -> Array:
    """A table at some levels of each axis."""
    for axis, kept in enumerate(levels):
        if len(kept) < values.shape[axis]:
            values = np.take(values, kept, axis=axis)
    return values


def narrowed_tables(tables: Sequence[Table], left: Levels) -> tuple[Table, ...]:
    """The tables at possible levels only, without axes of one level."""
    result = []
    for table in tables:
        values = restricted(table.log_values, [left[name] for name in table.names])
        open_names = tuple(name for name in table.names if len(left[name]) > 1)
        shape = [len(left[name]) for name in open_names]
        result.append(replace(table, names=open_names, log_values=values.reshape(shape)))
    return tuple(result)
