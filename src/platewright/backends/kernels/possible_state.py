"""A start that the model allows: values that make the data impossible are moved until they do not.

    count = 2 of c = 9 seen      ->      count = 11

A sampler cannot weigh a state of density zero against others, so it would not find its way out of one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.family import Array

MOST_TRIES = 240
TRIES_OF_ONE_REACH = 8
"""Jumps of one length for each unknown; then they are twice as long."""


@dataclass(frozen=True, eq=False)
class Movable:
    """An unknown that may jump: its range, and for each of its elements the number of impossible rows it enters."""

    name: str
    lower: float
    upper: float
    faults: Callable[..., Array]
    kind: str = "real"
    """A number that is real or integer, or one of the levels from the lower to the upper."""


def possible_state(
    start: Mapping[str, Array],
    movable: Sequence[Movable],
    impossible: Callable[[Mapping[str, Array]], Collection[str]],
    generator: np.random.Generator,
) -> dict[str, Array]:
    """The start with values moved, further and further, while `impossible` names unknowns without a finite density."""
    values = dict(start)
    for tries in range(MOST_TRIES):
        named = impossible(values)
        free = [unknown for unknown in movable if unknown.name in named]
        if not free:
            return values
        unknown = free[tries % len(free)]
        reach = 2.0 ** (tries // (TRIES_OF_ONE_REACH * len(free)))
        values[unknown.name] = moved(unknown, values, reach, generator)
    return values


def moved(unknown: Movable, values: Mapping[str, Array], reach: float, generator: np.random.Generator) -> Array:
    """An unknown after a jump of its elements in impossible rows; those that gain nothing by it stay."""
    here = values[unknown.name]
    before = unknown.faults(values)
    there = np.where(before > 0, jumped(unknown, here, reach, generator), here)
    after = unknown.faults({**values, unknown.name: there})
    return np.where(after < before, there, here)


def jumped(unknown: Movable, here: Array, reach: float, generator: np.random.Generator) -> Array:
    """Elements at random distances of up to the reach, within the range of the unknown."""
    if unknown.kind == "levels":
        return generator.integers(int(unknown.lower), int(unknown.upper) + 1, np.shape(here))
    there = here + reach * generator.uniform(-1.0, 1.0, np.shape(here))
    if unknown.kind == "integer":
        return np.clip(np.rint(there), unknown.lower, unknown.upper).astype(np.int64)
    return np.where((there > unknown.lower) & (there < unknown.upper), there, here)
