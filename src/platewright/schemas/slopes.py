"""The gradient of log factors in several unknowns, derived occurrence by occurrence  (Lemma 6.2).

    d/dw of sum_n f(w[g[n]])        at place g[n], over n:        f'(w[g[n]])
    d/dw of sum_n f(sum_j x[n,j] w[j])     at place j, over n, j:     f'(...) x[n, j]

A slope is the derivative in one occurrence of an unknown, over the rows in which it occurs; adding the slopes up at the
places where the unknown is looked up gives its gradient, without a table of every row against every element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from platewright.algebra.build import add, total
from platewright.algebra.contract import contracted
from platewright.algebra.differentiate import differentiate
from platewright.algebra.expression import (
    ZERO,
    Add,
    AtMost,
    Expression,
    Index,
    Indicator,
    Multiply,
    Reference,
    Sum,
    Where,
    all_indices,
    bound,
    bound_inside,
    free_indices,
    fresh,
    mentions,
    names,
    parts,
    rebuild,
    references,
    sums_within,
)
from platewright.algebra.kept import kept_for
from platewright.algebra.substitution import rename_bound, substitute
from platewright.errors import ModelError
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.program.derivatives import Slope
from platewright.schemas.scan_slopes import has_scan, slopes_through_scans

MOST_WITHIN = 4
"""Sums within sums of a normaliser above which moves do without its slope: C goes through all anew in each other."""
MOST_KEPT = 400
"""And where each is computed once."""


def slopes_of(
    factors: Sequence[Factor], variables: Sequence[str], within: int = MOST_WITHIN
) -> tuple[Slope, ...] | Declined:
    """The gradient of the sum of the factors, or the part that has no derivative; none with more sums `within` sums."""
    wanted = frozenset(variables)
    found: list[Slope] = []
    for factor in factors:
        if factor.names & wanted and (deep := sums_within(factor.expression)) > within:
            return Declined(
                "differentiate", f"`{factor.owner}` has {deep} sums within sums, and slopes triple with each"
            )
        if (bent := _without_slope(factor.expression, wanted)) is not None:
            return Declined("differentiate", f"{bent} in `{factor.owner}` has no derivative")
        try:
            found += slopes_in(factor, wanted)
        except ModelError as refused:
            return Declined("differentiate", f"in `{factor.owner}`: {str(refused).splitlines()[0]}")
    return tuple(found)


def _without_slope(expression: Expression, wanted: frozenset[str]) -> Expression | None:
    """A jump in one of the unknowns: a condition on it, or a bound that it moves."""
    for part in parts(expression):
        match part:
            case Where(condition, _, _) if mentions(condition, wanted):
                return condition
            case AtMost() | Indicator() if mentions(part, wanted):
                return part
    return None


def slopes_in(factor: Factor, wanted: frozenset[str]) -> list[Slope]:
    """One slope for each different occurrence."""
    whole = _apart_from(factor.expression, factor.axes)
    if has_scan(whole, wanted):
        return slopes_through_scans(replace(factor, expression=whole), wanted, slopes_in)
    places = [place for place in references(whole) if place.name in wanted]
    slopes = (_slope_at(whole, factor.axes, place) for place in places)
    return [slope for slope in slopes if slope.expression != ZERO]


@kept_for
def _apart_from(expression: Expression, axes: tuple[Index, ...]) -> Expression:
    return apart(expression, frozenset(axes))


@kept_for
def _slope_at(whole: Expression, axes: tuple[Index, ...], place: Reference) -> Slope:
    """The slope of one occurrence, which bears a mark meanwhile; it is asked for alone, and again among others."""
    if not place.indices:  # one number: all its occurrences are the same
        return Slope(place.name, (), axes, settled(differentiate(whole, place)))
    inner = _inner(place, axes)
    mark = f"{place.name}@"
    marked = replaced(whole, {place: Reference(mark, inner)})
    taken = set(all_indices(whole)) | set(axes)
    own: list[Index] = []
    for index in inner:
        own.append(fresh(index, taken | set(own)))
    change = differentiate(marked, Reference(mark, tuple(own)))
    at = tuple(substitute(part, dict(zip(inner, own, strict=True))) for part in place.indices)
    return Slope(place.name, at, (*axes, *own), settled(_unmarked(change, mark, place, inner)))


def _inner(place: Reference, axes: tuple[Index, ...]) -> tuple[Index, ...]:
    """The indices of a place that a sum inside the factor binds."""
    return tuple(sorted(free_indices(place) - set(axes), key=lambda index: index.name))


def apart(expression: Expression, taken: frozenset[Index]) -> Expression:
    """The same expression with bound indices that differ from those around them."""
    if not bound_inside(expression):
        return expression
    clashing = [index for index in bound(expression) if index in taken]
    if clashing:
        expression = rename_bound(expression, clashing, set(taken))
    inside = taken | frozenset(bound(expression))
    return rebuild(expression, lambda part: apart(part, inside))


def replaced(expression: Expression, changes: Mapping[Expression, Expression]) -> Expression:
    """Parts put in for others wherever they stand, under a binder too; the names must be apart."""
    if expression in changes:
        return changes[expression]
    if not any(names(old) <= names(expression) for old in changes):
        return expression
    return rebuild(expression, lambda part: replaced(part, changes))


def _unmarked(expression: Expression, mark: str, place: Reference, inner: tuple[Index, ...]) -> Expression:
    """Marks become the occurrence they stand for, at the indices at which they are taken now."""
    if mark not in names(expression):
        return expression
    if isinstance(expression, Reference) and expression.name == mark:
        return substitute(place, dict(zip(inner, expression.indices, strict=True)))
    return rebuild(expression, lambda part: _unmarked(part, mark, place, inner))


def settled(expression: Expression) -> Expression:
    """A derivative as it is computed: indicators used up, and nested sums in a good order."""
    return contracted(collapsed(expression))


def collapsed(expression: Expression) -> Expression:
    """Sums of terms that an indicator reduces to one element each: `sum_j (a[j] + b[j]) [j = e]` is a[e] + b[e]."""
    if not bound_inside(expression):
        return expression
    inside = rebuild(expression, collapsed)
    if not isinstance(inside, Sum):
        return inside
    body = _spread(inside.body, inside.index)
    if isinstance(body, Add) and any(_chooses(term, inside.index) for term in body.terms):
        return add(*(total(term, inside.index) for term in body.terms))
    return total(body, inside.index)


def _spread(body: Expression, index: Index) -> Expression:
    """A product over a sum in which indicators of the index stand, multiplied out once."""
    if not isinstance(body, Multiply):
        return body
    for factor in body.factors:
        if isinstance(factor, Add) and any(_chooses(term, index) for term in factor.terms):
            others = [other for other in body.factors if other is not factor]
            return add(*(_product(*others, term) for term in factor.terms))
    return body


def _product(*factors: Expression) -> Expression:
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


def _chooses(term: Expression, index: Index) -> bool:
    factors = term.factors if isinstance(term, Multiply) else (term,)
    return any(
        isinstance(f, Indicator)
        and index in (f.left, f.right)
        and isinstance(f.left, Index)
        and isinstance(f.right, Index)
        for f in factors
    )
