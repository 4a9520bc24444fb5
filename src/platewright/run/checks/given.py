"""Parameters that the data give must lie in their range: a column of 3.5 trials, or successes above their trials.

Numbers written in the model are checked where they are written; those that come from columns only here. A parameter
that depends on an unknown is the business of the density.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Lag, Reference, walk
from platewright.errors import SupportError
from platewright.family import Array, Parameter
from platewright.graph.graph import Graph
from platewright.language.variable import Variable


def check_given(
    graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int], holes: Collection[str] = ()
) -> None:
    """Raise for the first parameter, or value beside its parameter, that no distribution has.

    Columns with `holes` hold something in their missing cells, and are not compared.
    """
    environment = Environment(columns, sizes)
    for node in graph.nodes.values():
        if node.family is None or not node.family.proper or any(axis.plate not in sizes for axis in node.plates):
            continue
        for name, written in node.parameters:
            parameter = node.family.parameter(name)
            if parameter.rank or not _from_columns(written, columns):
                continue
            values = evaluate(written, environment, node.plates)
            _check(node, node.plates, _outside(parameter, values), values, name, str(parameter.domain))
            if graph.is_known(node.name) and node.name in columns and node.name not in holes:
                _check_beside(node, name, values, columns[node.name])


def _from_columns(written: Expression, columns: Mapping[str, Array]) -> bool:
    """Whether the data alone say what an expression is; what looks back has a start of its own."""
    named, looks_back = _named(written)
    return bool(named) and not looks_back and all(name in columns for name in named)


@lru_cache(maxsize=4096)
def _named(written: Expression) -> tuple[frozenset[str], bool]:
    """Which variables an expression names, and whether it looks back."""
    parts = tuple(walk(written))
    named = frozenset(part.name for part in parts if isinstance(part, Reference))
    return named, any(isinstance(part, Lag) for part in parts)


def _outside(parameter: Parameter, values: Array) -> Array:
    """Where values are out of range; a missing cell is not."""
    domain = parameter.domain
    strict = domain.kind == "real" and domain.lower == 0.0 and domain.upper == np.inf and not parameter.may_be_zero
    outside = (values <= 0) if strict else (values < domain.lower)
    outside = outside | (values > domain.upper) | np.isinf(values)
    return outside | (values != np.floor(values)) & ~np.isnan(values) if domain.kind == "integer" else outside


def _check_beside(node: Variable, name: str, values: Array, seen: Array) -> None:
    """Successes are at most the trials, and the counts of a vector add up to them."""
    if node.family is None or not isinstance(seen, np.ndarray):
        return
    if node.family.upper == Reference(name):
        _check(node, node.axes, seen > values, seen, "", f"at most its {name}")
    elif node.family.rank == 1 and name == "count":
        sums = seen.sum(axis=-1)
        _check(node, node.plates, (sums != values) & ~np.isnan(sums), sums, "", f"a sum equal to its {name}", "sums to")


def _check(
    node: Variable, axes: tuple[Index, ...], wrong: Array, values: Array, name: str, expected: str, verb: str = "is"
) -> None:
    if not np.any(wrong):
        return
    at = np.unravel_index(int(np.argmax(wrong)), np.shape(wrong))
    where = ", ".join(f"{axis.plate} {number}" for axis, number in zip(axes, at, strict=True))
    shown = f"{name} of `{node.name}`" if name else f"`{node.name}`"
    raise SupportError(
        f"{shown} {verb} {values[at]:g}, which its distribution does not allow",
        where=f"{where} (elements count from 0; {int(np.sum(wrong))} such in all)"
        if where
        else f"variable {node.name}",
        expected=expected,
        hint=f"look at the columns that the {name or 'value'} of `{node.name}` comes from",
    )
