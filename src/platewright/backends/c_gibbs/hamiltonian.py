"""Print blocks that move several unknowns along their gradient.

A function for the log density and its gradient, and one for a path; the caller tunes steps and metric during warm-up.
"""

from __future__ import annotations

from contextlib import ExitStack

from platewright.backends.c_gibbs.arrow import TUNING
from platewright.backends.c_gibbs.block_density import DensityWriter
from platewright.backends.c_gibbs.coordinates import Whole, pieces_of, whole_count
from platewright.backends.c_gibbs.function import Arrays, Function, Slot
from platewright.graph.graph import Graph
from platewright.schemas.blocks import HamiltonianBlock


class HamiltonianWriter:
    """Prints one block."""

    def __init__(self, arrays: Arrays, number: int, block: HamiltonianBlock, graph: Graph) -> None:
        self.arrays = arrays
        self.number = number
        self.block = block
        self.graph = graph
        self.pieces = pieces_of(graph, block.variables)
        self.local: dict[str, Slot] = {}

    def function(self) -> Function:
        return Function(
            self.arrays, self.number, self.local, {"tuning": (), "curvature": (), "places": (), "spread_sums": ()}
        )

    def functions(self) -> list[str]:
        """Values at coordinates, the gradient, what the rest fixes of the precision, and the move."""
        return [self.place(), self.gradient(), self.precision(), self.move()]

    def place(self) -> str:
        function = self.function()
        function.printer.line("double total = 0.0;")
        for piece in self.pieces:
            piece.place(function)
        head = f"static double place_{self.number}(struct chain *chain, const double *u)"
        about = f"block {self.number}: {', '.join(self.block.variables)} at coordinates; the log of the volume factor"
        return function.text(head, about, "total")

    def gradient(self) -> str:
        function = self.function()
        printer = function.printer
        count = whole_count(function, self.pieces)
        printer.line(f"double total = place_{self.number}(chain, u);")
        printer.line(f"memset(slope, 0, sizeof(double) * ({count}));")
        for piece in self.pieces:
            if isinstance(piece, Whole):
                size = function.length_text((tuple(axis.plate for axis in piece.node.axes),))
                printer.line(f"memset({piece.slopes(function)}, 0, sizeof(double) * ({size}));")
        DensityWriter(function, self.block.factors, self.block.slopes).add_up(self.block.variables, self.pieces)
        for piece in self.pieces:
            piece.chain_rule(function)
        printer.line(f"for (int64_t i = 0; i < {count}; i++)")
        printer.line("    total += 0.0 * slope[i]; /* NaN when it is not finite */")
        printer.line("if (isfinite(total))")
        printer.line("    return total;")
        printer.line(f"memset(slope, 0, sizeof(double) * ({count}));")
        head = f"static double gradient_{self.number}(struct chain *chain, const double *u, double *slope)"
        about = f"block {self.number}: the log density of {', '.join(self.block.variables)} at coordinates, its slopes"
        return function.text(head, about, "-INFINITY")

    def precision(self) -> str:
        function = self.function()
        printer = function.printer
        count = whole_count(function, self.pieces)
        printer.line(f"memset(fixed, 0, sizeof(double) * ({count}));")
        begin = {piece.node.name: piece for piece in self.pieces}
        for form in self.block.scaled:
            axes = self.graph.nodes[form.name].axes
            with printer.nested(""), ExitStack() as loops:
                for index in axes:
                    loops.enter_context(printer.loop(index))
                sizes = [printer.size(index.plate) for index in axes]
                at = printer.offset(axes, sizes) if axes else "0"
                printer.line(f"fixed[{begin[form.name].start(function)}{at}] = {printer.code(form.precision).text};")
        head = f"static int precision_{self.number}(struct chain *chain, double *fixed)"
        return function.text(head, f"block {self.number}: the precision that the rest gives each coordinate")

    def move(self) -> str:
        function = self.function()
        printer = function.printer
        count = whole_count(function, self.pieces)
        tuning = function.computed("tuning", ((((),) * len(TUNING)),))
        curvature = function.computed("curvature", ())
        places = function.computed("places", (), integer=True)
        sums = function.computed("spread_sums", ())
        printer.line(f"const int64_t count = {count}, learned = metric_size(count, {tuning});")
        printer.line("double *const room = space(chain, 100 * count + learned);")
        printer.line("if (!room)")
        printer.line("    return 2;")
        printer.line("double *const u = room + learned, *const fixed = u + count;")
        for piece in self.pieces:
            piece.free(function)
        printer.line(f"bad |= precision_{self.number}(chain, fixed);")
        given = f"count, room, {tuning}, {places}, {curvature}, {sums}"
        printer.line(f"if (!move_along(gradient_{self.number}, chain, {given}))")
        printer.line("    return 4;")
        printer.line(f"place_{self.number}(chain, u);")
        head = f"static int draw_{self.number}(struct chain *chain)"
        return function.text(head, f"block {self.number}: a path of {', '.join(self.block.variables)}")
