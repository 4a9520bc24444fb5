"""Moments of parameters that are single values, which stand for their distributions in plain updates (Equation 26).

A value has its statistics and itself as the mean, and no loadings on noises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.elimination.expected import Expecter, moment_name
from platewright.elimination.loadings import (
    direction_sizes,
    mean_name,
)
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.recognition.transform import IDENTITY
from platewright.run.exact.marginal import evaluate_at, scalar
from platewright.run.exact.posterior import Posterior


def value_moments(expecter: Expecter, values: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """The moments of parameters that are single values."""
    found: dict[str, Array] = {}
    everywhere = {**sizes, **direction_sizes(expecter.conditionals, sizes)}
    for conditional in expecter.conditionals:
        match conditional:
            case FamilyConditional(variable, recognised, _):
                transform, family = recognised.transform, recognised.family
                value = np.asarray(values[variable], dtype=float)
                value = value if transform is IDENTITY else scalar(transform.forward, {"x": value})
                batch = value.shape[: value.ndim - family.rank]
                for number, statistic in enumerate(family.statistics):
                    found[moment_name(variable, number)] = evaluate_at(statistic, {"x": value}, batch)
            case GaussianConditional():
                for name in conditional.variables:
                    found[mean_name(name)] = np.asarray(values[name], dtype=float)
    for name, axes in expecter.arrays.items():
        if name not in found:
            found[name] = np.zeros(tuple(everywhere[axis.plate] for axis in axes))
    return found


def mean_values(posterior: Posterior, conditionals: Sequence[Conditional]) -> dict[str, Array]:
    """The mean of every parameter of a block, each by itself."""
    found: dict[str, Array] = {}
    for name in (name for conditional in conditionals for name in conditional.variables):
        marginal = posterior.marginal(name)
        mean = None if marginal is None else np.asarray(marginal.mean)
        if mean is None or not np.isfinite(mean).all():
            raise PlatewrightError(
                f"the mean of `{name}` given the other unknowns does not exist or has no closed form",
                expected="a conditional with a mean, for plain mean updates",
                hint="leave update= away for mean field with a lower bound",
            )
        found[name] = mean
    return found
