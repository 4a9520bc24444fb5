"""Move a scale and all that it scales at once: e = (b - mean) sqrt(precision) stays, the scale is drawn by a slice.

density of (s, e)  =  p(s, b(s, e), rest) prod_i precision_i(s)^(-1/2),        b_i = mean_i + e_i / sqrt(precision_i(s))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.backends.kernels.coordinate_slices import slice_move
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
        self.width = 1.0
        self.moved = 0.0
        self.sweeps = 0
        self.learning = False

    def begin_warm_up(self, sweeps: int) -> None:
        """Follow the size of recent moves."""
        self.learning = sweeps > 0

    def end_warm_up(self) -> None:
        """Keep the width as it is."""
        self.learning = False

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """A new scale, and what it scales brought along."""
        with np.errstate(all="ignore"):
            noise = self.standardised(values)
            start = float(self.coordinate.free(values)[0])
            height = self.height(start, noise)
            found, _ = slice_move(lambda at: self.height(at, noise), start, height, self.width, generator)
            moved, _ = self.placed(found, noise)
        if self.learning:
            self.sweeps += 1
            self.moved += abs(found - start)
            self.width = max(3 * self.moved / self.sweeps, 1e-3)
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
