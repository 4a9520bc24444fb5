"""The posterior of a number that was held at points: moments, quantiles and density from points and their shares.

    F(u) = sum_i share_i K((u - u_i) / s_i),    K(z) = Phi(z) + (b / s_i)^2 z phi(z) / 2,    s_i^2 = b^2 + v_i

On the coordinate without ends. A cell of the lattice has mean u_i and variance v_i over the nodes in it; cells lie so
close that b may be a fraction of the standard deviation, and the kernel, of fourth order in b, adds nothing to moments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.algebra.lazy import special
from platewright.backends.kernels.held_density import at_coordinates, coordinates_of
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.results.quantity import Quantity

PLACES = 400


@dataclass(frozen=True, eq=False)
class Number(Quantity):
    """One number: its coordinate at each point with shares, the cells of the points, and the width of the kernel."""

    at: Array
    share: Array
    cells: tuple[Array, Array, Array]
    """The share of each cell, with mean and variance of the coordinate in it."""
    width: Array
    """The width of the kernel of each cell."""
    ends: tuple[float, float]
    drawn: Callable[[int, int], Array]
    """Independent draws, for a count and a seed."""
    word = "by points"

    @cached_property
    def values(self) -> Array:
        """The number at each point."""
        return at_coordinates(self.at[:, None], [self.ends])[0][:, 0]

    @property
    def mean(self) -> Array:
        """Posterior mean."""
        return np.asarray(self.share @ self.values)

    @property
    def variance(self) -> Array:
        """Posterior variance."""
        return np.asarray(self.share @ (self.values - self.mean) ** 2)

    @property
    def sd(self) -> Array:
        """Posterior standard deviation."""
        return np.sqrt(self.variance)

    @property
    def value(self) -> Array:
        """The point estimate: the mean."""
        return self.mean

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Places on the coordinate, and the distribution function there."""
        share, mean, sizes = self._kernels
        low, high = (mean - 5 * sizes).min(), (mean + 5 * sizes).max()
        places = np.linspace(low, high, PLACES)
        if np.ptp(self.width) > 0:  # modes of several widths: the places are close where the cells are
            places = np.unique(np.concatenate([places, np.ravel(mean + sizes * np.array([[-3], [-1], [0], [1], [3]]))]))
        z = (places[:, None] - mean) / sizes
        flat = 0.5 * (self.width / sizes) ** 2 * z * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
        found = (special.ndtr(z) + flat) @ share
        return places, np.maximum.accumulate(found) + 1e-15 * np.arange(len(places))

    @property
    def _kernels(self) -> tuple[Array, Array, Array]:
        share, mean, variance = self.cells
        return share, mean, np.sqrt(variance + self.width**2)

    def quantile(self, q: object) -> Array:
        """Quantiles at the given probabilities."""
        wanted = np.asarray(q, dtype=float)
        if ((wanted < 0) | (wanted > 1)).any():
            raise PlatewrightError(f"a quantile at {q}", expected="probabilities from 0 to 1")
        places, found = self._table
        u = np.interp(wanted.reshape(-1), found, places)
        return at_coordinates(u[:, None], [self.ends])[0][:, 0].reshape(wanted.shape)

    def log_density(self, value: object) -> Array:
        """Log density at values of the number; minus infinity outside its range."""
        x = np.asarray(value, dtype=float)
        flat = x.reshape(-1, 1)
        inside = (flat[:, 0] > self.ends[0]) & (flat[:, 0] < self.ends[1])
        u = coordinates_of(np.where(inside[:, None], flat, self.values[:1, None]), [self.ends])
        share, mean, sizes = self._kernels
        z = (u - mean) / sizes
        plain = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) / sizes
        fine = (plain * (1 + 0.5 * (self.width / sizes) ** 2 * (1 - z**2))) @ share
        rough = plain @ share
        with np.errstate(divide="ignore"):
            found = np.log(np.where(fine > 0.05 * rough, fine, rough)) - at_coordinates(u, [self.ends])[1]
        return np.where(inside, found, -np.inf).reshape(x.shape)

    def draw(self, count: int = 1, seed: int = 0) -> Array:
        """Independent draws; the first axis numbers them."""
        return self.drawn(count, seed)

    def __repr__(self) -> str:
        return (
            f"<posterior of {self.name}: {len(self.at)} points, mean {float(self.mean):.6g}, sd {float(self.sd):.6g}>"
        )
