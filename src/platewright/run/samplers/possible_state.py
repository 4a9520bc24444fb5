"""A start that the model allows: values that make the data impossible are moved until they do not.

    count = 2 of c = 9 seen      ->      count = 11

A sampler cannot weigh a state of density zero against others, so it would not find its way out of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Reference, free_indices, walk
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable

MOST_TRIES = 240
TRIES_OF_ONE_REACH = 8
MOVABLE = ("real", "integer", "levels")


def possible_state(
    graph: Graph,
    factors: Sequence[Factor],
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    start: Mapping[str, Array],
    generator: np.random.Generator,
) -> dict[str, Array]:
    """The start with values moved, further and further, wherever they leave a factor without a finite density."""
    values = dict(start)
    for tries in range(MOST_TRIES):
        bad = _impossible(factors, Environment({**columns, **values}, sizes))
        touched = [name for name in values if any(name in factor.names for factor in bad)]
        movable = [name for name in touched if graph.nodes[name].domain.kind in MOVABLE]
        if not movable:
            return values
        name = movable[tries % len(movable)]
        reach = 2.0 ** (tries // (TRIES_OF_ONE_REACH * len(movable)))
        values[name] = _moved(graph.nodes[name], factors, {**columns, **values}, sizes, reach, generator)
    return values


def _impossible(factors: Sequence[Factor], environment: Environment) -> list[Factor]:
    return [factor for factor in factors if _where_impossible(factor, environment).any()]


def _where_impossible(factor: Factor, environment: Environment) -> Array:
    with np.errstate(all="ignore"):
        density = np.array(evaluate(factor.expression, environment, factor.axes))
    return ~(np.abs(density) < np.inf)


def _moved(
    node: Variable,
    factors: Sequence[Factor],
    values: Mapping[str, Array],
    sizes: Mapping[str, int],
    reach: float,
    generator: np.random.Generator,
) -> Array:
    """One unknown after a jump of its elements in impossible factors; those that gain nothing by it stay."""
    here = values[node.name]
    near = [factor for factor in factors if node.name in factor.names]
    before = _faults(node, near, Environment(values, sizes))
    there = np.where(before > 0, _jump(node, here, sizes, reach, generator), here)
    after = _faults(node, near, Environment({**values, node.name: there}, sizes))
    return np.where(after < before, there, here)


def _jump(node: Variable, here: Array, sizes: Mapping[str, int], reach: float, generator: np.random.Generator) -> Array:
    """Elements at random distances of up to the reach, within the range of the variable."""
    domain = node.domain
    if domain.kind == "levels":
        return generator.integers(0, sizes[str(domain.levels)], np.shape(here))
    moved = here + reach * generator.uniform(-1.0, 1.0, np.shape(here))
    if domain.kind == "integer":
        return np.clip(np.rint(moved), domain.lower, domain.upper).astype(np.int64)
    return np.where((moved > domain.lower) & (moved < domain.upper), moved, here)


def _faults(node: Variable, factors: Sequence[Factor], environment: Environment) -> Array:
    """For each element of a variable the number of impossible rows that it enters."""
    shape = tuple(environment.sizes[axis.plate] for axis in node.axes)
    total = np.zeros(shape)
    for factor in factors:
        wrong = _where_impossible(factor, environment).astype(float)
        for place in _places(node, factor):
            if not place or not all(free_indices(at) <= set(factor.axes) for at in place):
                total = total + wrong.sum()  # all elements enter each row
                continue
            codes = tuple(np.array(evaluate(at, environment, factor.axes)).astype(int) for at in place)
            np.add.at(total, codes, wrong)
    return total


def _places(node: Variable, factor: Factor) -> set[tuple[Expression, ...]]:
    """Where a factor looks the variable up."""
    return {part.indices for part in walk(factor.expression) if isinstance(part, Reference) and part.name == node.name}
