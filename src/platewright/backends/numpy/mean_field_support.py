"""The loop of an emitted mean-field program, and entropies; copied into it as they stand here, without type hints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]
Raised = tuple[dict[str, Array], Data, list[float], bool]

SHORT = 20
"""Iterations of each start before the best is carried on."""
FALL = 1e-9
"""How much a bound may fall, relative to its size, by rounding."""


def clique_entropy(probability: Array, log_weight: Array, message: Array, plates: int) -> float:
    """The entropy of the first variable of a clique given the others, added up over the elements of the plates."""
    share = np.where(probability > 0, log_weight - np.expand_dims(message, plates), 0.0)
    return -float(np.sum(probability * share))


def chain_entropy(
    added: Array,
    probability: Array,
    pairs: Array,
    single: Array,
    pair: Array,
    first: Array,
    chains: int,
    weight: Array | float = 1.0,
) -> float:
    """The entropy of hidden chains: what each step adds to the log weight less the expected log weight.

    `weight` is the probability of the classes of a sequence, each of which has chains of its own.
    """
    own, both = tuple(range(-chains, 0)), tuple(range(-2 * chains, 0))
    inside = added - np.sum(np.where(probability > 0, probability * single, 0.0), axis=own)
    moved = np.sum(np.where(pairs > 0, pairs * pair, 0.0), axis=both)
    moved[np.asarray(first) != 0] = 0.0
    whole = np.where(np.isneginf(inside), 0.0, inside) - moved  # of a class that cannot be, the weight is zero
    return float(np.sum(weight * whole))


def raised(
    moments: Data, bounds: Sequence[float], data: Data, size: Sizes, iterations: int, tolerance: float
) -> Raised:
    """Updates in turn until the lower bound stands still: parameters, moments, bounds, whether it converged."""
    bounds = list(bounds)
    while len(bounds) < iterations:
        expectations, entropy = expect({**data, **moments}, size)
        found, moments, evidence = parameters({**data, **moments, **expectations}, size)
        bound = evidence + entropy
        if not np.isfinite(bound):
            raise ArithmeticError("the lower bound is not finite: look for components without rows")
        if bounds and bound < bounds[-1] - FALL * (1 + abs(bounds[-1])):
            raise ArithmeticError("the lower bound fell, which it never may")
        bounds.append(bound)
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) <= tolerance * (1 + abs(bound)):
            return found, moments, bounds, True
    return found, moments, bounds, False


def learn(
    data: Data, size: Sizes, seed: int = 0, restarts: int = 5, iterations: int = 1000, tolerance: float = 1e-10
) -> dict[str, Array | float]:
    """The best of several short runs, carried on until it stands still."""
    runs = []
    for generator in np.random.default_rng(seed).spawn(restarts):
        _, moments, _ = parameters({**data, **start(data, size, generator)}, size)
        short = min(SHORT, iterations) if restarts > 1 else iterations
        runs.append(raised(moments, [], data, size, short, tolerance))
    found, moments, bounds, converged = max(runs, key=lambda run: run[2][-1])
    if not converged and len(bounds) < iterations:
        found, moments, bounds, converged = raised(moments, bounds, data, size, iterations, tolerance)
    return {**found, "lower_bound": bounds[-1]}


def parameters(data: Data, size: Sizes) -> tuple[dict[str, Array], Data, float]:
    """Stands in for the distribution of the parameters, which the emitter writes."""
    raise NotImplementedError


def expect(data: Data, size: Sizes) -> tuple[dict[str, Array], float]:
    """Stands in for the distribution of the hidden variables, which the emitter writes."""
    raise NotImplementedError


def start(data: Data, size: Sizes, generator: np.random.Generator) -> dict[str, Array]:
    """Stands in for the start of a program, which the emitter writes."""
    raise NotImplementedError
