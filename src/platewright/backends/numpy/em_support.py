"""The functions that emitted EM programs share: soft starts, and the search for the best mode.

Like those of `support.py` they are copied into emitted source as they stand here, without their type hints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from platewright.backends.kernels.accelerated import Climb, Hill, climb
from platewright.backends.kernels.search import ended, searched
from platewright.family import Array


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


def learn(
    data: Mapping[str, Array],
    size: Mapping[str, int],
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
) -> dict[str, Array | float]:
    """The best of several short runs, carried on until it stands still."""
    with np.errstate(all="ignore"):  # what is not a number is looked for
        climbs, begun = partial(climb, hill(data, size), tolerance=tolerance), starting_points(data, size, seed)
        best = ended(searched(lambda generator: Climb(begun(generator)), climbs, seed, restarts, iterations))
    return {**best.values, "log_joint": best.history[-1]}


def hill(data: Mapping[str, Array], size: Mapping[str, int]) -> Hill:
    """Stands in for the two steps of a program, which the emitter writes."""
    raise NotImplementedError


def starting_points(
    data: Mapping[str, Array], size: Mapping[str, int], seed: int
) -> Callable[[np.random.Generator], Mapping[str, Array]]:
    """Stands in for the starts of a program, which the emitter writes."""
    raise NotImplementedError
