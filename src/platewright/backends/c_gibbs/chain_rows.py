"""Print a Gaussian chain as C: rows of one step after another are rotated into a triangle that slides along.

    before  own  outer | right          columns at step t: the state at t - 1, at t, unknowns outside, right-hand sides
    R       next cross | right          all rows that touch t - 1 are in: these lines are its share of the draw
            carried ...                 what they leave about t, to which the rows of t + 1 are added

This filters forwards; `gaussian.py` draws backwards. Time and memory grow with the number of steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from platewright.algebra.expression import Index, Lag
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.expression import Extent
from platewright.backends.c_gibbs.function import along
from platewright.backends.c_gibbs.rows import Names, RowsWriter, live_features, width_extent
from platewright.program.program import statement_text
from platewright.program.statements import Column, Entry, Feature, Source, Triangularise


def state_extent(step: Triangularise, columns: tuple[Column, ...]) -> Extent:
    """How many columns belong to these unknowns at one step."""
    return tuple(tuple(index.plate for index in step.inside(column)) for column in columns)


class ChainRowsWriter(RowsWriter):
    """Prints the triangularisation of one chain."""

    @property
    def state(self) -> Extent:
        """How many unknowns a step has."""
        return state_extent(self.step, self.step.columns[: self.step.eliminated])

    def triangularise(self, pools: Mapping[str, tuple[Feature, ...]], wanted: Names) -> None:
        """The rows of each step rotated into a triangle, and what it says about the step before."""
        self.printer.forget()
        self.check_printable()
        printer, step = self.printer, self.step
        printer.line(f"/* {c_comment(statement_text(step))} */")
        with printer.nested(""):
            printer.line(f"const int64_t state = {self.long(self.state)}, outputs = {self.long(self.outputs)};")
            printer.line(f"const int64_t width = 2 * state + {self.long(self.outer)} + outputs;")
            rest = step.outer or f"{step.name}.residual" in wanted
            printer.line(f"const int64_t turned = {'width' if rest else '2 * state'};")
            lines = " + ".join(self.lines_of(source, pools) for source in step.sources)
            printer.line(f"const int64_t lines = {lines};")
            printer.line("double *const triangle = space(chain, (width + lines) * width);")
            printer.line("if (!triangle)")
            printer.line("    return 2;")
            printer.line("double *const buffer = triangle + width * width;")
            with ExitStack() as batch:
                for index in step.batch:
                    batch.enter_context(printer.loop(index))
                self.chain(pools, wanted)

    def lines_of(self, source: Source, pools: Mapping[str, tuple[Feature, ...]]) -> str:
        """How many rows one cell of a source has."""
        return "1" if source.pool is None else f"({self.long(width_extent(live_features(pools[source.pool])))} + 1)"

    def chain(self, pools: Mapping[str, tuple[Feature, ...]], wanted: Names) -> None:
        """One chain from its first step to its last."""
        printer, step = self.printer, self.step
        assert step.along is not None
        has_root = f"{step.name}.log_root" in wanted
        own = Index(step.along, step.along)
        steps = printer.size(step.along)
        printer.line("memset(triangle, 0, sizeof(double) * width * width);")
        printer.line("for (int64_t i = 0; i < state; i++)")
        printer.line("    triangle[i * width + i] = 1.0; /* before the first step is one that meets nothing */")
        if has_root:
            printer.line("double log_root = 0.0;")
        sizes = [printer.size(index.plate) for index in step.batch]
        printer.line(f"const int64_t batch = {printer.offset(step.batch, sizes) if step.batch else 0};")
        with printer.loop(own) as now:
            for source in step.sources:
                self.source_at(source, pools, own, now)
            with printer.nested(f"if ({now} > 0)"):
                self.settle(f"batch * {steps} + {now} - 1", has_root)
            printer.line("slide(triangle, width, state);")
        with printer.nested(f"if ({steps} > 0)"):
            self.settle(f"batch * {steps} + {steps} - 1", has_root)
        batch = along(step.batch)
        if has_root:
            printer.line(f"{self.function.computed(f'{step.name}.log_root', batch)}[batch] = log_root;")
        if step.outer or f"{step.name}.residual" in wanted:
            printer.line("const double *const below = triangle + 2 * state * width;")
            self.rest_of_outer(batch) if step.outer else self.rest_alone(batch)

    def source_at(self, source: Source, pools: Mapping[str, tuple[Feature, ...]], own: Index, now: str) -> None:
        """The rows of a source at one step, each rotated into the triangle."""
        printer = self.printer
        mine = self.step.step_of(source)
        printer.line(f"/* rows of {c_comment(source.owner)} */")
        with ExitStack() as loops:
            if mine != own:
                loops.enter_context(printer.nested(""))
                loops.enter_context(printer.at(mine, now))
            for index in source.cells[len(self.step.batch) :]:
                if index != mine:
                    loops.enter_context(printer.loop(index))
            with printer.nested(""):
                printer.line("double *line = buffer;")
                many = self.lines_of(source, pools)
                printer.line(f"memset(buffer, 0, sizeof(double) * {f'{many} * ' if many != '1' else ''}width);")
                if source.pool is None:
                    self.direct(source)
                else:
                    self.pooled(source, pools[source.pool])
                if any(isinstance(at, Lag) for entry in source.entries for at in entry.positions):
                    printer.line(f"if ({now} == 0) /* before the first step is the first */")
                    printer.line("    merge_before(buffer, line, width, state);")
                printer.line("for (double *row = buffer; row < line; row += width)")
                printer.line("    rotate_in(triangle, width, turned, row);")

    def place(self, entry: Entry) -> str:
        """The column of a feature at the present indices."""
        step, printer = self.step, self.printer
        whole = step.columns[entry.column]
        inside = step.inside(whole)
        is_own = entry.column < step.eliminated
        before = step.columns[: entry.column] if is_own else step.columns[step.eliminated : entry.column]
        parts = [] if is_own else ["2 * state"]
        if is_own and not any(isinstance(at, Lag) and a not in inside for at, a in zip(entry.positions, whole.dense)):
            parts.append("state")
        parts += [start for start in [self.long(state_extent(step, before))] if start != "0"]
        flat = ""
        for at, axis in zip(entry.positions, whole.dense, strict=True):
            if axis in inside:
                size = printer.size(axis.plate)
                place = printer.position(at, size)
                flat = f"({flat}) * {size} + {place}" if flat else place
        return " + ".join([*parts, *([flat] if flat else [])]) or "0"

    # -- what is found -------------------------------------------------------------------------------------------------

    def settle(self, at: str, has_root: bool) -> None:
        """The lines of the step that no further row will touch."""
        printer, step, function = self.printer, self.step, self.function
        assert step.along is not None
        own = self.state
        steps = (*along(step.batch), ((step.along,),))
        root = function.computed(f"{step.name}.root", (*steps, own, own))
        following = function.computed(f"{step.name}.next", (*steps, own, own))
        right = function.computed(f"{step.name}.right", (*steps, own, self.outputs))
        with printer.nested(""):
            printer.line(f"const int64_t place = {at}, lost = undetermined(triangle, width, state);")
            printer.line("if (lost) {")
            printer.line("    chain->missing = lost;")
            printer.line("    return 3;")
            printer.line("}")
            printer.line(f"part_of(triangle, width, state, 0, state, {root} + place * state * state);")
            printer.line(f"part_of(triangle, width, state, state, state, {following} + place * state * state);")
            printer.line(
                f"part_of(triangle, width, state, width - outputs, outputs, {right} + place * state * outputs);"
            )
            for number, column in enumerate(step.outer):
                cross = function.computed(f"{step.name}.cross_{number}", (*steps, own, *along(column.dense)))
                start, wide = self.outer_start(number), self.long(state_extent(step, (column,)))
                target = f"{cross} + place * state * ({wide})"
                printer.line(f"part_of(triangle, width, state, {start}, {wide}, {target});")
            if has_root:
                printer.line("for (int64_t i = 0; i < state; i++)")
                printer.line("    log_root += log(triangle[i * width + i]);")

    def outer_start(self, number: int) -> str:
        """Where the columns of an unknown outside begin."""
        before = self.long(state_extent(self.step, self.step.outer[:number]))
        return "2 * state" if before == "0" else f"2 * state + {before}"

    def rest_of_outer(self, batch: tuple[Extent, ...]) -> None:
        """Rows that speak of the unknowns outside alone."""
        printer, step = self.printer, self.step
        self.function.lengths[f"{step.name}.rows"] = self.rest
        printer.line(f"const int64_t rest = {self.long(self.rest)};")
        if self.whole:
            left = self.function.computed(f"{step.name}.left", (*batch, self.rest, self.rest))
            printer.line(f"part_of(below, width, rest, 2 * state, rest, {left} + batch * rest * rest);")
            return
        left = self.function.computed(f"{step.name}.left", (*batch, self.rest))
        printer.line(f"part_of(below, width, rest, width - outputs, 1, {left} + batch * rest);")
        for number, column in enumerate(step.outer):
            wide = self.long(state_extent(step, (column,)))
            other = self.function.computed(f"{step.name}.left_{number}", (*batch, self.rest, *along(column.dense)))
            target = f"{other} + batch * rest * ({wide})"
            printer.line(f"part_of(below, width, rest, {self.outer_start(number)}, {wide}, {target});")

    def rest_alone(self, batch: tuple[Extent, ...]) -> None:
        """Squares of what no unknown explains."""
        printer, name = self.printer, f"{self.step.name}.residual"
        if self.step.output is None:
            array = self.function.computed(name, batch)
            printer.line(f"{array}[batch] = below[width - 1] * below[width - 1];")
            return
        array = self.function.computed(name, (*batch, self.outputs, self.outputs))
        with (
            printer.nested("for (int64_t i = 0; i < outputs; i++)"),
            printer.nested("for (int64_t j = 0; j < outputs; j++)"),
        ):
            printer.line("double sum = 0.0;")
            printer.line("for (int64_t r = 0; r < outputs; r++)")
            printer.line("    sum += below[r * width + 2 * state + i] * below[r * width + 2 * state + j];")
            printer.line(f"{array}[(batch * outputs + i) * outputs + j] = sum;")
