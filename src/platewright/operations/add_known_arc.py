"""Update a decomposition when an arc from a known node is added or removed  (Lemma 6.3, Figure 26).

    piece:   v1 (input) -> [x] <- mu         with v2 (known) -> x         v1 (input), v2 (input) -> [x] <- mu
    all other pieces are kept as they are, the very same values

Arcs are read from densities, so a change of arcs is a new density for the node; parameters of the same piece may get
new axes with it (`mu[v1]` becomes `mu[v1, v2]`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from platewright.graph.determinism import nondeterministic
from platewright.graph.graph import Graph
from platewright.language.plate import Plate
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.operations.decompose import REST, Decomposition
from platewright.operations.piece import piece_of, written_order

NAME = "add_known_arc"


def add_known_arc(
    pieces: Decomposition, changed: Variable | Iterable[Variable], plates: Mapping[str, Plate] | None = None
) -> Decomposition | Declined:
    """The decomposition of the graph with some nodes replaced, rebuilding the one piece that they are in."""
    new = {node.name: node for node in ((changed,) if isinstance(changed, Variable) else changed)}
    graph = pieces.before
    if reason := _refusal(pieces, new):
        return Declined(NAME, reason)
    after = replace(graph, plates={**graph.plates, **(plates or {})}).with_nodes(new.values())
    home = pieces.home[next(iter(new))]
    old = pieces.rest if home == REST else pieces.pieces[home]
    owned = {name for name in (*old.nodes, *old.potentials) if pieces.home.get(name) == home}
    owned |= {*old.unknown, *(name for name, node in old.nodes.items() if node.kind == "deterministic")}
    rebuilt = piece_of(after, owned, written_order(after))
    shown = ", ".join(new)
    return replace(
        pieces,
        before=after,
        pieces=tuple(rebuilt if at == home else piece for at, piece in enumerate(pieces.pieces)),
        rest=rebuilt if home == REST else pieces.rest,
        because=f"only arcs from known nodes into {shown} changed, so one piece changes",
        operation=NAME,
        reference="Lemma 6.3",
    )


def _refusal(pieces: Decomposition, new: Mapping[str, Variable]) -> str:
    """The condition that fails, or nothing."""
    graph = pieces.before
    if not new:
        return "no node changes"
    for name, node in new.items():
        if name not in graph.nodes:
            return f"there is no node {name}"
        if node.kind != "random" or graph.nodes[name].kind != "random":
            return f"{name} is {graph.nodes[name].kind}: Lemma 6.3 is about nodes with a conditional of their own"
        if strange := sorted(node.parents - set(graph.nodes)):
            return f"the new density of {name} mentions {strange[0]}, which is not in the graph"
        before = nondeterministic(graph.nodes, graph.nodes[name].parents)
        after = nondeterministic(graph.nodes, node.parents)
        for parent in sorted(before ^ after):
            if not _is_given(graph, parent):
                return f"the arc from {parent} to {name} comes from an unknown node: decompose again"
        if _reaches(graph, name, after - before):
            return f"the new arcs into {name} close a circle"
    homes = {pieces.home[name] for name in new}
    if len(homes) > 1:
        return f"{', '.join(new)} are not all in one piece"
    return ""


def _is_given(graph: Graph, name: str) -> bool:
    return name in graph.known or graph.nodes[name].kind in ("input", "statistic")


def _reaches(graph: Graph, name: str, parents: frozenset[str]) -> bool:
    """Whether `name` is an ancestor of one of the parents."""
    seen: set[str] = set()
    waiting = list(parents)
    while waiting:
        above = waiting.pop()
        if above == name:
            return True
        if above not in seen:
            seen.add(above)
            waiting.extend(graph.parents[above])
    return False
