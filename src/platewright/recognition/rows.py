"""Read log factors as weighted squares of linear forms: the rows of a least-squares problem.

    -tau/2 (y[n] - sum_j w[j] x[n, j])^2      is a family of rows over n with weight tau

Squares are kept whole instead of being multiplied out: sums of squares do not cancel, whatever the mean of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

from platewright.algebra.build import add, multiply, substitute, total
from platewright.algebra.expression import (
    Add,
    Call,
    Constant,
    Expression,
    Index,
    Multiply,
    Power,
    Quadratic,
    Sum,
    Where,
    fresh,
    mentions,
    names,
    walk,
)
from platewright.algebra.kept import kept_for
from platewright.algebra.substitution import rename_bound
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.recognition.linear import NotLinear, Part, linear


@dataclass(frozen=True)
class Rows:
    """`-weight/2 * (sum of parts + rest)^2` summed over `axes`.

    With `outputs` the square is a quadratic form over a pair of indices with `matrix`, which the weight multiplies.
    """

    owner: str
    axes: tuple[Index, ...]
    weight: Expression
    parts: tuple[Part, ...]
    rest: Expression
    outputs: tuple[Index, Index] | None = None
    matrix: Expression | None = None

    @cached_property
    def variables(self) -> frozenset[str]:
        """The unknowns that these rows touch."""
        return frozenset(part.variable for part in self.parts)


def rows_touching(rows: Iterable[Rows]) -> Mapping[str, list[Rows]]:
    """The rows that touch each unknown."""
    found: dict[str, list[Rows]] = {}
    for each in rows:
        for name in each.variables:
            found.setdefault(name, []).append(each)
    return found


@dataclass(frozen=True)
class Split:
    """A factor as rows in the unknowns and a remainder free of them."""

    rows: tuple[Rows, ...]
    rest: tuple[Factor, ...]


def split_rows(factor: Factor, unknowns: Set[str]) -> Split | Declined:
    """All rows of a factor; declined when a term that holds an unknown is not a weighted square of a linear form."""
    return _split(factor.expression, factor.owner, factor.axes, factor.names & unknowns)


@kept_for
def _split(expression: Expression, owner: str, over: tuple[Index, ...], unknowns: frozenset[str]) -> Split | Declined:
    """As above; a search asks for the same factor in the same unknowns over and over."""
    rows: list[Rows] = []
    rest: list[Factor] = []
    refused: list[tuple[Expression, Declined]] = []
    for axes, term in flat_terms(over, expression, unknowns):
        if not mentions(term, unknowns):
            rest.append(Factor(owner, axes, term))
            continue
        found = square_of(owner, axes, term, unknowns)
        if isinstance(found, Declined):
            refused.append((term, found))
        else:
            rows.append(found)
    if refused:
        # A function of the unknown says more than a product that only fails because of it.
        refused.sort(key=lambda pair: not any(isinstance(part, Call) for part in walk(pair[0])))
        return refused[0][1]
    return Split(tuple(rows), tuple(rest))


def flat_terms(
    axes: tuple[Index, ...], expression: Expression, unknowns: Set[str]
) -> list[tuple[tuple[Index, ...], Expression]]:
    """The additive terms of an expression, each with the indices it is summed over."""
    match expression:
        case Add(terms):
            return [flat for term in terms for flat in flat_terms(axes, term, unknowns)]
        case Sum(index, body) if mentions(body, unknowns):
            if index in axes:
                renamed = rename_bound(expression, [index], set(axes))
                assert isinstance(renamed, Sum)
                index, body = renamed.index, renamed.body
            return flat_terms((*axes, index), body, unknowns)
        case Where(condition, then, otherwise) if mentions(expression, unknowns):
            yes = flat_terms(axes, multiply(condition, then), unknowns)
            return yes + flat_terms(axes, multiply(1 - condition, otherwise), unknowns)
        case Multiply(factors) if mentions(expression, unknowns):
            for factor in factors:
                others = multiply(*(other for other in factors if other is not factor))
                if isinstance(factor, Sum) and mentions(factor, unknowns):
                    inner = factor if factor.index not in axes else rename_bound(factor, [factor.index], set(axes))
                    assert isinstance(inner, Sum)
                    return flat_terms((*axes, inner.index), multiply(others, inner.body), unknowns)
                if isinstance(factor, (Add, Where)) and mentions(factor, unknowns) and not mentions(others, unknowns):
                    parts = flat_terms(axes, factor, unknowns)
                    return [(found, multiply(others, part)) for found, part in parts]
    return [(axes, expression)]


def square_of(owner: str, axes: tuple[Index, ...], term: Expression, unknowns: Set[str]) -> Rows | Declined:
    """One additive term as weighted squares of a form linear in the unknowns."""
    word = "gaussian block"
    factors = term.factors if isinstance(term, Multiply) else (term,)
    holding = [factor for factor in factors if mentions(factor, unknowns)]
    if len(holding) != 1:
        return Declined(
            word, f"{_entry(owner, term, unknowns)} through {term}, not through the square of a linear form"
        )
    weight = multiply(-2.0, *(factor for factor in factors if factor is not holding[0]))
    found = None
    try:
        match holding[0]:
            case Power(base, Constant(2.0)):
                form = linear(base, unknowns)
                found = Rows(owner, axes, weight, _clear_of(form.parts, axes), form.rest)
            case Quadratic(residual, matrix, row, column) if not mentions(matrix, unknowns):
                form = linear(residual, unknowns)
                parts = _clear_of(form.parts, (*axes, row, column))
                found = Rows(owner, axes, weight, parts, form.rest, (row, column), matrix)
    except NotLinear as bent:
        return Declined(word, f"{_entry(owner, bent.part, unknowns)} through {bent.part}, which is not linear")
    if found is None:
        entry = _entry(owner, holding[0], unknowns)
        return Declined(word, f"{entry} through {holding[0]}, not through the square of a linear form")
    if _sign(weight) < 0:
        return Declined(word, f"{_entry(owner, term, unknowns)} through {term}, which grows without bound")
    return found


def _entry(owner: str, part: Expression, unknowns: Set[str]) -> str:
    """Who enters where: `mu` enters `y`, or its own prior."""
    held = sorted(names(part) & unknowns)
    shown = " and ".join(f"`{name}`" for name in held)
    where = "its own prior" if held == [owner] else f"`{owner}`"
    return f"{shown} {'enter' if len(held) > 1 else 'enters'} {where}"


def _clear_of(parts: tuple[Part, ...], axes: tuple[Index, ...]) -> tuple[Part, ...]:
    """Inner indices renamed where they bear the name of a row axis."""
    cleared = []
    for part in parts:
        taken = set(axes) | set(part.inner)
        changes: dict[Expression, Expression] = {}
        for index in part.inner:
            if index in axes:
                changes[index] = fresh(index, taken)
                taken.add(changes[index])  # type: ignore[arg-type]
        at = tuple(substitute(position, changes) for position in part.at)
        inner = tuple(changes.get(index, index) for index in part.inner)
        cleared.append(Part(part.variable, at, substitute(part.coefficient, changes), inner))  # type: ignore[arg-type]
    return tuple(cleared)


def _sign(weight: Expression) -> int:
    match weight:
        case Constant(value) | Multiply((Constant(value), *_)):
            return 1 if value > 0 else -1
    return 1


def renamed_rows(rows: Rows, changes: dict[Expression, Expression]) -> Rows:
    """The same rows with indices changed."""
    axes = tuple(changes.get(axis, axis) for axis in rows.axes)
    parts = tuple(
        Part(
            part.variable,
            tuple(substitute(position, changes) for position in part.at),
            substitute(part.coefficient, changes),
            part.inner,
        )
        for part in rows.parts
    )
    matrix = None if rows.matrix is None else substitute(rows.matrix, changes)
    return Rows(
        rows.owner,
        axes,  # type: ignore[arg-type]
        substitute(rows.weight, changes),
        parts,
        substitute(rows.rest, changes),
        rows.outputs,
        matrix,
    )


def residual(rows: Rows) -> Expression:
    """The linear form that is squared."""
    from platewright.algebra.expression import Reference

    terms = [rows.rest]
    for part in rows.parts:
        term = multiply(part.coefficient, Reference(part.variable, part.at))
        for index in part.inner:
            term = total(term, index)
        terms.append(term)
    return add(*terms)
