"""The few numerical functions that emitted NumPy programs share; each emitted file carries the ones it uses.

They are plain functions of arrays, tested on their own, and copied into emitted source as they stand here.
"""

from __future__ import annotations

import numpy as np
from platewright.algebra.lazy import special

ROWS_AT_ONCE = 65536


def grouped(codes, shape, weights=None):
    """Sums of weights (or counts) of rows in each group; `codes` say for each row its position on each group axis."""
    cell = np.ravel_multi_index([np.ravel(code) for code in codes], shape)
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(cell, minlength=size).reshape(shape)
    weights = np.asarray(weights, dtype=float)
    if weights.ndim == 1:
        return np.bincount(cell, weights, minlength=size).reshape(shape)
    columns = weights.reshape(len(cell), -1)
    sums = [np.bincount(cell, columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *weights.shape[1:])


def pooled(features, weight, codes, shape):
    """Weight, mean and centred scatter of the features in each cell, block by block, merged by Chan's rule."""
    count = max((np.shape(f)[0] for f in (*features, *codes) if np.ndim(f)), default=1)
    width = sum(np.shape(f)[1] if np.ndim(f) == 2 else 1 for f in features)
    cells = int(np.prod(shape))
    state = (np.zeros(cells), np.zeros((cells, width)), np.zeros((cells, width, width)))
    for start in range(0, count, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, count)
        block = np.empty((stop - start, width))
        column = 0
        for f in features:
            size = np.shape(f)[1] if np.ndim(f) == 2 else 1
            part = f[start:stop] if np.ndim(f) else f
            block[:, column : column + size] = part if np.ndim(f) == 2 else np.reshape(part, (-1, 1))
            column += size
        w = np.broadcast_to(weight, (count,))[start:stop] if np.ndim(weight) else weight
        cell = np.ravel_multi_index([c[start:stop] for c in codes], shape) if codes else None
        state = merged_pools(state, pooled_block(block, w, cell, cells))
    total, mean, scatter = state
    return total.reshape(shape), mean.reshape(*shape, width), scatter.reshape(*shape, width, width)


def pooled_block(block, weight, cell, cells):
    """Weight, mean and centred scatter of one block of rows."""
    if cell is None:
        weights = np.broadcast_to(np.asarray(weight, dtype=float), block.shape[:1])
        total = weights.sum()
        mean = (weights @ block) / total if total > 0 else np.zeros(block.shape[1])
        centred = block - mean
        scatter = (centred * weights[:, None] if np.ndim(weight) else centred * weight).T @ centred
        return np.array([total]), mean[None], scatter[None]
    order = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[order], return_index=True)
    weights = np.broadcast_to(np.asarray(weight, dtype=float), block.shape[:1])[order]
    rows = block[order]
    total, width = np.zeros(cells), block.shape[1]
    mean, scatter = np.zeros((cells, width)), np.zeros((cells, width, width))
    for k, start, stop in zip(present, starts, np.append(starts[1:], len(rows)), strict=True):
        part = pooled_block(rows[start:stop], weights[start:stop], None, 1)
        total[k], mean[k], scatter[k] = part[0][0], part[1][0], part[2][0]
    return total, mean, scatter


def merged_pools(left, right):
    """The pool of all rows from the pools of two parts (Chan, Golub and LeVeque)."""
    total = left[0] + right[0]
    share = np.divide(right[0], total, out=np.zeros_like(total), where=total > 0)
    shift = right[1] - left[1]
    mean = left[1] + shift * share[..., None]
    between = (left[0] * share)[..., None, None] * shift[..., :, None] * shift[..., None, :]
    return total, mean, left[2] + right[2] + between


def rows_of_pool(total, mean, scatter):
    """Few rows with the same squares as all pooled rows: the mean with its weight, and a root of the scatter."""
    first = np.sqrt(total)[..., None, None] * mean[..., None, :]
    return np.concatenate([first, root_of_scatter(scatter)], axis=-2)


def root_of_scatter(scatter):
    """Upper triangular R with R'R = scatter; columns without spread give zero rows."""
    width = scatter.shape[-1]
    rest = np.array(scatter, dtype=float)
    root = np.zeros_like(rest)
    smallest = width * np.finfo(float).eps * np.diagonal(rest, axis1=-2, axis2=-1)
    for j in range(width):
        pivot = rest[..., j, j]
        usable = pivot > smallest[..., j]
        scale = np.sqrt(np.where(usable, pivot, 1.0))
        row = np.where(usable[..., None], rest[..., j, :] / scale[..., None], 0.0)
        row[..., :j] = 0.0
        root[..., j, :] = row
        rest = rest - row[..., :, None] * row[..., None, :]
    return root


def placed(rows, slots, positions, width, outputs):
    """Rows of features moved to their columns of the least-squares problem; the outputs stay last."""
    design = np.zeros((*rows.shape[:-1], width + outputs))
    design[..., width:] = rows[..., rows.shape[-1] - outputs :]
    for (start, stop), position in zip(slots, positions, strict=True):
        chosen = np.asarray(position)[..., :, None] == np.arange(width)
        design[..., :width] += rows[..., start:stop] @ chosen.astype(float)
    return design


def stacked(designs, batch):
    """All rows of one batch under each other."""
    flat = [design.reshape(*design.shape[:batch], -1, design.shape[-1]) for design in designs]
    return np.concatenate(flat, axis=-2)


def triangularised(design, eliminated, outputs):
    """Rotate rows to upper triangular form: root, cross and solution of the eliminated columns, and rows for the rest."""
    width = design.shape[-1]
    order = np.argsort(-np.abs(design).max(axis=-1, initial=0.0), axis=-1, kind="stable")
    design = np.take_along_axis(design, order[..., None], axis=-2)  # large rows first: rotations then lose nothing
    if design.shape[-2] < width:
        padding = np.zeros((*design.shape[:-2], width - design.shape[-2], width))
        design = np.concatenate([design, padding], axis=-2)
    upper = np.linalg.qr(design, mode="r")
    size = np.sqrt((design**2).sum(axis=-2))[..., :eliminated]
    pivots = np.diagonal(upper, axis1=-2, axis2=-1)[..., :eliminated]
    lost = np.abs(pivots) <= 8 * width * np.finfo(float).eps * np.maximum(size, np.finfo(float).tiny)
    if lost.any():
        missing = int(lost.sum(axis=-1).max())
        raise ArithmeticError(f"improper: at least {missing} more independent observations are needed")
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
    }


def log_determinant(matrix):
    """Log determinant of positive definite matrices; NaN where one is not."""
    sign, value = np.linalg.slogdet(matrix)
    return np.where(sign > 0, value, np.nan)


def log_bessel0(x):
    """`log I0(x)` without overflow."""
    return np.log(special.i0e(x)) + np.abs(x)


def trigamma(x):
    """The second derivative of lgamma."""
    return special.polygamma(1, x)


def multivariate_lgamma(x, dimension):
    """`log Gamma_d(x)`, the normaliser of the Wishart family."""
    return dimension * (dimension - 1) / 4 * np.log(np.pi) + sum(
        special.gammaln(x - j / 2) for j in range(int(dimension))
    )


def less(left, right):
    """One where left is below right, else zero."""
    return np.asarray(left < right, dtype=float)


def previous(values):
    """The value at the previous position; the first position repeats itself and must be masked."""
    return np.concatenate([values[:1], values[:-1]])
