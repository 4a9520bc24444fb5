"""The log density of a block of unknowns given the rest, with its gradient, on coordinates without constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from platewright.backends.kernels.bent import Bent
from platewright.backends.kernels.coordinates import Joined
from platewright.family import Array

Values = Mapping[str, Array]


class Density:
    """`given` sets the values of the rest, calls evaluate at coordinates.

    `log_factors` adds up the log factors that hold a variable of the block, `slopes` gives their derivatives by name,
    `precisions` the precision that the rest gives some of the variables, and `bent` value, slopes and curvature in one
    pass; all are functions of all values.
    """

    def __init__(
        self,
        coordinates: Joined,
        log_factors: Callable[[Values], float],
        slopes: Callable[[Values], dict[str, Array]] | None = None,
        precisions: Callable[[Values], dict[str, Array]] | None = None,
        bent: Callable[[Values], Bent] | None = None,
    ) -> None:
        self.coordinates, self.bent = coordinates, bent
        self.log_factors, self.slopes, self.precisions = log_factors, slopes, precisions
        self.rest: Values = {}

    def given(self, values: Values) -> None:
        """Hold everything outside the block at these values."""
        self.rest = values

    def log_density(self, u: Array) -> float:
        """The log density at coordinates, minus infinity where it is not a number."""
        return self.at_coordinates(u)[0]

    def with_gradient(self, u: Array) -> tuple[float, Array]:
        """The log density and its gradient."""
        found, values = self.at_coordinates(u)
        if not np.isfinite(found):
            return found, np.zeros(len(u))
        assert self.slopes is not None
        with np.errstate(all="ignore"):
            gradient = self.coordinates.gradient(u, values, self.slopes({**self.rest, **values}))
        return (found, gradient) if np.isfinite(gradient).all() else (-np.inf, np.zeros(len(u)))

    def at_values(self, values: Values) -> float:
        """The log density of values, without a volume factor."""
        return self.log_factors({**self.rest, **values})

    def at_coordinates(self, u: Array) -> tuple[float, dict[str, Array]]:
        """The log density at coordinates, and the values there."""
        with np.errstate(all="ignore"):
            values, volume = self.coordinates.values(u)
            total = self.at_values(values) + volume
        return (total if np.isfinite(total) else -np.inf), values

    def known_precision(self) -> Array:
        """The curvature that the rest fixes: for each coordinate the precision of its own prior, or 0."""
        found = np.zeros(self.coordinates.size)
        known = self.precisions(self.rest) if self.precisions is not None else {}
        for part, place in zip(self.coordinates.parts, self.coordinates.slices, strict=True):
            if part.name in known:
                found[place] = np.ravel(known[part.name])
        return found
