"""Which entry of its table a row adds to: indicators `[code = index]` pick it, and no other entry is touched.

    sum_n [y[n] = c] [x[n, f] = l]      row n adds 1 at (y[n], f, x[n, f]) for each f

A code may differ along other indices of the table (`f` above); these are walked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from platewright.algebra.build import multiply, substitute
from platewright.algebra.expression import Expression, Index, Indicator, Multiply, free_indices, names
from platewright.program.statements import Statistic


@dataclass(frozen=True)
class Scatter:
    """`codes` pick positions along their indices, `walked` are the indices these differ along, `others` the rest."""

    codes: tuple[tuple[Index, Expression], ...]
    walked: tuple[Index, ...]
    others: tuple[Index, ...]
    summand: Expression


def scatter(statement: Statistic, is_code: Callable[[Expression], bool] = lambda code: True) -> Scatter:
    """How a statistic is scattered into its table; `is_code` says whether an expression may be a position."""
    factors = statement.summand.factors if isinstance(statement.summand, Multiply) else (statement.summand,)
    codes: dict[Index, Expression] = {}
    rest: list[Expression] = []
    for factor in factors:
        found = _code(factor, statement, codes) if statement.kind == "sum" else None
        if found is None or not is_code(found[1]):
            rest.append(factor)
        else:
            codes[found[0]] = found[1]
    summand = multiply(1.0, *rest)
    if free_indices(summand) & codes.keys():  # what an entry knows of its position, the row knows by its code
        summand = substitute(summand, {index: code for index, code in codes.items()})
    met = frozenset(index for code in codes.values() for index in free_indices(code))
    walked = tuple(index for index in statement.indices if index in met)
    others = tuple(index for index in statement.indices if index not in met and index not in codes)
    return Scatter(tuple(codes.items()), walked, others, summand)


def _code(factor: Expression, statement: Statistic, codes: dict[Index, Expression]) -> tuple[Index, Expression] | None:
    """`[code = index]`: no code before looks at the index, and the code looks at none that is picked."""
    if not isinstance(factor, Indicator):
        return None
    walked = frozenset(index for code in codes.values() for index in free_indices(code))
    for code, index in ((factor.left, factor.right), (factor.right, factor.left)):
        if not isinstance(index, Index) or index not in statement.indices or index in codes or index in walked:
            continue
        allowed = {*statement.over, *statement.indices} - {index, *codes}
        if names(code) and free_indices(code) <= allowed:
            return index, code
    return None
