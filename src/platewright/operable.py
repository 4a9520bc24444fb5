"""A graph in the user's hands: the paper's operations and questions as calls  (Sections 2 to 6).

g = m.graph(known=["y"])
step = g.eliminate("theta")         a Step, with the graph before and after; a refused one raises NotSolvable
step.after.log_density(point)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from platewright.algebra.depth import with_room
from platewright.elimination.conditional import Conditional, conditional_of
from platewright.elimination.stepping import eliminate, maximise
from platewright.errors import ShapeError, UnknownName
from platewright.graph.blanket import markov_blanket
from platewright.graph.components import Component, chain_components
from platewright.graph.computed import SOURCES, stranded
from platewright.graph.graph import Graph
from platewright.graph.separation import separated
from platewright.operation import Declined, Step, refused
from platewright.operations.add_known_arc import add_known_arc
from platewright.operations.conjugate_update import conjugate_update
from platewright.operations.decompose import Decomposition, decompose
from platewright.operations.drop_settled_arcs import drop_settled_arcs
from platewright.operations.drop_undirected_arc import drop_undirected_arc
from platewright.operations.expand import expand
from platewright.operations.merge_clique import merge_clique
from platewright.operations.piece import plates_in
from platewright.operations.remove_barren import remove_all_barren, remove_barren
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.remove_plate import remove_plate
from platewright.operations.reverse_arc import reverse_arc
from platewright.run.density import log_density
from platewright.run.derivative import Derivative, derivative
from platewright.run.point import read_point


class OperableGraph(Graph):
    """A chain graph with plates that can be operated on and asked; operations return a `Step`, never change it.

    ```python
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1, 1)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    g = m.graph(known=["heads"])
    print(g.remove_plate("toss"))
    print(g.eliminate("theta").after.log_density({"heads": [1, 0, 1]}))
    ```
    """

    # -- rewritings: the density stays the same ---

    def reverse_arc(self, tail: str, head: str) -> Step:
        """Turn `tail -> head` round by Bayes' theorem (Figure 16)."""
        return self._step(reverse_arc(self, tail, head))

    def remove_barren(self, node: str | None = None) -> Step:
        """Remove an unknown node that nothing depends on; by default all of them (Section 4.1.2)."""
        return self._step(remove_all_barren(self) if node is None else remove_barren(self, node))

    def drop_settled_arcs(self, node: str | None = None) -> Step:
        """Cut the arcs into a known node with known parents; by default into all of them (Lemma 2.1)."""
        return self._step(drop_settled_arcs(self, node))

    def drop_undirected_arc(self, a: str, b: str) -> Step:
        """Drop an undirected arc between known nodes whose common neighbours are known (Lemma 2.2)."""
        return self._step(drop_undirected_arc(self, a, b))

    def merge(self, *members: str, name: str = "") -> Step:
        """Merge a clique of undirected nodes into one on their cross product (Comment 2.1)."""
        return self._step(merge_clique(self, members, name))

    def remove_deterministic(self, *nodes: str) -> Step:
        """Write functions into whatever uses them; by default all functions (Lemma 6.1)."""
        return self._step(remove_deterministic(self, nodes or None))

    def remove_plate(self, plate: str) -> Step:
        """Put statistics of fixed size, which become known nodes, in the place of a plate (Theorem 4.1)."""
        return self._step(remove_plate(self, plate))

    def expand(self, **sizes: int) -> Step:
        """Write plates out, one node for each element: `g.expand(row=3)` (Definition 3.1)."""
        return self._step(expand(self, sizes))

    def conjugate_update(self, node: str) -> Step:
        """Give an unknown its posterior given all else; the factors below it become evidence (Lemma 4.1)."""
        return self._step(conjugate_update(self, node))

    # -- eliminations: an unknown goes, what it leaves stands in `after` ---

    @with_room
    def eliminate(self, node: str) -> Step:
        """Integrate an unknown out, or sum over it; its log normaliser joins the graph (Lemma 6.4)."""
        return self._step(eliminate(self, node))

    @with_room
    def maximise(self, node: str) -> Step:
        """Put the best value of an unknown in."""
        return self._step(maximise(self, node))

    # -- questions ---

    def separated(
        self,
        a: str | Iterable[str],
        b: str | Iterable[str],
        given: str | Iterable[str] | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> bool:
        """Whether `a` and `b` are independent given `given` (by default what is known) in every such model."""
        return separated(self, a, b, given, sizes)

    def blanket(self, node: str) -> frozenset[str]:
        """What a node depends on once all else is given (Definition 6.2)."""
        return markov_blanket(self, self._named(node))

    def components(self) -> frozenset[Component]:
        """The chain components: maximal sets that undirected arcs connect (Definition 2.2)."""
        return frozenset(chain_components(self))

    def decompose(self) -> Decomposition:
        """The independent pieces of the learning problem, each with its local terms (Theorem 6.1)."""
        found = decompose(self)
        if isinstance(found, Declined):
            raise refused(found)
        return self._pieces(found)

    def update(self, pieces: Decomposition, *changed: str) -> Decomposition:
        """A decomposition of another graph after arcs from known nodes into `changed` became those of this one.

        Only the piece that holds them is made anew (Lemma 6.3).
        """
        found = add_known_arc(pieces, [self.nodes[self._named(name)] for name in changed], self.plates)
        if isinstance(found, Declined):
            raise refused(found)
        return self._pieces(found)

    def conditional(self, node: str) -> Conditional | Declined:
        """The family of an unknown given all else, with its parameters, or the reason why there is none."""
        return conditional_of(self, self._named(node))

    def differentiate(self, node: str) -> Derivative:
        """Slope and curvature of the log joint in one unknown as expressions; `.at(point)` are numbers (Lemma 6.2)."""
        found = derivative(self, self._named(node))
        if isinstance(found, Declined):
            raise refused(found)
        return found

    def log_density(self, point: Mapping[str, Any], sizes: Mapping[str, int] | None = None) -> float:
        """The log joint at a point, which holds a value for each node but functions of others.

        Sizes of plates are those of the values; `sizes` are of plates that no node of this graph is on.
        """
        values, found = read_point(self, point)
        told = {**(sizes or {}), **found}
        computed = {axis.plate for node in self.nodes.values() if node.kind not in SOURCES for axis in node.axes}
        if missing := sorted(plates_in(self.log_joint) - set(told) - computed):
            raise ShapeError(f"no node of the point is on plate `{missing[0]}`", where="point", expected="sizes=")
        return log_density(self, values, told)

    def _pieces(self, found: Decomposition) -> Decomposition:
        pieces = tuple(operable(piece) for piece in found.pieces)
        return replace(found, before=self, pieces=pieces, rest=operable(found.rest))

    def _named(self, node: str) -> str:
        if node not in self.nodes:
            raise UnknownName(node, [name for name in self.nodes if "@" not in name], where=f"graph {self.title}")
        return node

    def _step(self, found: Step | Declined) -> Step:
        if isinstance(found, Declined):
            raise refused(found)
        if missing := stranded(found.after):
            raise refused(Declined(found.operation, missing))
        return replace(found, before=self, after=operable(found.after))


def operable(graph: Graph) -> OperableGraph:
    """The same graph with operations and questions as calls."""
    if isinstance(graph, OperableGraph):
        return graph
    return OperableGraph(**{field.name: getattr(graph, field.name) for field in fields(graph)})
