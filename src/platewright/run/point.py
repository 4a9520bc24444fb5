"""Read a point of a graph: a value for each node, checked, and the sizes of the plates that follow.

{"theta": 0.3, "heads": [1, 0, 1]}      ->      arrays, {"toss": 3}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from platewright.errors import ShapeError, SupportError, UnknownName, WrongType
from platewright.family import Array
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph
from platewright.language.plate import beginning, membership
from platewright.language.variable import Variable

Point = tuple[dict[str, Array], dict[str, int]]


def read_point(graph: Graph, point: Mapping[str, Any], without: frozenset[str] = frozenset()) -> Point:
    """The values of all nodes that have one of their own, and all sizes; those of `without` may be absent.

    Membership in an outer plate goes by that plate's name, as in data; sequences begin at their first element unless
    `first@...` says otherwise.
    """
    names = {membership(n, plate.within): plate.within for n, plate in graph.plates.items() if plate.within is not None}
    wanted = {name: names.get(name, name) for name, node in graph.nodes.items() if _has_value(node)}
    if strangers := [name for name in point if name not in {*wanted, *wanted.values()}]:
        raise UnknownName(strangers[0], set(wanted.values()), where="point")
    sizes = {name: size for name, size in fixed_sizes(graph).items()}
    values: dict[str, Array] = {}
    for name, shown in wanted.items():
        node = graph.nodes[name]
        if shown in point or name in point:
            values[name] = _checked(node, point[name] if name in point else point[shown], sizes)
    for name, value in values.items():  # no node tells the size of a plate that codes alone point at
        levels = graph.nodes[name].domain.levels
        if levels is not None and levels not in sizes and value.size:
            sizes[levels] = int(value.max()) + 1
    for name, plate in graph.plates.items():
        if plate.ordered and beginning(name) in graph.nodes and name in sizes:
            values.setdefault(beginning(name), np.asarray(np.arange(sizes[name]) == 0, dtype=np.int64))
    if absent := [shown for name, shown in wanted.items() if name not in values and name not in without]:
        raise UnknownName(
            absent[0],
            point,
            where="point",
            found=f"the point has no value for `{absent[0]}`",
            hint="give every node one",
        )
    return values, sizes


def read_values(
    graph: Graph, names: Iterable[str], point: Mapping[str, Any], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """The values of some unknowns, checked against sizes that are known."""
    wanted = list(names)
    if strangers := [name for name in point if name not in wanted]:
        raise UnknownName(strangers[0], wanted, where="point")
    if absent := [name for name in wanted if name not in point]:
        found = f"the point has no value for `{absent[0]}`"
        raise UnknownName(absent[0], point, where="point", found=found, hint="give every unknown one")
    return {name: _checked(graph.nodes[name], point[name], dict(sizes)) for name in wanted}


def _has_value(node: Variable) -> bool:
    return node.kind in ("random", "undirected", "input")


def _checked(node: Variable, given: Any, sizes: dict[str, int]) -> Array:
    """A value as an array along the node's axes, its sizes those of other nodes."""
    try:
        value = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise WrongType(f"`{node.name}` was given {given!r}", where="point", expected="numbers or codes") from None
    if value.ndim != len(node.axes):
        shown = ", ".join(axis.name for axis in node.axes) or "none: one number"
        raise ShapeError(f"`{node.name}` has {value.ndim} axes", where="point", expected=f"axes {shown}")
    for axis, size in zip(node.axes, value.shape, strict=True):
        if sizes.setdefault(axis.plate, size) != size:
            raise ShapeError(
                f"`{node.name}` has {size} elements along `{axis.plate}`",
                where="point",
                expected=f"{sizes[axis.plate]}",
            )
    if node.domain.kind == "levels" or node.domain.is_discrete:
        if not np.equal(value, np.round(value)).all():
            raise SupportError(
                f"`{node.name}` holds {value.ravel()[0]}", where="point", expected="whole numbers: codes"
            )
        return value.astype(np.int64)
    return value
