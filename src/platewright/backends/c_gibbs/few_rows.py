"""Few rows that stand for many: where data enter by forms that are linear in them, sums over rows need not be repeated.

    sum_i (y[i] - a - b x[i])^2   =   sum_r (y'[r] - a 1'[r] - b x'[r])^2,        r = 0 .. number of columns

The rows on the right have the squares and products of those on the left: their mean, by the root of their number, and
a root of their scatter. They are computed once, before the first sweep; after that a sweep does not depend on N.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from platewright.algebra.build import add, multiply, power, substitute
from platewright.algebra.expression import (
    ONE,
    Add,
    Constant,
    Expression,
    Index,
    Multiply,
    Power,
    Reference,
    Sum,
    free_indices,
    names,
    walk,
)
from platewright.backends.c_gibbs.expression import Extent, is_product
from platewright.backends.c_gibbs.function import along
from platewright.operation import Declined
from platewright.program.statements import Cell, Feature, Pool, Source, Statistic

WORD = "few rows"


@dataclass(frozen=True)
class FewRows:
    """The rows of a pool of data: one array for each of its features, over cells, rows and inner indices."""

    pool: Pool
    row: Index

    def __str__(self) -> str:
        columns = ", ".join(str(feature.expression) for feature in self.pool.features)
        over = ", ".join(
            index.name for index in self.pool.over if index not in {cell.index for cell in self.pool.cells}
        )
        return f"few rows with the same squares as {columns} over all {over}: {', '.join(self.arrays)}"

    @property
    def width(self) -> Extent:
        """Features that differ from row to row; there is one row more."""
        return tuple(tuple(index.plate for index in one.inner) for one in self.pool.features if one.expression != ONE)

    @property
    def arrays(self) -> dict[str, tuple[Index, ...]]:
        """The axes of every array by its name."""
        cells = tuple(cell.index for cell in self.pool.cells)
        return {
            _array(self.pool.name, number): (*cells, self.row, *feature.inner)
            for number, feature in enumerate(self.pool.features)
        }

    def extents(self, axes: tuple[Index, ...]) -> tuple[Extent, ...]:
        """How long the axes of an array are."""
        return tuple((*self.width, ()) if axis == self.row else along((axis,))[0] for axis in axes)


@dataclass(frozen=True)
class Condensed:
    """A statement over few rows instead of many."""

    statement: Statistic
    few: FewRows


def condensed(statement: Statistic, changing: frozenset[str], sizes: Mapping[str, int]) -> Condensed | Declined:
    """The same sum over few rows, or why it needs all of them."""
    if statement.kind != "sum":
        return Declined(WORD, f"{statement.name} is no sum")
    form = _Form(statement.name, statement.over, (statement.summand,), changing)
    inside = [factor for factor in is_product(statement.summand) if free_indices(factor) & form.pooled]
    outside = [factor for factor in is_product(statement.summand) if not free_indices(factor) & form.pooled]
    sides: tuple[Expression, ...]
    match inside:
        case [Power(base, Constant(2.0))]:
            sides = (base,)
        case [left, right]:
            sides = (left, right)
        case _:
            return Declined(WORD, f"{statement.name} is no sum of squares or products over rows of data")
    found = form.rewritten(sides, sizes)
    if isinstance(found, Declined):
        return found
    few, parts = found
    product = power(parts[0], 2.0) if len(parts) == 1 else multiply(*parts)
    over = (*(index for index in statement.over if index not in form.pooled), few.row)
    return Condensed(replace(statement, over=over, summand=multiply(*outside, product)), few)


def condensed_source(
    source: Source, pool: Pool, weight: Expression, changing: frozenset[str], sizes: Mapping[str, int]
) -> tuple[Source, FewRows] | Declined:
    """Rows of least squares one by one, few instead of those of a pool; `weight` is what all rows of a cell share."""
    cells = tuple(cell.index for cell in pool.cells)
    if pool.weight != ONE or any(cell.code != cell.index for cell in pool.cells):
        return Declined(WORD, f"{pool.name} has weights or cells of its own")
    expressions = tuple(feature.expression for feature in pool.features)
    form = _Form(pool.name, pool.over, expressions, changing, frozenset(cells))
    found = form.rewritten(expressions, sizes)
    if isinstance(found, Declined):
        return found
    few, parts = found
    others = tuple(index for index in pool.over if index not in form.pooled and index not in cells)
    features = tuple(replace(one, expression=part) for one, part in zip(pool.features, parts, strict=True))
    whole = replace(source, pool=None, cells=(*cells, *others, few.row), features=features, weight=weight)
    return whole, few


class _NotLinear(Exception):
    """Data enter otherwise than by a linear form."""


class _Form:
    """Expressions over rows as linear forms in data; `pooled` are the indices of rows that only data follow."""

    def __init__(
        self,
        name: str,
        over: tuple[Index, ...],
        expressions: tuple[Expression, ...],
        changing: frozenset[str],
        kept: frozenset[Index] = frozenset(),
    ) -> None:
        self.name = name
        self.over = over
        self.changing = changing
        places = [part for whole in expressions for part in walk(whole) if isinstance(part, Reference)]
        followed = {index for part in places if part.name in changing for index in free_indices(part)}
        self.pooled = frozenset(over) - followed - kept
        self.row = Index(f"{name}.rows", f"{name}.rows")
        self.cells: tuple[Index, ...] = ()
        self.features: dict[Feature, str] = {}

    def rewritten(
        self, forms: tuple[Expression, ...], sizes: Mapping[str, int]
    ) -> tuple[FewRows, list[Expression]] | Declined:
        """The forms over few rows, and these; declined where they are no fewer."""
        if not self.pooled:
            return Declined(WORD, f"unknowns follow all rows of {self.name}")
        try:
            for form in forms:
                self.linear(form)
            data = {index for feature in self.features for index in free_indices(feature.expression)}
            self.cells = tuple(index for index in self.over if index in data - self.pooled)
            self.features = {Feature(ONE): _array(self.name, 0)}
            parts = [self.linear(form) for form in forms]
        except _NotLinear as reason:
            return Declined(WORD, f"{self.name}: {reason}")
        over = tuple(index for index in self.over if index in self.pooled or index in self.cells)
        cells = tuple(Cell(index, index) for index in self.cells)
        few = FewRows(Pool(self.name, over, cells, tuple(self.features), ONE), self.row)
        if len(self.features) == 1 or not _fewer(few, self.pooled, sizes):
            return Declined(WORD, f"the rows of {self.name} are few")
        return few, parts

    def linear(self, expression: Expression) -> Expression:
        """The form over few rows: what all rows share goes with the column of ones."""
        if not free_indices(expression) & self.pooled:
            return multiply(expression, self.column(ONE))
        if not names(expression) & self.changing:
            return self.column(expression)
        match expression:
            case Add(terms):
                return add(*map(self.linear, terms))
            case Multiply(factors):
                along_rows = [factor for factor in factors if free_indices(factor) & self.pooled]
                shared = [factor for factor in factors if not free_indices(factor) & self.pooled]
                if all(not names(factor) & self.changing for factor in along_rows):
                    return multiply(*shared, self.column(multiply(*along_rows)))
                if len(along_rows) == 1:
                    return multiply(*shared, self.linear(along_rows[0]))
            case Sum(index, body):
                return Sum(index, self.linear(body))
        raise _NotLinear(f"data and unknowns meet otherwise than in products: {expression}")

    def column(self, expression: Expression) -> Expression:
        """A column of data in the few rows; columns that differ only in the names of inner indices are one."""
        inner = sorted(free_indices(expression) - set(self.over), key=lambda index: index.name)
        places = tuple(Index(f"{index.plate}.{number}", index.plate) for number, index in enumerate(inner))
        feature = Feature(substitute(expression, dict(zip(inner, places, strict=True))), places)
        name = self.features.setdefault(feature, _array(self.name, len(self.features)))
        return Reference(name, (*self.cells, self.row, *inner))


def _array(name: str, number: int) -> str:
    return f"{name}.few_{number}"


def _fewer(few: FewRows, pooled: frozenset[Index], sizes: Mapping[str, int]) -> bool:
    """Whether a cell is known to have more rows than columns; rows that only data number are many."""
    if not all(index.plate in sizes for index in pooled):
        return True
    if not all(plate in sizes for plates in few.width for plate in plates):
        return False
    width = sum(prod(sizes[plate] for plate in plates) for plates in few.width)
    return prod(sizes[index.plate] for index in pooled) > width + 1
