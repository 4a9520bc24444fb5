"""Tables that a row can be taken out of and put back into, and the log evidence as a sum of terms over their cells.

    table      T[codes(row)] += value(row)                       for every row: a statistic, read as a scatter
    term       sum over cells of g(T[cell], U[cell], ...)        g is any function, T and U are tables

A sum of a table over one of its cells is again a table, whose rows go to fewer cells: `sum_v T[k, v]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from platewright.algebra.build import add, multiply, substitute, total
from platewright.algebra.expression import (
    ONE,
    Add,
    Expression,
    Index,
    Indicator,
    Multiply,
    Reference,
    Sum,
    all_indices,
    free_indices,
    fresh,
    mentions,
    rebuild,
    walk,
)
from platewright.operation import Declined
from platewright.program.statements import Assign, Statistic

NAME = "collapsed-gibbs"


@dataclass(frozen=True)
class Table:
    """`name[codes] += value` for every row; the rows are all positions of `over`."""

    name: str
    plates: tuple[str, ...]
    over: tuple[Index, ...]
    codes: tuple[Expression, ...]
    value: Expression

    def __str__(self) -> str:
        where = ", ".join(str(code) for code in self.codes)
        return f"{self.name}[{where}] += {self.value} for each {', '.join(index.name for index in self.over)}"


@dataclass(frozen=True)
class Term:
    """`sum over cells of body`, in which tables stand at the cells."""

    cells: tuple[Index, ...]
    body: Expression


class Collapse(Exception):
    """Why the evidence cannot be followed when one element moves."""


@dataclass
class Tables:
    """The tables that hidden variables enter, each kept once."""

    hidden: frozenset[str]
    found: dict[tuple[object, ...], Table] = field(default_factory=dict)

    @property
    def by_name(self) -> dict[str, Table]:
        """Tables by name."""
        return {table.name: table for table in self.found.values()}

    def named(
        self,
        label: str,
        plates: tuple[str, ...],
        over: tuple[Index, ...],
        codes: Sequence[Expression],
        value: Expression,
    ) -> Table:
        """A table, or the one that is the same already."""
        key = (over, tuple(codes), value)
        if key not in self.found:
            taken = {table.name for table in self.found.values()}
            name, number = label, 1
            while name in taken:
                number += 1
                name = f"{label}_{number}"
            self.found[key] = Table(name, plates, over, tuple(codes), value)
        return self.found[key]

    def of_statistic(self, statistic: Statistic) -> Table:
        """A statistic as a scatter: `[code = index]` says where a row goes, what is left is what it adds."""
        if statistic.kind != "sum":
            raise Collapse(f"the {statistic.kind} of `{statistic.name}` cannot be taken back for one element")
        over, factors = _flattened(statistic.over, statistic.summand, set(statistic.indices))
        codes: dict[Index, Expression] = {}
        rest: list[Expression] = []
        for factor in factors:
            match factor:
                case Indicator(left, Index() as right) if (
                    right in statistic.indices and right not in codes and not isinstance(left, Index)
                ):
                    codes[right] = left
                case _:
                    rest.append(factor)
        changes: dict[Expression, Expression] = dict(codes)
        dense = tuple(index for index in statistic.indices if index not in codes)
        return self.named(
            statistic.name,
            tuple(index.plate for index in statistic.indices),
            (*over, *dense),
            [codes.get(index, index) for index in statistic.indices],
            substitute(multiply(*rest), changes),
        )


def _flattened(
    over: tuple[Index, ...], summand: Expression, taken: set[Index]
) -> tuple[tuple[Index, ...], list[Expression]]:
    """Sums that stand as factors of the summand become further row indices."""
    factors = list(summand.factors) if isinstance(summand, Multiply) else [summand]
    plain = [factor for factor in factors if not isinstance(factor, Sum)]
    for factor in factors:
        if isinstance(factor, Sum):
            index = fresh(factor.index, taken | set(over))
            body = substitute(factor.body, {factor.index: index})
            over, inner = _flattened((*over, index), body, taken)
            plain += inner
    return over, plain


def written_out(statements: Sequence[object], wanted: str) -> Expression:
    """What an assignment computes, with all earlier assignments put in."""
    known: dict[str, Assign] = {}
    for statement in statements:
        if isinstance(statement, Assign):
            known[statement.name] = statement

    def opened(part: Expression) -> Expression:
        if isinstance(part, Reference) and part.name in known:
            source = known[part.name]
            inner = opened(source.expression)
            return substitute(inner, dict(zip(source.indices, part.indices, strict=True)))
        return rebuild(part, opened)

    return opened(Reference(wanted))


def terms_of(evidence: Expression, tables: Tables) -> list[Term]:
    """The evidence as a sum of terms over cells; what no hidden variable enters is left out."""
    names = frozenset(tables.by_name)
    found = []
    for cells, body in _split(evidence, (), names):
        whole = _aggregated(body, tables, names)
        if mentions(whole, frozenset(tables.by_name)):
            found.append(Term(cells, whole))
    return found


def _split(
    part: Expression, cells: tuple[Index, ...], names: frozenset[str]
) -> list[tuple[tuple[Index, ...], Expression]]:
    """Sums of sums as one list."""
    if not mentions(part, names):
        return []
    match part:
        case Add(terms):
            return [found for term in terms for found in _split(term, cells, names)]
        case Sum(index, body):
            own = fresh(index, set(cells))
            return _split(substitute(body, {index: own}), (*cells, own), names)
        case Multiply(factors):
            moving = [factor for factor in factors if mentions(factor, names)]
            if len(moving) == 1 and isinstance(moving[0], (Add, Sum)):
                outside = multiply(*(factor for factor in factors if factor is not moving[0]))
                clear = not (all_indices(moving[0]) - free_indices(moving[0])) & free_indices(outside)
                inner = _split(moving[0], cells, names)
                if clear:
                    return [(where, multiply(outside, body)) for where, body in inner]
    return [(cells, part)]


def _aggregated(body: Expression, tables: Tables, names: frozenset[str]) -> Expression:
    """Sums of tables inside a function become tables of their own."""
    if isinstance(body, Sum) and mentions(body, names):
        inner = _aggregated(body.body, tables, names)
        terms = inner.terms if isinstance(inner, Add) else (inner,)
        return add(*(_summed(term, body.index, tables) for term in terms))
    return rebuild(body, lambda part: _aggregated(part, tables, names))


def _summed(term: Expression, index: Index, tables: Tables) -> Expression:
    """`sum over index of weight[index] T[.., index, ..]`."""
    by_name = tables.by_name
    factors = term.factors if isinstance(term, Multiply) else (term,)
    moving = [factor for factor in factors if mentions(factor, frozenset(by_name))]
    if not moving:
        return total(term, index)
    table = moving[0]
    if len(moving) > 1 or not isinstance(table, Reference):
        raise Collapse(f"a function of sum_{index.name} {term} changes in every cell of `{index.plate}`")
    source = by_name[table.name]
    weight = multiply(*(factor for factor in factors if factor is not table))
    places = [number for number, at in enumerate(table.indices) if index in free_indices(at)]
    if not places:
        return multiply(table, total(weight, index))
    if len(places) > 1 or table.indices[places[0]] != index:
        raise Collapse(f"`{table}` is not summed over one of its cells alone")
    (place,) = places
    if free_indices(weight) - {index}:
        raise Collapse(f"the weight {weight} of `{table}` differs from cell to cell")
    code = source.codes[place]
    own = substitute(weight, {index: code}) if weight != ONE else ONE
    left = [number for number in range(len(source.codes)) if number != place]
    found = tables.named(
        f"{source.name}.total",
        tuple(source.plates[number] for number in left),
        source.over,
        [source.codes[number] for number in left],
        multiply(own, source.value),
    )
    return Reference(found.name, tuple(table.indices[number] for number in left))


def places_of(hidden: str, parts: Sequence[Expression]) -> list[tuple[Expression, ...]]:
    """Where a hidden variable is looked up, each place once."""
    found: dict[tuple[Expression, ...], None] = {}
    for part in parts:
        for node in walk(part):
            if isinstance(node, Reference) and node.name == hidden:
                found[node.indices] = None
    return list(found)


def is_declined(found: object) -> bool:
    """Whether a schema said no."""
    return isinstance(found, Declined)


Columns = Mapping[str, tuple[Index, ...]]
