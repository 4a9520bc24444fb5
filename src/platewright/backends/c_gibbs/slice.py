"""Print a slice block as C: the log density of one element as a function of its value, and an update of each element.

What does not depend on the value (sums over rows among them) is computed once for an element and handed over in
`kept`; terms that do not mention it are left out. Rows that find their element by a code are sorted by it first, and
what does not depend on the value in them is computed once for a row.
"""

from __future__ import annotations

from contextlib import ExitStack

from platewright.algebra.build import substitute, totals
from platewright.algebra.expression import (
    Add,
    Call,
    Expression,
    Index,
    LogDeterminant,
    LogSumExp,
    Maximum,
    Power,
    Quadratic,
    Reference,
    Sum,
    children,
    free_indices,
    names,
    walk,
)
from platewright.backends.c.expression import CCode
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.function import Arrays, Function, Slot, along
from platewright.graph.graph import Factor
from platewright.language.variable import Variable

_COSTLY = (Call, Power, Sum, Maximum, LogSumExp, Quadratic, LogDeterminant)


class SliceWriter:
    """Prints one block."""

    def __init__(self, arrays: Arrays, number: int, name: str, factors: tuple[Factor, ...], node: Variable) -> None:
        self.arrays = arrays
        self.number = number
        self.node = node
        self.name = name
        self.counts = node.domain.kind == "integer"
        self.element = tuple(Index(f"{self.name}.at{k}", axis.plate) for k, axis in enumerate(node.axes))
        self.local: dict[str, Slot] = {}
        self.widths = Slot(f"{number}:width", f"{self.name}.width", "computed", along(node.axes), False, number)
        self.local[self.widths.name] = self.widths
        axes = {self.widths.name: node.axes}
        self.moving = Function(arrays, number, self.local, axes)
        self.inside = Function(arrays, number, self.local, axes)
        self.direct: list[Expression] = []
        self.sorted: list[Factor] = []
        for factor in factors:
            self.sort_out(factor)
        self.kept: list[Expression] = []
        for expression in self.direct:
            self.keep(expression, self.element, self.kept)
        self.kept_by_row: list[list[Expression]] = [[] for _ in self.sorted]
        """For each factor whose rows are sorted, what is computed once for a row."""
        for factor, kept in zip(self.sorted, self.kept_by_row, strict=True):
            self.keep(factor.expression, factor.axes, kept)

    # -- terms ---------------------------------------------------------------------------------------------------------

    def sort_out(self, factor: Factor) -> None:
        """Terms that the value is in, summed over all but the element; or the factor whose rows are to be sorted."""
        terms = factor.expression.terms if isinstance(factor.expression, Add) else (factor.expression,)
        mine = [term for term in terms if self.name in names(term)]
        place = self.place(factor)
        plain = all(isinstance(at, Index) and at in factor.axes for at in place) and len(set(place)) == len(place)
        if not plain:
            for number, term in enumerate(mine):
                self.sorted.append(Factor(f"{factor.owner} {number}", factor.axes, term))
            return
        changes: dict[Expression, Expression] = dict(zip(place, self.element, strict=True))
        others = [axis for axis in factor.axes if axis not in place]
        self.direct += [totals(substitute(term, changes), others) for term in mine]

    def place(self, factor: Factor) -> tuple[Expression, ...]:
        """Where a factor looks the variable up."""
        found = (p for p in walk(factor.expression) if isinstance(p, Reference) and p.name == self.name)
        return next(found).indices

    def keep(self, expression: Expression, over: tuple[Index, ...], kept: list[Expression]) -> None:
        """Note the largest costly parts that stay the same while the value is tried."""
        fixed = self.name not in names(expression) and free_indices(expression) <= set(over)
        if fixed and any(isinstance(part, _COSTLY) for part in walk(expression)):
            if expression not in kept:
                kept.append(expression)
            return
        for part in children(expression):
            self.keep(part, over, kept)

    # -- functions -----------------------------------------------------------------------------------------------------

    def functions(self) -> list[str]:
        """The density, the update of all elements, and its call."""
        density = self.density()
        self.update()
        head = f"static int move_{self.number}(struct chain *chain, const double *values, double *found)"
        about = f"block {self.number}: {self.name}, element by element; or only log densities at given values"
        call = f"static int draw_{self.number}(struct chain *chain)"
        drawn = f"{call}\n{{\n    return move_{self.number}(chain, NULL, NULL);\n}}"
        return [density, self.moving.text(head, about), drawn]

    def density(self) -> str:
        printer = self.inside.printer
        lower, upper = self.node.domain.lower, self.node.domain.upper
        if self.counts:
            printer.line("x = floor(x); /* a count is the interval up to the next one */")
        tests = [f"x < {lower!r}"] if lower > float("-inf") else []
        tests = ["x <= 0.0"] if lower == 0.0 and not self.counts else tests
        tests += [f"x > {upper!r}"] if upper < float("inf") else []
        if tests:
            printer.line(f"if ({' || '.join(tests)})")
            printer.line("    return -INFINITY;")
        printer.line("double total = 0.0;")
        with ExitStack() as inside:
            for k, index in enumerate(self.element):
                inside.enter_context(printer.at(index, f"at[{k}]"))
            printer.given[Reference(self.name, self.element)] = CCode("x")
            printer.given |= {part: CCode(f"kept[{k}]") for k, part in enumerate(self.kept)}
            for expression in self.direct:
                printer.line(f"total += {printer.code(expression).text};")
            for number, factor in enumerate(self.sorted):
                self.rows(number, factor)
        printer.line("(void)at, (void)kept;")
        head = f"static double density_{self.number}("
        head += "const struct chain *chain, const int64_t *at, const double *kept, double x)"
        about = f"the log density of one element of {self.name}, up to a constant"
        return self.inside.text(head, about, "isnan(total) ? -INFINITY : total")

    def rows(self, number: int, factor: Factor) -> None:
        """The rows of a factor that look this element up."""
        printer, function = self.inside.printer, self.inside
        start, order = self.row_arrays(function, number, factor)[:2]
        flat = self.flat([f"at[{k}]" for k in range(len(self.element))])
        printer.line(f"/* {c_comment(str(factor.expression))} */")
        head = f"for (int64_t r = {start}[{flat}]; r < {start}[{flat} + 1]; r++)"
        with printer.nested(head), ExitStack() as inside:
            after = "1"
            for axis in reversed(factor.axes):
                variable = printer.temporary("index")
                size = printer.size(axis.plate)
                text = f"{order}[r]" if after == "1" else f"{order}[r] / ({after})"
                whole = text if axis is factor.axes[0] else f"({text}) % {size}"
                printer.line(f"const int64_t {variable} = {whole};")
                after = size if after == "1" else f"{after} * {size}"
                inside.enter_context(printer.at(axis, variable))
            here: dict[Expression, CCode] = {Reference(self.name, self.place(factor)): CCode("x")}
            for part, values in zip(self.kept_by_row[number], self.row_parts(function, number, factor), strict=True):
                here[part] = CCode(f"{values}[{order}[r]]")
            printer.given |= here
            printer.line(f"total += {printer.code(factor.expression).whole};")
            for part in here:
                del printer.given[part]

    def flat(self, at: list[str]) -> str:
        text = ""
        for variable, axis in zip(at, self.node.axes, strict=True):
            size = self.inside.printer.size(axis.plate)
            text = f"({text}) * {size} + {variable}" if text else variable
        return text or "0"

    def row_arrays(self, function: Function, number: int, factor: Factor) -> list[str]:
        elements = tuple(axis.plate for axis in self.node.axes)
        rows = (tuple(axis.plate for axis in factor.axes),)
        shapes = {"start": (elements, ()), "order": rows, "code": rows}
        return [function.computed(f"{self.name}.{word}_{number}", (shape,), True) for word, shape in shapes.items()]

    def row_parts(self, function: Function, number: int, factor: Factor) -> list[str]:
        """Arrays of what is computed once for each row."""
        rows = (tuple(axis.plate for axis in factor.axes),)
        parts = range(len(self.kept_by_row[number]))
        return [function.computed(f"{self.name}.part_{number}_{k}", (rows,)) for k in parts]

    # -- the update ----------------------------------------------------------------------------------------------------

    def update(self) -> None:
        function, printer = self.moving, self.moving.printer
        for number, factor in enumerate(self.sorted):
            self.sort_rows(number, factor)
        array, width = printer.column(self.name), printer.column(self.widths.name)
        with ExitStack() as loops:
            at = [loops.enter_context(printer.loop(index)) for index in self.element]
            sizes = [printer.size(index.plate) for index in self.element]
            printer.line(f"const int64_t here = {printer.offset(self.element, sizes) if at else 0};")
            printer.line(f"const int64_t at[] = {{{', '.join(at) or '0'}}};")
            printer.line(f"double kept[{max(len(self.kept), 1)}] = {{0.0}};")
            for k, part in enumerate(self.kept):
                printer.line(f"kept[{k}] = {printer.code(part).text};")
            density = f"density_{self.number}"
            printer.line("if (values) {")
            printer.line(f"    found[here] = {density}(chain, at, kept, values[here]);")
            printer.line("    continue;") if at else printer.line("    return bad;")
            printer.line("}")
            value = f"{array}[here] + uniform(random)" if self.counts else f"{array}[here]"
            arguments = f"{density}, chain, random, at, kept, {value}, {width}[here]"
            printer.line(f"const double drawn = slice_draw({arguments});")
            printer.line("if (!isfinite(drawn))")
            printer.line("    return 4;")
            printer.line(f"{array}[here] = {'(int64_t)floor(drawn)' if self.counts else 'drawn'};")
        del function

    def sort_rows(self, number: int, factor: Factor) -> None:
        """Bring the rows into the order of the elements that they look up."""
        printer = self.moving.printer
        start, order, code = self.row_arrays(self.moving, number, factor)
        printer.line(f"/* rows of {c_comment(factor.owner)} by the element of {c_comment(self.name)} */")
        with printer.nested(""):
            printer.line("int64_t row = 0;")
            with ExitStack() as loops:
                for axis in factor.axes:
                    loops.enter_context(printer.loop(axis))
                sizes = [printer.size(axis.plate) for axis in self.node.axes]
                printer.line(f"{code}[row] = {printer.offset(self.place(factor), sizes)};")
                arrays = self.row_parts(self.moving, number, factor)
                for part, values in zip(self.kept_by_row[number], arrays, strict=True):
                    printer.line(f"{values}[row] = {printer.code(part).text};")
                printer.line("row++;")
        rows = self.moving.length_text((tuple(axis.plate for axis in factor.axes),))
        elements = self.moving.length_text((tuple(axis.plate for axis in self.node.axes),))
        printer.line(f"sorted_by({code}, {rows}, {elements}, {start}, {order});")
