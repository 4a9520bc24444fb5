"""The few numerical functions that emitted NumPy programs share; each emitted file carries the ones it uses.

They are plain functions of arrays, tested on their own, and copied into emitted source as they stand here, without
their type hints. `SHARED` lists them, with those of the files that are imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from platewright.algebra.lazy import special
from platewright.algebra.scaled_lgamma import log_beta, scaled_lgamma
from platewright.backends.numpy.chained import (
    front_triangle,
    fronts_of,
    rotated_along,
    solved_along,
    swept_along,
    times_along,
    triangularised_along,
)
from platewright.backends.numpy.decimals import decimal_rest, decimal_rest_of_each
from platewright.backends.numpy.least_rows import edges_of, placed, reflected, rotated_rows, stacked, triangularised
from platewright.backends.numpy.pooling import (
    block_means,
    easy_root,
    exact_block,
    is_collinear,
    is_far_out,
    is_ill_conditioned,
    is_much,
    merged_pools,
    pooled,
    pooled_block,
    pooled_in_turn,
    root_of_scatter,
    rows_of_pool,
    side_by_side,
    slices,
    spread_out,
    summed,
    summed_products,
    weighted_rows,
    well_pooled,
    well_pooled_in_turn,
    without_pool,
)
from platewright.backends.numpy.twofold import (
    two_product,
    two_sum,
    twofold_product,
    twofold_quotient,
    twofold_sum,
)
from platewright.family import Array


def grouped(codes: Sequence[Array], shape: tuple[int, ...], weights: Array | None = None) -> Array:
    """Sums of weights (or counts) of rows in each group; `codes` say for each row its position on each group axis.

    Rows may lie along several axes, over which codes are broadcast; weights may have more axes after them.
    """
    cell = np.ravel_multi_index(tuple(codes), shape)
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(cell.ravel(), minlength=size).reshape(shape)
    weights = np.asarray(weights, dtype=float)
    if weights.ndim == cell.ndim:
        return np.bincount(cell.ravel(), weights.ravel(), minlength=size).reshape(shape)
    columns = weights.reshape(cell.size, int(np.prod(weights.shape[cell.ndim :])))
    sums = [np.bincount(cell.ravel(), columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *weights.shape[cell.ndim :])


def log_determinant(matrix: Array) -> Array:
    """Log determinant of positive definite matrices; NaN where one is not."""
    sign, value = np.linalg.slogdet(matrix)
    return np.where(sign > 0, value, np.nan)


def log_bessel0(x: Array) -> Array:
    """`log I0(x)` without overflow."""
    return np.log(special.i0e(x)) + np.abs(x)


def trigamma(x: Array) -> Array:
    """The second derivative of lgamma."""
    return special.polygamma(1, x)


def multivariate_lgamma(x: Array, dimension: int) -> Array:
    """`log Gamma_d(x)`, the normaliser of the Wishart family."""
    return dimension * (dimension - 1) / 4 * np.log(np.pi) + sum(
        special.gammaln(x - j / 2) for j in range(int(dimension))
    )


def multivariate_digamma(x: Array, dimension: int) -> Array:
    """The derivative of `log Gamma_d(x)`."""
    return sum((special.digamma(x - j / 2) for j in range(int(dimension))), np.zeros(np.shape(x)))


def bessel_ratio(x: Array) -> Array:
    """`I1(x) / I0(x)`, the mean length of a von Mises direction."""
    return special.i1e(x) / special.i0e(x)


def log_sum_exp(logs: Array) -> Array:
    """The log of a sum along the last axis, from the logs of its terms; minus infinity where nothing is possible."""
    top = np.max(logs, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)  # an infinity less itself is no number
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.sum(np.exp(logs - top[..., None]), axis=-1))


def less(left: Array, right: Array) -> Array:
    """One where left is below right, else zero."""
    return np.asarray(left < right, dtype=float)


def previous(values: Array) -> Array:
    """The value at the previous position; the first position repeats itself and must be masked."""
    return np.concatenate([values[:1], values[:-1]])


def scanned(
    steps: int,
    way: int,
    moving: dict[str, Array],
    fixed: dict[str, Array],
    looks: dict[str, tuple[int, int]],
    bodies: Sequence[tuple[tuple[int, ...], Callable[..., Array]]],
) -> list[Array]:
    """States that follow from the steps before: each body is a shape and a function of inputs and of states looked at.

    A look is a state by number and how many steps ago; before the first step states are nought, and to be masked.
    """
    tables = [np.zeros((steps, *shape)) for shape, _ in bodies]
    with np.errstate(all="ignore"):
        for step in range(steps)[::way]:
            values = {**fixed, **{name: value[step] for name, value in moving.items()}}
            for name, (state, back) in looks.items():
                at = step - way * back
                values[name] = tables[state][at] if 0 <= at < steps else np.zeros(bodies[state][0])
            for number, (_, body) in enumerate(bodies):
                tables[number][step] = body(**values)
                values.update({name: tables[number][step] for name, look in looks.items() if look == (number, 0)})
    return tables


SHARED = (  # in the order in which an emitted file carries them
    grouped,
    two_sum,
    two_product,
    twofold_sum,
    twofold_product,
    twofold_quotient,
    decimal_rest,
    decimal_rest_of_each,
    pooled,
    pooled_in_turn,
    side_by_side,
    well_pooled,
    well_pooled_in_turn,
    pooled_block,
    exact_block,
    block_means,
    spread_out,
    summed,
    summed_products,
    slices,
    merged_pools,
    without_pool,
    is_ill_conditioned,
    is_far_out,
    is_collinear,
    is_much,
    rows_of_pool,
    weighted_rows,
    easy_root,
    root_of_scatter,
    edges_of,
    placed,
    stacked,
    triangularised,
    rotated_rows,
    reflected,
    triangularised_along,
    rotated_along,
    fronts_of,
    front_triangle,
    solved_along,
    times_along,
    swept_along,
    log_determinant,
    scaled_lgamma,
    log_beta,
    log_bessel0,
    trigamma,
    multivariate_lgamma,
    multivariate_digamma,
    bessel_ratio,
    log_sum_exp,
    less,
    previous,
    scanned,
)
