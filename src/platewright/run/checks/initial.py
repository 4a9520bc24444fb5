"""Values that a user gives an iterative schema to start from."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from platewright.errors import ParameterError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.language.variable import Variable


def checked_initial(
    graph: Graph, chosen: Collection[str], sizes: Mapping[str, int], initial: Mapping[str, object]
) -> dict[str, Array]:
    """Initial values with the shapes of their unknowns, within their ranges; those integrated out are left out."""
    found: dict[str, Array] = {}
    for name, value in initial.items():
        if name not in graph.nodes:
            raise UnknownName(name, [node for node in graph.nodes if node in chosen], where="initial=")
        if graph.nodes[name].kind == "deterministic":
            raise ParameterError(
                f"an initial value of `{name}`, which is computed from others",
                where="initial=",
                expected=f"unknowns that are drawn: {', '.join(node for node in graph.nodes if node in chosen)}",
            )
        if name not in graph.unknown:  # files of BUGS start what other data leave open
            _as_numbers(graph.nodes[name], sizes, value)
            continue
        values = _checked(graph.nodes[name], sizes, value)
        if name in chosen:
            found[name] = values
    return found


def _checked(node: Variable, sizes: Mapping[str, int], value: object) -> Array:
    where = f"initial value of `{node.name}`"
    values, shape = _as_numbers(node, sizes, value)
    if values.shape != shape:
        raise ParameterError(_numbers(values.shape), where=where, expected=_shaped(node, shape))
    if not np.isfinite(values).all():
        raise ParameterError("a value that is missing or infinite", where=where, expected="finite numbers")
    if not node.domain.is_discrete:
        if node.domain.kind == "real" and not _inside(values, node.domain.lower, node.domain.upper):
            raise ParameterError("a value out of range", where=where, expected=str(node.domain))
        return values
    if (values != np.floor(values)).any():
        raise ParameterError("a fraction", where=where, expected=str(node.domain))
    lower, upper = node.domain.lower, node.domain.upper
    if node.domain.kind == "levels":
        lower, upper = 0, sizes.get(str(node.domain.levels), np.inf) - 1
    if not _inside(values, lower, upper):
        last = f", counted from 0 to {upper:g}" if node.domain.kind == "levels" else ""
        raise ParameterError("a value out of range", where=where, expected=f"{node.domain}{last}")
    return values.astype(np.int64)


def _as_numbers(node: Variable, sizes: Mapping[str, int], value: object) -> tuple[Array, tuple[int, ...]]:
    """An array of whatever shape, and the shape that the node has."""
    shape = tuple(sizes[axis.plate] for axis in node.axes)
    try:
        return np.array(value, dtype=float), shape
    except (TypeError, ValueError):
        where = f"initial value of `{node.name}`"
        raise ParameterError("something that is no number", where=where, expected=_shaped(node, shape)) from None


def _shaped(node: Variable, shape: tuple[int, ...]) -> str:
    """What was wanted, with the plates along which it lies."""
    along = f" along {', '.join(axis.plate for axis in node.axes)}" if shape else ""
    return _numbers(shape) + along


def _numbers(shape: tuple[int, ...]) -> str:
    """A shape in words."""
    return f"{' x '.join(map(str, shape))} numbers" if shape else "one number"


def _inside(values: Array, lower: float, upper: float) -> bool:
    return bool(((values >= lower) & (values <= upper)).all())
