"""The functions that emitted EM programs share: modes, soft starts, recursions along chains.

Like those of `support.py` they are copied into emitted source as they stand here, without their type hints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.lazy import special
from platewright.family import Array


def mode_of_beta(a: Array, b: Array) -> Array:
    """The peak; without one (a, b <= 1) the end with more mass, and the middle if both are 1."""
    left, right = np.maximum(a - 1, 0), np.maximum(b - 1, 0)
    total = left + right
    ends = np.where((a == 1) & (b == 1), 0.5, a > b)
    return np.where(total > 0, left / np.where(total > 0, total, 1), ends)


def mode_of_dirichlet(concentration: Array) -> Array:
    """The peak; without one (no concentration above 1) the corner with most mass, and the centre if all are 1."""
    excess = np.maximum(concentration - 1, 0)
    total = excess.sum(axis=-1, keepdims=True)
    corner = np.arange(concentration.shape[-1]) == np.argmax(concentration, axis=-1)[..., None]
    is_flat = (concentration == 1).all(axis=-1, keepdims=True)
    ends = np.where(is_flat, 1 / concentration.shape[-1], corner)
    return np.where(total > 0, excess / np.where(total > 0, total, 1), ends)


def mode_of_gamma(shape: Array, rate: Array) -> Array:
    """The peak, at zero for shapes below one."""
    return np.maximum(shape - 1, 0) / rate


def mode_of_inverse_gamma(shape: Array, scale: Array) -> Array:
    """The peak."""
    return scale / (shape + 1)


def mode_of_wishart(degrees: Array, inverse_scale: Array) -> Array:
    """The peak."""
    size = inverse_scale.shape[-1]
    return np.maximum(degrees - size - 1, 0)[..., None, None] * np.linalg.inv(inverse_scale)


def mode_of_inverse_wishart(degrees: Array, scale: Array) -> Array:
    """The peak."""
    return scale / (degrees + scale.shape[-1] + 1)[..., None, None]


def soft_start(
    numbers: Sequence[Array],
    labels: Sequence[Array],
    shape: tuple[int, ...],
    levels: int,
    generator: np.random.Generator,
) -> Array:
    """Soft assignments of rows to seeds; seeds are rows far from each other by preference.

    Numbers are standardised; labels are as far apart as if each had a standardised column of zeros and ones.
    """
    rows = int(np.prod(shape))
    if not rows or not (numbers or labels):
        return generator.dirichlet(np.ones(levels), shape)
    features = [np.zeros((rows, 0)), *(standardised(np.reshape(column, (rows, -1))) for column in numbers)]
    wide = np.concatenate(features, axis=1)
    codes = [code for column in labels for code in np.asarray(column, dtype=np.intp).reshape(rows, -1).T]
    weights = [label_weights(code) for code in codes]
    nearest, distance = np.zeros(rows, dtype=np.intp), np.full(rows, np.inf)
    for level in range(levels):
        share = np.full(rows, 1.0 / rows) if not 0 < distance.sum() < np.inf else distance / distance.sum()
        seed = int(generator.choice(rows, p=share)) if level else int(generator.integers(rows))
        here = ((wide - wide[seed]) ** 2).sum(axis=1)
        for code, weight in zip(codes, weights):
            here += np.where(code == code[seed], 0.0, weight[code] + weight[code[seed]])
        nearest[here < distance] = level
        distance = np.minimum(distance, here)
    soft = np.full((rows, levels), 0.1 / levels)
    soft[np.arange(rows), nearest] += 0.9
    return soft.reshape(*shape, levels)


def standardised(columns: Array) -> Array:
    """Columns with mean zero and spread one; those that never change are zero."""
    columns = np.asarray(columns, dtype=float)
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def label_weights(codes: Array) -> Array:
    """For each label one over the variance of its column of zeros and ones; of one that never changes, one."""
    share = np.bincount(codes) / len(codes)
    variance = share * (1 - share)
    return 1.0 / np.where(variance > 0, variance, 1.0)


def forward_backward(single: Array, pair: Array, first: Array, chains: int = 1) -> tuple[Array, Array, Array]:
    """Probabilities of values and of pairs of neighbours along chains, and the log weight that each step adds.

    `single[t, ..., j]` and `pair[t, ..., i, j]` are log weights, `pair` of length 1 where all steps have the same; a
    chain begins where `first[t]` is 1. Several chains have an axis each and count as one.
    """
    shape, count = single.shape, int(np.prod(single.shape[single.ndim - chains :]))
    single = single.reshape(*shape[: single.ndim - chains], count)
    pair = pair.reshape(*pair.shape[: pair.ndim - 2 * chains], count, count)
    single, pair = (np.where(weights < -1e299, -np.inf, weights) for weights in (single, pair))
    begins = np.asarray(first) != 0
    filtered, added = np.empty(single.shape), np.empty(single.shape[:-1])
    for t in range(len(single)):
        row = single[t]
        if not begins[t]:
            row = row + special.logsumexp(filtered[t - 1][..., :, None] + pair[t % len(pair)], axis=-2)
        added[t] = special.logsumexp(row, axis=-1)
        if np.isneginf(added[t]).all():
            raise ArithmeticError(f"the data have probability zero at step {t}")
        filtered[t] = relative_to(row, added[t][..., None])
    ahead = np.zeros(single.shape[1:])
    probability, pairs = np.empty(single.shape), np.zeros((*single.shape, count))
    for t in reversed(range(len(single))):
        smooth = filtered[t] + ahead
        probability[t] = np.exp(relative_to(smooth, special.logsumexp(smooth, axis=-1, keepdims=True)))
        if begins[t]:
            ahead = np.zeros(single.shape[1:])
            pairs[t, ..., 0, :] = probability[t]  # before a first step the first value stands for any
            continue
        arriving = pair[t % len(pair)] + (single[t] + ahead)[..., None, :]
        joint = filtered[t - 1][..., :, None] + arriving
        pairs[t] = np.exp(relative_to(joint, special.logsumexp(joint, axis=(-2, -1), keepdims=True)))
        ahead = special.logsumexp(arriving, axis=-1)
        ahead = relative_to(ahead, special.logsumexp(ahead, axis=-1, keepdims=True))
    return probability.reshape(shape), pairs.reshape(*shape, *shape[len(shape) - chains :]), added


def relative_to(weights: Array, norm: Array) -> Array:
    """Log weights less their norm; where nothing is possible there is none."""
    return weights - np.where(np.isneginf(norm), 0.0, norm)


def climbed(
    values: Mapping[str, Array], data: Mapping[str, Array], size: Mapping[str, int], iterations: int, tolerance: float
) -> tuple[Mapping[str, Array], list[float], bool]:
    """EM from given parameters until the objective stands still: parameters, objective, whether it converged."""
    history: list[float] = []
    while True:
        expectations, objective = expect({**data, **values}, size)
        if not np.isfinite(objective):
            raise ArithmeticError("the objective has no upper bound from this start")
        if history and objective < history[-1] - 1e-9 * (1 + abs(history[-1])):
            raise ArithmeticError("the objective fell, which it never may")
        history.append(objective)
        if len(history) > 1 and abs(history[-1] - history[-2]) <= tolerance * (1 + abs(objective)):
            return values, history, True
        if len(history) == iterations:
            return values, history, False
        values = improved({**data, **values, **expectations}, size)


def learn(
    data: Mapping[str, Array],
    size: Mapping[str, int],
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
) -> dict[str, Array | float]:
    """The best of several short runs, carried on until it stands still."""
    short = []
    for generator in np.random.default_rng(seed).spawn(restarts):
        try:
            values: Mapping[str, Array] = improved({**data, **start(data, size, generator)}, size)
            short.append(climbed(values, data, size, min(20, iterations) if restarts > 1 else iterations, tolerance))
        except (ArithmeticError, np.linalg.LinAlgError):
            continue  # another start may do better
    for values, history, converged in sorted(short, key=lambda run: -run[1][-1]):
        if converged or len(history) >= iterations:
            return {**values, "log_joint": history[-1]}
        try:
            values, history, converged = climbed(values, data, size, iterations - len(history), tolerance)
        except (ArithmeticError, np.linalg.LinAlgError):
            continue
        return {**values, "log_joint": history[-1]}
    raise ArithmeticError("no start leads to a mode: the objective has no upper bound, or the data are impossible")


def expect(data: Mapping[str, Array], size: Mapping[str, int]) -> tuple[dict[str, Array], float]:
    """Stands in for the expectation of a program, which the emitter writes."""
    raise NotImplementedError


def improved(data: Mapping[str, Array], size: Mapping[str, int]) -> dict[str, Array]:
    """Stands in for the best parameters given expectations, which the emitter writes."""
    raise NotImplementedError


def start(data: Mapping[str, Array], size: Mapping[str, int], generator: np.random.Generator) -> dict[str, Array]:
    """Stands in for the start of a program, which the emitter writes."""
    raise NotImplementedError


MODES = {
    "Beta": mode_of_beta,
    "Dirichlet": mode_of_dirichlet,
    "Gamma": mode_of_gamma,
    "InverseGamma": mode_of_inverse_gamma,
    "Wishart": mode_of_wishart,
    "InverseWishart": mode_of_inverse_wishart,
}
"""The families whose modes an emitted program can compute, with parameters in the order of the family."""
