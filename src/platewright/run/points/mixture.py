"""The posterior of an unknown that is Gaussian at each point of others: a finite mixture, one component a point.

Mean and variance are those over all points. Quantiles and densities go over some of them, drawn systematically, whose
mixture is moved and stretched to the exact mean and variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.algebra.lazy import special
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.results.quantity import Quantity


@dataclass(frozen=True, eq=False)
class Mixture(Quantity):
    """Gaussian components for every element of one unknown."""

    centre: Array
    spread: Array
    some: Callable[[], tuple[Array, Array, Array]]
    """Shares, means and standard deviations of components: the first axis numbers them."""
    drawn: Callable[[int, int], Array]
    """Independent draws, for a count and a seed."""
    word = "Normal mixture"

    @property
    def mean(self) -> Array:
        """Posterior mean."""
        return self.centre

    @property
    def variance(self) -> Array:
        """Posterior variance."""
        return self.spread

    @property
    def sd(self) -> Array:
        """Posterior standard deviation."""
        return np.sqrt(self.variance)

    @property
    def value(self) -> Array:
        """The point estimate: the mean."""
        return self.mean

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one value."""
        return self.mean.shape

    @cached_property
    def components(self) -> tuple[Array, Array, Array]:
        """Shares, means and standard deviations of components whose mixture has the exact mean and variance."""
        share, means, spreads = self.some()
        away = means - means[0]
        away = away - np.tensordot(share, away, 1)
        size = np.sqrt(self.variance / np.tensordot(share, spreads**2 + away**2, 1))
        return share, self.mean + size * away, size * spreads

    def quantile(self, q: object) -> Array:
        """Quantiles at the given probabilities; several probabilities give a leading axis."""
        wanted = np.asarray(q, dtype=float)
        if ((wanted < 0) | (wanted > 1)).any():
            raise PlatewrightError(f"a quantile at {q}", expected="probabilities from 0 to 1")
        found = [self._quantile(float(one)) for one in wanted.reshape(-1)]
        return np.stack(found).reshape((*wanted.shape, *self.shape))

    def _quantile(self, q: float) -> Array:
        if q in (0.0, 1.0):
            return np.full(self.shape, -np.inf if q == 0.0 else np.inf)
        share, means, spreads = self.components
        u = self.mean + self.sd * special.ndtri(q)
        ends = means + spreads * special.ndtri(q)
        low, high = ends.min(axis=0), ends.max(axis=0)
        for _ in range(30):
            z = (u - means) / spreads
            over = np.tensordot(share, special.ndtr(z), 1) - q
            low, high = np.where(over < 0, u, low), np.where(over > 0, u, high)
            slope = np.tensordot(share, np.exp(-0.5 * z**2) / spreads, 1) / np.sqrt(2 * np.pi)
            with np.errstate(all="ignore"):
                after = u - over / slope
            after = np.where((after >= low) & (after <= high), after, (low + high) / 2)
            if (np.abs(after - u) < 1e-6 * self.sd).all():
                return after
            u = after
        return u

    def log_density(self, value: object) -> Array:
        """Log density at a value, for each element."""
        x = np.asarray(value, dtype=float)
        share, means, spreads = self.components
        logs = -0.5 * ((x - means) / spreads) ** 2 - np.log(spreads) - 0.5 * np.log(2 * np.pi)
        weights = share.reshape(-1, *(1,) * (logs.ndim - 1))
        return np.asarray(special.logsumexp(logs, axis=0, b=weights))

    def draw(self, count: int = 1, seed: int = 0) -> Array:
        """Independent draws; the first axis numbers them."""
        return self.drawn(count, seed)

    def __repr__(self) -> str:
        return f"<posterior of {self.name}: a mixture of normals>"
