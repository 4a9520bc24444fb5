"""Count unknowns as known for a while: what an iteration holds fixed  (Figures 30 and 31, Section 7.4).

    phi -> [ class -> x ] <- theta          becomes          phi -> [ class (known) -> x ] <- theta

A Gibbs block is drawn given the rest, the maximisation of EM treats expected statistics as if they were data. No
density changes: the joint at any values is what it was.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from platewright.graph.graph import Graph
from platewright.operation import Declined, Step

NAME = "count_as_known"


def count_as_known(graph: Graph, names: Iterable[str], because: str = "") -> Step | Declined:
    """Some unknowns as known nodes."""
    chosen = [name for name in names if name in graph.unknown]
    if not chosen:
        return Declined(NAME, "none of the nodes is unknown")
    shown = ", ".join(chosen)
    why = because or f"{shown} {'is' if len(chosen) == 1 else 'are'} held fixed in this part of an iteration"
    return Step(NAME, graph, replace(graph, known=graph.known | set(chosen)), why, "Figures 30 and 31")
