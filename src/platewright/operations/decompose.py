"""The finest decomposition of a learning problem into independent ones  (Theorem 6.1, Figures 24 and 25).

    theta1 -> [v1] -> [v2] <- theta2          becomes          theta1 -> [v1]      and      v1 -> [v2] <- theta2

Unknown nodes stay together when one is in the Markov blanket of the other; plates are ignored. Known nodes are copied
into every piece that needs them, and each factor of the joint goes to exactly one piece, so that

    log p(everything) = sum over pieces of their log joints + the log joint of `rest`, where all is known.

Undirected components with an unknown parent stay whole: their normaliser depends on that parent and on all potentials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from platewright.algebra.expression import names
from platewright.algebra.kept import kept
from platewright.graph.blanket import loose_ties
from platewright.graph.components import Component, component_of, component_parents
from platewright.graph.determinism import nondeterministic
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.operations.piece import piece_of, written_order

NAME = "decompose"
REST = -1
"""The home of factors that touch nothing unknown."""


@dataclass(frozen=True)
class Decomposition:
    """A graph and the independent pieces it falls into."""

    before: Graph
    pieces: tuple[Graph, ...]
    rest: Graph
    """The factors on known nodes only: they count in the evidence and nowhere else."""
    home: Mapping[str, int]
    """Which piece has the factor of a node, or a potential; `REST` for none."""
    apart: tuple[str, ...] = ()
    """Functions of unknowns from several pieces that nothing else uses."""
    because: str = "no two pieces have an unknown node in each other's Markov blanket"
    operation: str = field(default=NAME)
    reference: str = "Theorem 6.1"

    def __iter__(self) -> Iterator[Graph]:
        return iter(self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def unknowns(self) -> tuple[tuple[str, ...], ...]:
        """The unknown nodes of each piece."""
        return tuple(piece.unknown for piece in self.pieces)

    @property
    def formulas(self) -> tuple[str, ...]:
        """One line a piece."""
        return tuple(f"{{{', '.join(found)}}}" for found in self.unknowns)

    def __str__(self) -> str:
        lines = [f"{self.operation}: {self.because}   ({self.reference})"]
        return "\n".join(lines + [f"    {formula}" for formula in self.formulas])


@dataclass(frozen=True)
class Verdict:
    """Yes or no, and why."""

    holds: bool
    reason: str

    def __bool__(self) -> bool:
        return self.holds


@kept
def decompose(graph: Graph) -> Decomposition | Declined:
    """The unique finest decomposition, in time about linear in the size of the graph."""
    unknown = graph.unknown
    if not unknown:
        return Declined(NAME, "nothing is unknown")
    factors = _factors(graph)
    together = _Sets(unknown)
    for members in factors.values():
        together.join(members)
    number: dict[str, int] = {}
    for name in unknown:
        number.setdefault(together.root(name), len(number))
    home = {}
    for name, members in factors.items():
        first = next((member for member in members if member in together), None)
        home[name] = REST if first is None else number[together.root(first)]
    extra, apart = _placed_functions(graph, together, number)
    inside: dict[int, set[str]] = {at: set() for at in (REST, *number.values())}
    for name in unknown:
        inside[number[together.root(name)]].add(name)
    for name, at in (*home.items(), *extra.items()):
        inside[at].add(name)
    order = written_order(graph)
    pieces = tuple(piece_of(graph, inside[at], order) for at in number.values())
    return Decomposition(graph, pieces, piece_of(graph, inside[REST], order), home, apart)


def evidence_is_product(graph: Graph) -> Verdict:
    """Whether the evidence is the product of the pieces' own evidences  (Corollaries 6.1.1 and 6.1.2)."""
    if not graph.potentials:
        return Verdict(True, "the graph is a Bayesian network with plates (Corollary 6.1.2)")
    for name in loose_ties(graph):
        return Verdict(False, f"potential {name} ties random nodes, and the joint has no normaliser of its own")
    pieces = decompose(graph)
    if isinstance(pieces, Declined):
        return Verdict(True, "nothing is unknown, so there is one piece")
    for component, potentials in _undirected_components(graph).items():
        homes = {pieces.home[name] for name in potentials}
        if len(homes) > 1:
            shown = ", ".join(name for name in graph.nodes if name in component)
            return Verdict(
                False, f"the component {{{shown}}} is spread over {len(homes)} pieces but has one normaliser"
            )
    return Verdict(True, "every piece has whole chain components, and their parents are known (Corollary 6.1.1)")


def _factors(graph: Graph) -> dict[str, tuple[str, ...]]:
    """For each factor of the joint the non-deterministic variables it ties; a component that must stay whole is one."""
    found: dict[str, frozenset[str]] = {}
    for name, node in graph.nodes.items():
        if node.kind == "random":
            found[name] = nondeterministic(graph.nodes, (name, *node.parents))
    for name, potential in graph.potentials.items():
        found[name] = nondeterministic(graph.nodes, names(potential.expression))
    unknown = set(graph.unknown)
    for component, potentials in _undirected_components(graph).items():
        above = nondeterministic(graph.nodes, component_parents(graph, component))
        if above & unknown:
            found |= dict.fromkeys(potentials, component | above)
    return {name: tuple(sorted(members)) for name, members in found.items()}


def _undirected_components(graph: Graph) -> dict[Component, list[str]]:
    """The components of undirected nodes, each with the potentials on it."""
    home: dict[str, Component] = {}
    for name, node in graph.nodes.items():
        if node.kind == "undirected" and name not in home:
            component = component_of(graph, name)
            home.update(dict.fromkeys(component, component))
    found: dict[Component, list[str]] = {component: [] for component in home.values()}
    for name, potential in graph.potentials.items():
        member = next((member for member in sorted(graph.inside(potential)) if member in home), None)
        if member is not None:
            found[home[member]].append(name)
    return found


def _placed_functions(
    graph: Graph, together: _Sets, number: Mapping[str, int]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Functions that no factor uses go where all their unknowns are; those of several pieces stay apart."""
    placed: dict[str, int] = {}
    apart = []
    for name, node in graph.nodes.items():
        if node.kind == "deterministic":
            behind = {number[together.root(n)] for n in nondeterministic(graph.nodes, [name]) if n in together}
            if len(behind) > 1:
                apart.append(name)
            elif behind:
                placed[name] = behind.pop()
    return placed, tuple(apart)


class _Sets:
    """Disjoint sets of names, joined and looked up in nearly constant time."""

    def __init__(self, members: Iterable[str]) -> None:
        self._above = {name: name for name in members}

    def __contains__(self, name: str) -> bool:
        return name in self._above

    def root(self, name: str) -> str:
        """The name that stands for the whole set."""
        while self._above[name] != name:
            self._above[name] = self._above[self._above[name]]
            name = self._above[name]
        return name

    def join(self, names_: Iterable[str]) -> None:
        """Make one set of those names that are members of any."""
        roots = [self.root(name) for name in names_ if name in self._above]
        for root in roots[1:]:
            self._above[self.root(root)] = self.root(roots[0])
