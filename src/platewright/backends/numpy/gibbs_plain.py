"""The chains of an emitted sampler that need no trials; copied into it as it stands here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.numpy.gibbs_support import chain_draws, start
from platewright.family import Array


def learn(
    data: Mapping[str, Array],
    size: Mapping[str, int],
    seed: int = 0,
    chains: int = 4,
    draws: int = 1000,
    warm_up: int = 500,
) -> dict[str, Array]:
    """Draws from the posterior by name: chain, draw, then the axes of the variable."""
    generators = np.random.default_rng(seed).spawn(chains)
    starts = [start(data, size, generator) for generator in generators]
    kept = [chain_draws(starts[k], data, size, generators[k], warm_up, draws) for k in range(chains)]
    return {name: np.array([found[name] for found in kept]) for name in kept[0]}
