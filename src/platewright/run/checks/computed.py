"""Probabilities that a model computes add up to one: looked at where a run starts, where it ends, and in `verify`.

    m.x = pw.Categorical(m.p * m.share)      refused where p share sums to anything else; the error names the row

Nothing in a density would notice: a table that sums to 2 gives each row its factor of 2, and the posterior of `p`
follows it. Tables that are given as numbers are checked where they are written, and columns by `given.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.algebra.build import total
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Literal, Reference, Where, free_indices
from platewright.errors import ParameterError
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.run.checks.given import SUM_TOLERANCE, inner_axes, variables_behind
from platewright.run.samplers.starting import near_centres, starting_values

HINT = "divide by the sum, or give logits=, of which only the differences count"


@dataclass(frozen=True)
class Computed:
    """A vector of probabilities that is an expression: whose, and the axes of its rows."""

    node: str
    table: str
    sums: Expression
    axes: tuple[Index, ...]
    behind: frozenset[str]


def computed_probabilities(graph: Graph) -> tuple[Computed, ...]:
    """Every vector of probabilities that follows from others, a table that is looked up row by row."""
    found: dict[Expression, Computed] = {}
    for name, node in graph.nodes.items():
        if node.family is None or node.kind != "random":
            continue
        for word, written in node.given:
            parameter = node.family.argument(word)
            if parameter.domain.kind != "simplex" or not parameter.rank:
                continue
            events = inner_axes(node, written, parameter.rank)
            for part in _apart(written) if events else ():
                table = _table(graph, part, events[0])
                if table is None:
                    continue
                whole, shown, event, axes = table
                rows = axes if axes is not None else node.plates
                if event in free_indices(whole):
                    sums = total(whole, event)
                    found.setdefault(sums, Computed(name, shown, sums, rows, variables_behind(graph, whole)))
    return tuple(found.values())


def _apart(written: Expression) -> list[Expression]:
    """The first element's probabilities and the later ones, where both are looked up."""
    if isinstance(written, Where) and all(
        isinstance(p, (Reference, Literal)) for p in (written.then, written.otherwise)
    ):
        return [written.then, written.otherwise]
    return [written]


def _table(
    graph: Graph, part: Expression, event: Index
) -> tuple[Expression, str, Index, tuple[Index, ...] | None] | None:
    """What is to be summed, how it is called, along which axis, and its own rows; None where it is no computation."""
    if isinstance(part, Literal):
        return None  # numbers of the model, which were checked where they were written
    node = graph.nodes.get(part.name) if isinstance(part, Reference) else None
    if node is None or not isinstance(part, Reference) or event not in part.indices:
        return part, "", event, None
    if node.definition is None:
        return None  # a vector of probabilities of its own, or a column
    axis = node.axes[part.indices.index(event)]
    return node.definition, node.name, axis, tuple(other for other in node.axes if other != axis)


def check_computed(
    graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int], values: Mapping[str, Array] | None = None
) -> None:
    """Raise for the first row whose probabilities do not add up to one, at some values of the unknowns."""
    for computed in computed_probabilities(graph):
        sums = sums_of(computed, graph, columns, sizes, values)
        if sums is None:
            continue
        wrong = is_off(sums)
        if wrong.any() and values is None:  # moderate values may be far from all that the model allows
            near = sums_of(computed, graph, columns, sizes, near_centres(graph, columns, sizes))
            wrong = wrong if near is None else wrong & is_off(near)
        if not wrong.any():
            continue
        at = np.unravel_index(int(np.argmax(wrong)), sums.shape)
        places = ", ".join(f"{axis.plate} {number}" for axis, number in zip(computed.axes, at, strict=True))
        owner = f"`{computed.table}`, the probabilities of `{computed.node}`," if computed.table else ""
        said = owner or f"the probabilities of `{computed.node}`"
        verb = "adds up" if owner else "add up"
        raise ParameterError(
            f"{said} {verb} to {sums[at]:.6g}",
            where=f"row {places} (elements count from 0)" if places else f"variable {computed.node}",
            expected="a sum of 1, whatever the unknowns are",
            hint=HINT,
        )


def is_off(sums: Array) -> Array:
    """Which sums are not one. A row of zeros is allowed: it says that nothing gets there."""
    with np.errstate(invalid="ignore"):
        return np.isfinite(sums) & (np.abs(sums - 1) > SUM_TOLERANCE) & (sums != 0)


def sums_of(
    computed: Computed,
    graph: Graph,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    values: Mapping[str, Array] | None = None,
) -> Array | None:
    """The sum of each row, at these values or at moderate ones; None where some of them have bounds that others set."""
    needed = computed.behind
    plates = {axis.plate for name in needed for axis in graph.nodes[name].axes} | {axis.plate for axis in computed.axes}
    if not plates <= set(sizes):
        return None
    known = {name: np.asarray(array) for name, array in columns.items()}
    if values is None:
        wanted = [name for name in needed if name not in known and graph.nodes[name].definition is None]
        if any(_is_within_others(graph, name) for name in wanted):
            return None
        values = starting_values(graph, wanted, sizes, np.random.default_rng(0))
    found = {**known, **values}
    for name in topological(graph):
        node = graph.nodes[name]
        if name in needed and name not in found and node.definition is not None:
            with np.errstate(all="ignore"):
                found[name] = np.array(evaluate(node.definition, Environment(found, sizes), node.axes))
    if not needed <= set(found):
        return None
    with np.errstate(all="ignore"):
        return np.array(evaluate(computed.sums, Environment(found, sizes), computed.axes))


def _is_within_others(graph: Graph, name: str) -> bool:
    """Whether other unknowns bound it, so that values for each by itself may be out of range."""
    node = graph.nodes[name]
    family = node.family
    if family is None:
        return False
    ends = {bound.name for bound in (family.lower, family.upper) if isinstance(bound, Reference)}
    unknown = set(graph.unknown)
    return any(word in ends and variables_behind(graph, written) & unknown for word, written in node.parameters)
