"""Log factors as functions of predictors, each linear in the unknowns, with slopes and curvature  (Lemma 6.2).

    f(e_1, e_2, ...),   e_i = offset + sum_j c_ij(row) w[j]
    slope       sum_rows  f_i  c_i                 f_i, f_ij: derivatives in predictors, as expressions
    curvature   sum_rows  f_ij c_i c_j'            for one predictor X' W X, the matrix of weighted least squares

Predictors are the largest parts of a log factor that are linear in the unknowns; with them marked, derivatives are of
one number a row, and no table of rows against pairs of unknowns is made. An unknown that stands alone is a predictor
of itself, so any smooth density has this form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from platewright.algebra.build import multiply
from platewright.algebra.degree import degree
from platewright.algebra.differentiate import differentiate
from platewright.algebra.expression import (
    ZERO,
    Add,
    Expression,
    Index,
    Multiply,
    Reference,
    Sum,
    all_indices,
    children,
    free_indices,
    fresh,
    mentions,
    parts,
    sums_within,
)
from platewright.algebra.substitution import substitute
from platewright.errors import ModelError
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.program.derivatives import Bend, Bent, Predictor
from platewright.schemas.slopes import MOST_WITHIN, apart, replaced, settled, slopes_in

Axes = tuple[Index, ...]


def bent_factors(factors: Sequence[Factor], variables: Sequence[str]) -> tuple[Bent, ...] | Declined:
    """All rows of log factors by their predictors, or the part whose second derivative is not known."""
    wanted = frozenset(variables)
    found: list[Bent] = []
    for factor in factors:
        if factor.names & wanted and (deep := sums_within(factor.expression)) > MOST_WITHIN:
            return Declined("differentiate twice", f"`{factor.owner}` has {deep} sums within sums")
        for axes, expression in _rows(factor, wanted):
            try:
                found.append(_bent(factor.owner, axes, expression, wanted))
            except ModelError as refused:
                reason = str(refused).splitlines()[0]
                return Declined("differentiate twice", f"in `{factor.owner}`: {reason}")
    return tuple(found)


def _rows(factor: Factor, wanted: frozenset[str]) -> list[tuple[Axes, Expression]]:
    """A log factor as sums over rows: sums of its terms become rows of their own, unless they are linear."""
    whole = apart(factor.expression, frozenset(factor.axes))
    rows: dict[Axes, list[Expression]] = {}
    for term in whole.terms if isinstance(whole, Add) else (whole,):
        if not mentions(term, wanted):
            rows.setdefault(factor.axes, []).append(term)
            continue
        axes, body = _opened(term, factor.axes, wanted)
        rows.setdefault(axes, []).append(body)
    return [(axes, _added(terms)) for axes, terms in rows.items()]


def _added(terms: Iterable[Expression]) -> Expression:
    first, *rest = terms
    for term in rest:
        first = first + term
    return first


def _opened(term: Expression, axes: Axes, wanted: frozenset[str]) -> tuple[Axes, Expression]:
    """A product with a sum that is not linear in the unknowns, as a product over more rows."""
    factors = term.factors if isinstance(term, Multiply) else (term,)
    for place, part in enumerate(factors):
        if isinstance(part, Sum) and degree(part, wanted) > 1 and part.index not in axes:
            others = (*factors[:place], *factors[place + 1 :])
            if any(part.index in all_indices(other) for other in others):
                continue
            return _opened(multiply(*others, part.body), (*axes, part.index), wanted)
    return axes, term


def _bent(owner: str, axes: Axes, expression: Expression, wanted: frozenset[str]) -> Bent:
    value = expression
    predictors: list[Predictor] = []
    for part in _linear_parts(expression, wanted):
        inner = _inner(tuple(sorted(free_indices(part), key=lambda index: index.name)), axes)
        own = tuple(index for index in axes if index in free_indices(part))
        number = len(predictors)
        mark = Reference(f"{owner}.predictor {number}" if number else f"{owner}.predictor", (*own, *inner))
        marked = replaced(value, {part: mark, multiply(-1.0, part): multiply(-1.0, mark)})
        if marked == value:
            continue  # it stood in larger ones only
        value = marked
        predictors.append(Predictor(mark, part, tuple(slopes_in(Factor(owner, (*own, *inner), part), wanted))))
    slopes = tuple(settled(differentiate(value, one.mark)) for one in predictors)
    bends = [
        bend
        for first, slope in enumerate(slopes)
        for second in range(first, len(predictors))
        if (bend := _bend(axes, slope, predictors, first, second)) is not None
    ]
    return Bent(owner, axes, tuple(predictors), value, slopes, tuple(bends))


def _bend(axes: Axes, slope: Expression, predictors: Sequence[Predictor], first: int, second: int) -> Bend | None:
    """The derivative of a slope in a predictor, whose axes inside a row get names apart from those of the slope."""
    target = predictors[second]
    mine = _inner(predictors[first].axes, axes)
    taken = {*all_indices(slope), *axes, *mine, *target.axes}
    renamed: dict[Expression, Expression] = {}
    for index in _inner(target.axes, axes):
        renamed[index] = fresh(index, taken)
        taken.add(fresh(index, taken))
    mark = substitute(target.mark, renamed)
    assert isinstance(mark, Reference)
    expression = settled(differentiate(slope, mark))
    if expression == ZERO:
        return None
    own = tuple(index for index in mark.indices if isinstance(index, Index))
    return Bend(first, second, (*axes, *mine, *_inner(own, axes)), own, expression)


def _inner(indices: Axes, axes: Axes) -> Axes:
    return tuple(index for index in indices if index not in axes)


def _linear_parts(expression: Expression, wanted: frozenset[str]) -> list[Expression]:
    """Parts that are linear in the unknowns, the largest first, each once: one of x and -x, without known factors."""
    found: dict[Expression, None] = {}
    waiting = [expression]
    while waiting:
        part = waiting.pop(0)
        if not mentions(part, wanted):
            continue
        if degree(part, wanted) > 1:
            waiting += children(part)
            continue
        while isinstance(part, Multiply):
            part = next(factor for factor in part.factors if mentions(factor, wanted))
        if multiply(-1.0, part) not in found:
            found[part] = None
    return sorted(found, key=lambda part: -len(list(parts(part))))
