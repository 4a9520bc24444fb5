"""Print a pool as C: weight, mean and centred scatter of row features in each cell.

one cell, few features     columns in cache, one vectorised loop for each pair
one cell, many features    rows in cache, tiles of sums in registers (`gram`)
many cells                 each row is added to its cell

Squares are taken about a centre near the mean (of the first rows of a range, or the first row of a cell), so a mean of
1.7e12 costs no digits; the centre is given back, and ranges of rows merge by Chan's rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from platewright.algebra.expression import ONE, Constant, Index, Reference
from platewright.backends.c_expression import CPrinter, Unprintable
from platewright.program.statements import Feature, Pool

FEW = 4
"""Up to so many scalar features are kept as columns."""

ROWS_IN_TILE = 64
"""Rows whose squares are summed at once: few enough for the first cache, enough to pay for loading the sums."""

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
        return self.one_cell(columns=self.scalar and len(self.live) <= FEW)

    # -- one cell ----------------------------------------------------------------------------------------------------

    def one_cell(self, columns: bool) -> Pieces:
        total, centre, offset, scatter = self.outputs()
        width, pitch, tile, rows, gram = map(self.name, ("width", "pitch", "tile", "rows", "gram"))
        middle = self.name("middle")
        heavy = rows if self.pool.weight == ONE else self.name("heavy")
        copies = 1 if heavy == rows else 2
        before = [f"const int64_t {width} = {self.width()};"]
        if columns:
            before.append(f"const int64_t {pitch} = {width} + 1, {tile} = BLOCK;")
        else:
            before.append(f"const int64_t {pitch} = ({width} + LANES) / LANES * LANES; /* a column of ones is last */")
            before.append(f"const int64_t {tile} = {ROWS_IN_TILE}; /* rows that stay in the first cache */")
        pointers = [f"double *const {rows} = work;"]
        if copies == 2:
            pointers.append(f"double *const {heavy} = {rows} + {tile} * {pitch} + LANES;")
        pointers.append(f"double *const {gram} = {heavy} + {tile} * {pitch} + LANES;")
        pointers.append(f"double *const {middle} = {gram} + {pitch} * {pitch};")
        pointers.append(f"work = {middle} + {pitch} + LANES;")
        work = f"{copies} * ({tile} * {pitch} + LANES) + {pitch} * {pitch} + {pitch} + LANES"
        after = [
            f"keep({gram}, {pitch}, {width}, {total}, {offset}, {scatter});",
            f"memcpy({centre}, {middle}, sizeof(double) * {width});",
            f"settle(1, {width}, {total}, {offset}, {scatter});",
        ]
        block = self.tiles(columns, heavy)
        return Pieces((total, centre, offset, scatter), (*before, "", *pointers), tuple(block), tuple(after), work)

    def tiles(self, columns: bool, heavy: str) -> list[str]:
        """Tile after tile of a block: fill the rows, then add their squares."""
        width, pitch, tile, rows, gram, middle = map(self.name, ("width", "pitch", "tile", "rows", "gram", "middle"))
        filled = self.fill(columns)
        strides = "1, BLOCK" if columns else f"{pitch}, 1"
        lines = [
            f"for (int64_t from = 0; from < count; from += {tile}) {{",
            f"    const int64_t to = count - from < {tile} ? count : from + {tile};",
            "    /* rounds 0 and 1: the first rows of the range set the centre of all its squares */",
            "    for (int round = at + from == start ? 0 : 2; round < 3; round++) {",
            *(f"        {line}" for line in filled),
            "        if (round < 2)",
            f"            recentre({middle}, {rows}, round == 0 ? 1 : to - from, {width}, {strides});",
            "    }",
        ]
        if heavy != rows:
            lines += [f"    {line}" for line in self.weigh(columns, heavy)]
        function = "gram_of_columns" if columns else "gram"
        return [*lines, f"    {function}({heavy}, {rows}, to - from, {pitch}, {gram});", "}"]

    def fill(self, columns: bool) -> list[str]:
        """Each feature of each row, less its centre."""
        rows, pitch, width = map(self.name, ("rows", "pitch", "width"))
        body = [] if columns else [f"double *const target = {rows} + (i - from) * {pitch};"]
        for feature, position in zip(self.live, self.positions()):
            place = f"{rows}[{position} * BLOCK + i - from]" if columns else f"target[{position}]"
            body += self.feature(feature, position, place)
        body.append(f"{rows}[{width} * BLOCK + i - from] = 1.0;" if columns else f"target[{width}] = 1.0;")
        return over_rows(body, "from", "to")

    def feature(self, feature: Feature, position: str, place: str) -> list[str]:
        """Lines that store one feature of a row."""
        middle = self.name("middle")
        if not feature.inner:
            value = self.value(feature)
            return [*self.printer.take(), f"{place} = {value} - {middle}[{position}];"]
        if self.is_plain(feature):
            assert isinstance(feature.expression, Reference)
            column, wide = self.printer.column(feature.expression.name), self.inner_width(feature)
            ahead = f"({self.rows_in_all()} - row) * {wide}"
            source = f"{column} + row * {wide}"
            return [f"shifted(target + {position}, {source}, {middle} + {position}, {wide}, {ahead});"]
        return self.looped(feature, lambda slot, value: f"target[{slot}] = {value} - {middle}[{slot}];", position)

    def value(self, feature: Feature) -> str:
        """A feature of a row, rounded before the centre is taken off: a fused product would leave its rounding."""
        code = self.printer.code(feature.expression)
        return code.text if isinstance(feature.expression, Reference) else f"WHOLE({code.text})"

    def looped(self, feature: Feature, store: Callable[[str, str], str], position: str) -> list[str]:
        """A store for each inner position of a feature."""
        flat = "0"
        with ExitStack() as loops:
            for index in feature.inner:
                variable = loops.enter_context(self.printer.loop(index))
                size = self.printer.size(index.plate)
                flat = variable if flat == "0" else f"({flat}) * {size} + {variable}"
            self.printer.lines.append(store(f"{position} + {flat}", self.value(feature)))
        return self.printer.take()

    def weigh(self, columns: bool, heavy: str) -> list[str]:
        """Rows times their weight."""
        rows, pitch = self.name("rows"), self.name("pitch")
        value = self.printer.code(self.pool.weight)
        body = [*self.printer.take(), f"const double weight = {value.text};", "bad |= weight < 0.0;"]
        body.append(f"for (int64_t j = 0; j < {pitch}; j++)")
        at = "j * BLOCK + i - from" if columns else f"(i - from) * {pitch} + j"
        body.append(f"    {heavy}[{at}] = weight * {rows}[{at}];")
        return over_rows(body, "from", "to")

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

    def rows_in_all(self) -> str:
        return " * ".join(self.printer.size(index.plate) for index in self.pool.over)

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
