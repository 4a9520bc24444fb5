"""Values that a user gives an iterative schema to start from."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from platewright.errors import PlatewrightError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph


def checked_initial(
    graph: Graph, chosen: Collection[str], sizes: Mapping[str, int], initial: Mapping[str, object]
) -> dict[str, Array]:
    """Initial values with the shapes of their unknowns, within their ranges; those of known nodes are left out."""
    found: dict[str, Array] = {}
    for name, value in initial.items():
        if name not in graph.nodes:
            raise UnknownName(name, [node for node in graph.nodes if node in chosen], where="initial=")
        if name not in chosen:
            continue
        node = graph.nodes[name]
        values = np.array(value, dtype=float)
        shape = tuple(sizes[axis.plate] for axis in node.axes)
        where = f"initial value of `{name}`"
        if values.shape != shape:
            raise PlatewrightError(f"an array of shape {values.shape}", where=where, expected=f"shape {shape}")
        if not np.isfinite(values).all():
            raise PlatewrightError("a value that is missing or infinite", where=where, expected="finite numbers")
        if node.domain.kind in ("real", "integer") and not _inside(values, node.domain.lower, node.domain.upper):
            raise PlatewrightError("a value out of range", where=where, expected=str(node.domain))
        found[name] = values.astype(np.int64) if node.domain.kind in ("integer", "levels") else values
    return found


def _inside(values: Array, lower: float, upper: float) -> bool:
    return bool(((values >= lower) & (values <= upper)).all())
