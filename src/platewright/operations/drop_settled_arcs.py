"""Drop the arcs into a node whose value and whose parents' values are known  (Lemma 2.1, Figure 5).

    a (known) -> x (known) <- b (known)      becomes      a    x    b          x an input without a density

The factor p(x | a, b) is a number. It cancels in the conditional of the unknowns given the knowns, which is all that
this operation keeps: the number is still part of the evidence, so do not use the result to compute an evidence.
"""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.expression import ZERO
from platewright.graph.determinism import settled
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.operation import Declined, Step

NAME = "drop_settled_arcs"


def drop_settled_arcs(graph: Graph, node: str | None = None) -> Step | Declined:
    """Cut the arcs into `node`, or into every node that allows it (by default).

    The conditional of the unknowns stays the same; the evidence loses known factors.
    """
    fixed = settled(graph)
    if node is not None and (reason := _refusal(graph, node, fixed)):
        return Declined(NAME, reason)
    chosen = [name for name in graph.nodes if not _refusal(graph, name, fixed)] if node is None else [node]
    if not chosen:
        return Declined(NAME, "there is no known node with known parents only")
    shown = ", ".join(chosen)
    return Step(
        operation=NAME,
        before=graph,
        after=graph.with_nodes([without_density(graph, name) for name in chosen]),
        because=f"{shown} and all {'its' if len(chosen) == 1 else 'their'} parents are known",
        reference="Lemma 2.1",
        formulas=tuple(f"{_factor(graph, name)} is a number: it cancels, but stays in the evidence" for name in chosen),
    )


def _refusal(graph: Graph, node: str, fixed: frozenset[str]) -> str:
    """The condition that fails, or nothing."""
    if node not in graph.nodes:
        return f"there is no node {node}"
    kind = graph.nodes[node].kind
    if kind == "undirected":
        return f"{node} is undirected: its arcs are in potentials (drop_undirected_arc)"
    if kind != "random":
        return f"{node} has no density: it is {kind}"
    if node not in graph.known:
        return f"{node} is unknown"
    if unknown := sorted(graph.parents[node] - fixed):
        return f"parent {unknown[0]} of {node} is unknown"
    return ""


def _factor(graph: Graph, node: str) -> str:
    parents = ", ".join(sorted(graph.parents[node]))
    return f"p({node} | {parents})" if parents else f"p({node})"


def without_density(graph: Graph, node: str) -> Variable:
    """A known node as an input: its value is used, its density is not."""
    return replace(graph.nodes[node], kind="input", log_density=ZERO, family=None, parameters=(), given=(), optional=())
