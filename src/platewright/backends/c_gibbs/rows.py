"""Print Gaussian blocks as C: rows of least squares, rotated to triangular form, then a draw by back substitution.

R u = right - cross v + noise / sqrt(scale)          given the unknowns v that were drawn before
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from platewright.algebra.build import power
from platewright.algebra.expression import ONE, Constant, Expression
from platewright.backends.c.expression import Unprintable
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.expression import Extent
from platewright.backends.c_gibbs.function import Function, along
from platewright.program.program import statement_text
from platewright.program.statements import Column, Entry, Feature, Source, Triangularise

Names = frozenset[str]


def columns_extent(columns: tuple[Column, ...]) -> Extent:
    """How many columns belong to these unknowns."""
    return tuple(tuple(index.plate for index in column.dense) for column in columns)


def width_extent(features: tuple[Feature, ...]) -> Extent:
    """How many numbers a row of these features has."""
    return tuple(tuple(index.plate for index in feature.inner) for feature in features)


class RowsWriter:
    """Prints one triangularisation."""

    def __init__(
        self, function: Function, step: Triangularise, outside: Mapping[str, Expression], whole: bool = False
    ) -> None:
        """`whole`: the rows that are left stay side by side."""
        self.function = function
        self.whole = whole
        self.printer = function.printer
        self.step = step
        self.outside = outside
        self.own: Extent = columns_extent(step.columns[: step.eliminated])
        self.outer: Extent = columns_extent(step.outer)
        self.outputs: Extent = ((step.output.plate,),) if step.output is not None else ((),)
        self.rest: Extent = (*self.outer, *self.outputs)

    def long(self, extent: Extent) -> str:
        return self.function.length_text(extent) if extent else "0"

    # -- rows ----------------------------------------------------------------------------------------------------------

    def triangularise(self, pools: Mapping[str, tuple[Feature, ...]], wanted: Names) -> None:
        """The rows of each batch element under each other, rotated, and what the rotation leaves."""
        self.printer.forget()
        self.check_printable()
        printer, step = self.printer, self.step
        printer.line(f"/* {c_comment(statement_text(step))} */")
        with printer.nested(""):
            printer.line(f"const int64_t eliminated = {self.long(self.own)}, outputs = {self.long(self.outputs)};")
            printer.line(f"const int64_t width = eliminated + {self.long(self.outer)} + outputs;")
            counted = " + ".join(self.row_count(source, pools) for source in step.sources)
            printer.line(f"const int64_t least = {counted}, rows = least < width ? width : least;")
            printer.line("double *const design = space(chain, rows * width);")
            printer.line("if (!design)")
            printer.line("    return 2;")
            with ExitStack() as batch:
                for index in step.batch:
                    batch.enter_context(printer.loop(index))
                printer.line("memset(design, 0, sizeof(double) * rows * width);")
                printer.line("double *line = design;")
                for source in step.sources:
                    self.source(source, pools)
                printer.line("const int64_t lost = triangularised(design, rows, width, eliminated);")
                printer.line("if (lost) {")
                printer.line("    chain->missing = lost;")
                printer.line("    return 3;")
                printer.line("}")
                self.results(wanted)

    def check_printable(self) -> None:
        """What has no C, and why."""
        step = self.step
        for source in step.sources:
            if source.cells[: len(step.batch)] != step.batch:
                raise Unprintable(f"rows of {source.owner} do not follow the batch of {step.name}")
        if step.outer and step.output is not None:
            raise Unprintable(f"{step.name} has several outputs and unknowns outside")

    def row_count(self, source: Source, pools: Mapping[str, tuple[Feature, ...]]) -> str:
        others = tuple(index.plate for index in source.cells[len(self.step.batch) :])
        cells = self.function.length_text((others,))
        if source.pool is None:
            return cells
        width = self.long(width_extent(live_features(pools[source.pool])))
        return f"({cells}) * ({width} + 1)"

    def source(self, source: Source, pools: Mapping[str, tuple[Feature, ...]]) -> None:
        printer = self.printer
        printer.line(f"/* rows of {c_comment(source.owner)} */")
        with ExitStack() as loops:
            for index in source.cells[len(self.step.batch) :]:
                loops.enter_context(printer.loop(index))
            with printer.nested(""):
                if source.pool is None:
                    self.direct(source)
                else:
                    self.pooled(source, pools[source.pool])

    def direct(self, source: Source) -> None:
        """One row a cell, times the root of its weight."""
        printer = self.printer
        heavy = printer.code(power(source.weight, 0.5)).wrapped(2)
        for entry in source.entries:
            feature = source.features[entry.feature]
            with ExitStack() as loops:
                for index in feature.inner:
                    loops.enter_context(printer.loop(index))
                value = printer.code(feature.expression).wrapped(2)
                if value != "0":
                    printer.line(f"line[{self.place(entry)}] += {_product(heavy, value)};")
        for number, feature in enumerate(self.right_sides(source)):
            with ExitStack() as loops:
                at = [loops.enter_context(printer.loop(index)) for index in feature.inner]
                value = printer.code(feature.expression).wrapped(2)
                if value != "0":  # as all places are before
                    place = f"width - outputs + {at[0] if at else number}"
                    printer.line(f"line[{place}] = {_product(heavy, value)};")
        printer.line("line += width;")

    def right_sides(self, source: Source) -> tuple[Feature, ...]:
        """The features that are right-hand sides: the last, as many as there are outputs."""
        last = source.features[-1]
        if self.step.output is None:
            if last.inner:
                raise Unprintable(f"{source.owner} has a right-hand side with inner indices")
            return (last,)
        if len(last.inner) != 1 or last.inner[0].plate != self.step.output.plate:
            raise Unprintable(f"{source.owner} has right-hand sides that are no vector over its outputs")
        return (last,)

    def place(self, entry: Entry) -> str:
        """The column of a feature at the present indices."""
        start = self.long(columns_extent(self.step.columns[: entry.column]))
        flat = ""
        for at, axis in zip(entry.positions, self.step.columns[entry.column].dense, strict=True):
            size = self.printer.size(axis.plate)
            inside = self.printer.position(at, size)
            flat = f"({flat}) * {size} + {inside}" if flat else inside
        if not flat:
            return start
        return flat if start == "0" else f"{start} + {flat}"

    def pooled(self, source: Source, features: tuple[Feature, ...]) -> None:
        """A row for the mean of the cell and some for its scatter; features that are constant have a mean only."""
        printer, name = self.printer, source.pool
        sizes = [printer.size(index.plate) for index in source.cells]
        cell = printer.offset(source.cells, sizes) if source.cells else "0"
        live = live_features(features)
        wide = self.long(width_extent(live))
        heavy = printer.code(power(self.outside.get(str(name), ONE), 0.5)).text
        printer.line(f"const int64_t cell = {cell}, wide = {wide};")
        printer.line(f"const double heavy = {heavy}, weight = {printer.column(f'{name}.total')}[cell];")
        if f"{name}.rows" in self.function.local:  # of data alone: rows were made before the first sweep
            printer.line(f"const double *const pool = {printer.column(f'{name}.rows')} + cell * (wide + 1) * wide;")
        else:
            mean, scatter = (printer.column(f"{name}.{part}") for part in ("mean", "scatter"))
            extent = width_extent(live)
            squares, pool = printer.room("squares", extent, extent), printer.room("pool", (*extent, ()), extent)
            printer.line(f"double *const pool = {pool};")
            printer.line(f"memcpy({squares}, {scatter} + cell * wide * wide, sizeof(double) * wide * wide);")
            printer.line(f"rows_of_pool(weight, {mean} + cell * wide, {squares}, wide, pool);")
        for entry in source.entries:
            self.pooled_feature(entry.feature, features, self.place, entry)
        for feature in self.right_sides(source):
            number = len(features) - 1
            self.pooled_feature(number, features, lambda _, f=feature: self.right_place(f), None)
        printer.line("line += (wide + 1) * width;")

    def right_place(self, feature: Feature) -> str:
        inner = self.printer.variables[feature.inner[0]] if feature.inner else "0"
        return f"width - outputs + {inner}"

    def pooled_feature(self, number: int, features: tuple[Feature, ...], place: object, entry: Entry | None) -> None:
        """One feature of the pool's rows moved to its columns."""
        printer, feature = self.printer, features[number]
        with ExitStack() as loops:
            flat = ""
            for index in feature.inner:
                variable = loops.enter_context(printer.loop(index))
                flat = f"({flat}) * {printer.size(index.plate)} + {variable}" if flat else variable
            target = place(entry)  # type: ignore[operator]
            if isinstance(feature.expression, Constant):
                value = printer.code(feature.expression).wrapped(2)
                if value != "0":
                    printer.line(f"line[{target}] += heavy * sqrt(weight) * {value};")
                return
            before = live_features(features[:number])
            start = self.long(width_extent(before))
            slot = f"{start} + {flat}" if flat else start
            printer.line(f"add_column(line + {target}, width, pool + {slot}, wide, heavy);")

    # -- what is left --------------------------------------------------------------------------------------------------

    def results(self, wanted: Names) -> None:
        """Copy root, right-hand side and the rest to their arrays."""
        printer, step = self.printer, self.step
        sizes = [printer.size(index.plate) for index in step.batch]
        batch = along(step.batch)
        printer.line(f"const int64_t batch = {printer.offset(step.batch, sizes) if step.batch else 0};")
        root = self.function.computed(f"{step.name}.root", (*batch, self.own, self.own))
        right = self.function.computed(f"{step.name}.right", (*batch, self.own, self.outputs))
        places = f"{root} + batch * eliminated * eliminated", f"{right} + batch * eliminated * outputs"
        printer.line(f"part_of(design, width, eliminated, 0, eliminated, {places[0]});")
        printer.line(f"part_of(design, width, eliminated, width - outputs, outputs, {places[1]});")
        if f"{step.name}.log_root" in wanted:
            log_root = self.function.computed(f"{step.name}.log_root", batch)
            printer.line("double log_root = 0.0;")
            printer.line("for (int64_t i = 0; i < eliminated; i++)")
            printer.line("    log_root += log(design[i * width + i]);")
            printer.line(f"{log_root}[batch] = log_root;")
        if step.outer:
            self.outer_parts(batch)
        elif f"{step.name}.residual" in wanted:
            self.residual(batch)

    def residual(self, batch: tuple[Extent, ...]) -> None:
        """Squares of what no unknown explains."""
        printer, name = self.printer, f"{self.step.name}.residual"
        if self.step.output is None:
            array = self.function.computed(name, batch)
            printer.line(f"{array}[batch] = design[width * width - 1] * design[width * width - 1];")
            return
        array = self.function.computed(name, (*batch, self.outputs, self.outputs))
        with (
            printer.nested("for (int64_t i = 0; i < outputs; i++)"),
            printer.nested("for (int64_t j = 0; j < outputs; j++)"),
        ):
            printer.line("double sum = 0.0;")
            printer.line("for (int64_t r = eliminated; r < width; r++)")
            printer.line("    sum += design[r * width + eliminated + i] * design[r * width + eliminated + j];")
            printer.line(f"{array}[(batch * outputs + i) * outputs + j] = sum;")

    def outer_parts(self, batch: tuple[Extent, ...]) -> None:
        """Coefficients of unknowns that are eliminated later, and rows that speak of them alone."""
        printer, step = self.printer, self.step
        plate = f"{step.name}.rows"
        self.function.lengths[plate] = self.rest
        rest = self.long(self.rest)
        printer.line(f"const int64_t rest = {rest};")
        printer.line("const double *const below = design + eliminated * width;")
        if self.whole:
            left = self.function.computed(f"{step.name}.left", (*batch, self.rest, self.rest))
            printer.line(f"part_of(below, width, rest, eliminated, rest, {left} + batch * rest * rest);")
        else:
            left = self.function.computed(f"{step.name}.left", (*batch, self.rest))
            printer.line(f"part_of(below, width, rest, width - outputs, 1, {left} + batch * rest);")
        for number, column in enumerate(step.outer):
            dense: Extent = columns_extent((column,))
            shape = along(column.dense)
            start = self.long(columns_extent(step.columns[: step.eliminated + number]))
            with printer.nested(""):
                printer.line(f"const int64_t start = {start}, wide = {self.long(dense)};")
                cross = self.function.computed(f"{step.name}.cross_{number}", (*batch, self.own, *shape))
                printer.line(f"part_of(design, width, eliminated, start, wide, {cross} + batch * eliminated * wide);")
                if not self.whole:
                    other = self.function.computed(f"{step.name}.left_{number}", (*batch, self.rest, *shape))
                    printer.line(f"part_of(below, width, rest, start, wide, {other} + batch * rest * wide);")


def _product(left: str, right: str) -> str:
    """Two factors, without those that are one."""
    return " * ".join(part for part in (left, right) if part != "1") or "1"


def live_features(features: tuple[Feature, ...]) -> tuple[Feature, ...]:
    """The features of a pool that are not constant: those of which it holds a scatter."""
    return tuple(feature for feature in features if not isinstance(feature.expression, Constant))
