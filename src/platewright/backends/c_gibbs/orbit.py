"""Print moves of unknowns that multiply each other along their orbit.

The same kernel as `kernels/orbit_moves.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from platewright.algebra.expression import Index, Reference
from platewright.backends.c_gibbs.block_density import DensityWriter
from platewright.backends.c_gibbs.function import Arrays, Function, Slot, along
from platewright.backends.c_gibbs.scale import slice_along
from platewright.graph.graph import Graph
from platewright.schemas.blocks import OrbitBlock


class OrbitWriter:
    """Prints one block."""

    def __init__(self, arrays: Arrays, number: int, block: OrbitBlock, graph: Graph) -> None:
        self.arrays = arrays
        self.number = number
        self.block = block
        self.orbit = block.orbit
        self.graph = graph
        self.local: dict[str, Slot] = {}

    def function(self) -> Function:
        axes = {start_of(name): self.graph.nodes[name].axes for name in self.block.variables}
        function = Function(self.arrays, self.number, self.local, {**axes, "tuning": ()})
        for name, indices in axes.items():
            function.computed(name, along(indices))
        function.computed("tuning", ((((),) * 4),))
        return function

    def functions(self) -> list[str]:
        """The log density along the orbit, and the move."""
        return [self.density(), self.move()]

    @contextmanager
    def elements(self, function: Function, place: Reference) -> Iterator[None]:
        """Inside, one element after another of those that a reference stands for."""
        with function.printer.nested(""), ExitStack() as loops:
            for at in place.indices:
                if isinstance(at, Index):
                    loops.enter_context(function.printer.loop(at))
            yield

    def element(self, function: Function, place: Reference, start: bool = False) -> str:
        """An element, as it is or as it was at the start of the move."""
        printer = function.printer
        axes = self.graph.nodes[place.name].axes
        at = printer.offset(place.indices, [printer.size(axis.plate) for axis in axes]) if axes else "0"
        return f"{printer.column(start_of(place.name) if start else place.name)}[{at}]"

    def density(self) -> str:
        function = self.function()
        if self.block.along == "stretch":
            self.stretch(function)
        else:
            self.shift(function)
        DensityWriter(function, self.block.factors).add_up(self.block.variables)
        function.printer.line("(void)at, (void)kept;")
        head = f"static double density_{self.number}("
        head += "const struct chain *chain, const int64_t *at, const double *kept, double x)"
        about = f"block {self.number}: the log density along the orbit of {', '.join(self.block.variables)}"
        return function.text(head, about, "isfinite(total) ? total : -INFINITY")

    def stretch(self, function: Function) -> None:
        printer, slope, intercept = function.printer, self.orbit.slope, self.orbit.intercept
        many = " * ".join(printer.size(at.plate) for at in slope.indices if isinstance(at, Index)) or "1"
        held = 0 if intercept is None else 1
        printer.line(f"double total = x * (double)({many} - {self.length(function)} + {held});")
        printer.line(f"const double grown = exp(x), shrunk = exp(-x), middle = {printer.column('tuning')}[3];")
        x, start = printer.column(self.orbit.stretched), printer.column(start_of(self.orbit.stretched))
        printer.line(f"for (int64_t i = 0; i < {self.length(function)}; i++)")
        printer.line(f"    {x}[i] = middle + ({start}[i] - middle) * shrunk;")
        domain = self.graph.nodes[slope.name].domain
        ends = [f"value > {domain.lower!r}"] if math.isfinite(domain.lower) else []
        ends += [f"value < {domain.upper!r}"] if math.isfinite(domain.upper) else []
        with self.elements(function, slope):
            printer.line(f"const double value = {self.element(function, slope, start=True)} * grown;")
            if ends:
                printer.line(f"if (!({' && '.join(ends)}))")
                printer.line("    return -INFINITY;")
            printer.line(f"{self.element(function, slope)} = value;")
        if intercept is not None:
            self.make_good(function, intercept, "middle * expm1(x)")

    def shift(self, function: Function) -> None:
        printer, intercept = function.printer, self.orbit.intercept
        assert intercept is not None
        x, start = printer.column(self.orbit.stretched), printer.column(start_of(self.orbit.stretched))
        printer.line("double total = 0.0;")
        printer.line(f"for (int64_t i = 0; i < {self.length(function)}; i++)")
        printer.line(f"    {x}[i] = {start}[i] + x;")
        self.make_good(function, intercept, "x")

    def make_good(self, function: Function, intercept: Reference, change: str) -> None:
        """What the slope times a change adds is taken from the intercept."""
        with self.elements(function, intercept):
            before, slope = (self.element(function, place, start=True) for place in (intercept, self.orbit.slope))
            printed = f"{before} - {self.orbit.ratio!r} * {slope} * {change}"
            function.printer.line(f"{self.element(function, intercept)} = {printed};")

    def length(self, function: Function) -> str:
        axes = self.graph.nodes[self.orbit.stretched].axes
        return function.length_text((tuple(axis.plate for axis in axes),))

    def move(self) -> str:
        function = self.function()
        printer = function.printer
        for name in self.block.variables:
            count = function.length_text((tuple(axis.plate for axis in self.graph.nodes[name].axes),))
            start = printer.column(start_of(name))
            printer.line(f"memcpy({start}, {printer.column(name)}, sizeof(double) * ({count}));")
        if self.orbit.intercept is not None:
            count = self.length(function)
            printer.line("double sum = 0.0;")
            printer.line(f"for (int64_t i = 0; i < {count}; i++)")
            printer.line(f"    sum += {printer.column(self.orbit.stretched)}[i];")
            printer.line(f"{printer.column('tuning')}[3] = sum / (double)({count});")
        slice_along(function, self.number, "0.0")
        head = f"static int draw_{self.number}(struct chain *chain)"
        return function.text(head, f"block {self.number}: {', '.join(self.block.variables)} along their orbit")


def start_of(name: str) -> str:
    """The name of the array that holds what an unknown was at the start of a move."""
    return f"start of {name}"
