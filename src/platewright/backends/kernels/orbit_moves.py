"""Move unknowns that multiply each other along their orbit, by a slice in the one number that says where.

    stretch by s:   b' = e^s b,   x' = m + (x - m) e^-s,   a' = a - r b m (e^s - 1)       m the mean of x, or 0
    shift by d:     x' = x + d,   a' = a - r b d

density of s  =  p(x', b', a', rest) e^(s (#b - #x + 1)), without the 1 where m is 0;  that of d has no volume factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from platewright.backends.kernels.coordinate_slices import Brackets
from platewright.backends.kernels.density import Density
from platewright.family import Array

Values = Mapping[str, Array]
Place = tuple[str, tuple[int | slice, ...]]
"""An unknown, and those of its elements that move."""


@dataclass(frozen=True, eq=False)
class From:
    """Where on its orbit a move starts; `lifted` is r b for each element of the intercept that moves."""

    values: dict[str, Array]
    middle: float
    lifted: Array


class OrbitMover:
    """The state of one block of one chain: the width of the bracket.

    `stretched` is x, `slope` is b with its ends, `intercept` is a, and `lifted` gives r b for each element of a.
    """

    def __init__(
        self,
        density: Density,
        stretched: str,
        slope: Place,
        ends: tuple[float, float],
        stretches: bool,
        intercept: Place | None = None,
        lifted: Callable[[Values], Array] | None = None,
    ) -> None:
        self.density, self.stretched, self.slope, self.ends = density, stretched, slope, ends
        self.stretches, self.intercept, self.lifted = stretches, intercept, lifted
        self.brackets = Brackets(1)
        self.begin_warm_up, self.end_warm_up = self.brackets.begin_warm_up, self.brackets.end_warm_up

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """New values of all that moves."""
        with np.errstate(all="ignore"):
            start = self.start(values)
            height = self.height(0.0, start)
            found = self.brackets.along(lambda at: self.height(at, start), 0.0, height, generator)
            moved, _ = self.placed(found, start)
        return moved if np.isfinite(height) else {}

    def start(self, values: Values) -> From:
        """Hold everything else at these values, and begin where the rest is."""
        self.density.given(values)
        own = {part.name: np.array(values[part.name], dtype=float) for part in self.density.coordinates.parts}
        if self.intercept is None:
            return From(own, 0.0, np.zeros(0))
        assert self.lifted is not None
        return From(own, float(own[self.stretched].mean()), self.lifted({**values, **own}))

    def height(self, at: float, start: From) -> float:
        """The log density along the orbit."""
        values, volume = self.placed(at, start)
        slope = values[self.slope[0]]
        if not ((slope > self.ends[0]) & (slope < self.ends[1])).all():
            return -np.inf
        found = self.density.at_values(values) + volume
        return found if np.isfinite(found) else -np.inf

    def placed(self, at: float, start: From) -> tuple[dict[str, Array], float]:
        """The values at a place on the orbit, and the log of the volume factor."""
        values = {name: np.array(value) for name, value in start.values.items()}
        x = values[self.stretched]
        if not self.stretches:
            assert self.intercept is not None
            name, elements = self.intercept
            values[self.stretched] = x + at
            values[name][elements] -= start.lifted * at
            return values, 0.0
        slope, elements = self.slope
        values[self.stretched] = start.middle + (x - start.middle) * np.exp(-at)
        values[slope][elements] *= np.exp(at)
        volume = at * (np.size(values[slope][elements]) - x.size)
        if self.intercept is None:
            return values, volume
        name, elements = self.intercept
        values[name][elements] -= start.lifted * start.middle * np.expm1(at)
        return values, volume + at
