"""Laplace's posterior: Gaussian marginals on transformed scales, and independent draws.

a real number: Normal        a positive one: its logarithm is Normal        a probability: its logit is Normal
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from platewright.backends.kernels.coordinates import Above, Between, Plain
from platewright.families import FAMILIES
from platewright.family import Array
from platewright.recognition.transform import IDENTITY, LOGARITHM, LOGIT, Transform
from platewright.run.exact.marginal import Marginal
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.peak import Peak
from platewright.run.hidden.summit import peak_of
from platewright.run.results.quantity import Quantity
from platewright.run.samplers.sampled import Sampled

DRAWS = 4000
_NORMAL = next(family for family in FAMILIES if family.name == "Normal")


@dataclass(frozen=True, eq=False, repr=False)
class LaplaceFit(EstimatedFit):
    """What `m.learn(data, by="laplace")` returns."""

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        return f"laplace: a Gaussian about the mode of {', '.join(self.learned)}; {super().how}"

    @cached_property
    def peak(self) -> Peak:
        """The density of the coordinates about its own mode."""
        found = replace(peak_of(self.derivation, self.runner, self.estimate.values), with_volume=True)
        return found.climbed()

    def __getitem__(self, name: str) -> Quantity:  # type: ignore[override]
        """The posterior of one unknown."""
        if name not in self.learned:
            if name not in self.functions:
                raise self.absent(name, self)
            return Sampled(name, self._many[name], self.labels)
        number = list(self.learned).index(name)
        part, place = self.peak.coordinates.parts[number], self.peak.coordinates.slices[number]
        transform = transform_of(part)
        if transform is None:
            return Sampled(name, self._many[name], self.labels)
        mean = self.peak.top[place].reshape(part.shape)
        precision = 1 / np.diag(self.peak.covariance)[place].reshape(part.shape)
        axes = self.derivation.graph.nodes[name].axes
        return Marginal(name, _NORMAL, {"mean": mean, "precision": precision}, transform, axes, self.labels)

    @cached_property
    def _many(self) -> Mapping[str, Array]:
        drawn = self.draws(DRAWS, self.seed)
        return {**drawn, **self.functions_of(drawn, DRAWS)}

    def draws(self, count: int = 1000, seed: int | None = None) -> dict[str, Array]:
        """Independent draws of everything that was not integrated out, by name; the first axis numbers them."""
        return self.peak.draws(count, self.seed if seed is None else seed)


def transform_of(part: Plain) -> Transform | None:
    """What is Gaussian of an unknown, where that has a name."""
    if type(part) is Plain:
        return IDENTITY
    if type(part) is Above and part.low == 0.0:
        return LOGARITHM
    return LOGIT if type(part) is Between and (part.low, part.high) == (0.0, 1.0) else None
