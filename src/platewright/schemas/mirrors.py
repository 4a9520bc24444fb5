"""Unknowns that can be turned over together, and nothing but their own priors would change.

    y ~ Normal(a b, 1)                        a, b  ->  -a, -b
    y ~ Normal(mu ** 2, 1)                    mu    ->  -mu
    y ~ Normal(w[k] . z[n, k], 1)             w[k], z[., k]  ->  -w[k], -z[., k],     for each k by itself
    z ~ Bernoulli(logit w), y ~ Normal(mu (2 z - 1), 1)      mu, w, z  ->  -mu, -w, 1 - z

Each mode comes again on the other side, and no step of local size goes there. A jump does, by the ratio of
the whole density, so it keeps the posterior whatever was found; what is found only tells where such a step is of use.
Who goes with whom is read from products and from values of yes and no; whether they then leave the other factors as
they are is tried at random places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from platewright.algebra.domain import REAL
from platewright.algebra.expression import Add, Multiply, Reference, names, walk
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.schemas.same_density import Places, Values

MOST_TOGETHER = 4
"""Unknowns that are turned over together."""
MOST_APART = 16
"""Elements of their common plates that are turned over one by one; of more, all at once."""

Axes = dict[str, tuple[int, ...]]
"""Of each unknown the axes over whose elements it is turned one by one."""


@dataclass(frozen=True)
class Mirror:
    """The unknowns that are turned over, and the plates over whose elements they are turned one by one."""

    variables: tuple[str, ...]
    plates: tuple[str, ...]
    shared: tuple[tuple[int, ...], ...]
    """Of each unknown the axes that are these plates."""
    ends: tuple[int, ...]
    """What each is taken from: 0 of numbers, 1 of yes and no."""
    size: int = 0
    """No elements change places."""

    @property
    def parts(self) -> dict[str, tuple[tuple[int, ...], int]]:
        """Axes and ends by unknown."""
        return dict(zip(self.variables, zip(self.shared, self.ends, strict=True), strict=True))


def mirrors(graph: Graph, factors: Sequence[Factor]) -> list[Mirror]:
    """All sets of unknowns that are turned over together, the smallest that hold each unknown."""
    places = Places(graph)
    return [] if places.are_too_many else _Search(graph, factors, places).found()


class _Search:
    """What may be turned over, and what has been tried."""

    def __init__(self, graph: Graph, factors: Sequence[Factor], places: Places) -> None:
        self.graph, self.factors, self.places = graph, factors, places
        self.ends = {name: 0 for name in graph.unknown if graph.nodes[name].domain == REAL}
        self.numbers = tuple(self.ends)
        for name in graph.unknown:
            domain = graph.nodes[name].domain
            if domain.kind == "integer" and (domain.lower, domain.upper) == (0, 1):
                self.ends[name] = 1

    def found(self) -> list[Mirror]:
        """All that there are."""
        listed: dict[frozenset[str], Mirror] = {}
        for name in self.numbers:
            together = next(self._grown(frozenset([name])), None)
            if together is not None and together not in listed:
                listed[together] = self._apart([other for other in self.ends if other in together])
        return list(listed.values())

    def _others(self, held: frozenset[str]) -> list[Factor]:
        return [factor for factor in self.factors if factor.names & held and not is_own_prior(factor, held)]

    def _keeps(self, factors: Sequence[Factor], shared: Axes) -> bool:
        """Whether factors stay what they are when the first elements of unknowns are turned over."""

        def change(values: Values) -> Values:
            return values | {name: self._turned(name, values[name], axes) for name, axes in shared.items()}

        return self.places.leaves(factors, change)

    def _turned(self, name: str, value: Array, axes: tuple[int, ...]) -> Array:
        """An unknown with all of it turned over, or what stands first on some axes."""
        first = np.ix_(*([0] if axis in axes else range(size) for axis, size in enumerate(value.shape)))
        found = np.array(value)
        found[first] = self.ends[name] - found[first]
        return found

    def _grown(self, held: frozenset[str]) -> Iterator[frozenset[str]]:
        """The sets around some unknowns that leave all factors as they are, but for their own priors."""
        others = self._others(held)
        broken = next((factor for factor in others if not self._keeps([factor], dict.fromkeys(held, ()))), None)
        if broken is None:
            if others:
                yield held
            return
        partners = dict.fromkeys(frozenset([name]) for name in broken.names if self.ends.get(name) == 1)
        for part in walk(broken.expression):
            if isinstance(part, Multiply) and names(part) & held:
                beside = [factor for factor in part.factors if isinstance(factor, Reference | Add)]
                partners |= dict.fromkeys(names(factor) & self.ends.keys() - held for factor in beside)
        for partner in partners:
            if partner - held and len(held | partner) <= MOST_TOGETHER:
                yield from self._grown(held | partner)

    def _apart(self, together: Sequence[str]) -> Mirror:
        """Element by element over the plates that all of them have, where that leaves the factors as they are too."""
        ends = tuple(self.ends[name] for name in together)
        axes = {name: [axis.plate for axis in self.graph.nodes[name].axes] for name in together}
        common = [plate for plate in axes[together[0]] if all(plates.count(plate) == 1 for plates in axes.values())]
        sizes = [self.graph.plates[plate].size for plate in common]
        if common and all(sizes) and prod(size or 0 for size in sizes) <= MOST_APART:
            shared = {name: tuple(plates.index(plate) for plate in common) for name, plates in axes.items()}
            if self._keeps(self._others(frozenset(together)), shared):
                return Mirror(tuple(together), tuple(common), tuple(shared.values()), ends)
        return Mirror(tuple(together), (), ((),) * len(together), ends)


def is_own_prior(factor: Factor, held: frozenset[str]) -> bool:
    """Whether a factor is the prior of one of the unknowns, which meets no other of them and no other element of it."""
    if factor.owner not in held or factor.names & held != {factor.owner}:
        return False
    axes = [node.indices for node in walk(factor.expression) if isinstance(node, Reference) and node.name in held]
    return all(indices == tuple(factor.axes) for indices in axes)
