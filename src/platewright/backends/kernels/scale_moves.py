"""Move a scale and all that it scales at once: e = (b - mean) sqrt(precision) stays, the scale is drawn by a slice.

density of (s, e)  =  p(s, b(s, e), rest) prod_i precision_i(s)^(-1/2),        b_i = mean_i + e_i / sqrt(precision_i(s))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.backends.kernels.coordinate_slices import Brackets
from platewright.backends.kernels.coordinates import Joined
from platewright.backends.kernels.density import Density
from platewright.family import Array

Values = Mapping[str, Array]


class ScaleMover:
    """The state of one block of one chain: the width of the bracket of the scale."""

    def __init__(self, density: Density, placing: Mapping[str, Callable[[Values], tuple[Array, Array]]]) -> None:
        """`density` is that of the scale and of what it scales.

        `placing` gives the mean and the precision of all that is scaled, each after those that it looks at.
        """
        self.density, self.placing = density, placing
        self.scale = density.coordinates.parts[0].name
        self.coordinate = Joined(density.coordinates.parts[:1])
        self.rest: Values = {}
        self.brackets = Brackets(1)
        self.begin_warm_up, self.end_warm_up = self.brackets.begin_warm_up, self.brackets.end_warm_up

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """A new scale, and what it scales brought along."""
        with np.errstate(all="ignore"):
            noise = self.standardised(values)
            start = float(self.coordinate.free(values)[0])
            height = self.height(start, noise)
            found = self.brackets.along(lambda at: self.height(at, noise), start, height, generator)
            moved, _ = self.placed(found, noise)
        return moved if np.isfinite(height) else {}

    def given(self, values: Values) -> None:
        """Hold everything else at these values."""
        self.rest = values
        self.density.given(values)

    def standardised(self, values: Values) -> list[Array]:
        """What the scale scales, in units of its own; everything else is held at these values."""
        self.given(values)
        found = []
        for name, placing in self.placing.items():
            mean, precision = placing(values)
            found.append((np.asarray(values[name]) - mean) * np.sqrt(precision))
        return found

    def placed(self, at: float, noise: Sequence[Array]) -> tuple[dict[str, Array], float]:
        """The values at a coordinate of the scale, and the log of their volume factor."""
        values, volume = self.coordinate.values(np.array([at]))
        for (name, placing), noise_of in zip(self.placing.items(), noise, strict=True):
            mean, precision = placing({**self.rest, **values})
            values[name] = mean + noise_of / np.sqrt(precision)
            volume -= 0.5 * float(np.sum(np.log(precision)))
        return values, volume

    def height(self, at: float, noise: Sequence[Array]) -> float:
        """The log density along the scale, while the noise stays."""
        values, volume = self.placed(at, noise)
        found = self.density.at_values(values) + volume
        return found if np.isfinite(found) else -np.inf
