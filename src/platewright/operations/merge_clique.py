"""Merge a clique of undirected nodes into one node on their cross product  (Comment 2.1, Figures 6 and 7).

    P -> {heart - lung} -> S        becomes        P -> heart_lung -> S

The merged node w has a level for each combination of levels. Wherever a member stood, its level is looked up in a
table: heart = (0, 0, 1, 1)[w], lung = (0, 1, 0, 1)[w]. When the members are known, so is w = 2 heart + lung.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import prod

from platewright.algebra.domain import Domain
from platewright.algebra.expression import Expression, Literal, Reference
from platewright.graph.components import undirected_neighbours
from platewright.graph.determinism import nd_children, nd_parents
from platewright.graph.graph import Graph
from platewright.language.plate import Plate
from platewright.language.variable import Variable
from platewright.operation import Declined, Step
from platewright.operations.replacing import replaced_in_graph

NAME = "merge_clique"
MOST_LEVELS = 10_000


def merge_clique(graph: Graph, members: Iterable[str], name: str = "") -> Step | Declined:
    """Replace the members by one undirected node; the joint density stays the same, level by level."""
    chosen = list(dict.fromkeys(members))
    merged = name or "_".join(chosen)
    if reason := _refusal(graph, chosen, merged):
        return Declined(NAME, reason)
    sizes = [_levels(graph, member) for member in chosen]
    levels = Plate(f"{merged}.levels", prod(sizes))
    first = graph.nodes[chosen[0]]
    node = Variable(merged, "undirected", first.axes, Domain("levels", levels=levels.name))
    strides = [prod(sizes[at + 1 :]) for at in range(len(sizes))]
    changes = {
        member: partial(_decoded, node, levels, [w // stride % size for w in range(prod(sizes))])
        for member, size, stride in zip(chosen, sizes, strides, strict=True)
    }
    rewritten = replaced_in_graph(graph, changes)
    nodes: dict[str, Variable] = {}
    for old, kept in rewritten.nodes.items():
        if old not in chosen:
            nodes[old] = kept
        elif merged not in nodes:
            nodes[merged] = node
    known = graph.known - set(chosen)
    if chosen[0] in graph.known:
        known |= {merged}
    code = " + ".join(f"{stride} {member}" if stride > 1 else member for stride, member in zip(strides, chosen))
    return Step(
        operation=NAME,
        before=graph,
        after=replace(rewritten, nodes=nodes, known=known, plates={**graph.plates, levels.name: levels}),
        because=f"{', '.join(chosen)} form a clique with the same parents and children",
        reference="Comment 2.1",
        formulas=(f"{merged} = {code}",),
    )


def _decoded(node: Variable, levels: Plate, table: Sequence[int], reference: Reference) -> Expression:
    """The level of a member, looked up from the level of the merged node."""
    values = tuple(float(value) for value in table)
    return Literal(values, (len(values),), (levels.name,), (Reference(node.name, reference.indices),))


def _levels(graph: Graph, member: str) -> int:
    return graph.plates[str(graph.nodes[member].domain.levels)].size or 0


def _refusal(graph: Graph, chosen: list[str], merged: str) -> str:
    """The condition that fails, or nothing."""
    if len(chosen) < 2:
        return "a clique to merge has two members or more"
    for member in chosen:
        if member not in graph.nodes:
            return f"there is no node {member}"
        if graph.nodes[member].kind != "undirected":
            return f"{member} is not undirected"
        if graph.nodes[member].domain.kind != "levels" or not _levels(graph, member):
            return f"{member} has no fixed number of levels"
    if merged in graph.nodes:
        return f"there is a node {merged} already"
    first = chosen[0]
    inside = set(chosen)
    for one, two in combinations(chosen, 2):
        if two not in undirected_neighbours(graph, one):
            return f"{one} and {two} are not neighbours"
    for member in chosen[1:]:
        if graph.nodes[member].axes != graph.nodes[first].axes:
            return f"{first} and {member} are on different plates"
        if (member in graph.known) != (first in graph.known):
            return f"of {first} and {member} only one is known"
        if nd_parents(graph, member) - inside != nd_parents(graph, first) - inside:
            return f"{first} and {member} have different parents"
        if nd_children(graph, member) - inside != nd_children(graph, first) - inside:
            return f"{first} and {member} have different children"
    if prod(_levels(graph, member) for member in chosen) > MOST_LEVELS:
        return f"the merged node would have more than {MOST_LEVELS} levels"
    return ""
