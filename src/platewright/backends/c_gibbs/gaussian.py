"""Print the draw of a Gaussian block as C: noise, what the unknowns outside explain, and back substitution.

R u = right - cross v + noise / sqrt(scale)          given the unknowns v that were drawn before
"""

from __future__ import annotations

from contextlib import ExitStack

from platewright.algebra.build import power
from platewright.algebra.expression import Expression, Index, Reference
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.chain_rows import state_extent
from platewright.backends.c_gibbs.expression import Extent
from platewright.backends.c_gibbs.function import Function
from platewright.backends.c_gibbs.rows import columns_extent
from platewright.elimination.state import GaussianConditional


class GaussianWriter:
    """Prints one draw."""

    def __init__(self, function: Function, conditional: GaussianConditional) -> None:
        self.function = function
        self.printer = function.printer
        self.conditional = conditional
        self.step = conditional.statement
        self.own: Extent = columns_extent(self.step.columns[: self.step.eliminated])
        self.outputs: Extent = ((self.step.output.plate,),) if self.step.output is not None else ((),)

    def long(self, extent: Extent) -> str:
        return self.function.length_text(extent) if extent else "0"

    def draw(self) -> None:
        """Noise over the root of the scale, what the outer unknowns explain, and back substitution."""
        self.printer.forget()
        printer, step = self.printer, self.step
        printer.line(f"/* {c_comment(', '.join(self.conditional.variables))}: jointly Gaussian given the rest */")
        root, right = (printer.column(f"{step.name}.{part}") for part in ("root", "right"))
        with printer.nested(""):
            if step.along is not None:
                own = self.long(state_extent(step, step.columns[: step.eliminated]))
                printer.line(f"const int64_t steps = {printer.size(step.along)}, state = {own};")
            count = self.long(self.own) if step.along is None else "steps * state"
            printer.line(f"const int64_t eliminated = {count}, outputs = {self.long(self.outputs)};")
            printer.line("double *const drawn = space(chain, eliminated * outputs);")
            printer.line("if (!drawn)")
            printer.line("    return 2;")
            with ExitStack() as loops:
                for index in step.batch:
                    loops.enter_context(printer.loop(index))
                sizes = [printer.size(index.plate) for index in step.batch]
                printer.line(f"const int64_t batch = {printer.offset(step.batch, sizes) if step.batch else 0};")
                spread = printer.code(power(self.conditional.scale, -0.5)).wrapped(2)
                noise = "normal(random)" if spread == "1" else f"{spread} * normal(random)"
                middle = f"{right}[batch * eliminated * outputs + i]"
                printer.line("for (int64_t i = 0; i < eliminated * outputs; i++)")
                if self.conditional.matrix is None or step.output is None:
                    printer.line(f"    drawn[i] = {middle} + {noise};")
                else:
                    printer.line(f"    drawn[i] = {noise};")
                    self.colour(self.conditional.matrix, step.output)
                    printer.line("for (int64_t i = 0; i < eliminated * outputs; i++)")
                    printer.line(f"    drawn[i] += {middle};")
                self.subtract_outer()
                if step.along is None:
                    printer.line(f"solved(eliminated, {root} + batch * eliminated * eliminated, outputs, drawn);")
                else:
                    following = printer.column(f"{step.name}.next")
                    parts = ", ".join(f"{part} + batch * eliminated * state" for part in (root, following))
                    printer.line(f"solved_along(steps, state, {parts}, outputs, drawn);")
                self.store()

    def colour(self, matrix: Expression, output: Index) -> None:
        """Outputs that share a precision matrix."""
        printer = self.printer
        name = printer.filled(matrix, output, Index(output.name + "'", output.plate))
        printer.line(f"if (!coloured(eliminated, outputs, {name}, drawn))")
        printer.line("    return 4;")

    def subtract_outer(self) -> None:
        printer, step = self.printer, self.step
        for number, column in enumerate(step.outer):
            cross = printer.column(f"{step.name}.cross_{number}")
            with printer.nested(""), ExitStack() as loops:
                wide = self.long(columns_extent((column,)))
                flat = ""
                for index in column.dense:
                    variable = loops.enter_context(printer.loop(index))
                    flat = f"({flat}) * {printer.size(index.plate)} + {variable}" if flat else variable
                value = printer.code(Reference(column.variable, column.at)).text
                printer.line(f"const double value = {value};")
                printer.line("for (int64_t r = 0; r < eliminated; r++)")
                at = f"(batch * eliminated + r) * ({wide}) + {flat or '0'}"
                printer.line(f"    drawn[r] -= {cross}[{at}] * value;")

    def store(self) -> None:
        """Each unknown at its place."""
        printer, step = self.printer, self.step
        for number, column in enumerate(step.columns[: step.eliminated]):
            start = self.long(state_extent(step, step.columns[:number]))
            with printer.nested(""), ExitStack() as loops:
                flat, now = "", ""
                for index in column.dense:
                    variable = loops.enter_context(printer.loop(index))
                    if index.plate == step.along:
                        now = f"{variable} * state + "
                    else:
                        flat = f"({flat}) * {printer.size(index.plate)} + {variable}" if flat else variable
                slot = f"({now}{start} + {flat})" if flat else f"({now}{start})"
                output = ""
                if step.output is not None:
                    output = " + " + loops.enter_context(printer.loop(step.output))
                target = printer.code(Reference(column.variable, column.at)).text
                printer.line(f"{target} = drawn[{slot} * outputs{output}];")
                printer.line(f"if (!isfinite({target}))")
                printer.line("    return 4;")
