"""Print jumps between modes: unknowns turned over, and elements of a plate that change places.

The same kernel as `kernels/jumps.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from platewright.algebra.expression import Index
from platewright.backends.c_gibbs.block_density import DensityWriter
from platewright.backends.c_gibbs.function import Arrays, Function
from platewright.backends.kernels.jumps import PAIRS
from platewright.graph.graph import Factor, Graph

ACCEPTED = "if (uniform(random) * (1.0 + exp(height - other)) < 1.0)"


@dataclass(frozen=True)
class JumpWriter:
    """Prints one block."""

    arrays: Arrays
    graph: Graph
    number: int
    factors: Sequence[Factor]
    parts: Mapping[str, tuple[tuple[int, ...], int]]
    """Of each unknown its axes over the plates, and its other end, or whether its values are labels."""
    plates: tuple[str, ...]
    size: int
    """How many elements change places; 0 where unknowns are turned over."""

    def functions(self) -> list[str]:
        """The log factors as things are, what a jump does, and the move."""
        if self.size:
            return [self.density(), self.exchange(), self.exchanges()]
        return [self.density(), self.turn(), self.turns()]

    @property
    def about(self) -> str:
        return f"block {self.number}: {', '.join(self.parts)}"

    def function(self) -> Function:
        return Function(self.arrays, self.number, {}, {})

    def density(self) -> str:
        function = self.function()
        function.printer.line("double total = 0.0;")
        DensityWriter(function, self.factors).add_up(tuple(self.parts))
        return function.text(f"static double density_{self.number}(const struct chain *chain)", self.about, "total")

    # -- turned over ---------------------------------------------------------------------------------------------------

    def turn(self) -> str:
        """One element of the common plates, `at`, turned over."""
        function = self.function()
        printer = function.printer
        over = [Index(f"turned {plate}", plate) for plate in self.plates]
        for name, (shared, end) in self.parts.items():
            axes = self.graph.nodes[name].axes
            indices = tuple(over[shared.index(axis)] if axis in shared else own for axis, own in enumerate(axes))
            with printer.nested(""), ExitStack() as loops:
                for number, index in enumerate(over):
                    loops.enter_context(printer.at(index, f"at[{number}]"))
                for index in indices:
                    if index not in over:
                        loops.enter_context(printer.loop(index))
                place = printer.offset(indices, [printer.size(index.plate) for index in indices]) if indices else "0"
                cell = f"{printer.column(name)}[{place}]"
                printer.line(f"{cell} = {end or ''}{' ' if end else ''}-{' ' if end else ''}{cell};")
        printer.line("(void)at;")
        head = f"static int turn_{self.number}(const struct chain *chain, const int64_t *at)"
        return function.text(head, f"{self.about} turned over", "0")

    def turns(self) -> str:
        function = self.function()
        printer = function.printer
        printer.line(f"int64_t at[{max(len(self.plates), 1)}] = {{0}};")
        printer.line(f"double height = density_{self.number}(chain);")
        with ExitStack() as loops:
            for number, plate in enumerate(self.plates):
                size = printer.size(plate)
                loops.enter_context(printer.nested(f"for (at[{number}] = 0; at[{number}] < {size}; at[{number}]++)"))
            printer.line(f"turn_{self.number}(chain, at);")
            printer.line(f"const double other = density_{self.number}(chain);")
            with printer.nested(ACCEPTED):
                printer.line("height = other;")
            with printer.nested("else"):
                printer.line(f"turn_{self.number}(chain, at);")
        return function.text(f"static int draw_{self.number}(struct chain *chain)", f"{self.about} turned over")

    # -- exchanged -----------------------------------------------------------------------------------------------------

    def exchange(self) -> str:
        """Elements at[0] and at[1] change places."""
        function = self.function()
        printer = function.printer
        for name, (axes, is_label) in self.parts.items():
            column, every = printer.column(name), self.graph.nodes[name].axes
            indices = tuple(Index(f"exchanged {number}", axis.plate) for number, axis in enumerate(every))
            sizes = [printer.size(index.plate) for index in indices]
            if is_label:
                with printer.nested(""), ExitStack() as loops:
                    for index in indices:
                        loops.enter_context(printer.loop(index))
                    cell = f"{column}[{printer.offset(indices, sizes) if indices else '0'}]"
                    printer.line(f"{cell} = {cell} == at[0] ? at[1] : {cell} == at[1] ? at[0] : {cell};")
            for axis in axes:
                with printer.nested(""), ExitStack() as loops:
                    for number, index in enumerate(indices):
                        if number != axis:
                            loops.enter_context(printer.loop(index))
                    places = []
                    for end in ("at[0]", "at[1]"):
                        with printer.at(indices[axis], end):
                            places.append(f"{column}[{printer.offset(indices, sizes)}]")
                    kind = "int64_t" if name in self.arrays.integers else "double"
                    printer.line(f"const {kind} kept = {places[0]};")
                    printer.line(f"{places[0]} = {places[1]};")
                    printer.line(f"{places[1]} = kept;")
        head = f"static int exchange_{self.number}(const struct chain *chain, const int64_t *at)"
        return function.text(head, f"{self.about} exchanged", "0")

    def exchanges(self) -> str:
        size, pairs = self.size, PAIRS if self.size > 2 else PAIRS[:1]
        function = self.function()
        printer = function.printer
        printer.line(f"static const int pairs[] = {{{', '.join(map(str, pairs))}}};")
        printer.line(f"double height = density_{self.number}(chain);")
        with printer.nested(f"for (int jump = 0; jump < {len(pairs)}; jump++)"):
            printer.line(f"int64_t at[{2 * max(pairs)}];")
            with printer.nested("for (int k = 0; k < pairs[jump]; k++)"):
                printer.line(f"at[2 * k] = (int64_t)(uniform(random) * {size}) % {size};")
                printer.line(
                    f"at[2 * k + 1] = (at[2 * k] + 1 + (int64_t)(uniform(random) * {size - 1}) % {size - 1}) % {size};"
                )
                printer.line(f"exchange_{self.number}(chain, at + 2 * k);")
            printer.line(f"const double other = density_{self.number}(chain);")
            with printer.nested(ACCEPTED):
                printer.line("height = other;")
            with printer.nested("else"), printer.nested("for (int k = pairs[jump] - 1; k >= 0; k--)"):
                printer.line(f"exchange_{self.number}(chain, at + 2 * k);")
        return function.text(f"static int draw_{self.number}(struct chain *chain)", f"{self.about} exchanged")
