"""The models that a graph with optional arcs stands for  (Figure 26: four hatched arcs, sixteen models).

An optional arc from u to v is either there or cut. To cut it, a parameter of v that is looked up at u loses that axis
(one value for all u), and u as a number in a mean becomes zero. An optional potential is a factor of its component or
not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from platewright.algebra.build import substitute
from platewright.algebra.expression import ZERO, Expression, Index, Literal, Reference, rebuild, walk
from platewright.errors import ModelError
from platewright.graph.graph import Graph
from platewright.language.variable import Variable

Arc = tuple[str, str]


def optional_arcs(graph: Graph) -> tuple[Arc, ...]:
    """All hatched arcs as (from, to), in the order of writing."""
    return tuple((parent, name) for name, node in graph.nodes.items() for parent in node.optional)


def choices(graph: Graph) -> tuple[frozenset[Arc], ...]:
    """What is there or not: each hatched arc, and each optional potential as arcs from its name to what it shapes."""
    potentials = [potential for potential in graph.potentials.values() if potential.optional]
    for potential in potentials:
        if not graph.inside(potential):
            raise ModelError(
                f"the optional potential `{potential.name}` shapes no undirected variable",
                expected="a factor of a component, which is normalised with and without it",
            )
    shaped = (frozenset((potential.name, node) for node in graph.inside(potential)) for potential in potentials)
    return (*(frozenset({arc}) for arc in optional_arcs(graph)), *shaped)


def instances(graph: Graph) -> Iterator[tuple[frozenset[Arc], Graph]]:
    """Every model of the family with the arcs that are present, the fullest first."""
    chosen = choices(graph)
    for choice in product((True, False), repeat=len(chosen)):
        present = frozenset(arc for option, there in zip(chosen, choice, strict=True) if there for arc in option)
        yield present, instance(graph, present)


def instance(graph: Graph, present: frozenset[Arc]) -> Graph:
    """The model with just these optional arcs and potentials."""
    for option in choices(graph):
        if option <= present:
            continue
        (first, *_) = option
        if first[0] in graph.potentials:
            rest = {name: found for name, found in graph.potentials.items() if name != first[0]}
            graph = replace(graph, potentials=rest)
        else:
            graph = without_arc(graph, first)
    graph = replace(graph, potentials={name: replace(p, optional=False) for name, p in graph.potentials.items()})
    nodes = {name: replace(node, optional=()) for name, node in graph.nodes.items()}
    return replace(graph, nodes=nodes)


def without_arc(graph: Graph, arc: Arc) -> Graph:
    """The graph with one optional arc cut."""
    parent, child = arc
    node = graph.nodes[child]
    dropped = _indexed_by(node.log_density, parent)
    changed: dict[str, Variable] = {}
    for name in dropped:
        for user, found in graph.nodes.items():
            if name in found.parents and user != child and user not in dropped:
                raise ModelError(
                    f"`{name}` is looked up at `{parent}`, but `{user}` uses it too: {parent} -> {child} cannot be cut",
                    expected=f"parameters that only `{child}` and its other parameters use",
                )
        changed[name] = _narrowed(graph.nodes[name], dropped)
    changed[child] = _cut(node, parent, dropped)
    nodes = {name: changed.get(name, found) for name, found in graph.nodes.items()}
    # The parent itself stays: it may be data that nobody has given yet.
    return _without_orphans(replace(graph, nodes=nodes), node.parents - changed[child].parents - {parent})


def _without_orphans(graph: Graph, candidates: frozenset[str]) -> Graph:
    """Without parameters that lost their only use when the arc was cut."""
    orphans = [name for name in candidates if name in graph.unknown and not graph.children[name]]
    if not orphans:
        return graph
    above = frozenset(parent for name in orphans for parent in graph.nodes[name].parents)
    return _without_orphans(graph.without(orphans), above)


def _indexed_by(density: Expression, parent: str) -> dict[str, int]:
    """Variables that are looked up at the parent, with the axis."""
    found: dict[str, int] = {}
    for part in walk(density):
        if not isinstance(part, (Reference, Literal)):
            continue
        for axis, at in enumerate(part.indices):
            if isinstance(at, Reference) and at.name == parent:
                if isinstance(part, Literal):
                    raise ModelError(f"a table of numbers is looked up at `{parent}`: its arc cannot be optional")
                found[part.name] = axis
    return found


def _narrowed(node: Variable, dropped: dict[str, int]) -> Variable:
    """A parameter without the plate that is dropped, its prior likewise."""
    axis = dropped[node.name]
    if axis >= len(node.plates):
        raise ModelError(f"`{node.name}` has its optional axis inside each value", expected="a plate of the parameter")
    gone = node.axes[axis]
    axes = tuple(found for number, found in enumerate(node.axes) if number != axis)
    density = _without_axes(node.log_density, dropped)
    if gone in {part for part in walk(density) if isinstance(part, Index)}:
        raise ModelError(f"the prior of `{node.name}` differs along {gone.plate}, so that plate cannot be dropped")
    parameters, given = (
        tuple((name, _without_axes(value, dropped)) for name, value in pairs) for pairs in (node.parameters, node.given)
    )
    return replace(node, axes=axes, log_density=density, parameters=parameters, given=given)


def _without_axes(part: Expression, dropped: dict[str, int]) -> Expression:
    """References to narrowed parameters lose the dropped axis."""
    if isinstance(part, Reference) and part.name in dropped:
        kept = [at for number, at in enumerate(part.indices) if number != dropped[part.name]]
        return Reference(part.name, tuple(_without_axes(at, dropped) for at in kept))
    return rebuild(part, lambda inner: _without_axes(inner, dropped))


def _cut(node: Variable, parent: str, dropped: dict[str, int]) -> Variable:
    """The child without its parent."""
    gone = {part: ZERO for part in walk(node.log_density) if isinstance(part, Reference) and part.name == parent}

    def cut(part: Expression) -> Expression:
        return substitute(_without_axes(part, dropped), gone)  # type: ignore[arg-type]

    parameters, given = (tuple((name, cut(value)) for name, value in pairs) for pairs in (node.parameters, node.given))
    optional = tuple(name for name in node.optional if name != parent)
    return replace(node, log_density=cut(node.log_density), parameters=parameters, given=given, optional=optional)
