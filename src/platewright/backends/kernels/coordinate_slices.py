"""A slice sampler that takes one coordinate after another  (Neal 2003): no gradient, no independence, any density.

Coordinates are those without constraints; a count k is the interval [k, k + 1) of the real line, all of one height.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from platewright.backends.kernels.density import Density
from platewright.family import Array

MOST_STEPS_OUT = 50
MOST_TRIALS = 200


class CoordinateMover:
    """The state of one block of one chain: the width of the bracket of each coordinate."""

    def __init__(self, density: Density) -> None:
        self.density = density
        self.widths = np.ones(self.density.coordinates.size)
        self.moved = np.zeros(self.density.coordinates.size)
        self.sweeps = 0
        self.learning = False

    def begin_warm_up(self, sweeps: int) -> None:
        """Follow the size of recent moves."""
        self.learning = sweeps > 0

    def end_warm_up(self) -> None:
        """Keep the widths as they are."""
        self.learning = False

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """Every coordinate once, in order."""
        self.density.given(values)
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

            u[at], height = slice_move(along, float(u[at]), height, float(self.widths[at]), generator)
        if self.learning:
            self.sweeps += 1
            self.moved += np.abs(u - start)
            self.widths = np.maximum(3 * self.moved / self.sweeps, 1e-8 * (1 + np.abs(u)))
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
    for _ in range(MOST_TRIALS):
        trial = low + (high - low) * generator.random()
        there = density(trial)
        if there > level:
            return trial, there
        if trial < value:
            low = trial
        else:
            high = trial
    return value, height
