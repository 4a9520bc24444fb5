"""Print moves of a scale together with what it scales: the standardised values stay, the scale is drawn by a slice.

The same kernel as `kernels/scale_moves.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from platewright.algebra.build import log, power
from platewright.backends.c_gibbs.block_density import DensityWriter
from platewright.backends.c_gibbs.coordinates import Elements
from platewright.backends.c_gibbs.function import Arrays, Function, Slot, along
from platewright.graph.graph import Graph
from platewright.program.derivatives import Scaled
from platewright.schemas.blocks import ScaleBlock


class ScaleWriter:
    """Prints one block."""

    def __init__(self, arrays: Arrays, number: int, block: ScaleBlock, graph: Graph) -> None:
        self.arrays = arrays
        self.number = number
        self.block = block
        self.graph = graph
        self.scale = block.variables[0]
        domain = graph.nodes[self.scale].domain
        self.piece = Elements(graph.nodes[self.scale], (), domain.lower, domain.upper)
        self.local: dict[str, Slot] = {}

    def function(self) -> Function:
        axes = {noise_of(form): self.graph.nodes[form.name].axes for form in self.block.scaled}
        function = Function(self.arrays, self.number, self.local, {**axes, "tuning": ()})
        for name, indices in axes.items():
            function.computed(name, along(indices))
        function.computed("tuning", ((((),) * 3),))
        return function

    def functions(self) -> list[str]:
        """The log density along the scale, and the move."""
        return [self.density(), self.move()]

    @contextmanager
    def elements(self, function: Function, form: Scaled) -> Iterator[tuple[str, str]]:
        """Inside, where we are among the elements of a scaled unknown: its value and its noise."""
        printer = function.printer
        indices = self.graph.nodes[form.name].axes
        with printer.nested(""), ExitStack() as loops:
            for index in indices:
                loops.enter_context(printer.loop(index))
            at = printer.offset(indices, [printer.size(index.plate) for index in indices]) if indices else "0"
            yield f"{printer.column(form.name)}[{at}]", f"{printer.column(noise_of(form))}[{at}]"

    def density(self) -> str:
        function = self.function()
        printer = function.printer
        value, volume = self.piece.value("x")
        printer.line(f"double total = {volume};")
        printer.line(f"{printer.column(self.scale)}[0] = {value};")
        for form in self.block.scaled:
            with self.elements(function, form) as (value, noise):
                mean, spread = printer.code(form.mean).text, printer.code(power(form.precision, -0.5)).wrapped(2)
                printer.line(f"{value} = {mean} + {noise} * {spread};")
                printer.line(f"total -= 0.5 * {printer.code(log(form.precision)).wrapped(2)};")
            printer.forget()  # what comes next may look at it
        DensityWriter(function, self.block.factors).add_up(self.block.variables)
        printer.line("(void)at, (void)kept;")
        head = f"static double density_{self.number}("
        head += "const struct chain *chain, const int64_t *at, const double *kept, double x)"
        shown = ", ".join(form.name for form in self.block.scaled)
        about = f"block {self.number}: the log density along {self.scale} while standardised {shown} stays"
        return function.text(head, about, "isfinite(total) ? total : -INFINITY")

    def move(self) -> str:
        function = self.function()
        printer = function.printer
        for form in self.block.scaled:
            with self.elements(function, form) as (value, noise):
                mean, root = printer.code(form.mean).wrapped(2), printer.code(power(form.precision, 0.5)).wrapped(2)
                printer.line(f"{noise} = ({value} - {mean}) * {root};")
        start = self.piece.coordinate(f"{printer.column(self.scale)}[0]")
        slice_along(function, self.number, start)
        printer.line(f"if (!isfinite({printer.column(self.scale)}[0]))")
        printer.line("    return 4;")
        head = f"static int draw_{self.number}(struct chain *chain)"
        shown = ", ".join(form.name for form in self.block.scaled)
        return function.text(head, f"block {self.number}: {self.scale}, and {shown} brought along")


def noise_of(form: Scaled) -> str:
    """The name of the array that holds what is scaled, in units of its scale."""
    return f"noise of {form.name}"


def slice_along(function: Function, number: int, start: str) -> None:
    """Draw by a slice along `density_*`, which leaves the state there; the caller sets the width by the moves."""
    printer = function.printer
    density, tuning = f"density_{number}", printer.column("tuning")
    printer.line(f"const double start = {start};")
    printer.line(f"const double found = slice_draw({density}, chain, random, NULL, NULL, start, {tuning}[0]);")
    printer.line(f"{tuning}[1] += fabs(found - start);")
    printer.line(f"{tuning}[2] += 1.0;")
