"""Condition hidden Gaussians on the data, element by element: mean, covariance as points, and the log integral.

    P u = g          from curvature and gradient at zero, then once more from the gradient at the mean, which takes out
                     the rounding of data far from zero
    log integral     log factors at the mean + (d/2) log 2 pi - log |P| / 2

Values of all members of an element lie side by side, in one array of width d.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from platewright.backends.kernels.gaussian_chain import ChainSystem
from platewright.family import Array

Shape = tuple[int, ...]
Curvature = tuple[Array, Array]
ChainCurvature = tuple[Array, Array, Array, Array, Array]


def conditioned(
    curvature: Callable[[Array], Curvature], log_factors: Callable[[Array], Array], shape: Shape, width: int
) -> tuple[Array, Array, Array, Array]:
    """Elements apart: their means, roots of their covariances, log integrals, and halves of log |P|."""
    precision, gradient = curvature(np.zeros((*shape, width)))
    precision = alike(precision)
    root = np.linalg.cholesky(precision)
    inverse_root = np.linalg.inv(root)
    covariance_root = np.swapaxes(inverse_root, -1, -2)

    def solved(slope: Array) -> Array:
        return np.einsum("...ij,...j->...i", covariance_root, np.einsum("...ij,...j->...i", inverse_root, slope))

    mean = solved(gradient)
    mean = mean + solved(curvature(mean)[1])
    log_root = np.broadcast_to(np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1), shape)
    log_norm = log_factors(mean) + 0.5 * width * np.log(2 * np.pi) - log_root
    return mean, np.broadcast_to(covariance_root, (*shape, width, width)), log_norm, log_root


def alike(precision: Array) -> Array:
    """Matrices of elements as one for all along each axis of elements on which they do not differ."""
    for axis in range(precision.ndim - 2):
        first = precision.take([0], axis=axis) if precision.shape[axis] else precision
        precision = first if (precision == first).all() else precision
    return precision


def smoothed_gaussians(
    curvature: Callable[[Array, Array], ChainCurvature],
    log_factors: Callable[[Array, Array], Array],
    first: Array,
    width: int,
) -> tuple[Array, Array, Array, Array, Array]:
    """Elements along chains, each beside the one before: means of pairs, roots of their covariances, and as above.

    The curvature is given for the step itself, for the step before, and across both, then the gradients of both.
    """
    nothing = np.zeros((len(first), width))
    now, earlier, across, *slopes = curvature(nothing, nothing)
    system = ChainSystem.eliminated(now, earlier, across, np.asarray(first) != 0)
    mean = nothing
    for _ in range(2):
        mean = mean + system.solved(*slopes)
        slopes = list(curvature(mean, system.earlier(mean))[3:])
    log_root = system.log_root
    before = system.earlier(mean)
    log_norm = log_factors(mean, before) + 0.5 * width * np.log(2 * np.pi) - log_root
    return mean, np.concatenate([mean, before], axis=-1), system.pair_root(), log_norm, log_root


def points(mean: Array, root: Array) -> Array:
    """As many points as twice the dimension, whose mean and covariance are `mean` and `root root'`."""
    spread = np.sqrt(mean.shape[-1]) * np.swapaxes(root, -1, -2)
    return np.concatenate([mean[..., None, :] + spread, mean[..., None, :] - spread], axis=-2)


def points_about(mean: Array) -> Array:
    """Points about given means with unit variances: where EM may begin."""
    width = mean.shape[-1]
    return points(mean, np.broadcast_to(np.eye(width), (*mean.shape, width)))


def paired(values: Array) -> Array:
    """The values of each step beside those of the step before; the first has none and repeats itself."""
    return np.concatenate([values, np.concatenate([values[:1], values[:-1]])], axis=-1)


def parted(flat: Array, shapes: Sequence[Shape]) -> list[Array]:
    """An array over all numbers of an element as one array for each member, whose shapes in an element are given."""
    found = []
    start = 0
    for shape in shapes:
        stop = start + int(np.prod(shape, dtype=int))
        found.append(flat[..., start:stop].reshape(*flat.shape[:-1], *shape))
        start = stop
    return found


def blocks_joined(blocks: Sequence[Sequence[Array]], shape: Shape, widths: Sequence[int]) -> Array:
    """Blocks of members against members as one matrix for each element."""
    rows = []
    for row, high in zip(blocks, widths, strict=True):
        parts = [np.reshape(block, (*shape, high, wide)) for block, wide in zip(row, widths, strict=True)]
        rows.append(np.concatenate(parts, axis=-1))
    return np.concatenate(rows, axis=-2).astype(float)


def members_joined(parts: Sequence[Array], shape: Shape, widths: Sequence[int]) -> Array:
    """One array for each member as one array over all numbers of an element."""
    flat = [np.reshape(part, (*shape, wide)) for part, wide in zip(parts, widths, strict=True)]
    return np.concatenate(flat, axis=-1).astype(float)


def about_the_seen(noise: Array, values: Array, seen: Array, rows: tuple[int, ...]) -> Array:
    """Noise about the mean of the cells that were seen, with their spread; `rows` are the axes of the elements."""
    count = np.maximum(np.sum(seen, axis=rows), 1.0)
    mean = (seen * values).sum(axis=rows) / count
    spread = np.sqrt((seen * (values - np.expand_dims(mean, rows)) ** 2).sum(axis=rows) / count)
    return mean + spread * noise
