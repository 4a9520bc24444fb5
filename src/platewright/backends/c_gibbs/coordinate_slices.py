"""Print blocks that a slice moves along one coordinate after another: any density, no gradient.

The same kernel as `backends/kernels/coordinate_slices.py`; the caller sets the brackets during warm-up.
"""

from __future__ import annotations

from platewright.backends.c_gibbs.block_density import DensityWriter
from platewright.backends.c_gibbs.coordinates import pieces_of, whole_count
from platewright.backends.c_gibbs.function import Arrays, Function, Slot
from platewright.graph.graph import Graph
from platewright.schemas.blocks import CoordinateBlock

ALONG = ("coordinates", "widths", "moved")
"""One number for each coordinate: where it is, the width of its bracket, the sum of its moves."""


class CoordinateWriter:
    """Prints one block."""

    def __init__(self, arrays: Arrays, number: int, block: CoordinateBlock, graph: Graph) -> None:
        self.arrays = arrays
        self.number = number
        self.block = block
        self.pieces = pieces_of(graph, block.variables)
        self.local: dict[str, Slot] = {}

    def function(self) -> Function:
        return Function(self.arrays, self.number, self.local, {"tuning": (), **dict.fromkeys(ALONG, ())})

    def functions(self) -> list[str]:
        """The log density at coordinates, the same along one of them, and the move."""
        return [self.height(), self.density(), self.move()]

    def height(self) -> str:
        function = self.function()
        printer = function.printer
        printer.line("double total = 0.0;")
        for piece in self.pieces:
            piece.place(function)
        DensityWriter(function, self.block.factors).add_up(self.block.variables)
        head = f"static double height_{self.number}(const struct chain *chain, const double *u)"
        about = f"block {self.number}: the log density of {', '.join(self.block.variables)} at coordinates"
        return function.text(head, about, "isfinite(total) ? total : -INFINITY")

    def density(self) -> str:
        function = self.function()
        printer = function.printer
        printer.line(f"double *const u = {function.computed('coordinates', ())};")
        printer.line("u[at[0]] = x;")
        printer.line("(void)kept;")
        head = f"static double density_{self.number}("
        head += "const struct chain *chain, const int64_t *at, const double *kept, double x)"
        about = f"block {self.number}: the log density along one coordinate"
        return function.text(head, about, f"height_{self.number}(chain, u)")

    def move(self) -> str:
        function = self.function()
        printer = function.printer
        u, widths, moved = (function.computed(name, ()) for name in ALONG)
        tuning = function.computed("tuning", (((),),))
        printer.line(f"double *const u = {u};")
        for piece in self.pieces:
            piece.free(function)
        printer.line(f"if (!isfinite(height_{self.number}(chain, u)))")
        printer.line("    return bad;")
        with printer.nested(f"for (int64_t i = 0; i < {whole_count(function, self.pieces)}; i++)"):
            printer.line("const int64_t at[] = {i};")
            printer.line("const double start = u[i];")
            arguments = f"density_{self.number}, chain, random, at, NULL, start, {widths}[i]"
            printer.line(f"u[i] = slice_draw({arguments});")
            printer.line("if (!isfinite(u[i]))")
            printer.line("    return 4;")
            printer.line(f"{moved}[i] += fabs(u[i] - start);")
        printer.line(f"{tuning}[0] += 1.0;")
        printer.line("/* what was found becomes the state */")
        printer.line(f"height_{self.number}(chain, u);")
        head = f"static int draw_{self.number}(struct chain *chain)"
        return function.text(head, f"block {self.number}: {', '.join(self.block.variables)}, coordinate by coordinate")
