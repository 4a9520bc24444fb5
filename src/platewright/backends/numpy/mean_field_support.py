"""The loop of an emitted mean-field program, and entropies; copied into it as they stand here, without type hints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from platewright.backends.kernels.bound import Track, Update, rising
from platewright.backends.kernels.search import ended, searched
from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]


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


def learn(
    data: Data, size: Sizes, seed: int = 0, restarts: int = 5, iterations: int = 1000, tolerance: float = 1e-10
) -> dict[str, Array | float]:
    """The best of several short runs, carried on until it stands still."""
    with np.errstate(all="ignore"):  # what is not a number is looked for
        updated, begun = partial(update, data=data, size=size), starting_points(data, size, seed)
        tracks = partial(rising, updated, tolerance=tolerance)
        best = ended(searched(lambda generator: Track(begun(generator)), tracks, seed, restarts, iterations))
    return {**best.last.values, "lower_bound": best.history[-1]}


def update(moments: Data, data: Data, size: Sizes) -> Update:
    """The distribution of the hidden variables given moments of the parameters, then that of the parameters."""
    expectations, entropy = expect({**data, **moments}, size)
    values, moments, evidence = parameters({**data, **moments, **expectations}, size)
    return Update(values, moments, evidence + entropy, expectations)


def parameters(data: Data, size: Sizes) -> tuple[dict[str, Array], Data, float]:
    """Stands in for the distribution of the parameters, which the emitter writes."""
    raise NotImplementedError


def expect(data: Data, size: Sizes) -> tuple[dict[str, Array], float]:
    """Stands in for the distribution of the hidden variables, which the emitter writes."""
    raise NotImplementedError


def starting_points(data: Data, size: Sizes, seed: int) -> Callable[[np.random.Generator], Data]:
    """Stands in for the starts of a program, which the emitter writes."""
    raise NotImplementedError
