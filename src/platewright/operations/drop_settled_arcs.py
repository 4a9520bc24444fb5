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


def drop_settled_arcs(graph: Graph, node: str) -> Step | Declined:
    """Cut the arcs into `node`; the conditional of the unknowns stays the same, the evidence loses a known factor."""
    if node not in graph.nodes:
        return Declined(NAME, f"there is no node {node}")
    variable = graph.nodes[node]
    if variable.kind == "undirected":
        return Declined(NAME, f"{node} is undirected: its arcs are in potentials (drop_undirected_arc)")
    if variable.kind != "random":
        return Declined(NAME, f"{node} has no density: it is {variable.kind}")
    if node not in graph.known:
        return Declined(NAME, f"{node} is unknown")
    fixed = settled(graph)
    if unknown := [name for name in graph.nodes if name in graph.parents[node] and name not in fixed]:
        return Declined(NAME, f"parent {unknown[0]} of {node} is unknown")
    after = graph.with_nodes([without_density(graph, node)])
    parents = ", ".join(name for name in graph.nodes if name in graph.parents[node])
    factor = f"p({node} | {parents})" if parents else f"p({node})"
    return Step(
        operation=NAME,
        before=graph,
        after=after,
        because=f"{node} and all its parents are known",
        reference="Lemma 2.1",
        formulas=(f"{factor} is a number: it cancels in the conditional and stays a factor of the evidence",),
    )


def without_density(graph: Graph, node: str) -> Variable:
    """A known node as an input: its value is used, its density is not."""
    return replace(graph.nodes[node], kind="input", log_density=ZERO, family=None, parameters=(), optional=())
