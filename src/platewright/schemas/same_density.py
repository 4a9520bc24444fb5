"""Does a change of the unknowns leave a log factor as it is? Told by numbers at random places: an identity test.

    z w - log(1 + exp(w))     is what it was     when     z -> 1 - z,  w -> -w

No form has to be known for it: a log factor that is the same at places drawn at random, but for rounding, is the same
everywhere but by an accident of no probability (Schwartz 1980).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

import numpy as np

from platewright.algebra.domain import Domain
from platewright.algebra.evaluate import Environment, evaluate
from platewright.family import Array
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Factor, Graph
from platewright.language.plate import root_of

SPREADS = (1.0, 1.0, 10.0)
"""Of the numbers at each place that a change is tried at: far ones reach beyond thresholds."""
ROWS = 3
"""Elements of plates whose size the data give."""
TOLERANCE = 1e-9
MOST_NUMBERS = 100_000
"""Larger models are not tried."""

Values = dict[str, Array]
Change = Callable[[Values], Values]


class Places:
    """Values of everything in a graph, drawn within their domains, whatever the model says of them."""

    def __init__(self, graph: Graph) -> None:
        sizes = fixed_sizes(graph)
        self.sizes = {**{name: sizes.get(root_of(graph.plates, name), ROWS) for name in graph.plates}, **sizes}
        self.graph = graph
        self.drawn: list[Values] = []

    def leaves(self, factors: Sequence[Factor], change: Change) -> bool:
        """Whether a change leaves each of these factors, added up over its rows, as it is."""
        return all(self._leaves(factor, change) for factor in factors)

    @property
    def are_too_many(self) -> bool:
        """Whether the model is too large for trials."""
        return sum(prod(shape) for shape in self._shapes().values()) > MOST_NUMBERS

    def _leaves(self, factor: Factor, change: Change) -> bool:
        pairs = [(self._summed(factor, values), self._summed(factor, change(values))) for values in self._values()]
        possible = [(before, after) for before, after in pairs if np.isfinite(before) or np.isfinite(after)]
        return bool(possible) and all(
            abs(after - before) <= TOLERANCE * (1 + abs(before)) for before, after in possible
        )

    def _summed(self, factor: Factor, values: Mapping[str, Array]) -> float:
        """The log factor over all rows; not a number at places that a table of positions does not reach."""
        with np.errstate(all="ignore"):
            try:
                return float(np.sum(evaluate(factor.expression, Environment(values, self.sizes), factor.axes)))
            except IndexError:  # positions with holes are a column of numbers, of which no domain says how far they go
                return np.nan

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(self.sizes[axis.plate] for axis in node.axes) for name, node in self.graph.nodes.items()}

    def _values(self) -> list[Values]:
        if not self.drawn:
            nodes, shapes = self.graph.nodes, self._shapes()
            for number, spread in enumerate(SPREADS):
                draws = np.random.default_rng(number)
                found = {name: self._value(nodes[name].domain, shapes[name], draws, spread) for name in nodes}
                self.drawn.append(found)
        return self.drawn

    def _value(self, domain: Domain, shape: tuple[int, ...], generator: np.random.Generator, spread: float) -> Array:
        match domain.kind:
            case "levels":
                return generator.integers(0, self.sizes[str(domain.levels)], shape)
            case "integer":
                lower = int(domain.lower) if np.isfinite(domain.lower) else 0
                upper = int(domain.upper) if np.isfinite(domain.upper) else lower + 5
                return generator.integers(lower, upper + 1, shape)
            case "simplex":
                weights = generator.standard_gamma(3.0, shape)
                return weights / weights.sum(axis=-1, keepdims=True)
            case "matrix":
                noise = generator.standard_normal(shape)
                return np.identity(shape[-1]) + noise @ np.swapaxes(noise, -1, -2)
        if np.isfinite(domain.lower) and np.isfinite(domain.upper):
            return generator.uniform(domain.lower, domain.upper, shape)
        if np.isfinite(domain.lower):
            return domain.lower + np.exp(0.5 * generator.standard_normal(shape))
        if np.isfinite(domain.upper):
            return domain.upper - np.exp(0.5 * generator.standard_normal(shape))
        return spread * generator.standard_normal(shape)
