"""The posterior of one quantity as draws, where it has no closed form of its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from platewright.errors import NotLearned, PlatewrightError
from platewright.family import Array
from platewright.run.results.quantity import Numbers, Quantity
from platewright.run.samplers.effective_size import effective_sizes, halves
from platewright.run.samplers.sums_of_draws import Sums, merged


def one_after_another(chains: Array) -> Array:
    """Draws of all chains in one row; a variable without elements keeps their number."""
    return chains.reshape(math.prod(chains.shape[:2]), *chains.shape[2:])


@dataclass(frozen=True, eq=False)
class Sampled(Quantity):
    """Draws; moments carry the Monte Carlo error `mcse`."""

    values: Array
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    chains: Array | None = None
    """For draws of Markov chains: chain, draw, then the axes of the variable."""
    point: Array | None = None
    """The joint mode, where that was the goal."""

    @property
    def mean(self) -> Numbers:
        """Mean of the draws."""
        return self.values.mean(axis=0)

    @property
    def value(self) -> Numbers:
        """The point estimate: the joint mode for goal `map`, else the mean."""
        return self.mean if self.point is None else self.point

    @property
    def variance(self) -> Numbers:
        """Variance of the draws."""
        return self.values.var(axis=0, ddof=1)

    @property
    def sd(self) -> Numbers:
        """Standard deviation of the draws."""
        return np.sqrt(self.variance)

    @property
    def mcse(self) -> Numbers:
        """Monte Carlo standard error of the mean; for Markov chains by their effective size."""
        if self.chains is None:
            return self.sd / np.sqrt(len(self.values))
        parts = halves(np.asarray(self.chains, dtype=float))
        sizes = effective_sizes(parts.reshape(*parts.shape[:2], -1)).reshape(parts.shape[2:])
        return self.sd / np.sqrt(sizes)

    def quantile(self, q: object) -> Numbers:
        """Quantiles of the draws."""
        return np.quantile(self.values, np.asarray(q, dtype=float), axis=0)

    def draw(self, count: int = 1, seed: int = 0) -> Array:
        """Some of the draws, chosen at random."""
        return np.random.default_rng(seed).choice(self.values, size=count, axis=0)

    def __repr__(self) -> str:
        return f"<posterior of {self.name}: {len(self.values)} draws>"


@dataclass(frozen=True, eq=False)
class Summed(Quantity):
    """What is left of draws that were not kept: mean and spread, and of a category how often each level was drawn."""

    chains: tuple[Sums, ...]
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    @cached_property
    def total(self) -> Sums:
        """The sums of all chains together."""
        return merged(self.chains)

    @property
    def mean(self) -> Numbers:
        """Mean of the draws."""
        return np.asarray(self.total.mean)

    @property
    def value(self) -> Numbers:
        """The point estimate: the mean."""
        return self.mean

    @property
    def variance(self) -> Numbers:
        """Variance of the draws."""
        return self.total.scatter / (self.total.count - 1)

    @property
    def shares(self) -> Numbers:
        """Of a category the share of draws with each level, along the last axis."""
        if not self.total.levels:
            raise self._lacks("shares of levels")
        return self.total.values / self.total.count

    @property
    def r_hat(self) -> Numbers:
        """How far the means of the chains are apart, for what draws of a chain vary: 1 where they agree."""
        within = np.mean([each.scatter / (each.count - 1) for each in self.chains], axis=0)
        count = np.mean([each.count for each in self.chains])
        means = np.array([each.mean for each in self.chains])
        between = means.var(axis=0, ddof=1) if len(means) > 1 else np.zeros(means.shape[1:])
        with np.errstate(all="ignore"):
            return np.asarray(np.where(within > 0, np.sqrt((count - 1) / count + between / within), 1.0))

    def _lacks(self, what: str) -> NotLearned:
        return NotLearned(
            f"the draws of `{self.name}` were not kept, so it has no {what}", hint=f'keep=["{self.name}"] keeps them'
        )

    def __repr__(self) -> str:
        return f"<posterior of {self.name}: sums of {self.total.count} draws>"


@dataclass(frozen=True, eq=False)
class Predicted(Sampled):
    """Draws of a predicted variable whose density is known exactly."""

    density: Callable[[object], Array] | None = None

    def log_density(self, value: object) -> Numbers:
        """The exact log predictive density of a value in each row."""
        if self.density is None:
            raise PlatewrightError(
                f"the density of `{self.name}` alone has no closed form",
                hint="fit.predict(...).log_density({...}) gives that of all predicted variables together",
            )
        return self.density(value)
