"""Turn the signs of unknowns over, by a Metropolis step; each keeps the density, as turning twice changes nothing.

accept  x -> -x  with probability  min(1, p(-x, rest) / p(x, rest))
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels.density import Density
from platewright.family import Array


class MirrorMover:
    """Signs of one block: of whole unknowns, or element by element over axes that they share."""

    def __init__(self, density: Density, shared: Mapping[str, tuple[int, ...]]) -> None:
        self.density, self.shared = density, shared

    def begin_warm_up(self, sweeps: int) -> None:
        """There is nothing to learn."""

    def end_warm_up(self) -> None:
        """There was nothing to learn."""

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """New values of all that turns."""
        with np.errstate(all="ignore"):
            self.density.given(values)
            found = {name: np.array(values[name], dtype=float) for name in self.shared}
            height = self.density.at_values(found)
            name, axes = next(iter(self.shared.items()))
            for place in np.ndindex(*(np.shape(found[name])[axis] for axis in axes)):
                turned = self.turned(found, place)
                other = self.density.at_values(turned)
                if np.log(generator.uniform()) < other - height:
                    found, height = turned, other
        return found

    def turned(self, values: Mapping[str, Array], place: tuple[int, ...]) -> dict[str, Array]:
        """The values with one sign turned over."""
        found = {name: np.array(value) for name, value in values.items()}
        for name, axes in self.shared.items():
            every: list[slice | int] = [slice(None)] * found[name].ndim
            for axis, at in zip(axes, place):
                every[axis] = at
            found[name][tuple(every)] *= -1.0
        return found
