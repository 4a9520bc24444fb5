"""Print the log density of a block and its slopes, at values that belong to coordinates without constraints.

Factors and slopes over the same rows share one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from platewright.algebra.expression import Add, Expression, Index, names
from platewright.backends.c_gibbs.coordinates import Piece
from platewright.backends.c_gibbs.function import Function
from platewright.graph.graph import Factor
from platewright.schemas.slopes import Slope


class DensityWriter:
    """Prints the log density of a block, with or without its gradient, into a function."""

    def __init__(self, function: Function, factors: Sequence[Factor], slopes: Sequence[Slope] = ()) -> None:
        self.function = function
        self.printer = function.printer
        self.factors = factors
        self.slopes = slopes

    def add_up(self, variables: Sequence[str], pieces: Sequence[Piece] = ()) -> None:
        """Log factors into `total` and slopes into `slope`: a loop for all over the same rows."""
        wanted = frozenset(variables)
        rows: dict[tuple[Index, ...], list[Expression | Slope]] = {}
        for factor in self.factors:
            whole = factor.expression
            terms = whole.terms if isinstance(whole, Add) else (whole,)
            rows.setdefault(factor.axes, []).extend(term for term in terms if names(term) & wanted)
        for slope in self.slopes:
            rows.setdefault(slope.over, []).append(slope)
        begin = {piece.node.name: piece for piece in pieces}
        single = [piece for piece in pieces if not piece.node.axes]
        for piece in single:
            self.printer.line(f"double slope_of_{self.printer.column(piece.node.name)} = 0.0;")
        for over, group in rows.items():
            with ExitStack() as loops:
                for index in over:
                    loops.enter_context(self.printer.loop(index))
                for item in group:
                    self.item(item, begin)
        for piece in single:
            place = piece.slope_at(self.function, "0")
            self.printer.line(f"{place} += slope_of_{self.printer.column(piece.node.name)};")

    def item(self, item: Expression | Slope, begin: dict[str, Piece]) -> None:
        if not isinstance(item, Slope):
            self.printer.line(f"total += {self.printer.code(item).whole};")
            return
        piece = begin[item.variable]
        value = self.printer.code(item.expression).whole
        if not piece.node.axes:
            self.printer.line(f"slope_of_{self.printer.column(item.variable)} += {value};")
            return
        sizes = [self.printer.size(axis.plate) for axis in piece.node.axes]
        self.printer.line(f"{piece.slope_at(self.function, self.printer.offset(item.at, sizes))} += {value};")
