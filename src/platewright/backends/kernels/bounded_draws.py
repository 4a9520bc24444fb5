"""Draw an unknown between its bounds: invert the cumulative distribution of its conditional.

Where the bounds leave so little of the family that inversion loses its digits, a slice step is taken instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from platewright.backends.kernels.slices import slice_step, within
from platewright.family import Array

Values = Mapping[str, Array]
Drawn = tuple[Array, Array]


class BoundedMover:
    """One unknown of one chain.

    `bounds` gives the tightest bounds of each element, `inverted` the points that leave given shares of the conditional
    between the bounds below them, and where they can be trusted; `log_factors` the log density of each element.
    """

    def __init__(
        self,
        name: str,
        lower: float,
        upper: float,
        log_factors: Callable[[Values], Array],
        bounds: Callable[[Values], Drawn],
        inverted: Callable[[Values, Array, Array, Array], Drawn] | None = None,
    ) -> None:
        self.name, self.lower, self.upper = name, lower, upper
        self.log_factors, self.bounds, self.inverted = log_factors, bounds, inverted

    def begin_warm_up(self, sweeps: int) -> None:
        """Nothing is learned."""

    def end_warm_up(self) -> None:
        """Nothing was learned."""

    def density(self, values: Values) -> Callable[[Array], Array]:
        """The log density of each element as a function of all elements at once."""
        return within(lambda value: self.log_factors({**values, self.name: value}), self.lower, self.upper)

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """A draw of every element, each between its own bounds."""
        lower, upper = self.bounds(values)
        if self.inverted is None:
            return {self.name: self.sliced(values, lower, upper, generator)}
        found, sure = self.inverted(values, lower, upper, generator.random(lower.shape))
        if not sure.all():
            found = np.where(sure, found, self.sliced(values, lower, upper, generator))
        return {self.name: found}

    def sliced(self, values: Values, lower: Array, upper: Array, generator: np.random.Generator) -> Array:
        """A slice step from a place between the bounds."""
        start = put_within(np.asarray(values[self.name], dtype=float), lower, upper)
        width = np.maximum(np.minimum(upper - lower, 1 + np.abs(start)), 1e-8)
        return slice_step(self.density(values), start, width, generator)


def put_within(here: Array, lower: Array, upper: Array) -> Array:
    """Values with those outside their bounds put inside: midway, or a tenth beyond the only one."""
    with np.errstate(invalid="ignore"):
        midway = 0.5 * (lower + upper)
        above, below = lower + np.maximum(1.0, 0.1 * np.abs(lower)), upper - np.maximum(1.0, 0.1 * np.abs(upper))
    inside = np.where(np.isfinite(lower), np.where(np.isfinite(upper), midway, above), below)
    return np.where((here > lower) & (here < upper), here, inside)
