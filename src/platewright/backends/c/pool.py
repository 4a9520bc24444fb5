"""Print a pool as C: weight, mean and centred scatter of row features in each cell.

one cell      columns of a block in cache, tiles of sums in registers (`c_gram.py`)
many cells    each row is added to its cell

Squares are taken about a centre near the mean (of the first block of a range, or the first row of a cell), so a mean of
1.7e12 costs no digits; the centre is given back, and ranges of rows merge by Chan's rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from platewright.algebra.expression import ONE, Constant, Index, Reference, names
from platewright.backends.c.expression import CPrinter, Unprintable
from platewright.backends.c.gram import ROOM
from platewright.program.statements import Feature, Pool

OUTPUTS = ("total", "centre", "offset", "scatter")


@dataclass(frozen=True)
class Pieces:
    """The C of one statement: before the rows, for a block of rows, and after them."""

    outputs: tuple[str, ...]
    before: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    work: str = ""
    """How many doubles of working space it needs, as C; `before` may then use the pointer `work`, which it moves on."""


def live_features(pool: Pool) -> tuple[int, ...]:
    """The features that differ from row to row; constants have no scatter and are put back by the caller."""
    return tuple(k for k, feature in enumerate(pool.features) if not isinstance(feature.expression, Constant))


class PoolPrinter:
    """Prints one pool with the printer of its pass; `number` keeps its variables apart from those of others."""

    def __init__(self, printer: CPrinter, pool: Pool, number: int) -> None:
        self.printer = printer
        self.pool = pool
        self.number = number
        self.live = [pool.features[k] for k in live_features(pool)]
        self.scalar = not any(feature.inner for feature in self.live)

    def name(self, word: str) -> str:
        return f"{word}_{self.number}"

    def pieces(self) -> Pieces:
        """The C of the pool, in the way that fits it."""
        if self.pool.cells:
            return self.many_cells()
        return self.one_cell()

    # -- one cell ----------------------------------------------------------------------------------------------------

    def one_cell(self) -> Pieces:
        total, centre, offset, scatter = self.outputs()
        width, step, rows, sums, middle = map(self.name, ("width", "step", "rows", "gram", "middle"))
        is_weighted = self.pool.weight != ONE
        heavy = self.name("heavy") if is_weighted else rows
        before = [f"const int64_t {width} = {self.width()};"]
        before.append(
            f"const int64_t {step} = {width} > {ROOM} ? 1 : LANES; /* lanes stay apart while there is room */"
        )
        before.append(f"{total}[0] = {'0.0' if is_weighted else '(double)(stop - start)'};")
        pointers = [f"double *const {rows} = work;"]
        if is_weighted:
            pointers.append(f"double *const {heavy} = {rows} + {width} * STRIDE;")
        pointers.append(f"double *const {sums} = {heavy} + {width} * STRIDE;")
        pointers.append(f"double *const {middle} = {sums} + {width} * ({width} + 1) * {step};")
        pointers.append(f"work = {middle} + {width};")
        work = f"{width} * ({2 if is_weighted else 1} * STRIDE + ({width} + 1) * {step} + 1)"
        after = [
            f"keep({sums}, {width}, {step}, {offset}, {scatter});",
            f"memcpy({centre}, {middle}, sizeof(double) * {width});",
            f"settle(1, {width}, {total}, {offset}, {scatter});",
        ]
        block = [
            "/* rounds 0 and 1: the first rows of the range set the centre of all its squares */",
            "for (int round = at == start ? 0 : 2; round < 3; round++) {",
            *(f"    {line}" for line in self.fill()),
            "    if (round < 2)",
            f"        recentre({middle}, {rows}, round == 0 ? 1 : count, {width});",
            "}",
            *(self.weigh(heavy) if is_weighted else []),
            f"gram({heavy}, {rows}, count, {width}, {sums}, {step}, {self.next_block()});",
        ]
        return Pieces((total, centre, offset, scatter), (*before, "", *pointers), tuple(block), tuple(after), work)

    def fill(self) -> list[str]:
        """Each feature of the rows of a block as a column, less its centre."""
        rows, middle = self.name("rows"), self.name("middle")
        lines: list[str] = []
        scalars: list[str] = []
        for feature, position in zip(self.live, self.positions()):
            place = f"{rows} + ({position}) * STRIDE" if position != "0" else rows
            if self.is_plain(feature) and feature.inner:
                lines.append(f"{self.moved(feature, place)}, {middle} + {position});")
            elif feature.inner:
                lines += self.looped_columns(feature, position)
            else:
                value = self.value(feature)
                column = f"{rows}[({position}) * STRIDE + i]" if position != "0" else f"{rows}[i]"
                scalars += [*self.printer.take(), f"{column} = {value} - {middle}[{position}];"]
        return lines + (over_rows(scalars) if scalars else [])

    def moved(self, feature: Feature, place: str) -> str:
        """The call that brings the columns of a matrix into the block, but for their centre."""
        assert isinstance(feature.expression, Reference)
        source, wide = self.source(feature), self.inner_width(feature)
        if feature.expression.name not in self.printer.upright:
            return f"turned({place}, {source} + at * {wide}, count, {wide}"
        return f"shifted({place}, {source} + at, {self.printer.pitch(feature.expression.name)}, count, {wide}"

    def looped_columns(self, feature: Feature, position: str) -> list[str]:
        """A column for each inner position of a feature."""
        rows, middle = self.name("rows"), self.name("middle")
        flat = "0"
        with ExitStack() as loops:
            for index in feature.inner:
                flat = self.further(flat, index, loops.enter_context(self.printer.loop(index)))
            value = self.value(feature)
            store = f"{rows}[({position} + {flat}) * STRIDE + i] = {value} - {middle}[{position} + {flat}];"
            body = [*self.printer.take(), store]
            self.printer.lines += over_rows(body)
        return self.printer.take()

    def next_block(self) -> str:
        """Where the widest matrix goes on after this block, and how far: it is fetched while products are summed."""
        matrices = [feature for feature in self.live if feature.inner and self.is_plain(feature)]
        if not matrices:
            return "NULL, 0, 0"
        source, wide = self.source(matrices[0]), self.inner_width(matrices[0])
        place, pitch = f"(at + count) * {wide}", "BLOCK"
        if names(matrices[0].expression) <= self.printer.upright:
            place, pitch = "at + count", self.printer.pitch(min(names(matrices[0].expression)))
        return f"{source} + {place}, {pitch}, stop - at < 2 * BLOCK ? 0 : BLOCK * {wide}"

    def source(self, feature: Feature) -> str:
        assert isinstance(feature.expression, Reference)
        return self.printer.column(feature.expression.name)

    def value(self, feature: Feature) -> str:
        """A feature of a row, rounded before the centre is taken off: a fused product would leave its rounding."""
        code = self.printer.code(feature.expression)
        return code.text if isinstance(feature.expression, Reference) else f"WHOLE({code.text})"

    def further(self, flat: str, index: Index, variable: str) -> str:
        """The position in C order after one more index."""
        return variable if flat == "0" else f"({flat}) * {self.printer.size(index.plate)} + {variable}"

    def looped(self, feature: Feature, store: Callable[[str, str], str], position: str) -> list[str]:
        """A store for each inner position of a feature."""
        flat = "0"
        with ExitStack() as loops:
            for index in feature.inner:
                flat = self.further(flat, index, loops.enter_context(self.printer.loop(index)))
            self.printer.lines.append(store(f"{position} + {flat}", self.value(feature)))
        return self.printer.take()

    def weigh(self, heavy: str) -> list[str]:
        """Columns times the weights of their rows, and the sum of the weights."""
        rows, width, weight = map(self.name, ("rows", "width", "weight"))
        value = self.printer.code(self.pool.weight)
        total = self.outputs()[0]
        body = [*self.printer.take(), f"{weight}[i] = {value.text};", f"bad |= {weight}[i] < 0.0;"]
        body.append(f"{total}[0] += {weight}[i];")
        return [
            f"double {weight}[BLOCK];",
            *over_rows(body),
            f"weighted({heavy}, {rows}, {weight}, count, {width});",
        ]

    # -- many cells --------------------------------------------------------------------------------------------------

    def many_cells(self) -> Pieces:
        total, centre, offset, scatter = self.outputs()
        width, cells, x = map(self.name, ("width", "cells", "x"))
        shape = [self.printer.size(cell.index.plate) for cell in self.pool.cells]
        before = [f"const int64_t {width} = {self.width()};", f"const int64_t {cells} = {' * '.join(shape)};"]
        before += [f"memset({total}, 0, sizeof(double) * {cells});"]
        before += [f"memset({array}, 0, sizeof(double) * {cells} * {width});" for array in (centre, offset)]
        before += [f"memset({scatter}, 0, sizeof(double) * {cells} * {width} * {width});"]
        body = []
        flat = ""
        for cell, size in zip(self.pool.cells, shape):
            code = self.printer.code(cell.code)
            if not code.integer:
                raise Unprintable(f"the cell {cell.code} is not an integer")
            inside = f"within({code.text}, {size}, &bad)"
            flat = f"({flat}) * {size} + {inside}" if flat else inside
        weight = self.printer.code(self.pool.weight)
        body += [*self.printer.take(), f"const int64_t cell = {flat};", f"const double weight = {weight.text};"]
        if not isinstance(self.pool.weight, Constant):
            body.append("bad |= weight < 0.0;")
        body += self.values(x)
        known = str(len(self.live)) if self.scalar else width
        places = f"{total} + cell, {centre} + cell * {known}, {offset} + cell * {known}"
        body.append(f"add_row({x}, weight, {known}, {places}, {scatter} + cell * {known} * {known});")
        after = [f"settle({cells}, {width}, {total}, {offset}, {scatter});"]
        work = ""
        if not self.scalar:
            before += ["", f"double *const {x} = work;", f"work += {width};"]
            work = width
        outputs = (total, centre, offset, scatter)
        return Pieces(outputs, tuple(before), tuple(over_rows(body)), tuple(after), work)

    def values(self, x: str) -> list[str]:
        """The features of a row side by side."""
        if self.scalar:
            shown = [self.value(feature) for feature in self.live]
            listed = ", ".join(shown) or "0.0"
            return [*self.printer.take(), f"const double {x}[] = {{{listed}}};"]
        lines = []
        for feature, position in zip(self.live, self.positions()):
            lines += self.looped(feature, lambda slot, value: f"{x}[{slot}] = {value};", position)
        return lines

    # -- sizes -------------------------------------------------------------------------------------------------------

    def outputs(self) -> tuple[str, ...]:
        return tuple(f"{word}_{self.number}" for word in OUTPUTS)

    def width(self) -> str:
        """The number of live features, as C."""
        scalars = sum(not feature.inner for feature in self.live)
        parts = [self.inner_width(feature) for feature in self.live if feature.inner]
        return " + ".join([*parts, str(scalars)] if scalars or not parts else parts)

    def positions(self) -> list[str]:
        """Where each live feature begins, as C."""
        found, scalars, parts = [], 0, list[str]()
        for feature in self.live:
            found.append(" + ".join([*parts, str(scalars)] if scalars or not parts else parts))
            if feature.inner:
                parts.append(self.inner_width(feature))
            else:
                scalars += 1
        return found

    def inner_width(self, feature: Feature) -> str:
        return " * ".join(self.printer.size(index.plate) for index in feature.inner)

    def is_plain(self, feature: Feature) -> bool:
        """A column of doubles as it lies in memory: row after row, inner positions side by side."""
        wanted: tuple[Index, ...] = (*self.pool.over, *feature.inner)
        match feature.expression:
            case Reference(name, indices) if indices == wanted:
                return name in self.printer.columns and name not in self.printer.integers
        return False


def over_rows(body: list[str], first: str = "0", last: str = "count") -> list[str]:
    """A loop over the rows of a block, from `first` to `last`."""
    number = ["    const int64_t row = at + i;"] if any(re.search(r"\brow\b", line) for line in body) else []
    head = f"for (int64_t i = {first}; i < {last}; i++) {{"
    return [head, *number, *(f"    {line}" for line in body), "}"]
