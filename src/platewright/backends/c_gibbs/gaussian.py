"""Print the draw of a Gaussian block as C: noise, what the unknowns outside explain, and back substitution.

R u = right - cross v + noise / sqrt(scale)          given the unknowns v that were drawn before
"""

from __future__ import annotations

from contextlib import ExitStack

from platewright.algebra.expression import Index, Reference
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.function import Extent, Function
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
            printer.line(f"const int64_t eliminated = {self.long(self.own)}, outputs = {self.long(self.outputs)};")
            printer.line("double *const drawn = space(chain, eliminated * outputs);")
            printer.line("if (!drawn)")
            printer.line("    return 2;")
            with ExitStack() as loops:
                for index in step.batch:
                    loops.enter_context(printer.loop(index))
                sizes = [printer.size(index.plate) for index in step.batch]
                printer.line(f"const int64_t batch = {printer.offset(step.batch, sizes) if step.batch else 0};")
                printer.line(f"const double spread = 1.0 / sqrt({printer.code(self.conditional.scale).text});")
                printer.line("for (int64_t i = 0; i < eliminated * outputs; i++)")
                printer.line("    drawn[i] = spread * normal(random);")
                self.colour()
                printer.line("for (int64_t i = 0; i < eliminated * outputs; i++)")
                printer.line(f"    drawn[i] += {right}[batch * eliminated * outputs + i];")
                self.subtract_outer()
                printer.line(f"solved(eliminated, {root} + batch * eliminated * eliminated, outputs, drawn);")
                self.store()

    def colour(self) -> None:
        """Outputs that share a precision matrix."""
        if self.conditional.matrix is None or self.step.output is None:
            return
        printer, output = self.printer, self.step.output
        other = Index(output.name + "'", output.plate)
        name = printer.filled(self.conditional.matrix, output, other)
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
            start = self.long(columns_extent(step.columns[:number]))
            with printer.nested(""), ExitStack() as loops:
                flat = ""
                for index in column.dense:
                    variable = loops.enter_context(printer.loop(index))
                    flat = f"({flat}) * {printer.size(index.plate)} + {variable}" if flat else variable
                slot = f"({start} + {flat})" if flat else f"({start})"
                output = ""
                if step.output is not None:
                    output = " + " + loops.enter_context(printer.loop(step.output))
                target = printer.code(Reference(column.variable, column.at)).text
                printer.line(f"{target} = drawn[{slot} * outputs{output}];")
                printer.line(f"if (!isfinite({target}))")
                printer.line("    return 4;")
