"""Rows of least squares in NumPy: placed in their columns, stacked, and rotated to triangular form.

Emitted source carries these functions along.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.backends.numpy.twofold import Twofold, twofold_product, twofold_sum
from platewright.family import Array

WIDEST = 200
"""The widest least-squares problem that is triangularised by our own careful loop; wider ones go to LAPACK."""


NEAR = 1e-3
"""Outputs of which less is left than this after their columns are shifted first."""


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
