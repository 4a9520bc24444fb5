"""Drop an undirected arc between known nodes  (Lemma 2.2 as corrected in E2).

        c (known)                               c (known)
       /         \\            becomes         /         \\
    a (known) - b (known)                a (known)    b (known)

The potentials on the arc are numbers once a, b and all they share are known. The lemma as printed asks only for the
common neighbours; a and b themselves must be known too, or the pair a - b alone would fall apart. In a chain graph the
normaliser of the component must be a number as well, so its parents have to be known.
"""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.expression import names
from platewright.graph.components import component_of, component_parents, undirected_neighbours
from platewright.graph.determinism import settled
from platewright.graph.graph import Graph
from platewright.operation import Declined, Step

NAME = "drop_undirected_arc"


def drop_undirected_arc(graph: Graph, a: str, b: str) -> Step | Declined:
    """Drop the potentials that tie `a` and `b`; the conditional of the unknowns stays the same."""
    for name in (a, b):
        if name not in graph.nodes:
            return Declined(NAME, f"there is no node {name}")
        if name not in graph.known:
            return Declined(NAME, f"{name} is unknown, and the arc carries its dependence on the other")
    if b not in undirected_neighbours(graph, a):
        return Declined(NAME, f"there is no undirected arc between {a} and {b}")
    fixed = settled(graph)
    common = undirected_neighbours(graph, a) & undirected_neighbours(graph, b)
    if unknown := [name for name in graph.nodes if name in common and name not in fixed]:
        return Declined(NAME, f"{unknown[0]}, a common neighbour of {a} and {b}, is unknown")
    above = component_parents(graph, component_of(graph, a))
    if unknown := [name for name in graph.nodes if name in above and name not in fixed]:
        return Declined(
            NAME, f"the normaliser of the component of {a} and {b} depends on {unknown[0]}, which is unknown"
        )
    gone = [name for name, found in graph.potentials.items() if {a, b} <= names(found.expression)]
    left = {name: found for name, found in graph.potentials.items() if name not in gone}
    return Step(
        operation=NAME,
        before=graph,
        after=replace(graph, potentials=left),
        because=f"{a}, {b} and all they share are known, so the potential {', '.join(gone)} is a number",
        reference="Lemma 2.2, corrected (E2)",
    )
