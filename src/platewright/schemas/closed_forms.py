"""Blocks of unknowns with a closed form given all else: the exact plan of a graph in which the others are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from platewright.algebra.expression import names
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Plan
from platewright.schemas.blocks import ExactBlock
from platewright.schemas.exact import plan_exact


def given_all_but(graph: Graph, block: Sequence[str], about: Sequence[str] = ()) -> Graph:
    """The graph in which everything outside the block is known, and undirected nodes that do not touch it are data.

    Potentials are those that hold the block, or what it is `about`.
    """
    wanted = frozenset(block)
    if not graph.potentials and wanted.issuperset(graph.unknown):
        return graph  # of which all that was asked before is kept
    known = graph.known | (set(graph.unknown) - wanted)
    held = wanted | set(about)
    potentials = {name: found for name, found in graph.potentials.items() if names(found.expression) & held}
    shaped = {name for found in potentials.values() for name in graph.inside(found)}
    nodes = {
        name: replace(node, kind="input") if node.kind == "undirected" and name not in shaped | wanted else node
        for name, node in graph.nodes.items()
    }
    return replace(graph, nodes=nodes, potentials=potentials, known=known)


def largest_block(graph: Graph, waiting: list[str]) -> ExactBlock | Declined:
    """All that is waiting, else its Gaussian part, else one unknown; or why the first one has no closed form."""
    gaussian = [name for name in waiting if graph.nodes[name].domain.is_unbounded]
    reason = ""
    for block in ([*waiting], gaussian, waiting[:1]):
        if not block:
            continue
        found = plan_exact(given_all_but(graph, block), "posterior", with_evidence=False)
        if isinstance(found, Plan) and set(block) <= drawn_by(found):
            return ExactBlock(tuple(block), found)
        reason = found.reason if isinstance(found, Declined) else "it has nothing below it"
    return Declined("closed form", reason)


def drawn_by(plan: Plan) -> set[str]:
    """The unknowns that a plan has a conditional of."""
    return {name for conditional in plan.conditionals for name in conditional.variables}
