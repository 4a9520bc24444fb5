"""A directed network: its nodes and its arcs, and what can be read from them without any data.

Network(("a", "b", "c"), {("a", "b"), ("b", "c")})          a -> b -> c
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from platewright.errors import CycleError, FormatError, MissingExtra, ModelError, UnknownName
from platewright.language.networks.bif import read_parents

Arc = tuple[str, str]
FORMAT = "platewright network 1"


@dataclass(frozen=True)
class Network:
    """Nodes in a fixed order and arcs as (parent, child)."""

    nodes: tuple[str, ...]
    arcs: frozenset[Arc]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        object.__setattr__(self, "arcs", frozenset((parent, child) for parent, child in self.arcs))
        for arc in self.arcs:
            for name in arc:
                if name not in self.nodes:
                    raise UnknownName(name, self.nodes, where=f"the arc {arc[0]} -> {arc[1]}")
        if cycle := find_cycle(self.nodes, self.arcs):
            raise CycleError(f"the arcs lead in a circle: {' -> '.join(cycle)}", expected="no directed cycle")

    def __str__(self) -> str:
        """`[a][b|a][c|a:b]`, the short form of networks."""
        listed = ((name, sorted(self.parents(name), key=self.nodes.index)) for name in self.nodes)
        return "".join(f"[{name}|{':'.join(above)}]" if above else f"[{name}]" for name, above in listed)

    @cached_property
    def _above(self) -> Mapping[str, frozenset[str]]:
        return {name: frozenset(parent for parent, child in self.arcs if child == name) for name in self.nodes}

    def parents(self, node: str) -> frozenset[str]:
        """The nodes with an arc into this one."""
        return self._above[self._known(node)]

    def children(self, node: str) -> frozenset[str]:
        """The nodes that this one has an arc into."""
        return frozenset(child for parent, child in self.arcs if parent == self._known(node))

    def blanket(self, node: str) -> frozenset[str]:
        """Parents, children and the other parents of the children (Definition 6.2)."""
        children = self.children(node)
        others = frozenset(parent for child in children for parent in self.parents(child))
        return (self.parents(node) | children | others) - {node}

    def has_path(self, start: str, end: str) -> bool:
        """Whether directed arcs lead from one node to another."""
        reached, waiting = {self._known(start)}, [start]
        while waiting:
            for child in self.children(waiting.pop()) - reached:
                reached.add(child)
                waiting.append(child)
        return self._known(end) in reached and start != end

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The nodes, parents before children."""
        placed: dict[str, None] = {}
        while len(placed) < len(self.nodes):
            ready = (name for name in self.nodes if name not in placed and self._above[name] <= placed.keys())
            placed[next(ready)] = None
        return tuple(placed)

    @cached_property
    def compelled(self) -> frozenset[Arc]:
        """The arcs that every Markov-equivalent network has too: those of unshielded colliders, and what they force.

        An arc a -> b is forced where a -> b <- c with a, c not joined, and then by Meek's rules: a -> b - c forces
        b -> c where a, c are not joined; a -> b -> c forces a -> c; a - b -> d <- c - a with b, c not joined a -> d.
        """
        joined = {frozenset(arc) for arc in self.arcs}
        found = {
            (one, child)
            for child in self.nodes
            for one in self._above[child]
            for two in self._above[child]
            if one != two and frozenset((one, two)) not in joined
        }
        while True:
            more = {arc for arc in self.arcs - found if self._is_forced(arc, found, joined)}
            if not more:
                return frozenset(found)
            found |= more

    def _is_forced(self, arc: Arc, found: set[Arc], joined: set[frozenset[str]]) -> bool:
        start, end = arc
        if any(child == start and frozenset((parent, end)) not in joined for parent, child in found):
            return True
        middle = [child for parent, child in found if parent == start and (child, end) in found]
        if middle:
            return True
        into = [parent for parent, child in found if child == end and frozenset((parent, start)) in joined]
        loose = [name for name in into if (name, start) not in found and (start, name) not in found]
        return any(frozenset((one, two)) not in joined for one in loose for two in loose if one != two)

    def distance(self, other: Network) -> int:
        """The structural Hamming distance between the two equivalence classes: pairs joined in different ways."""
        if set(self.nodes) != set(other.nodes):
            raise ModelError("the two networks have different nodes", expected=", ".join(self.nodes))
        return len({pair for mark in self._marks() ^ other._marks() for pair in [frozenset(mark[:2])]})

    def is_equivalent(self, other: Network) -> bool:
        """Whether both say the same about which columns are independent given which."""
        return self.distance(other) == 0

    def _marks(self) -> set[tuple[str, str, str]]:
        loose = {(*sorted(arc), "-") for arc in self.arcs - self.compelled}
        return {(*arc, ">") for arc in self.compelled} | {(one, two, mark) for one, two, mark in loose}

    # -- to and from others ------------------------------------------------------------------------------------------

    def to_networkx(self) -> Any:
        """The same network for networkx."""
        try:
            import networkx  # type: ignore[import-untyped]
        except ImportError as error:
            raise MissingExtra("networkx is not installed", hint="pip install networkx") from error
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(sorted(self.arcs))
        return graph

    @staticmethod
    def from_networkx(graph: Any) -> Network:
        """The network of a directed graph of networkx."""
        return Network(tuple(str(node) for node in graph), frozenset((str(a), str(b)) for a, b in graph.edges))

    @staticmethod
    def from_bif(source: str | Path) -> Network:
        """The nodes and arcs of a BIF file or text; `pw.read_bif` reads its tables too."""
        found = read_parents(source)
        return Network(tuple(found), frozenset((parent, child) for child, above in found.items() for parent in above))

    def to_json(self) -> str:
        """Text that `Network.from_json` reads."""
        listed = sorted(self.arcs)
        return json.dumps({"format": FORMAT, "nodes": self.nodes, "arcs": listed}, indent=1)

    @staticmethod
    def from_json(text: str) -> Network:
        """The network of such a text; it is checked as any other."""
        try:
            found = json.loads(text)
        except ValueError as error:
            raise FormatError(f"the text is no JSON: {error}") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FormatError("the text is no saved network", expected=f'"format": "{FORMAT}"')
        nodes, arcs = found.get("nodes"), found.get("arcs")
        if not _are_names(nodes) or not isinstance(arcs, list) or not all(_are_names(arc, 2) for arc in arcs):
            raise FormatError("the saved network is damaged", expected="nodes: names; arcs: pairs of names")
        assert isinstance(nodes, list)
        return Network(tuple(nodes), frozenset((parent, child) for parent, child in arcs))

    def _known(self, node: str) -> str:
        if node not in self._above:
            raise UnknownName(node, self.nodes, where="a node")
        return node


def _are_names(found: object, count: int | None = None) -> bool:
    listed = isinstance(found, list) and all(isinstance(name, str) for name in found)
    return listed and (count is None or (isinstance(found, list) and len(found) == count))


def find_cycle(nodes: Sequence[str], arcs: Iterable[Arc]) -> tuple[str, ...]:
    """Nodes around which directed arcs lead, the first named again at the end; none where there is no cycle."""
    above: dict[str, set[str]] = {name: set() for name in nodes}
    for parent, child in arcs:
        above[child].add(parent)
    left = dict(above)
    while ready := [name for name, parents in left.items() if not parents & left.keys()]:
        for name in ready:
            del left[name]
    if not left:
        return ()
    walked = [next(iter(left))]
    while True:
        at = min(left[walked[-1]] & left.keys())
        if at in walked:
            return tuple(reversed((*walked[walked.index(at) :], at)))
        walked.append(at)
