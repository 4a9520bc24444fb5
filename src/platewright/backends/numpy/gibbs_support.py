"""The functions that emitted Gibbs samplers share; copied into them as they stand here, without their type hints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.backends.kernels.trials import SETTLING, WEIGHED, stayed, trial_starts
from platewright.family import Array


def draw_shares(generator: np.random.Generator, concentration: Array) -> Array:
    """Dirichlet, as gammas over their sum."""
    gammas = generator.standard_gamma(concentration)
    return gammas / gammas.sum(axis=-1, keepdims=True)


def near_identity(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Positive definite matrices to start from."""
    noise = 0.1 * generator.standard_normal(shape)
    return np.eye(shape[-1]) + noise @ np.swapaxes(noise, -1, -2)


def draw_levels(generator: np.random.Generator, log_weights: Array) -> Array:
    """A value for each row of log weights, which need no normalisation: the largest after Gumbel noise."""
    return np.argmax(log_weights + generator.gumbel(size=log_weights.shape), axis=-1)


def coloured(noise: Array, precision: Array) -> Array:
    """Rows of standard noise with the inverse of a matrix as their covariance."""
    root = np.linalg.cholesky(precision)
    return np.swapaxes(np.linalg.solve(np.swapaxes(root, -1, -2), np.swapaxes(noise, -1, -2)), -1, -2)


def learn(
    data: Mapping[str, Array],
    size: Mapping[str, int],
    seed: int = 0,
    chains: int = 4,
    draws: int = 1000,
    warm_up: int = 500,
    thin: int = 1,
) -> dict[str, Array]:
    """Draws from the posterior by name: chain, draw, then the axes of the variable; of so many sweeps one is kept."""
    data = prepared(data, size)
    generators = np.random.default_rng(seed).spawn(chains)
    starts = chain_starts(data, size, generators, warm_up)
    kept = [chain_draws(starts[k], data, size, generators[k], warm_up, draws, thin) for k in range(chains)]
    return {name: np.array([found[name] for found in kept]) for name in kept[0]}


def chain_starts(
    data: Mapping[str, Array], size: Mapping[str, int], generators: Sequence[np.random.Generator], warm_up: int
) -> list[Mapping[str, Array]]:
    """Where each chain starts: in a mode that matters, which short trials found."""

    def trial(number: int, values: Mapping[str, Array]) -> Mapping[str, Array]:
        try:
            return chain_draws(values, data, size, generators[number], SETTLING, WEIGHED)
        except ArithmeticError:  # the chain itself would tell
            return stayed(values)

    def heights(found: Mapping[str, Array]) -> Array:
        count = len(next(iter(found.values())))
        return np.array([height_of({**data, **{name: found[name][k] for name in found}}, size) for k in range(count)])

    def made(number: int) -> Mapping[str, Array]:
        return start(data, size, generators[number])

    return trial_starts(len(generators), warm_up, made, trial, heights)


def chain_draws(
    values: Mapping[str, Array],
    data: Mapping[str, Array],
    size: Mapping[str, int],
    generator: np.random.Generator,
    warm_up: int,
    draws: int,
    thin: int = 1,
) -> dict[str, Array]:
    """The draws of one chain from given values on."""
    kept: dict[str, list[Array]] = {name: [] for name in values}
    for _ in range(warm_up):
        values = sweep(values, data, size, generator)
    for _ in range(draws):
        for _ in range(thin):
            values = sweep(values, data, size, generator)
        for name, value in values.items():
            kept[name].append(value)
    return {name: np.array(found) for name, found in kept.items()}


def summary(drawn: Mapping[str, Array]) -> dict[str, Array]:
    """Means and standard deviations over all draws. Hidden labels may differ from draw to draw."""
    found = {}
    for name, values in drawn.items():
        if np.issubdtype(values.dtype, np.floating):
            found[f"{name} mean"] = values.mean(axis=(0, 1))
            found[f"{name} sd"] = values.std(axis=(0, 1))
    return found


def prepared(data: Mapping[str, Array], size: Mapping[str, int]) -> Mapping[str, Array]:
    """Stands in for what a program makes before its first sweep."""
    raise NotImplementedError


def start(data: Mapping[str, Array], size: Mapping[str, int], generator: np.random.Generator) -> dict[str, Array]:
    """Stands in for the start of a program, which the emitter writes."""
    raise NotImplementedError


def height_of(data: Mapping[str, Array], size: Mapping[str, int]) -> float:
    """Stands in for the log density of a program, which the emitter writes."""
    raise NotImplementedError


def sweep(
    values: Mapping[str, Array], data: Mapping[str, Array], size: Mapping[str, int], generator: np.random.Generator
) -> dict[str, Array]:
    """Stands in for the sweep of a program, which the emitter writes."""
    raise NotImplementedError


SHARED = (draw_shares, near_identity, draw_levels, coloured)
