"""Pull an expression of a row and a level apart: what the row gives, and what parameters and level give.

    log p[k] - 0.5 tau[k] (y[n] - mu[k])^2       becomes       1       (log p[k] - 0.5 tau[k] (c - mu[k])^2)
                                                               f[n]    (-tau[k] (c - mu[k]))
                                                               f[n]^2  (-0.5 tau[k])           with f = y - c

    log theta[k, j, x[n, j]]                     becomes       [x[n, j] = v]  log theta[k, j, v]

So all log weights of a row are one product of a matrix (made by NumPy, once an iteration) with functions of the row,
and all soft statistics are sums of the same functions. The centre c keeps squares small; it is the mean of the column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from platewright.algebra.build import add, call, multiply, quadratic, total, where
from platewright.algebra.expression import (
    ONE,
    ZERO,
    Add,
    Call,
    Constant,
    Index,
    Indicator,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Sum,
    Where,
    all_indices,
    free_indices,
    fresh,
    names,
    walk,
)
from platewright.algebra.grouped import grouped
from platewright.algebra.node import Expression
from platewright.algebra.substitution import substitute
from platewright.backends.c.expression import Unprintable

MOST_TERMS = 200


@dataclass(frozen=True)
class Term:
    """`sum over bound of coefficient * product of atoms * [code = value] ...`; only atoms and codes know the row."""

    coefficient: Expression = ONE
    atoms: tuple[Expression, ...] = ()
    codes: tuple[tuple[Expression, Index], ...] = ()
    bound: tuple[Index, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether the row has no part in it."""
        return not (self.atoms or self.codes or self.bound)


Terms = tuple[Term, ...]


@dataclass(frozen=True)
class Atom:
    """A function of the row, its inner indices renamed by position; `at` are those of this use."""

    expression: Expression
    inner: tuple[Index, ...]
    at: tuple[Index, ...]


def canonical(expression: Expression, rows: frozenset[Index]) -> Atom:
    """The same function for `y[n, d]` and `y[n, d']`: inner indices are numbered in the order of their use."""
    free = free_indices(expression) - rows
    order = list(dict.fromkeys(part for part in walk(expression) if isinstance(part, Index) and part in free))
    inner = tuple(Index(f"inner {k}", index.plate) for k, index in enumerate(order))
    return Atom(substitute(expression, dict(zip(order, inner))), inner, tuple(order))


@dataclass(frozen=True)
class Splitter:
    """Splits the expressions of one hidden variable; `centres` names the centre of each function that has one."""

    rows: frozenset[Index]
    level: Index
    parameters: frozenset[str]
    axes: Mapping[str, tuple[Index, ...]]
    centres: Mapping[Expression, str] = field(default_factory=dict)
    finite: Mapping[str, str] = field(default_factory=dict)
    """The plate of the values of each column that has few: such a column may be a code."""

    # -- what kind of thing it is --------------------------------------------------------------------------------------

    def is_constant(self, expression: Expression) -> bool:
        """Whether it is the same for all rows."""
        return not free_indices(expression) & self.rows

    def is_row(self, expression: Expression) -> bool:
        """Whether it depends on data only, neither on parameters nor on the level."""
        return not names(expression) & self.parameters and self.level not in free_indices(expression)

    # -- splitting -----------------------------------------------------------------------------------------------------

    def split(self, whole: Expression) -> Terms:
        """The terms of an expression; `Unprintable` where row and level cannot be pulled apart."""
        if self.is_constant(whole):
            return (Term(whole),)
        match whole:
            case Indicator(code, Index() as value) if self.is_code(code, value):
                return (Term(codes=((code, value),)),)
            case Indicator(Index() as value, code) if self.is_code(code, value):
                return (Term(codes=((code, value),)),)
        if self.is_row(whole) and (self.is_centred(whole) or not self.opens(whole)):
            return self.atom(whole)
        match whole:
            case Add(terms):
                return collected([term for part in terms for term in self.split(part)])
            case Multiply():
                return self.product(whole)
            case Power(base, Constant(2.0)):
                half = self.split(base)
                return product(half, half)
            case Sum(index, body) if grouped(index, body) is not None:
                raise Unprintable(f"a sum over the rows of {next(iter(sorted(map(str, self.rows))))}")
            case Sum(index, body):
                return collected([summed(term, index) for term in self.split(body)])
            case Quadratic():
                return self.quadratic(whole)
            case Where(condition, then, otherwise) if self.is_constant(condition):
                chosen = [replace(t, coefficient=where(condition, t.coefficient, ZERO)) for t in self.split(then)]
                others = [replace(t, coefficient=where(condition, ZERO, t.coefficient)) for t in self.split(otherwise)]
                return collected([*chosen, *others])
            case Call("log", (Multiply(factors),)) if all(self.is_row(f) or self.is_constant(f) for f in factors):
                row = multiply(*(factor for factor in factors if not self.is_constant(factor)))
                rest = multiply(1.0, *(factor for factor in factors if self.is_constant(factor)))
                return collected([Term(call("log", rest)), *self.atom(call("log", row))])
        return self.looked_up(whole)

    def product(self, whole: Multiply) -> Terms:
        """The product of what the factors are split into; a table where look-ups meet columns that are codes too."""
        found: Terms = (Term(),)
        try:
            for factor in whole.factors:
                found = product(found, self.split(factor))
        except Unprintable:
            table = self.tabled(whole)
            if table is None:
                raise
            return table
        mixed = any(term.atoms and term.codes for term in found)
        table = self.tabled(whole) if mixed else None
        return found if table is None else table

    def tabled(self, whole: Multiply) -> Terms | None:
        """A product that knows the row by columns of few values alone: one table, its codes all of them together.

        x.observed[n, j] log theta[k, j, x[n, j]]   becomes   [x[n, j] = v] [x.observed[n, j] = o]  o log theta[k, j, v]
        """
        codes: list[tuple[Expression, Index]] = []
        others: list[Expression] = []
        for factor in whole.factors:
            match factor:
                case Indicator(code, Index() as value) if self.is_code(code, value):
                    codes.append((code, value))
                case _:
                    others.append(factor)
        rest = multiply(ONE, *others)
        held = {code for code, _ in codes}
        taken = set(all_indices(whole)) | self.rows | {self.level}
        changes: dict[Expression, Expression] = {}
        for part in walk(rest):
            if not isinstance(part, Reference) or self.is_constant(part) or part in changes:
                continue
            if part.name not in self.finite:
                if part.name in self.parameters:
                    continue  # the codes at which it is looked up come by themselves
                return None
            if part in held:
                return None
            value = fresh(Index("value", self.finite[part.name]), taken)
            taken.add(value)
            changes[part] = value
        table = substitute(rest, changes)
        if not changes or not self.is_constant(table):
            return None
        new = [(code, value) for code, value in changes.items() if isinstance(value, Index)]
        return (Term(table, (), (*codes, *new), tuple(value for _, value in new)),)

    def is_code(self, code: Expression, value: Index) -> bool:
        return value not in self.rows and value != self.level and self.is_row(code) and not self.is_constant(code)

    def is_centred(self, expression: Expression) -> bool:
        return canonical(expression, self.rows).expression in self.centres

    def opens(self, expression: Expression) -> bool:
        """A function of data is kept whole, but for constants around one column: `1 - x` is no new function."""
        if any(isinstance(part, Indicator) for part in walk(expression)):
            return isinstance(expression, Add | Multiply | Sum)
        if not isinstance(expression, Add | Multiply):
            return False
        parts = expression.terms if isinstance(expression, Add) else expression.factors
        return sum(not self.is_constant(part) for part in parts) == 1 and len(parts) > 1

    def atom(self, expression: Expression) -> Terms:
        """A function of the row: less its centre, and the centre, where it has one."""
        found = canonical(expression, self.rows)
        one = Term(atoms=(expression,))
        if found.expression not in self.centres:
            return (one,)
        return (one, Term(Reference(self.centres[found.expression], (self.level, *found.at))))

    def quadratic(self, whole: Quadratic) -> Terms:
        """`(f - m)' S (f - m) = f' S f - 2 f' S m + m' S m`."""
        residual, matrix, row, column = whole.residual, whole.matrix, whole.row, whole.column
        if not self.is_constant(matrix):
            raise Unprintable(f"the matrix of {whole} changes from row to row")
        terms = self.split(residual)
        constant = [term for term in terms if term.plain]
        rest = [term for term in terms if not term.plain]
        found = []
        if constant:
            middle = constant[0].coefficient
            found.append(Term(quadratic(middle, matrix, row, column)))
            pull = total(multiply(2.0, matrix, substitute(middle, {row: column})), column)
            found += [summed(t, row) for t in product((Term(pull),), tuple(rest))]
        for one in rest:
            for other in rest:
                moved = moved_term(other, {row: column})
                both = product((Term(matrix),), product((one,), (moved,)))
                found += [summed(summed(t, column), row) for t in both]
        return collected(found)

    def looked_up(self, whole: Expression) -> Terms:
        """A function of parameters at codes of the row becomes a table, and the codes say where to look."""
        changes: dict[Expression, Expression] = {}
        codes: list[tuple[Expression, Index]] = []
        taken = set(all_indices(whole)) | self.rows | {self.level}
        for part in walk(whole):
            if not isinstance(part, Reference) or part.name not in self.parameters:
                continue
            for place, axis in zip(part.indices, self.axes.get(part.name, ())):
                if self.is_constant(place) or place in changes or isinstance(place, Index) or not self.is_row(place):
                    continue
                value = fresh(Index("value", axis.plate), taken)
                taken.add(value)
                changes[place] = value
                codes.append((place, value))
        table = substitute(whole, changes)
        if not codes or not self.is_constant(table):
            raise Unprintable(f"{whole} ties the row to parameters")
        return (Term(table, (), tuple(codes), tuple(value for _, value in codes)),)


# -- arithmetic of terms -----------------------------------------------------------------------------------------------


def moved_term(term: Term, changes: Mapping[Expression, Expression]) -> Term:
    """A term with indices renamed; those it binds itself are renamed only on purpose."""
    given = dict(changes)
    return Term(
        substitute(term.coefficient, given),
        tuple(substitute(atom, given) for atom in term.atoms),
        tuple((substitute(code, given), given.get(value, value)) for code, value in term.codes),  # type: ignore[misc]
        tuple(given.get(index, index) for index in term.bound),  # type: ignore[misc]
    )


def _indices(term: Term) -> set[Index]:
    found = set(term.bound) | set(all_indices(term.coefficient)) | {value for _, value in term.codes}
    for part in (*term.atoms, *(code for code, _ in term.codes)):
        found |= all_indices(part)
    return found


def summed(term: Term, index: Index) -> Term:
    """The sum of a term over an index."""
    used = set().union(*(free_indices(part) for part in (*term.atoms, *(code for code, _ in term.codes))))
    used |= {value for _, value in term.codes}
    if index not in used:
        return replace(term, coefficient=total(term.coefficient, index))
    return replace(term, bound=(*term.bound, index))


def product(left: Terms, right: Terms) -> Terms:
    """The product of two sums of terms."""
    found = []
    for one in left:
        for two in right:
            other = stepped_aside(two, _indices(one))
            this = stepped_aside(one, _indices(other))
            found.append(
                Term(
                    multiply(this.coefficient, other.coefficient),
                    tuple(sorted((*this.atoms, *other.atoms), key=str)),
                    (*this.codes, *other.codes),
                    (*this.bound, *other.bound),
                )
            )
    return collected(found)


def stepped_aside(term: Term, taken: set[Index]) -> Term:
    """A term whose bound indices have names of their own."""
    used = taken | _indices(term)
    changes: dict[Expression, Expression] = {}
    for index in term.bound:
        if index in taken:
            new = changes[index] = fresh(index, used)
            used.add(new)
    return moved_term(term, changes) if changes else term


def collected(terms: list[Term]) -> Terms:
    """Terms with the same functions of the row as one; those without the row first."""
    found: dict[tuple[object, ...], Term] = {}
    for term in sorted(terms, key=lambda term: not term.plain):
        key = (term.atoms, term.codes, term.bound)
        held = found.get(key)
        found[key] = term if held is None else replace(term, coefficient=add(held.coefficient, term.coefficient))
    if len(found) > MOST_TERMS:
        raise Unprintable(f"more than {MOST_TERMS} products of functions of a row")
    return tuple(term for term in found.values() if term.coefficient != ZERO)
