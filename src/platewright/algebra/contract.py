"""Sums of products over several indices, each index summed where the fewest others are in the way.

    sum_i y_i sum_j y_j sum_k A_ki sum_l A_jl D_lk      takes   n^4
    sum_l (sum_j A_jl y_j) sum_k D_lk (sum_i A_ki y_i)  takes   n^2, or n^3 where nothing is kept

Derivatives of quadratic forms in an inverse come in the first form. Sums over one or two indices stay as they are.
"""

from __future__ import annotations

from platewright.algebra.build import multiply, total
from platewright.algebra.expression import Expression, Index, Multiply, Sum, bound_inside, free_indices, rebuild

LEAST = 3
"""Indices in a sum from which on its order matters."""


def contracted(expression: Expression) -> Expression:
    """The same expression with its nested sums in a better order; bound indices must differ from those around them."""
    if not bound_inside(expression):
        return expression
    if isinstance(expression, Sum):
        indices, factors = _opened(expression)
        if len(indices) >= LEAST and len(set(indices)) == len(indices):
            return _summed(list(indices), [contracted(factor) for factor in factors])
    return rebuild(expression, contracted)


def _opened(expression: Expression) -> tuple[list[Index], list[Expression]]:
    """The indices and factors of sums of products that stand in one another."""
    if isinstance(expression, Sum):
        indices, factors = _opened(expression.body)
        return [expression.index, *indices], factors
    if not isinstance(expression, Multiply):
        return [], [expression]
    found: list[Index] = []
    every: list[Expression] = []
    for factor in expression.factors:
        indices, factors = _opened(factor)
        if set(indices) & {index for other in every for index in free_indices(other)} or set(indices) & set(found):
            indices, factors = [], [factor]  # a name that is taken: the sum stays closed
        found += indices
        every += factors
    return found, every


def _summed(indices: list[Index], factors: list[Expression]) -> Expression:
    """Sum one index after another: always the one whose factors depend on the fewest others."""

    def width(index: Index) -> int:
        return len({other for factor in factors if index in free_indices(factor) for other in free_indices(factor)})

    while indices:
        index = min(indices, key=width)
        indices.remove(index)
        inside = [factor for factor in factors if index in free_indices(factor)]
        factors = [factor for factor in factors if index not in free_indices(factor)]
        factors.append(total(multiply(*inside), index))
    return multiply(*factors)
