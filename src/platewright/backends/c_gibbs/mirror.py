"""Print moves that turn the signs of unknowns over.

The same kernel as `kernels/mirror_moves.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from platewright.algebra.expression import Index
from platewright.backends.c_gibbs.block_density import DensityWriter
from platewright.backends.c_gibbs.function import Arrays, Function
from platewright.graph.graph import Factor, Graph


@dataclass(frozen=True)
class MirrorWriter:
    """Prints one block."""

    arrays: Arrays
    number: int
    factors: Sequence[Factor]
    graph: Graph
    plates: tuple[str, ...]
    """Over whose elements signs turn one by one."""
    shared: Mapping[str, tuple[int, ...]]
    """Of each unknown that turns, the axes that are these plates."""

    def functions(self) -> list[str]:
        """The log density as things are, and the move."""
        return [self.density(), self.move()]

    def density(self) -> str:
        function = Function(self.arrays, self.number, {}, {})
        function.printer.line("double total = 0.0;")
        DensityWriter(function, self.factors).add_up(tuple(self.shared))
        about = f"block {self.number}: the log density of {', '.join(self.shared)}"
        return function.text(f"static double density_{self.number}(const struct chain *chain)", about, "total")

    def move(self) -> str:
        function = Function(self.arrays, self.number, {}, {})
        printer = function.printer
        over = [Index(f"turned {plate}", plate) for plate in self.plates]
        printer.line(f"double height = density_{self.number}(chain);")
        with ExitStack() as loops:
            for at in over:
                loops.enter_context(printer.loop(at))
            self.turn(function, over)
            printer.line(f"const double other = density_{self.number}(chain);")
            with printer.nested("if (log(uniform(random)) < other - height)"):
                printer.line("height = other;")
            with printer.nested("else"):
                self.turn(function, over)
        head = f"static int draw_{self.number}(struct chain *chain)"
        return function.text(head, f"block {self.number}: the signs of {', '.join(self.shared)}")

    def turn(self, function: Function, over: list[Index]) -> None:
        """Turn one sign over."""
        printer = function.printer
        for name, shared in self.shared.items():
            axes = self.graph.nodes[name].axes
            indices = tuple(over[shared.index(axis)] if axis in shared else own for axis, own in enumerate(axes))
            with printer.nested(""), ExitStack() as loops:
                for at in indices:
                    if at not in over:
                        loops.enter_context(printer.loop(at))
                place = printer.offset(indices, [printer.size(at.plate) for at in indices]) if indices else "0"
                printer.line(f"{printer.column(name)}[{place}] = -{printer.column(name)}[{place}];")
