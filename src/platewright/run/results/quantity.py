"""What an answer is, whatever form it has: one quantity with its moments, and several of them by name.

Quantity       what is known of one variable, or of one function of variables
Quantities     several by name: a Mapping that is equal to nothing but itself
Predictions    those of new rows
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import NotLearned

Numbers = NDArray[np.float64]
Draws = Mapping[str, NDArray[Any]]
"""By name; the first axis numbers the draws. Those of counts and classes are whole numbers."""


def written(whole: object) -> dict[str, object]:
    """The fields of a dataclass, without what was found on the way: a copy finds it again."""
    return {one.name: getattr(whole, one.name) for one in fields(whole)}  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Quantity:
    """What is known of one quantity; a form that lacks a moment says so by `NotLearned`."""

    name: str

    def __getstate__(self) -> dict[str, object]:
        return written(self)

    @property
    def mean(self) -> Numbers:
        """The mean, element by element."""
        raise self._lacks("mean")

    @property
    def value(self) -> Numbers:
        """The point estimate: the joint mode for goal `map`, else the mean."""
        raise self._lacks("value")

    @property
    def variance(self) -> Numbers:
        """The variance, element by element."""
        raise self._lacks("variance")

    @property
    def sd(self) -> Numbers:
        """The standard deviation, element by element."""
        return np.sqrt(self.variance)

    def quantile(self, q: object) -> Numbers:
        """Quantiles at the given probabilities; several probabilities give a leading axis."""
        raise self._lacks("quantiles")

    def draw(self, count: int = 1, seed: int = 0) -> NDArray[Any]:
        """Draws; the first axis numbers them."""
        raise self._lacks("draws")

    def log_density(self, value: object) -> Numbers:
        """The log density at a value."""
        raise self._lacks("density")

    def _lacks(self, what: str) -> NotLearned:
        return NotLearned(f"what is known of `{self.name}` has no {what}", hint="learn(data, goal='posterior')")


class Quantities(Mapping[str, Quantity]):
    """Quantities by name. Equality is identity, so that arrays are never compared and every answer can be a key."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getstate__(self) -> dict[str, object]:
        return written(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


class Predictions(Quantities):
    """Predicted variables of new rows, by name."""

    @property
    def draws(self) -> Draws:
        """Joint draws of all that is predicted."""
        raise NotLearned("this prediction has no draws")

    def probabilities(self, name: str) -> Numbers:
        """For a discrete variable of the new rows the probability of each value, along the last axis."""
        raise NotLearned(f"this prediction has no probabilities of `{name}`", hint="prediction[name] has its moments")

    def log_density(self, values: Mapping[str, object]) -> Numbers:
        """For each new row the joint log predictive density of given values of all predicted variables."""
        raise NotLearned("this prediction has no joint density", hint="fit.log_predictive(rows) where the fit has it")
