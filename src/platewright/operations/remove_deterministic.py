"""Remove deterministic nodes: write their definitions into whatever uses them  (Lemma 6.1).

    w -> ((h)) -> ((m)) -> y          becomes          w -> y

`m[z[n]]` becomes the definition of m at z[n], `m[t-1]` its definition one step back. Indices that the definition binds
step aside when the place would be captured.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from platewright.algebra.build import substitute
from platewright.algebra.expression import Expression, Index, Reference, names
from platewright.errors import ModelError
from platewright.graph.determinism import nondeterministic
from platewright.graph.graph import Graph, topological
from platewright.language.variable import Variable
from platewright.operation import Declined, Step
from platewright.operations.replacing import Replacement, replace_references, replaced_in_graph

NAME = "remove_deterministic"


def remove_deterministic(graph: Graph, nodes: str | Iterable[str] | None = None) -> Step | Declined:
    """Remove one deterministic node, several, or (by default) all of them."""
    chosen = _chosen(graph, nodes)
    for name in chosen:
        if name not in graph.nodes:
            return Declined(NAME, f"there is no node {name}")
        if graph.nodes[name].kind != "deterministic":
            return Declined(NAME, f"{name} is not deterministic")
        if graph.nodes[name].definition is None:
            return Declined(NAME, f"{name} is computed where the program runs: it has no formula to write")
        if name in graph.known:
            return Declined(NAME, f"{name} is known as data: its definition is then a constraint on its parents")
    if not chosen:
        return Declined(NAME, "there is no deterministic node")
    if reason := _joined(graph, set(chosen)):
        return Declined(NAME, reason)
    try:
        after = _inlined(graph, chosen)
    except ModelError as error:
        return Declined(NAME, f"a definition cannot be taken at the place asked for: {error.found}")
    shown = ", ".join(chosen)
    return Step(
        operation=NAME,
        before=graph,
        after=after,
        because=f"{shown} {'is a function' if len(chosen) == 1 else 'are functions'} of other nodes",
        reference="Lemma 6.1",
        formulas=tuple(f"{graph.nodes[name].symbol} = {graph.nodes[name].definition}" for name in chosen),
    )


def _chosen(graph: Graph, nodes: str | Iterable[str] | None) -> list[str]:
    if nodes is None:
        return [name for name, node in graph.nodes.items() if node.kind == "deterministic" and not node.reads]
    return [nodes] if isinstance(nodes, str) else list(nodes)


def _joined(graph: Graph, chosen: set[str]) -> str:
    """Whether a parent of an undirected component would become a member of it: members are read from potentials."""
    for potential in graph.potentials.values():
        members = names(potential.expression)
        if potential.of or not chosen & members or all(graph.nodes[name].kind != "undirected" for name in members):
            continue
        for name in sorted(nondeterministic(graph.nodes, chosen & members) - members):
            if graph.nodes[name].kind == "undirected":
                return f"{name}, a parent of the component of potential {potential.name}, would become a member of it"
    return ""


def _inlined(graph: Graph, chosen: list[str]) -> Graph:
    changes: dict[str, Replacement] = {}
    wanted = set(chosen)
    for name in topological(graph) if len(chosen) > 1 else chosen:
        if name in wanted:
            node = graph.nodes[name]
            assert node.definition is not None  # every deterministic node has one
            changes[name] = _definition_at(node.axes, replace_references(node.definition, changes))
    after = replaced_in_graph(graph.without(chosen), changes)
    return replace(after, nodes={name: _with_options(graph, node, wanted) for name, node in after.nodes.items()})


def _definition_at(axes: tuple[Index, ...], definition: Expression) -> Replacement:
    """The definition of a node as a function of the place it is taken at."""

    def taken_at(reference: Reference) -> Expression:
        return substitute(definition, dict(zip(axes, reference.indices, strict=True)))

    return taken_at


def _with_options(graph: Graph, node: Variable, gone: set[str]) -> Variable:
    """An optional arc from a function becomes optional arcs from what it is a function of."""
    if not gone & set(node.optional):
        return node
    options: dict[str, None] = {}
    for name in node.optional:
        options |= dict.fromkeys(sorted(nondeterministic(graph.nodes, [name])) if name in gone else [name])
    return replace(node, optional=tuple(options))
