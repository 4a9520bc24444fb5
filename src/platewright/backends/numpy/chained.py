"""Least squares along a chain, where rows touch a step and the one before: every other step is eliminated at once.

    steps 0 1 2 3 4 5 6      0, 2, 4, 6 first: each meets its two neighbours only, and what is left joins these
            1   3   5        1, 5 next
                3            then 3: as many rounds as the number of steps has binary digits

Steps are orthogonally rotated away, as `triangularised` does, so nothing is squared that could cancel. What is found
says for each step `root x[t] + before x[t - s] + after x[t + s] + cross v = right`, where s is the power of two at
which the step was eliminated. Emitted source carries these functions along.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.numpy.least_rows import NEAR, reflected
from platewright.backends.numpy.twofold import Twofold, twofold_product, twofold_sum
from platewright.family import Array


def triangularised_along(design: Array, state: int, outputs: int, of: str = "the unknowns") -> dict[str, Array]:
    """Triangular form of the rows of each step, whose columns are: the step before, the step, others, and outputs.

    Where outputs are far from zero for what is left of them, they are shifted by a first solution and turned again.
    """
    plain, rest, weight = design[..., : -1 - outputs], design[..., -1 - outputs : -1], design[..., -1:]
    found = rotated_along(plain * weight, state, outputs, of)
    left = np.abs(found["rest"]).max(axis=-2, initial=0.0)
    if not (left < NEAR * found["size"]).any():
        return found
    pilot = solved_along(found, found["right"])
    steps = pilot.reshape(*design.shape[:-2], 1, state, outputs)
    earlier = np.concatenate([steps[..., :1, :, :, :], steps[..., :-1, :, :, :]], axis=-4)
    both = np.concatenate([earlier, steps], axis=-2)
    shifted: Twofold = (plain[..., -outputs:], rest)
    for j in range(2 * state):
        column = (plain[..., j, None], np.zeros(1))
        shifted = twofold_sum(shifted, twofold_product(column, (-both[..., j, :], np.zeros(1))))
    near = np.concatenate([plain[..., :-outputs], shifted[0]], axis=-1)
    found = rotated_along(near * weight, state, outputs, of)
    return {**found, "right": found["right"] + times_along(found, pilot)}


def rotated_along(rows: Array, state: int, outputs: int, of: str) -> dict[str, Array]:
    """The parts of the triangular form of a chain."""
    *batch, steps, _, width = rows.shape
    if not steps:  # a step about which nothing is said but that it is zero, and which nobody reads
        alone = np.zeros((*batch, 1, state, width))
        alone[..., 0, :, state : 2 * state] = np.eye(state)
        found = rotated_along(alone, state, outputs, of)
        found |= {name: found[name][..., :0, :, :] for name in ("root", "before", "after")}
        return {**found, **{name: found[name][..., :0, :] for name in ("cross", "right")}}
    size = np.sqrt((rows[..., -outputs:] ** 2).sum(axis=(-3, -2)))
    rows = rows.copy()
    rows[..., 0, :, state : 2 * state] += rows[..., 0, :, :state]  # before the first step is the first
    rows[..., 0, :, :state] = 0.0
    triangle = np.zeros((*batch, steps, state, width + state))
    stride = 1
    while rows.shape[-3] > 1:
        fronts = fronts_of(rows, state)
        upper = front_triangle(fronts, state, of)
        places = triangle[..., stride - 1 :: 2 * stride, :, :]
        places[...] = upper[..., : places.shape[-3], :state, :]
        rows = upper[..., state:, state:]
        stride *= 2
    last = front_triangle(rows[..., 0, :, state:], state, of)
    if stride <= steps:  # the last step may be one that was only added to make their number even
        triangle[..., stride - 1, :, :state] = last[..., :state, :state]
        triangle[..., stride - 1, :, 3 * state :] = last[..., :state, state:]
    outer = width - 2 * state - outputs
    flat = triangle.reshape(*batch, steps * state, width + state)
    pivots = np.diagonal(triangle[..., :state], axis1=-2, axis2=-1)
    return {
        "root": triangle[..., :state],
        "before": triangle[..., state : 2 * state],
        "after": triangle[..., 2 * state : 3 * state],
        "log_root": np.log(pivots).sum(axis=(-2, -1)),
        "cross": flat[..., 3 * state : 3 * state + outer],
        "right": flat[..., 3 * state + outer :],
        "left": last[..., state:, state : state + outer],
        "rest": last[..., state:, state + outer :],
        "size": size,
    }


def fronts_of(rows: Array, state: int) -> Array:
    """For each even step all rows that touch it: its columns, those of the step before and after, and the others."""
    *batch, steps, count, width = rows.shape
    if steps % 2:  # one more step, about which nothing is said but that it is zero
        more = np.zeros((*batch, steps + 1, max(count, state), width))
        more[..., :steps, :count, :] = rows
        more[..., steps, :state, state : 2 * state] = np.eye(state)
        return fronts_of(more, state)
    found = np.zeros((*batch, steps // 2, 2 * count, width + state))
    even, odd = rows[..., 0::2, :, :], rows[..., 1::2, :, :]
    found[..., :count, :state] = even[..., state : 2 * state]
    found[..., :count, state : 2 * state] = even[..., :state]
    found[..., :count, 3 * state :] = even[..., 2 * state :]
    found[..., count:, :state] = odd[..., :state]
    found[..., count:, 2 * state :] = odd[..., state:]
    return found


def front_triangle(rows: Array, state: int, of: str) -> Array:
    """Upper triangular form of rows, with positive pivots in the first columns, which must be determined."""
    if rows.shape[-2] < state:
        short = np.zeros((*rows.shape[:-2], state - rows.shape[-2], rows.shape[-1]))
        rows = np.concatenate([rows, short], axis=-2)
    upper = np.asarray(np.linalg.qr(rows, mode="r"))
    size = np.sqrt((rows[..., :state] ** 2).sum(axis=-2))
    pivots = upper.diagonal(axis1=-2, axis2=-1)[..., :state]
    if not (np.abs(pivots) > 1e-3 * size).all():
        upper = reflected(rows)  # a column that all but follows from others: every digit counts
        pivots = upper.diagonal(axis1=-2, axis2=-1)[..., :state]
        least = 8 * rows.shape[-1] * np.finfo(float).eps * np.maximum(size, np.finfo(float).tiny)
        missing = int((np.abs(pivots) <= least).sum(axis=-1).max())
        if missing:
            raise ArithmeticError(f"improper: at least {missing} more independent observations are needed for {of}")
    signs = np.where(pivots < 0, -1.0, 1.0)
    upper[..., :state, :] *= signs[..., None]
    return upper


def solved_along(found: Mapping[str, Array], right: Array) -> Array:
    """The steps x of a chain, given right-hand sides for all of its rows."""
    return swept_along(found, right, solve=True)


def times_along(found: Mapping[str, Array], values: Array) -> Array:
    """What the triangle of a chain makes of the values of its steps: the inverse of `solved_along`."""
    return swept_along(found, values, solve=False)


def swept_along(found: Mapping[str, Array], given: Array, solve: bool) -> Array:
    """Those eliminated last first: each step with its two neighbours, in rounds."""
    root, before, after = found["root"], found["before"], found["after"]
    *batch, steps, state, _ = root.shape
    wide = given.shape[-1]
    given = given.reshape(*batch, steps, state, wide)
    total = 1 << steps.bit_length()
    values = np.zeros((*batch, total + 1, state, wide))  # step t at t + 1; nothing before the first and after the last
    result = np.empty_like(given)
    if not solve:
        values[..., 1 : steps + 1, :, :] = given
    stride = total // 2
    while stride:
        now = slice(stride - 1, None, 2 * stride)
        own = given[..., now, :, :]
        count = own.shape[-3]
        lower = values[..., 0 : total : 2 * stride, :, :][..., :count, :, :]
        upper = values[..., 2 * stride :: 2 * stride, :, :][..., :count, :, :]
        met = before[..., now, :, :] @ lower + after[..., now, :, :] @ upper
        if solve:
            solution = np.linalg.solve(root[..., now, :, :], own - met)
            values[..., stride : steps + 1 : 2 * stride, :, :] = result[..., now, :, :] = solution
        else:
            result[..., now, :, :] = root[..., now, :, :] @ own + met
        stride //= 2
    return result.reshape(*batch, steps * state, wide)
