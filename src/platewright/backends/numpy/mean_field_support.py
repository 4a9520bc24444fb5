"""The loop of an emitted mean-field program, and entropies; copied into it as they stand here, without type hints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]
Raised = tuple[dict[str, Array], dict[str, Array], list[float], bool]


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


def raised(expectations: Data, data: Data, size: Sizes, iterations: int, tolerance: float) -> Raised:
    """Updates in turn until the lower bound stands still: parameters, expectations, bounds, whether it converged."""
    bounds: list[float] = []
    current, entropy = dict(expectations), 0.0
    found, moments, evidence = parameters({**data, **current}, size)
    for number in range(iterations):
        if number:  # at first the expectations are a guess, without an entropy that belongs to them
            bound = evidence + entropy
            if np.isnan(bound):
                raise ArithmeticError("the lower bound is not a number: look for components without rows")
            if bounds and bound < bounds[-1] - 1e-9 * (1 + abs(bounds[-1])):
                raise ArithmeticError("the lower bound fell, which it never may")
            bounds.append(bound)
            if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) <= tolerance * (1 + abs(bound)):
                return found, current, bounds, True
        current, entropy = expect({**data, **moments}, size)
        found, moments, evidence = parameters({**data, **current}, size)
    return found, current, [*bounds, evidence + entropy], False


def learn(
    data: Data, size: Sizes, seed: int = 0, restarts: int = 5, iterations: int = 1000, tolerance: float = 1e-10
) -> dict[str, Array | float]:
    """The best of several short runs, carried on until it stands still."""
    best = None
    for generator in np.random.default_rng(seed).spawn(restarts):
        run = raised(start(data, size, generator), data, size, 20 if restarts > 1 else iterations, tolerance)
        if best is None or run[2][-1] > best[2][-1]:
            best = run
    assert best is not None
    found, expectations, bounds, converged = best
    if not converged:
        found, expectations, bounds, converged = raised(expectations, data, size, iterations, tolerance)
    return {**found, "lower_bound": bounds[-1]}


def parameters(data: Data, size: Sizes) -> tuple[dict[str, Array], dict[str, Array], float]:
    """Stands in for the distribution of the parameters, which the emitter writes."""
    raise NotImplementedError


def expect(data: Data, size: Sizes) -> tuple[dict[str, Array], float]:
    """Stands in for the distribution of the hidden variables, which the emitter writes."""
    raise NotImplementedError


def start(data: Data, size: Sizes, generator: np.random.Generator) -> dict[str, Array]:
    """Stands in for the start of a program, which the emitter writes."""
    raise NotImplementedError
