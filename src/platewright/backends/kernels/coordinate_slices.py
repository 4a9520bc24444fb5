"""A slice sampler that takes one coordinate after another  (Neal 2003): no gradient, no independence, any density.

Coordinates are those without constraints; a count k is the interval [k, k + 1) of the real line, all of one height.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from platewright.backends.kernels.density import Density
from platewright.family import Array

MOST_STEPS_OUT = 50
MOST_NARROWINGS = 200
LEAST_WIDTH = 1e-3
"""Of brackets along a scale or an orbit."""


class Brackets:
    """Widths of brackets that follow the size of the moves so far, while a chain warms up."""

    def __init__(self, count: int) -> None:
        self.widths = np.ones(count)
        self.moved = np.zeros(count)
        self.sweeps = 0
        self.learning = False

    def begin_warm_up(self, sweeps: int) -> None:
        """Follow the size of recent moves."""
        self.learning = sweeps > 0

    def end_warm_up(self) -> None:
        """Keep the widths as they are."""
        self.learning = False

    def learn(self, moves: Array, least: Array | float) -> None:
        """Take the moves of one sweep into account; no width becomes smaller than the least."""
        if self.learning:
            self.sweeps += 1
            self.moved += np.abs(moves)
            self.widths = np.maximum(3 * self.moved / self.sweeps, least)

    def along(
        self, density: Callable[[float], float], start: float, height: float, generator: np.random.Generator
    ) -> float:
        """Move along the only line there is, by a slice; the width follows."""
        found, _ = slice_move(density, start, height, float(self.widths[0]), generator)
        self.learn(np.array([found - start]), LEAST_WIDTH)
        return found


class CoordinateMover:
    """The state of one block of one chain: the brackets of its coordinates."""

    def __init__(self, density: Density) -> None:
        self.density = density
        self.brackets = Brackets(density.coordinates.size)
        self.begin_warm_up, self.end_warm_up = self.brackets.begin_warm_up, self.brackets.end_warm_up

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """Every coordinate once, in order."""
        self.density.given(values)
        widths = self.brackets.widths
        with np.errstate(all="ignore"):
            u = self.density.coordinates.free(values)
        u = u + np.where(self.density.coordinates.is_count, generator.random(len(u)), 0.0)
        start = np.array(u)
        height = self.density.log_density(u)
        for at in range(len(u)):

            def along(value: float, at: int = at) -> float:
                tried = u.copy()
                tried[at] = value
                return self.density.log_density(tried)

            u[at], height = slice_move(along, float(u[at]), height, float(widths[at]), generator)
        self.brackets.learn(u - start, 1e-8 * (1 + np.abs(u)))
        return self.density.coordinates.values(u)[0]


def slice_move(
    density: Callable[[float], float], value: float, height: float, width: float, generator: np.random.Generator
) -> tuple[float, float]:
    """One move of one coordinate: step out, then shrink; the new value and its height."""
    if not np.isfinite(height):
        return value, height
    level = height - generator.exponential()
    low = value - width * generator.random()
    high = low + width
    left = int(MOST_STEPS_OUT * generator.random())
    for _ in range(left):
        if density(low) <= level:
            break
        low -= width
    for _ in range(MOST_STEPS_OUT - 1 - left):
        if density(high) <= level:
            break
        high += width
    for _ in range(MOST_NARROWINGS):
        trial = low + (high - low) * generator.random()
        there = density(trial)
        if there > level:
            return trial, there
        if trial < value:
            low = trial
        else:
            high = trial
    return value, height
