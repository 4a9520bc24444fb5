"""Print the statistics and assignments of a Gibbs block as C: statements over the same rows share one loop.

A pool of data alone comes as few rows with the same squares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack

from platewright.algebra.expression import (
    ONE,
    Add,
    Call,
    Expression,
    Index,
    Sum,
    free_indices,
    walk,
)
from platewright.backends.c.pool import live_features
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.expression import Extent, is_product
from platewright.backends.c_gibbs.function import Function, Slot, along
from platewright.program.program import expressions_of, statement_text
from platewright.program.scatter import scatter
from platewright.program.statements import Assign, Pool, Statistic

PARTS = ("total", "mean", "scatter")
"""The arrays of a pool."""


def pool_width(pool: Pool) -> Extent:
    """The number of features that differ from row to row."""
    return tuple(tuple(index.plate for index in pool.features[k].inner) for k in live_features(pool))


def pool_slots(pool: Pool, block: int, fixed: bool) -> dict[str, Slot]:
    """The arrays of a pool by name."""
    cells, width = along(tuple(cell.index for cell in pool.cells)), pool_width(pool)
    shapes = {"total": cells, "mean": (*cells, width), "scatter": (*cells, width, width), "offset": (*cells, width)}
    if fixed:
        shapes = {"total": cells, "rows": (*cells, (*width, ()), width)}
    found = {}
    for part, extents in shapes.items():
        name = f"{pool.name}.{part}"
        found[name] = Slot(f"{block}:{name}", name, "fixed" if fixed else "computed", extents, False, block)
    return found


def most_used_first(over: tuple[Index, ...], group: Sequence[Statistic | Pool]) -> list[Index]:
    """Loops in the order that leaves the least to the innermost: what does not change in it is computed before it.

    Only sums and functions count: what is looked up is best read in the order in which it lies.
    """
    every = [part for statement in group for part in expressions_of(statement)]
    costly = [free_indices(part) for part in every if any(isinstance(inner, (Sum, Call)) for inner in walk(part))]
    return sorted(over, key=lambda index: -sum(index in part for part in costly))


class StatisticsWriter:
    """Prints statements into a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.printer = function.printer

    def passes(self, statements: Sequence[Statistic | Pool]) -> None:
        """All statements; those over the same rows in one loop."""
        rows: dict[tuple[Index, ...], list[Statistic | Pool]] = {}
        for statement in statements:
            rows.setdefault(statement.over, []).append(statement)
        for over, group in rows.items():
            self.one_loop(over, group)

    def one_loop(self, over: tuple[Index, ...], group: list[Statistic | Pool]) -> None:
        self.printer.forget()
        for statement in group:
            self.printer.line(f"/* {c_comment(statement_text(statement))} */")
            self.before(statement)
        with ExitStack() as loops:
            for index in most_used_first(over, group):
                loops.enter_context(self.printer.loop(index))
            for statement in group:
                with self.printer.nested(""):
                    self.pool_row(statement) if isinstance(statement, Pool) else self.term(statement)
        for statement in group:
            self.after(statement)

    # -- statistics ----------------------------------------------------------------------------------------------------

    def before(self, statement: Statistic | Pool) -> None:
        if isinstance(statement, Pool):
            return self.pool_before(statement)
        first = {"sum": "0.0", "max": "-INFINITY", "min": "INFINITY"}[statement.kind]
        array = self.function.computed(statement.name, along(statement.indices))
        if not statement.indices:
            return self.printer.line(f"double sum_of_{array} = {first};")
        length = self.function.length_text((tuple(index.plate for index in statement.indices),))
        self.printer.line(f"for (int64_t i = 0; i < {length}; i++)")
        return self.printer.line(f"    {array}[i] = {first};")

    def after(self, statement: Statistic | Pool) -> None:
        if isinstance(statement, Pool):
            return self.pool_after(statement)
        if not statement.indices:
            array = self.printer.column(statement.name)
            self.printer.line(f"{array}[0] = sum_of_{array};")

    def term(self, statement: Statistic) -> None:
        """Add one row where it belongs: indicators `[code = index]` choose the entry, other indices are looped over."""
        found = scatter(statement, self.is_code)
        walked = frozenset(found.walked)
        with ExitStack() as inside:

            def pick(positions: Iterable[tuple[Index, Expression]]) -> None:
                for index, code in positions:
                    variable = self.printer.temporary("code")
                    size = self.printer.size(index.plate)
                    self.printer.line(f"const int64_t {variable} = {self.printer.position(code, size)};")
                    inside.enter_context(self.printer.at(index, variable))

            pick(pair for pair in found.codes if not free_indices(pair[1]) & walked)
            for index in found.walked:
                inside.enter_context(self.printer.loop(index))
            pick(pair for pair in found.codes if free_indices(pair[1]) & walked)
            for index in found.others:
                inside.enter_context(self.printer.loop(index))
            for factor in is_product(found.summand):
                if isinstance(factor, Add) and self.printer.depth(factor) < len(self.printer.stack) - 1:
                    self.printer.kept(factor)  # a form that the innermost index does not change
            value = self.printer.code(found.summand)
            array = self.printer.column(statement.name)
            target = f"sum_of_{array}"
            if statement.indices:
                sizes = [self.printer.size(index.plate) for index in statement.indices]
                target = f"{array}[{self.printer.offset(statement.indices, sizes)}]"
            if statement.kind == "sum":
                self.printer.line(f"{target} += {value.whole};")
            else:
                word = "larger" if statement.kind == "max" else "smaller"
                self.printer.line(f"{target} = {word}({target}, {value.text});")

    def is_code(self, code: Expression) -> bool:
        """Whether a value is a position in a table, as an integer or as a double that is always whole."""
        if all(index in self.printer.variables for index in free_indices(code)):
            return self.printer.code(code).integer
        return self.printer.is_whole(code)

    # -- pools ---------------------------------------------------------------------------------------------------------

    def pool_before(self, pool: Pool) -> None:
        self.function.local.update(pool_slots(pool, self.function.block, False))
        cells = self.function.length_text((tuple(cell.index.plate for cell in pool.cells),))
        width = self.function.length_text(pool_width(pool)) if pool_width(pool) else "0"
        total, mean, scatter, offset = self.pool_arrays(pool)
        self.printer.line(f"memset({total}, 0, sizeof(double) * {cells});")
        for array, wide in ((mean, f"({width})"), (offset, f"({width})"), (scatter, f"({width}) * ({width})")):
            self.printer.line(f"memset({array}, 0, sizeof(double) * {cells} * {wide});")

    def pool_arrays(self, pool: Pool) -> list[str]:
        return [self.printer.column(f"{pool.name}.{part}") for part in (*PARTS, "offset")]

    def pool_row(self, pool: Pool) -> None:
        """Add a row to its cell, its squares about the first row of the cell."""
        live = [pool.features[k] for k in live_features(pool)]
        plain = not any(feature.inner for feature in live)
        width = str(len(live)) if plain else self.function.length_text(pool_width(pool))
        self.pool_cell(pool, width)
        self.printer.line(f"double *const row = {self.printer.room('row', (*pool_width(pool), ()))};")
        place = "0"
        for feature in live:
            with ExitStack() as loops:
                at = ""
                for index in feature.inner:
                    variable = loops.enter_context(self.printer.loop(index))
                    at = f"({at}) * {self.printer.size(index.plate)} + {variable}" if at else variable
                value = self.printer.code(feature.expression).text
                self.printer.line(f"row[{f'{place} + {at}' if at else place}] = {value};")
            place += f" + {self.function.length_text((tuple(index.plate for index in feature.inner),))}"
        self.printer.line(f"add_row(row, weight, width, {self.pool_places(pool)});")

    def pool_cell(self, pool: Pool, width: str) -> None:
        """Where a row belongs, and its weight."""
        flat = ""
        for cell in pool.cells:
            size = self.printer.size(cell.index.plate)
            inside = self.printer.position(cell.code, size)
            flat = f"({flat}) * {size} + {inside}" if flat else inside
        self.printer.line(f"const int64_t cell = {flat or '0'}, width = {width};")
        self.printer.line(f"const double weight = {self.printer.code(pool.weight).text};")
        if pool.weight != ONE:
            self.printer.line("bad |= weight < 0.0;")

    def pool_places(self, pool: Pool) -> str:
        """The arrays of the cell."""
        total, mean, scatter, offset = self.pool_arrays(pool)
        return f"{total} + cell, {mean} + cell * width, {offset} + cell * width, {scatter} + cell * width * width"

    def pool_after(self, pool: Pool) -> None:
        """From the centre and sums about it to the mean and the scatter about it."""
        total, mean, scatter, offset = self.pool_arrays(pool)
        cells = self.function.length_text((tuple(cell.index.plate for cell in pool.cells),))
        width = self.function.length_text(pool_width(pool)) if pool_width(pool) else "0"
        self.printer.line(f"settle({cells}, {width}, {total}, {offset}, {scatter});")
        self.printer.line(f"for (int64_t i = 0; i < {cells} * ({width}); i++)")
        self.printer.line(f"    {mean}[i] += {offset}[i];")

    # -- assignments ---------------------------------------------------------------------------------------------------

    def assign(self, statement: Assign) -> None:
        """`name[indices] = expression`."""
        self.printer.forget()
        self.printer.line(f"/* {c_comment(statement_text(statement))} */")
        array = self.function.computed(statement.name, along(statement.indices))
        with ExitStack() as loops:
            for index in statement.indices:
                loops.enter_context(self.printer.loop(index))
            value = self.printer.code(statement.expression).text
            sizes = [self.printer.size(index.plate) for index in statement.indices]
            at = self.printer.offset(statement.indices, sizes) if statement.indices else "0"
            self.printer.line(f"{array}[{at}] = {value};")
