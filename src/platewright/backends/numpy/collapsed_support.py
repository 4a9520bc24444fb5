"""The loop of an emitted collapsed sampler; copied into it as it stands here, without its type hints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]


def learn(
    data: Data, size: Sizes, seed: int = 0, chains: int = 4, draws: int = 1000, warm_up: int = 500, thin: int = 1
) -> dict[str, Array]:
    """Draws from the posterior by name: chain, draw, then the axes of the variable; of so many sweeps one is kept.

    Parameters are integrated out while a chain runs, and drawn given the hidden variables when a draw is kept.
    """
    data = prepared(data, size)
    kept: dict[str, list[list[Array]]] = {}
    for source in np.random.SeedSequence(seed).spawn(chains):
        for_start, for_sweeps, for_parameters = source.spawn(3)
        hidden = start(size, np.random.default_rng(for_start))
        random, generator = Xoshiro.seeded(for_sweeps), np.random.default_rng(for_parameters)
        for _ in range(warm_up):
            sweep(hidden, data, size, random)
        for number in range(draws):
            for _ in range(thin):
                sweep(hidden, data, size, random)
            values = {**hidden, **draw_parameters({**data, **hidden}, size, generator)}
            for name, value in values.items():
                if number == 0:
                    kept.setdefault(name, []).append([])
                kept[name][-1].append(np.array(value))
    return {name: np.array(found) for name, found in kept.items()}


def prepared(data: Data, size: Sizes) -> Data:
    """Stands in for what a program makes before its first sweep."""
    raise NotImplementedError


def start(size: Sizes, generator: np.random.Generator) -> dict[str, Array]:
    """Stands in for the start of a program, which the emitter writes."""
    raise NotImplementedError


def sweep(hidden: Data, data: Data, size: Sizes, random: Xoshiro) -> None:
    """Stands in for the sweep of a program, which the emitter writes."""
    raise NotImplementedError


def draw_parameters(data: Data, size: Sizes, generator: np.random.Generator) -> dict[str, Array]:
    """Stands in for the draw of the parameters, which the emitter writes."""
    raise NotImplementedError
