"""The posterior of one quantity as draws, where it has no closed form of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from platewright.errors import PlatewrightError
from platewright.family import Array


def one_after_another(chains: Array) -> Array:
    """Draws of all chains in one row; a variable without elements keeps their number."""
    return chains.reshape(math.prod(chains.shape[:2]), *chains.shape[2:])


@dataclass(frozen=True, eq=False)
class Sampled:
    """Draws; moments carry the Monte Carlo error `mcse`."""

    name: str
    values: Array
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    chains: Array | None = None
    """For draws of Markov chains: chain, draw, then the axes of the variable."""
    point: Array | None = None
    """The joint mode, where that was the goal."""

    @property
    def mean(self) -> Array:
        """Mean of the draws."""
        return self.values.mean(axis=0)

    @property
    def value(self) -> Array:
        """The point estimate: the joint mode for goal `map`, else the mean."""
        return self.mean if self.point is None else self.point

    @property
    def variance(self) -> Array:
        """Variance of the draws."""
        return self.values.var(axis=0, ddof=1)

    @property
    def sd(self) -> Array:
        """Standard deviation of the draws."""
        return np.sqrt(self.variance)

    @property
    def mcse(self) -> Array:
        """Monte Carlo standard error of the mean; for Markov chains by their effective size (extra `arviz`)."""
        if self.chains is None:
            return self.sd / np.sqrt(len(self.values))
        from platewright.run.samplers.diagnosing import array_stats

        return np.asarray(array_stats().mcse(self.chains, chain_axis=0, draw_axis=1))

    def quantile(self, q: object) -> Array:
        """Quantiles of the draws."""
        return np.quantile(self.values, np.asarray(q, dtype=float), axis=0)

    def draw(self, count: int = 1, seed: int = 0) -> Array:
        """Some of the draws, chosen at random."""
        return np.random.default_rng(seed).choice(self.values, size=count, axis=0)

    def __repr__(self) -> str:
        return f"<posterior of {self.name}: {len(self.values)} draws>"


@dataclass(frozen=True, eq=False)
class Predicted(Sampled):
    """Draws of a predicted variable whose density is known exactly."""

    density: Callable[[object], Array] | None = None

    def log_density(self, value: object) -> Array:
        """The exact log predictive density of a value in each row."""
        if self.density is None:
            raise PlatewrightError(
                f"the density of `{self.name}` alone has no closed form",
                hint="fit.predict(...).log_density({...}) gives that of all predicted variables together",
            )
        return self.density(value)
