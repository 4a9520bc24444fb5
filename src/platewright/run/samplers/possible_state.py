"""The search for a start that the model allows (`backends/kernels/possible_state.py`), for a graph on given data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import free_indices
from platewright.backends.kernels import possible_state as kernel
from platewright.backends.kernels.possible_state import Movable
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.schemas.doubtful import doubtful_factors, movable_unknowns, places_of


def possible_state(
    graph: Graph,
    factors: Sequence[Factor],
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    start: Mapping[str, Array],
    generator: np.random.Generator,
) -> dict[str, Array]:
    """The start with values moved, further and further, wherever they leave a factor without a finite density."""
    doubtful = doubtful_factors(graph, factors, list(start))

    def wrong(factor: Factor, values: Mapping[str, Array]) -> Array:
        with np.errstate(all="ignore"):
            density = evaluate(factor.expression, Environment({**columns, **values}, sizes), factor.axes)
        return ~np.isfinite(np.array(density))

    def impossible(values: Mapping[str, Array]) -> set[str]:
        return {name for factor in doubtful if wrong(factor, values).any() for name in factor.names}

    def faults(node: Variable) -> Callable[[Mapping[str, Array]], Array]:
        near = [factor for factor in doubtful if node.name in factor.names]
        shape = tuple(sizes[axis.plate] for axis in node.axes)

        def counted(values: Mapping[str, Array]) -> Array:
            total = np.zeros(shape)
            for factor in near:
                rows = wrong(factor, values).astype(float)
                for place in places_of(node, factor):
                    if not place or not all(free_indices(at) <= set(factor.axes) for at in place):
                        total = total + rows.sum()  # all elements enter each row
                        continue
                    environment = Environment({**columns, **values}, sizes)
                    codes = tuple(np.array(evaluate(at, environment, factor.axes)).astype(int) for at in place)
                    np.add.at(total, codes, rows)
            return total

        return counted

    movable = []
    for node in movable_unknowns(graph, doubtful, list(start)):
        domain = node.domain
        levels = domain.kind == "levels"
        lower, upper = (0.0, sizes[str(domain.levels)] - 1.0) if levels else (domain.lower, domain.upper)
        movable.append(Movable(node.name, lower, upper, faults(node), domain.kind))
    return kernel.possible_state(start, movable, impossible, generator)
