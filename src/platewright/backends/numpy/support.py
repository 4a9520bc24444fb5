"""The few numerical functions that emitted NumPy programs share; each emitted file carries the ones it uses.

They are plain functions of arrays, tested on their own, and copied into emitted source as they stand here, without
their type hints. `SHARED` lists them, with those of `pooling.py` and of what it builds on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.algebra.lazy import special
from platewright.algebra.scaled_lgamma import log_beta, scaled_lgamma
from platewright.backends.numpy.decimals import decimal_rest, decimal_rest_of_each
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
    Twofold,
    two_product,
    two_sum,
    twofold_product,
    twofold_quotient,
    twofold_sum,
)
from platewright.family import Array

WIDEST = 200
"""The widest least-squares problem that is triangularised by our own careful loop; wider ones go to LAPACK."""


NEAR = 1e-3
"""Outputs of which less is left than this after their columns are shifted first."""


def grouped(codes: Sequence[Array], shape: tuple[int, ...], weights: Array | None = None) -> Array:
    """Sums of weights (or counts) of rows in each group; `codes` say for each row its position on each group axis."""
    cell = np.ravel_multi_index([np.ravel(code) for code in codes], shape)
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(cell, minlength=size).reshape(shape)
    weights = np.asarray(weights, dtype=float)
    if weights.ndim == 1:
        return np.bincount(cell, weights, minlength=size).reshape(shape)
    columns = weights.reshape(len(cell), int(np.prod(weights.shape[1:])))
    sums = [np.bincount(cell, columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *weights.shape[1:])


def edges_of(*widths: int) -> list[int]:
    """Where each of several spans of columns begins, and where the last one ends."""
    edges = [0]
    for width in widths:
        edges.append(edges[-1] + width)
    return edges


def placed(
    rows: Array, slots: Sequence[tuple[int, int]], positions: Sequence[Array | slice], width: int, outputs: int
) -> Array:
    """Rows of features moved to their columns of the least-squares problem.

    After them come the outputs, what rounding took from the outputs, and the root of the weight.
    """
    design = np.zeros((*rows.shape[:-1], width + 2 * outputs + 1))
    features = (rows.shape[-1] - 1) // 2
    design[..., width : -1 - outputs] = rows[..., features - outputs : features]
    design[..., -1 - outputs :] = rows[..., -1 - outputs :]
    for (start, stop), position in zip(slots, positions, strict=True):
        if isinstance(position, slice):  # all of an unknown's columns, side by side
            design[..., position] += rows[..., start:stop]
            continue
        at = np.asarray(position)
        if at.shape == (1,):
            design[..., at[0]] += rows[..., start]
        elif at.shape[-1] == 1:  # one column in each cell
            flat = design.reshape(-1, design.shape[-1])
            column = at if at.shape == rows.shape[:-1] else np.broadcast_to(at, rows.shape[:-1])
            flat[np.arange(len(flat)), column.ravel()] += rows[..., start].ravel()
        else:  # some may be the same
            chosen = at[..., :, None] == np.arange(width)
            design[..., :width] += rows[..., start:stop] @ chosen.astype(float)
    return design


def stacked(designs: Sequence[Array], batch: int) -> Array:
    """All rows of one batch under each other."""
    flat = []
    for design in designs:
        rows = 1  # not -1: a batch may be empty
        for size in design.shape[batch:-1]:
            rows *= size
        flat.append(design.reshape(*design.shape[:batch], rows, design.shape[-1]))
    return np.concatenate(flat, axis=-2)


def triangularised(design: Array, eliminated: int, outputs: int, of: str = "the unknowns") -> dict[str, Array]:
    """Rotate rows to triangular form: root, cross and right side of the eliminated columns, and rows for the rest.

    Where outputs are far from zero for what is left of them, they are shifted by a first solution and turned again.
    """
    plain, rest, weight = design[..., : -1 - outputs], design[..., -1 - outputs : -1], design[..., -1:]
    found = rotated_rows(plain * weight, eliminated, outputs, of)
    left = np.abs(found["rest"]).max(axis=-2, initial=0.0)
    if not (left < NEAR * found["size"]).any():
        return found
    pilot = np.linalg.solve(found["root"], found["right"])
    shifted: Twofold = (plain[..., -outputs:], rest)
    for j in range(eliminated):
        column = (plain[..., j, None], np.zeros(1))
        shifted = twofold_sum(shifted, twofold_product(column, (-pilot[..., j : j + 1, :], np.zeros(1))))
    near = np.concatenate([plain[..., :-outputs], shifted[0]], axis=-1)
    found = rotated_rows(near * weight, eliminated, outputs, of)
    return {**found, "right": found["right"] + found["root"] @ pilot}


def rotated_rows(design: Array, eliminated: int, outputs: int, of: str) -> dict[str, Array]:
    """The parts of the triangular form of some rows."""
    width = design.shape[-1]
    if design.shape[-2] < width:
        padding = np.zeros((*design.shape[:-2], width - design.shape[-2], width))
        design = np.concatenate([design, padding], axis=-2)
    upper = np.asarray(np.linalg.qr(design, mode="r"))
    size = np.sqrt((design**2).sum(axis=-2))
    pivots = upper.diagonal(axis1=-2, axis2=-1)
    if not (np.abs(pivots) > 1e-3 * size).all():
        if width <= WIDEST:  # a column that all but follows from others: every digit counts
            upper = reflected(design)
            pivots = np.diagonal(upper, axis1=-2, axis2=-1)
        least = 8 * width * np.finfo(float).eps * np.maximum(size, np.finfo(float).tiny)
        lost = (np.abs(pivots) <= least)[..., :eliminated]
        if lost.any():
            missing = int(lost.sum(axis=-1).max())
            raise ArithmeticError(f"improper: at least {missing} more independent observations are needed for {of}")
    pivots = pivots[..., :eliminated]
    signs = np.where(pivots < 0, -1.0, 1.0)
    root = upper[..., :eliminated, :eliminated] * signs[..., None]
    right = upper[..., :eliminated, eliminated:] * signs[..., None]
    left = upper[..., eliminated:, eliminated:]
    outer = width - eliminated - outputs
    return {
        "root": root,
        "log_root": np.log(np.abs(pivots)).sum(axis=-1),
        "cross": right[..., :outer],
        "right": right[..., outer:],
        "left": left[..., :outer],
        "rest": left[..., outer:],
        "size": size[..., -outputs:],
    }


def reflected(design: Array) -> Array:
    """Upper triangular form by Householder's reflections, the largest entry of each column in the pivot row.

    Rows of very different size then keep their digits each (Powell and Reid), and a row that is zero in a column is not
    touched by its reflection: what a residual has of digits does not spill over into coefficients.
    """
    upper = np.array(design, dtype=float)
    rows = np.arange(upper.shape[-2])
    free = np.ones(upper.shape[:-1], dtype=bool)  # rows that are no pivot yet
    order = []
    for j in range(min(upper.shape[-2:])):
        mirror = np.where(free, upper[..., j], 0.0)
        chosen = np.where(free, np.abs(mirror), -1.0).argmax(axis=-1)[..., None]
        at_pivot = rows == chosen
        pivot = np.where(at_pivot, mirror, 0.0).sum(axis=-1, keepdims=True)
        size = np.abs(pivot)
        mirror /= np.where(size > 0, size, 1.0)
        length = np.sqrt((mirror * mirror).sum(axis=-1, keepdims=True))
        mirror += np.where(at_pivot, np.where(pivot < 0, -length, length), 0.0)
        square = (mirror * mirror).sum(axis=-1, keepdims=True)
        weighted = mirror * (2.0 / np.where(square > 0, square, 1.0))
        upper[..., j:] -= weighted[..., :, None] * (mirror[..., None, :] @ upper[..., j:])
        free &= ~at_pivot
        order.append(chosen)
    return np.triu(np.take_along_axis(upper, np.stack(order, axis=-2), axis=-2))


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


def less(left: Array, right: Array) -> Array:
    """One where left is below right, else zero."""
    return np.asarray(left < right, dtype=float)


def previous(values: Array) -> Array:
    """The value at the previous position; the first position repeats itself and must be masked."""
    return np.concatenate([values[:1], values[:-1]])


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
    log_determinant,
    scaled_lgamma,
    log_beta,
    log_bessel0,
    trigamma,
    multivariate_lgamma,
    multivariate_digamma,
    bessel_ratio,
    less,
    previous,
)
