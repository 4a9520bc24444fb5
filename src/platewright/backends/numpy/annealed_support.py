"""Annealed importance sampling (Neal 2001) as emitted programs do it; copied into them without type hints.

    weight of a particle = product over t of likelihood(state_t)^(power_t+1 - power_t)

Its mean over particles is the evidence, whatever the steps; between them the particle is moved by the Gibbs sampler of
prior x likelihood^power, derived from the model like any other. The particles are independent, and so the error is
known.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from platewright.backends.kernels.log_means import error_of_independent, log_mean
from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]

BEND = 4.0
"""Powers are (t / steps)^BEND: most steps are taken where the likelihood begins to be felt."""


def learn(
    data: Data, size: Sizes, seed: int = 0, particles: int = 40, powers: int = 100, sweeps: int = 1
) -> dict[str, float]:
    """The log evidence from independent particles, with its Monte Carlo error."""
    data = prepared(data, size)
    generators = np.random.default_rng(seed).spawn(particles)
    logs = np.array([log_weight(data, size, generator, powers, sweeps) for generator in generators])
    return {"log_evidence": log_mean(logs), "error": error_of_independent(logs)}


def log_weight(data: Data, size: Sizes, generator: np.random.Generator, powers: int, sweeps: int) -> float:
    """The log weight of one particle, from a draw of the prior to the posterior."""
    ladder = (np.arange(powers + 1) / powers) ** BEND
    values = prior(data, size, generator)
    moving = movers(size)
    total = 0.0
    for before, power in pairwise(ladder.tolist()):
        total += (power - before) * log_likelihood({**data, **values}, size)
        if np.isneginf(total):
            return total  # the prior drew what the data rule out
        values = at_power(values, power)
        for _ in range(sweeps if power < 1.0 else 0):
            values = sweep(values, data, size, generator, moving)
    return float(total)


def prepared(data: Data, size: Sizes) -> Data:
    """Stands in for what a program makes before its first sweep."""
    raise NotImplementedError


def prior(data: Data, size: Sizes, generator: np.random.Generator) -> Data:
    """Stands in for a draw of the prior, which the emitter writes."""
    raise NotImplementedError


def movers(size: Sizes) -> dict[int, Any]:
    """Stands in for the movers of a program, which the emitter makes."""
    raise NotImplementedError


def log_likelihood(data: Data, size: Sizes) -> float:
    """Stands in for the log factors of the data, which the emitter writes."""
    raise NotImplementedError


def at_power(values: Data, power: float) -> Data:
    """Stands in for the values at another power of the likelihood."""
    raise NotImplementedError


def sweep(values: Data, data: Data, size: Sizes, generator: np.random.Generator, moving: Mapping[int, Any]) -> Data:
    """Stands in for the sweep of a program, which the emitter writes."""
    raise NotImplementedError
