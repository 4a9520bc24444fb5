"""Few rows with the same count, mean and scatter as many: sums of squares and products over either are the same.

    rows of a group, centred  =  Q R                                   R has as many rows as there are columns, D
    D + 2 rows stand for it:     mean,   mean + t sqrt((D + 1) / W) H R      H' H = 1, columns of H add up to zero
    with weights                 W (1 - 1/t^2),   W / ((D + 1) t^2) each

The factor t takes the outer rows as far from the mean as that is from zero, so that data far from zero keep their
digits: a row that lies close to a large mean would round its distance away. Squares are never multiplied out. Rows
that stand for others have weights and can be gathered again with more, so batches of any size give the same, but for
rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.family import Array

ROWS_TO_GATHER = 65536
"""So many rows are gathered at once; fewer would be gathered again too often."""
NEAREST = 2.0
FARTHEST = 2.0**40
"""How many times as far as their spread rows are put from the mean."""
FEWER = 2
"""Few rows stand for many only if they are so many times fewer."""


def few_rows(squared: Array, kept: Sequence[Array]) -> tuple[Array, list[Array], Array]:
    """The few rows that stand for all, as columns of which moments matter, columns kept, and weights.

    Where rows agree too seldom in what is kept, they stay what they are, with unit weights.
    """
    count = len(squared)
    found = squared[:0], [column[:0] for column in kept], np.zeros(0)
    begin = 0
    while begin < count:
        end = begin + max(ROWS_TO_GATHER, len(found[2]))
        more = squared[begin:end], [column[begin:end] for column in kept]
        found = gathered_with(found, (*more, np.ones(len(more[0]))))
        if not are_few(len(found[2]), count):
            break
        begin = end
    return found if are_few(len(found[2]), count) else (squared, list(kept), np.ones(count))


def are_few(some: int, count: int) -> bool:
    """Whether it pays to let some rows stand for all."""
    return FEWER * some < count


def rows_joined(columns: Sequence[tuple[Array, int]]) -> Array:
    """Columns side by side, each given with how many numbers it has in a row."""
    flat = [np.asarray(column, dtype=float).reshape(len(column), width) for column, width in columns]
    return np.concatenate(flat, axis=1)


def gathered_with(
    some: tuple[Array, list[Array], Array], more: tuple[Array, list[Array], Array]
) -> tuple[Array, list[Array], Array]:
    """The few rows that stand for two lots of rows together."""
    squared, weight = (np.concatenate([some[part], more[part]]) for part in (0, 2))
    return gathered(squared, [np.concatenate(both) for both in zip(some[1], more[1])], weight)


def gathered(squared: Array, kept: Sequence[Array], weight: Array) -> tuple[Array, list[Array], Array]:
    """The few rows that stand for rows with weights; groups of fewer rows stay what they are."""
    group = groups_of(kept, len(squared))
    counts = np.bincount(group)
    order = np.argsort(group, kind="stable")
    begins = np.cumsum(counts) - counts
    few = squared.shape[1] + 2
    alone = order[np.repeat(counts <= few, counts)]
    parts, weights, first = [squared[alone]], [weight[alone]], [alone]
    # Groups of about the same size are gathered at once, filled up with rows of no weight.
    for size in np.unique(2 ** np.ceil(np.log2(np.maximum(counts[counts > few], 1)))).astype(int):
        chosen = np.flatnonzero((counts > few) & (counts <= size) & (counts > size // 2))
        at = begins[chosen, None] + np.minimum(np.arange(size), counts[chosen, None] - 1)
        real = np.arange(size) < counts[chosen, None]
        rows, heavy = standing_for(squared[order[at]], np.where(real, weight[order[at]], 0.0))
        parts.append(rows.reshape(-1, squared.shape[1]))
        weights.append(heavy.ravel())
        first.append(np.repeat(order[begins[chosen]], few))
    at_first = np.concatenate(first)
    sorted_by = np.argsort(group[at_first], kind="stable")  # the same order, however the rows were cut
    at_first = at_first[sorted_by]
    found, weight = np.concatenate(parts)[sorted_by], np.concatenate(weights)[sorted_by]
    return found, [column[at_first] for column in kept], weight


def standing_for(rows: Array, weight: Array) -> tuple[Array, Array]:
    """Rows and weights that stand for those of each group; arrays have an axis of groups, then of rows."""
    width = rows.shape[-1]
    total = weight.sum(axis=1)
    share = (weight / total[:, None])[..., None]
    near = (share * rows).sum(axis=1)
    apart = rows - near[:, None]
    shift = (share * apart).sum(axis=1)  # what rounding left of a mean far from zero
    mean = near + shift
    root = np.asarray(np.linalg.qr(np.sqrt(weight)[..., None] * (apart - shift[:, None]), mode="r"))
    root = root * np.where(np.diagonal(root, axis1=1, axis2=2) < 0, -1.0, 1.0)[..., None]  # R is unique then
    spread = np.sqrt((root**2).sum(axis=1) / total[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spread > 0, np.abs(mean) / spread, 0.0).max(axis=-1, initial=0.0)
    far = np.exp2(np.ceil(np.log2(np.clip(ratio, NEAREST, FARTHEST))))
    reach = far * np.sqrt((width + 1) / total)
    outer = mean[:, None] + reach[:, None, None] * (even_directions(width) @ root)
    heavy = total / far**2
    each = np.repeat(heavy[:, None] / (width + 1), width + 1, axis=1)
    return np.concatenate([mean[:, None], outer], axis=1), np.concatenate([(total - heavy)[:, None], each], axis=1)


def even_directions(width: int) -> Array:
    """Orthonormal columns that add up to zero each: one row more than columns."""
    found = np.zeros((width + 1, width))
    for column in range(width):
        found[: column + 1, column] = 1.0
        found[column + 1, column] = -(column + 1.0)
        found[:, column] /= np.sqrt((column + 1.0) * (column + 2.0))
    return found


def groups_of(kept: Sequence[Array], count: int) -> Array:
    """A number for each row, the same for rows that agree in all columns."""
    group = np.zeros(count, dtype=np.int64)
    for column in (part for flat in kept for part in flat.reshape(count, int(np.prod(flat.shape[1:]))).T):
        codes = np.unique(column, return_inverse=True)[1]
        if codes.max(initial=0) > 0:
            group = np.unique(group * (codes.max() + 1) + codes, return_inverse=True)[1]
    return group
