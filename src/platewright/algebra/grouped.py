"""Sums over the rows that belong to each group: `sum_n [group[n] = g] f[n]`, in one pass over the rows.

Each row has one group, so nothing is multiplied by zero, and the cost does not grow with the number of groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from platewright.algebra.build import multiply, substitute
from platewright.algebra.expression import ONE, Expression, Index, Indicator, Multiply, free_indices, names

Array = np.ndarray


@dataclass(frozen=True)
class Grouped:
    """`code` says which element of `group` a row belongs to; `rest` is summed over its rows."""

    code: Expression
    group: Index
    rest: Expression


def grouped(index: Index, body: Expression) -> Grouped | None:
    """The parts of a sum over rows that are picked by their group; none where it is another sum."""
    factors = body.factors if isinstance(body, Multiply) else (body,)
    for factor in factors:
        if not isinstance(factor, Indicator):
            continue
        for code, group in ((factor.left, factor.right), (factor.right, factor.left)):
            if not isinstance(group, Index) or group == index or not names(code) or free_indices(code) != {index}:
                continue
            rest = multiply(1.0, *(other for other in factors if other is not factor))
            if group in free_indices(rest):  # what a row knows of its group, it finds there
                rest = substitute(rest, {group: code})
            if rest == ONE or index in free_indices(rest):
                return Grouped(code, group, rest)
    return None


def group_sums(codes: Array, values: Array, size: int) -> Array:
    """Sums over the rows of each group; rows are the last axis of `values`, groups that of the result."""
    rows = values.reshape(-1, values.shape[-1])
    found = [np.bincount(codes, weights=row, minlength=size) for row in rows]
    return np.array(found).reshape(*values.shape[:-1], size)
