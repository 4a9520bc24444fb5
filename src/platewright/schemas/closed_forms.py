"""Blocks of unknowns with a closed form given all else: the exact plan of a graph in which the others are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from platewright.algebra.expression import names
from platewright.elimination.gaussian import gaussian_block
from platewright.elimination.state import State
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Plan
from platewright.schemas.blocks import ExactBlock
from platewright.schemas.exact import plan_exact, prepare


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
    """All that is waiting, else its Gaussian part, else one unknown; or why the first one has no closed form.

    Where Gaussian unknowns multiply each other, one member of each product is left out.
    """
    reason = ""
    for block in _candidates(graph, waiting):
        found = plan_exact(given_all_but(graph, block), "posterior", with_evidence=False)
        if isinstance(found, Plan) and set(block) <= drawn_by(found):
            return ExactBlock(tuple(block), found)
        reason = found.reason if isinstance(found, Declined) else "it has nothing below it"
    return Declined("closed form", reason)


def _candidates(graph: Graph, waiting: list[str]) -> Iterator[list[str]]:
    """Sets that may have a closed form together, the largest first."""
    yield [*waiting]
    gaussian = [name for name in waiting if graph.nodes[name].domain.is_unbounded]
    if gaussian and gaussian != waiting:
        yield gaussian
    if len(gaussian) > 2 and (fewer := _in_one_square(graph, gaussian)) != gaussian and len(fewer) > 1:
        yield fewer
    yield waiting[:1]


def _in_one_square(graph: Graph, gaussian: list[str]) -> list[str]:
    """The largest of a few sets of unknowns in which the log joint is a sum of squares given the others.

    Unknowns join one after another, in the order of writing or from its end: of those that multiply each other the
    first stays.
    """
    now = prepare(given_all_but(graph, gaussian)).graph
    found = []
    for order in (gaussian, gaussian[::-1]):
        block, _ = gaussian_block(State(now, now.factors, tuple(name for name in order if name in now.unknown)))
        found.append([name for name in gaussian if name in block])
    return max(found, key=len)


def drawn_by(plan: Plan) -> set[str]:
    """The unknowns that a plan has a conditional of."""
    return {name for conditional in plan.conditionals for name in conditional.variables}
