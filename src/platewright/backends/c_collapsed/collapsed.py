"""A collapsed Gibbs plan as one C file: `sweep` takes every element out, weighs its levels, draws one, puts it back.

Moves whose weights are products of table rows are printed by `c_collapsed_rows.py`; all others here, level by level and
in logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from platewright.algebra.expression import Constant, Expression, Index
from platewright.backends.c.support import VECTOR_MATH, c_comment, support_text
from platewright.backends.c_collapsed.printer import CollapsedPrinter, TableLayout, padded
from platewright.backends.c_collapsed.rows import RowPrinter, row_factors
from platewright.backends.c_collapsed.support import LOG_DETERMINANT, SUPPORT
from platewright.backends.naming import Names
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.collapsed_move import Change, Entry, Members, Move


@dataclass(frozen=True)
class CollapsedSource:
    """The file, and what `sweep` expects, in order."""

    text: str
    columns: tuple[str, ...]
    hidden: tuple[str, ...]
    tables: tuple[TableLayout, ...]
    members: tuple[Members, ...]
    sizes: tuple[str, ...]
    sorted_by: Mapping[str, tuple[Expression, ...]]
    """For each hidden variable the codes whose runs are kept as one row: sort elements by them."""


def collapsed_source(
    plan: CollapsedPlan, types: Mapping[str, str], whole: frozenset[str], sizes: Mapping[str, int] | None = None
) -> CollapsedSource:
    """The C of a plan whose integer columns have the given types; `whole` tables count."""
    return _Emitter(plan, types, whole, sizes or {}).file()


def default_source(plan: CollapsedPlan) -> CollapsedSource:
    """The C of a plan without data: codes and levels are integers, sums of them are counts."""
    types = {}
    for name in plan.columns:
        node = plan.graph.nodes.get(name)
        if (node is None and "@" in name) or (node is not None and node.domain.is_discrete):
            types[name] = "int32_t"
    whole = frozenset(table.name for table in plan.tables if table.value == Constant(1.0))
    return collapsed_source(plan, types, whole)


def layouts(plan: CollapsedPlan, whole: frozenset[str]) -> dict[str, TableLayout]:
    """Tables with the axis of the levels last."""
    found = {}
    for table in plan.tables:
        axes = list(range(len(table.plates)))
        for move in plan.moves:
            entry = next((entry for entry in move.entries if entry.table == table.name), None)
            at = [number for number in axes if entry is not None and entry.codes[number] == move.level]
            if at:
                axes.remove(at[0])
                axes.append(at[0])
                break
        kind = "int32_t" if table.name in whole else "double"
        found[table.name] = TableLayout(table.name, table.plates, tuple(axes), kind)
    return found


class _Emitter:
    def __init__(
        self, plan: CollapsedPlan, types: Mapping[str, str], whole: frozenset[str], sizes: Mapping[str, int]
    ) -> None:
        self.plan = plan
        self.types = {**types, **{name: "int32_t" for name in plan.hidden}}
        self.sizes = sizes
        self.layouts = layouts(plan, whole)
        graph = plan.complete.graph
        columns = plan.columns | {name: graph.nodes[name].axes for name in plan.hidden}
        integers = frozenset(name for name, kind in self.types.items() if kind.startswith("int"))
        self.printer = CollapsedPrinter(
            Names(["at", "old", "new", "level", "weight", "running", "part", "matrix", "live", "state", "blocks"]),
            (),
            columns,
            integers,
            tables_by_name=self.layouts,
            types=self.types,
        )
        self.members: dict[Members, str] = {}
        self.sorted_by: dict[str, tuple[Expression, ...]] = {}

    # -- the file ------------------------------------------------------------------------------------------------------

    def file(self) -> CollapsedSource:
        changing = frozenset((*self.layouts, *self.plan.hidden))
        closed: dict[str, list[str]] = {}
        for part in _weighed(self.plan):
            closed |= self.printer.fix(part, changing)
        body = self.refill()
        for number, move in enumerate(self.plan.moves, start=1):
            body += self.move(move, number)
        used = set(re.findall(r"\bfixed_\d+\b", "\n".join(body)))
        fixed = [line for name, lines in closed.items() if name in used for line in lines]
        printer = self.printer
        strides = list(printer.used_strides)
        for plate in strides:
            printer.size(plate)
        columns = tuple(name for name in printer.used_columns if name not in self.plan.hidden)
        sizes = tuple(printer.used_sizes)
        head = self.declarations(columns, sizes, strides)
        text = "\n".join(
            indented([*head, *fixed, "for (int64_t sweep = 0; sweep < sweeps; sweep++) {", *indented(body), "}"])
        )
        function = FUNCTION.replace("BODY", text)
        constants = [
            f"static const double {name}[{padded(len(values))}] = {{{', '.join(repr(value) for value in values)}}};"
            for values, name in printer.tables.items()
        ]
        shared = [part for part in support_text(text) if part != VECTOR_MATH] + (
            [LOG_DETERMINANT.strip("\n")] if "log_determinant(" in text else []
        )
        parts = [self.header(), SUPPORT.strip("\n"), *shared, *constants, function.strip("\n")]
        return CollapsedSource(
            "\n\n".join(parts) + "\n",
            columns,
            self.plan.hidden,
            tuple(self.layouts.values()),
            tuple(self.members),
            sizes,
            self.sorted_by,
        )

    def header(self) -> str:
        plan = self.plan
        lines = [
            f"/* {c_comment(plan.graph.title)}: collapsed Gibbs sampling, derived and written by Platewright.",
            " *",
        ]
        lines += [f" * {c_comment(str(table))}" for table in plan.tables]
        lines += [" */"]
        return "\n".join([*lines, *(f"#include <{name}.h>" for name in ("math", "stdint", "string"))])

    def declarations(self, columns: Sequence[str], sizes: Sequence[str], strides: Sequence[str]) -> list[str]:
        names = self.printer.names
        lines = [f"const int64_t {names(f'size {plate}')} = size[{k}];" for k, plate in enumerate(sizes)]
        lines += [
            f"const int64_t {names(f'stride {plate}')} = ({names(f'size {plate}')} + WIDE - 1) / WIDE * WIDE;"
            for plate in strides
        ]
        for k, name in enumerate(columns):
            lines.append(f"const {self.types.get(name, 'double')} *const {names(f'data_{name}')} = column[{k}];")
        lines += [f"int32_t *const {names(f'data_{name}')} = hidden[{k}];" for k, name in enumerate(self.plan.hidden)]
        for k, layout in enumerate(self.layouts.values()):
            lines.append(f"{layout.type} *const {self.printer.pointer(layout.name)} = table[{k}];")
        for k, name in enumerate(self.members.values()):
            lines.append(f"const int64_t *const {name}_start = member[{2 * k}], *const {name} = member[{2 * k + 1}];")
        lines += [
            "double *const weight = work, *const running = weight + longest, *const part = running + longest;",
            "double *const live = part + longest, *const matrix = live + longest;",
            "(void)weight, (void)part, (void)live, (void)matrix, (void)member;",
            "uint64_t state[4];",
            "memcpy(state, random, sizeof state);",
        ]
        return lines

    def refill(self) -> list[str]:
        """Tables of real numbers anew, so that rounding cannot pile up."""
        lines: list[str] = []
        moving = {entry.table for move in self.plan.moves for entry in move.entries}
        for table in self.plan.tables:
            layout = self.layouts[table.name]
            if layout.type != "double" or table.name not in moving:
                continue
            extents = [self.printer.size(layout.plates[axis]) for axis in layout.order]
            if extents:
                extents[-1] = self.printer.stride(layout.plates[layout.order[-1]])
            pointer = self.printer.pointer(table.name)
            count = " * ".join(["sizeof(double)", *(f"(size_t){extent}" for extent in extents)])
            lines += [f"/* {c_comment(str(table))} */", f"memset({pointer}, 0, {count});"]
            entry = Entry(table.name, table.codes, table.value, table.over, None)
            lines += self.entered(entry, "+")
        return lines

    # -- loops ---------------------------------------------------------------------------------------------------------

    def looped(self, rows: Sequence[Index], members: Members | None, body: Sequence[str]) -> list[str]:
        """Lines inside loops over rows."""
        lines = list(body)
        for index in reversed(rows):
            variable = self.printer.variables[index]
            if members is not None and index == members.row:
                name = self.members[members]
                element = self.printer.variables[members.axis]
                counter = f"{variable}_at"
                first = f"int64_t {counter} = {name}_start[{element}]; {counter} < {name}_start[{element} + 1]"
                head = [f"for ({first}; {counter}++) {{"]
                if re.search(rf"\b{variable}\b", "\n".join(lines)):
                    head.append(f"    const int64_t {variable} = {name}[{counter}];")
            else:
                size = self.printer.size(index.plate)
                head = [f"for (int64_t {variable} = 0; {variable} < {size}; {variable}++) {{"]
            lines = [*head, *indented(lines), "}"]
        return lines

    def named(self, indices: Iterable[Index]) -> None:
        """Give loop variables to indices."""
        for index in indices:
            if index not in self.printer.variables:
                self.printer.variables[index] = self.printer.temporary("row")

    def entered(self, entry: Entry, sign: str, rows: bool = True) -> list[str]:
        """An element, or one row of it, put into a table or taken out."""
        if entry.members is not None and entry.members not in self.members:
            self.members[entry.members] = f"members_{len(self.members) + 1}"
        self.named(entry.rows)
        value = self.printer.code(entry.value)
        cast = (
            "(int32_t)" if self.layouts[entry.table].type == "int32_t" and not isinstance(entry.value, Constant) else ""
        )
        shown = f"{cast}({value.text})" if cast else value.text
        line = f"{self.printer.cell(entry.table, entry.codes)} {sign}= {shown};"
        lines = [*self.printer.take(), line]
        return self.looped(entry.rows, entry.members, lines) if rows else lines

    def changed(self, change: Change) -> list[str]:
        """Add the change of one term to `change`."""
        self.named(change.loops)
        value = self.printer.code(change.expression)
        return self.looped(change.loops, None, [*self.printer.take(), f"change += {value.whole};"])

    # -- moves ---------------------------------------------------------------------------------------------------------

    def move(self, move: Move, number: int) -> list[str]:
        printer = self.printer
        for axis in move.axes:
            printer.variables[axis] = printer.temporary("element")
        levels = printer.size(move.level.plate)
        stride = printer.stride(move.level.plate)
        place = printer.offset(move.axes, printer.extents(move.axes)) if move.axes else "0"
        own = f"{printer.column(move.hidden)}[{place}]"
        fast = row_factors(move, self.layouts)
        if fast is not None:
            before, body, key = RowPrinter(printer, fast, self.sizes, own, stride, number).body()
            self.sorted_by[move.hidden] = key
        else:
            before, body = [], self.by_levels(move, own, levels, stride, number)
        lines = [f"/* {c_comment(move.hidden)}, one element at a time */", *before]
        return [*lines, *self.looped(move.axes, None, body)]

    def at(self, move: Move, variable: str) -> None:
        self.printer.variables[move.level] = variable

    def by_levels(self, move: Move, own: str, levels: str, stride: str, number: int) -> list[str]:
        """Take the element out, weigh level after level in logs, draw, put it back."""
        self.at(move, "old")
        lines = [f"const int64_t old = {own};"]
        for entry in move.entries:
            lines += self.entered(entry, "-")
        self.at(move, "level")
        inner = ["double change = 0.0;"]
        for change in move.changes:
            inner += self.changed(change)
        for sign in ("+", "-") if move.stages else ():
            for stage in move.stages:
                self.named(stage.rows)
                for entry in stage.entries:
                    self.entered(entry, sign)  # lists the members
                body = [line for change in stage.changes for line in self.changed(change)] if sign == "+" else []
                body += [line for entry in stage.entries for line in self.entered(entry, sign, rows=False)]
                inner += self.looped(stage.rows, stage.members, body)
        inner += ["weight[level] = change;", "top = change > top || change != change ? change : top;"]
        lines += ["double top = -INFINITY;", f"for (int64_t level = 0; level < {levels}; level++) {{"]
        lines += [*indented(inner), "}"]
        lines.append(f"for (int64_t level = 0; level < {stride}; level++)")
        lines.append(f"    weight[level] = level < {levels} ? exp(weight[level] - top) : 0.0;")
        lines.append(f"add_up(weight, {stride} / WIDE, running);")
        lines.append(f"const int64_t new = drawn_level(running, {stride} / WIDE, state);")
        lines += ["if (new < 0)", f"    return {number};", f"{own} = (int32_t)new;"]
        self.at(move, "new")
        for entry in move.entries:
            lines += self.entered(entry, "+")
        return lines


def _weighed(plan: CollapsedPlan) -> list[Expression]:
    """Every expression that a weight is made of."""
    found = []
    for move in plan.moves:
        found += [change.expression for change in move.changes]
        found += [change.expression for stage in move.stages for change in stage.changes]
    return found


def indented(lines: Iterable[str]) -> list[str]:
    """The lines one step further in."""
    return [f"    {line}" for line in lines]


FUNCTION = """
/* So many sweeps over all elements. Returns 0, or the number of the variable none of whose levels is possible.
 * longest: the longest padded row of levels; work: four such rows, then the largest matrix. */
int sweep(void *const *column, void *const *hidden, void *const *table, void *const *member, const int64_t *size,
    uint64_t *random, double *work, int64_t longest, int64_t sweeps)
{
BODY
    memcpy(random, state, sizeof state);
    return 0;
}
"""
