"""Pools: the weight, mean and centred scatter of row features, all that a Gaussian needs of its rows.

    total = sum w,    mean = sum w f / total,    scatter = sum w (f - mean)(f - mean)'

A pool is a tuple `(total, mean, scatter, mean_rest)`, where `mean + mean_rest` is the mean in twofold precision; an
exact pool also has `scatter_rest`. Pools of parts merge into the pool of the whole (Chan, Golub and LeVeque). The
scatter squares the condition number; when too little is left of a column after the others, or after its mean, the rows
are pooled once more, exactly: features cut into slices of 21 bits have products that float sums hold without rounding
(Ozaki et al.), and a float stands for the decimal that it was written as (`decimals.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.backends.numpy.decimals import decimal_rest
from platewright.backends.numpy.twofold import Twofold, two_sum, twofold_product, twofold_quotient, twofold_sum
from platewright.family import Array

Pool = tuple[Array, ...]

ROWS_AT_ONCE = 8192
ROWS_OF_EXACT_BLOCK = 1024
"""So few products of two slices add up without rounding."""
BITS_OF_SLICE = 21
SLICES = 5
"""Numbers are cut into as many slices of so many bits: twofold precision has 106."""
FINEST = 2.0**-94
"""What twofold arithmetic leaves of a pivot that should be zero, relative to its column."""
FAR_OUT = 1e5
"""A column this many times further from zero than it spreads was rounded too much when it was stored."""
MANY_ROWS = 65536
"""Beyond so many rows a second, exact pass is made only where it can change something."""


def pooled(
    features: Sequence[Array | float],
    weight: Array | float,
    codes: Sequence[Array],
    shape: tuple[int, ...],
    exact: bool = False,
) -> Pool:
    """The pool of rows in each cell, block by block; `codes` say for each row its cell."""
    count = max((np.shape(f)[0] for f in (*features, weight, *codes) if np.ndim(f)), default=1)
    width = sum(np.shape(f)[1] if np.ndim(f) == 2 else 1 for f in features)
    cells = int(np.prod(shape))
    axes = (0, 1, 2, 1, 2) if exact else (0, 1, 2, 1)  # total, mean, scatter, and what rounding took from the last two
    state = [np.zeros((cells, *[width] * number)) for number in axes]
    step = ROWS_OF_EXACT_BLOCK if exact else ROWS_AT_ONCE
    is_decimal, has_rest = np.ones(width, dtype=bool), np.zeros(width, dtype=bool)
    for start in range(0, count if exact else 0, step):
        block = side_by_side(features, start, min(start + step, count), width)
        rest = decimal_rest(block[:, is_decimal])
        has_rest[is_decimal] |= (rest != 0).any(axis=0)
        is_decimal[is_decimal] = ~np.isnan(rest).any(axis=0)
    if exact and count > MANY_ROWS and not (has_rest & is_decimal).any():
        plain = pooled(features, weight, codes, shape)
        if not is_collinear(plain):  # far from zero, but the floats stand for themselves: nothing was lost
            return plain
    for start in range(0, count, step):
        stop = min(start + step, count)
        block = side_by_side(features, start, stop, width)
        weights = np.asarray(weight, dtype=float)
        weights = weights[start:stop] if weights.ndim else weights
        present, starts = np.zeros(1, dtype=int), np.zeros(1, dtype=int)
        if codes:
            cell = np.ravel_multi_index([np.broadcast_to(code, count)[start:stop] for code in codes], shape)
            order = np.argsort(cell, kind="stable")
            present, starts = np.unique(cell[order], return_index=True)
            block, weights = block[order], weights[order] if weights.ndim else weights
        new = exact_block(block, weights, starts, is_decimal) if exact else pooled_block(block, weights, starts)
        merged = merged_pools(tuple(array[present] for array in state), new)
        for array, value in zip(state, merged, strict=True):
            array[present] = value
    return tuple(array.reshape((*shape, *array.shape[1:])) for array in state)


def pooled_in_turn(
    features: Sequence[Array | float], weight: Array | float, shape: tuple[int, ...], exact: bool = False
) -> Pool:
    """The pools of cells whose rows follow each other, as many in each cell."""
    cells = int(np.prod(shape))
    count = max(np.shape(f)[0] for f in (*features, weight) if np.ndim(f)) // max(cells, 1)
    if count < ROWS_OF_EXACT_BLOCK:  # many cells of few rows are better taken together
        together = pooled(features, weight, [np.repeat(np.arange(cells), count)], (cells,), exact)
        return tuple(array.reshape((*shape, *array.shape[1:])) for array in together)
    found: list[Pool] = []
    for cell in range(cells):
        here = slice(cell * count, (cell + 1) * count)
        own = [np.asarray(f)[here] if np.ndim(f) else f for f in (*features, weight)]
        found.append(pooled(own[:-1], own[-1], [], (), exact))
    if len({len(pool) for pool in found}) > 1:  # an exact pass that could change nothing has left no rest
        found = [pool if len(pool) == 5 else (*pool, np.zeros_like(pool[2])) for pool in found]
    return tuple(np.reshape(np.stack(part), (*shape, *np.shape(part[0]))) for part in zip(*found, strict=True))


def side_by_side(features: Sequence[Array | float], start: int, stop: int, width: int) -> Array:
    """The features of some rows as columns of one array."""
    block = np.empty((stop - start, width))
    column = 0
    for f in features:
        size = np.shape(f)[1] if np.ndim(f) == 2 else 1
        part = np.asarray(f)[start:stop] if np.ndim(f) else f
        block[:, column : column + size] = part if np.ndim(f) == 2 else np.reshape(part, (-1, 1))
        column += size
    return block


def well_pooled(
    features: Sequence[Array | float], weight: Array | float, codes: Sequence[Array], shape: tuple[int, ...]
) -> Pool:
    """The pool of rows in each cell, exact where the plain one lost too many digits."""
    pool = pooled(features, weight, codes, shape)
    return pooled(features, weight, codes, shape, exact=True) if is_ill_conditioned(pool) else pool


def well_pooled_in_turn(features: Sequence[Array | float], weight: Array | float, shape: tuple[int, ...]) -> Pool:
    """The pools of cells whose rows follow each other, exact where the plain ones lost too many digits."""
    pool = pooled_in_turn(features, weight, shape)
    return pooled_in_turn(features, weight, shape, exact=True) if is_ill_conditioned(pool) else pool


def pooled_block(block: Array, weight: Array, starts: Array) -> Pool:
    """The pools of one block of rows; the rows of one cell follow each other, from each start on."""
    total, mean = block_means(block, weight, starts)
    centred = block - spread_out(mean, starts, len(block))
    weighted = centred * weight[:, None] if weight.ndim else centred * weight if weight != 1 else centred
    some = np.where(total > 0, total, 1.0)
    drift = summed(weighted, starts) / some[:, None]  # what rounding left of the mean
    scatter = summed_products(weighted, centred, starts)
    scatter -= total[:, None, None] * drift[:, :, None] * drift[:, None, :]
    mean, mean_rest = two_sum(mean, drift)
    return total, mean, scatter, mean_rest


def exact_block(block: Array, weight: Array, starts: Array, is_decimal: Array) -> Pool:
    """The pools of one block of rows, some columns read as decimals, by slices whose products sum without rounding."""
    _, centre = block_means(block, weight, starts)
    rest, centre_rest = np.zeros(block.shape), np.zeros(centre.shape)
    rest[:, is_decimal] = decimal_rest(block[:, is_decimal])
    centre_rest[:, is_decimal] = np.nan_to_num(decimal_rest(centre[:, is_decimal]))
    away = tuple(-spread_out(part, starts, len(block)) for part in (centre, centre_rest))
    high, low = twofold_sum((block, rest), away)
    high = np.concatenate([high, np.ones((len(block), 1))], axis=1)
    low = np.concatenate([low, np.zeros((len(block), 1))], axis=1)
    right = slices(high, low)
    column = np.broadcast_to(weight, block.shape[:1])[:, None]
    left = right if (column == 1).all() else slices(*twofold_product((high, low), (column, np.zeros_like(column))))
    sums: Twofold = (np.zeros(1), np.zeros(1))
    for i in reversed(range(SLICES)):
        for j in reversed(range(SLICES - i)):
            found = summed_products(left[i], right[j], starts)
            sums = twofold_sum((found, np.zeros_like(found)), sums)
    total = tuple(part[:, -1:, -1] for part in sums)
    some = (np.where(total[0] > 0, total[0], 1.0), total[1])
    moment = tuple(part[:, :-1, -1] for part in sums)
    drift = twofold_quotient(moment, some)
    between = twofold_product(tuple(part[:, :, None] for part in moment), tuple(part[:, None, :] for part in drift))
    scatter = twofold_sum(tuple(part[:, :-1, :-1] for part in sums), tuple(-part for part in between))
    mean = twofold_sum((centre, centre_rest), drift)
    return total[0][:, 0], mean[0], scatter[0], mean[1], scatter[1]


def block_means(block: Array, weight: Array, starts: Array) -> tuple[Array, Array]:
    """Weight and mean in each cell, close but for rounding; a column that does not vary has its value for mean."""
    total = summed(np.broadcast_to(weight, block.shape[:1])[:, None], starts)[:, 0]
    some = np.where(total > 0, total, 1.0)[:, None]
    mean = summed(block * weight[:, None] if weight.ndim else block * weight if weight != 1 else block, starts) / some
    first, last = block[starts], block[np.append(starts[1:], len(block)) - 1]
    for column in np.flatnonzero((first == last).any(axis=0)):
        values = block[:, column]
        same = np.minimum.reduceat(values, starts) == np.maximum.reduceat(values, starts)
        mean[:, column] = np.where(same, first[:, column], mean[:, column])
    return total, mean


def spread_out(values: Array, starts: Array, count: int) -> Array:
    """The values of cells at the rows of the cells."""
    return values if len(starts) == 1 else np.repeat(values, np.diff(np.append(starts, count)), axis=0)


def summed(rows: Array, starts: Array) -> Array:
    """Sums of rows, cell by cell."""
    return np.ones((1, len(rows))) @ rows if len(starts) == 1 else np.add.reduceat(rows, starts, axis=0)


def summed_products(left: Array, right: Array, starts: Array) -> Array:
    """Sums over rows of `left right'`, cell by cell."""
    if len(starts) == 1:
        return (left.T @ right)[None]
    if len(left) < 32 * len(starts) and left.shape[1] <= 8:
        return np.add.reduceat(left[:, :, None] * right[:, None, :], starts, axis=0)
    stops = np.append(starts[1:], len(left))
    return np.stack([left[a:b].T @ right[a:b] for a, b in zip(starts, stops, strict=True)])


def slices(high: Array, low: Array) -> list[Array]:
    """Cut numbers into slices of few bits, on one grid for each column, that add up to them."""
    exponent = np.frexp(np.abs(high).max(axis=0, initial=0.0))[1]
    found = []
    for k in range(1, SLICES + 1):
        grid = np.ldexp(1.5, exponent - BITS_OF_SLICE * k + 52)  # adding it leaves no bits below the slice
        part = (high + grid) - grid
        found.append(part)
        high, low = two_sum(high - part, low)
    return found


def merged_pools(left: Pool, right: Pool) -> Pool:
    """The pool of all rows from the pools of two parts; exact when both are."""
    total = left[0] + right[0]
    some = np.where(total > 0, total, 1.0)
    left_mean = (left[1], left[3] if len(left) > 3 else np.zeros_like(left[1]))
    right_mean = (right[1], right[3] if len(right) > 3 else np.zeros_like(right[1]))
    shift = twofold_sum(right_mean, (-left_mean[0], -left_mean[1]))
    if len(left) < 5 or len(right) < 5:
        part = right[0] / some
        mean = twofold_sum(left_mean, twofold_product(shift, (part[..., None], np.zeros(()))))
        apart = (left[0] * part)[..., None, None] * shift[0][..., :, None] * shift[0][..., None, :]
        return total, mean[0], left[2] + right[2] + apart, mean[1]
    share = tuple(part[..., None] for part in twofold_quotient((right[0], 0.0 * some), (some, 0.0 * some)))
    mean = twofold_sum(left_mean, twofold_product(shift, share))
    pull = twofold_product(shift, twofold_product(share, (left[0][..., None], 0.0 * share[1])))
    between = twofold_product(tuple(part[..., :, None] for part in pull), tuple(part[..., None, :] for part in shift))
    scatter = twofold_sum(twofold_sum((left[2], left[4]), (right[2], right[4])), between)
    return total, mean[0], scatter[0], mean[1], scatter[1]


def without_pool(whole: Pool, part: Pool) -> Pool:
    """The pool of the rows that stay when those of a part are taken out: merging with negative weight."""
    stay = merged_pools(whole, (-part[0], part[1], -part[2], *part[3:4], *(-rest for rest in part[4:])))
    gone = stay[0] <= 64 * np.finfo(float).eps * np.abs(whole[0])
    return tuple(
        np.where(np.reshape(gone, gone.shape + (1,) * (np.ndim(array) - gone.ndim)), 0.0, array) for array in stay
    )


def is_ill_conditioned(pool: Pool) -> bool:
    """Whether too little is left of a column after its mean, or after others, for its scatter to be trusted."""
    return len(pool) < 5 and np.size(pool[2]) > 0 and (is_far_out(pool) or is_collinear(pool))


def is_far_out(pool: Pool) -> bool:
    """Whether a column is further from zero than `FAR_OUT` times its spread: it was rounded too much when stored."""
    diagonal = pool[2].diagonal(axis1=-2, axis2=-1)
    far = pool[0][..., None] * pool[1] ** 2 > FAR_OUT**2 * diagonal
    return is_much(pool[0], far & (diagonal > 0))


def is_collinear(pool: Pool) -> bool:
    """Whether little is left of a column after those before it.

    A thousandth is asked of features, since coefficients lose as many digits again; a millionth of the last column, the
    response. A column that is a combination of others to the last digit is passed over in cells: too few rows make one,
    and its root is zero.
    """
    scatter = pool[2]
    diagonal = scatter.diagonal(axis1=-2, axis2=-1)
    left = root_of_scatter(scatter).diagonal(axis1=-2, axis2=-1) ** 2
    asked = 1e-3 * diagonal
    asked[..., -1] *= 1e-3
    doubtful = left < asked
    if scatter.ndim > 2:
        left = np.divide(left, diagonal, out=np.ones_like(diagonal), where=diagonal > 0)
        sure = np.minimum.accumulate(np.where(doubtful, 1.0, left), axis=-1)
        doubtful &= left > 64 * scatter.shape[-1] * np.finfo(float).eps / sure
    return is_much(pool[0], doubtful)


def is_much(total: Array, doubtful: Array) -> bool:
    """Whether more than a twentieth of the weight is in cells with a doubtful column: few rows look so by chance."""
    if not doubtful.any():
        return False
    return bool(np.sum(total * doubtful.any(axis=-1)) > 0.05 * np.sum(total))


def rows_of_pool(
    total: Array, mean: Array, scatter: Array, mean_rest: Array | None = None, scatter_rest: Array | None = None
) -> Array:
    """Few rows with the same squares as all pooled rows: the mean with its weight, and a root of the scatter."""
    first = weighted_rows(mean, np.sqrt(total), mean_rest)
    return np.concatenate([first, weighted_rows(root_of_scatter(scatter, scatter_rest))[..., 0, :]], axis=-2)


def weighted_rows(features: Array, root: Array | float = 1.0, rest: Array | None = None) -> Array:
    """Each row as one of `features`, what rounding took from them, and the root of the row's weight.

    A weight multiplies its row only when all are turned together, so that what is far from zero can be shifted before.
    """
    width = features.shape[-1]
    rows = np.zeros((*features.shape[:-1], 1, 2 * width + 1))
    rows[..., 0, :width] = features
    if rest is not None:
        rows[..., 0, width:-1] = rest
    rows[..., 0, -1] = root
    return rows


def easy_root(scatter: Array) -> Array | None:
    """The root by LAPACK where no column is close to following from others; None where one is."""
    diagonal = scatter.diagonal(axis1=-2, axis2=-1)
    spread = diagonal > 0
    every = spread.all()
    if scatter.size == 0 or (not every and scatter[~spread].any()):
        return None
    filled, width = scatter, scatter.shape[-1]
    if not every:  # one in place of zero
        filled = np.array(scatter, order="C")
        filled.reshape(*scatter.shape[:-2], width * width)[..., :: width + 1] += ~spread
    try:
        lower = np.linalg.cholesky(filled)
    except np.linalg.LinAlgError:
        return None
    if (lower.diagonal(axis1=-2, axis2=-1) ** 2 < 1e-8 * diagonal).any():
        return None
    upper = lower.swapaxes(-1, -2)
    return upper if every else upper * spread[..., None, :]


def root_of_scatter(scatter: Array, rest: Array | None = None) -> Array:
    """Upper triangular R with R'R = scatter; columns without spread give zero rows."""
    if rest is None and (easy := easy_root(scatter)) is not None:
        return easy
    width = scatter.shape[-1]
    root = np.zeros(scatter.shape)
    smallest = np.diagonal(scatter, axis1=-2, axis2=-1) * width * (np.finfo(float).eps if rest is None else FINEST)
    high, low = np.array(scatter, dtype=float), np.zeros_like(scatter) if rest is None else rest
    for j in range(width):
        pivot = high[..., 0, 0]
        usable = pivot > smallest[..., j]
        if usable.any():
            scale = np.where(usable, pivot, 1.0)[..., None]
            row = np.where(usable[..., None], high[..., 0, :], 0.0)
            root[..., j, j:] = row / np.sqrt(scale)
            if rest is None:
                high = high - row[..., :, None] * (row / scale)[..., None, :]
            else:
                whole = (row, np.where(row == 0, 0.0, low[..., 0, :]))
                part = twofold_quotient(whole, (scale, np.where(usable, low[..., 0, 0], 0.0)[..., None]))
                square = twofold_product(tuple(r[..., :, None] for r in whole), tuple(p[..., None, :] for p in part))
                high, low = twofold_sum((high, low), (-square[0], -square[1]))
        high, low = high[..., 1:, 1:], low[..., 1:, 1:]  # what is done with stays as it is
    return root
