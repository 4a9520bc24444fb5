"""Print unknowns on coordinates without constraints (`run/samplers/unconstrained.py`), log densities and gradients.

    positive    x = exp(u)                interval    x = low + (high - low) logistic(u)

A function puts the values that belong to coordinates into the arrays of the unknowns and evaluates there. Factors and
slopes over the same rows share one loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from platewright.algebra.expression import Add, Expression, Index, names
from platewright.backends.c.expression import Unprintable
from platewright.backends.c_gibbs.function import Extent, Function
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.schemas.slopes import Slope


@dataclass(frozen=True)
class Piece:
    """The coordinates of one unknown: its ends, and where they begin among those of the block."""

    node: Variable
    lower: float
    upper: float
    before: Extent

    @property
    def length(self) -> Extent:
        """How many there are."""
        return (tuple(axis.plate for axis in self.node.axes),)

    def value(self, u: str) -> tuple[str, str]:
        """The value at a coordinate, and the log of the volume factor."""
        low, high = self.lower, self.upper
        if math.isfinite(low) and math.isfinite(high):
            volume = f"-fabs({u}) - 2.0 * softening({u}) + {math.log(high - low)!r}"
            return f"{low!r} + {high - low!r} * logistic_of({u})", volume
        if math.isfinite(low):
            return f"{low!r} + exp({u})", u
        return (f"{high!r} - exp({u})", u) if math.isfinite(high) else (u, "0.0")

    def coordinate(self, x: str) -> str:
        """The coordinate of a value."""
        low, high = self.lower, self.upper
        if math.isfinite(low) and math.isfinite(high):
            return f"log(({x} - {low!r}) / ({high!r} - {x}))"
        if math.isfinite(low):
            return f"log({x} - {low!r})"
        return f"log({high!r} - {x})" if math.isfinite(high) else x

    def slope(self, u: str, slope: str) -> str:
        """The slope in the coordinate, volume factor included, from that in the value."""
        low, high = self.lower, self.upper
        if math.isfinite(low) and math.isfinite(high):
            share = f"logistic_of({u})"
            return f"{slope} * {high - low!r} * {share} * (1.0 - {share}) + 1.0 - 2.0 * {share}"
        if math.isfinite(low):
            return f"{slope} * exp({u}) + 1.0"
        return f"1.0 - {slope} * exp({u})" if math.isfinite(high) else slope


def pieces_of(graph: Graph, variables: Sequence[str]) -> tuple[Piece, ...]:
    """The coordinates of a block, one unknown after another."""
    found: list[Piece] = []
    before: Extent = ()
    for name in variables:
        node = graph.nodes[name]
        if node.domain.kind not in ("real", "vector", "circle"):
            raise Unprintable(f"`{name}` is {node.domain}, and C moves no such coordinates")
        lower, upper = (-math.pi, math.pi) if node.domain.kind == "circle" else (node.domain.lower, node.domain.upper)
        if node.domain.kind == "vector":
            lower, upper = -math.inf, math.inf
        found.append(Piece(node, lower, upper, before))
        before = (*before, *found[-1].length)
    return tuple(found)


def whole_length(pieces: Sequence[Piece]) -> Extent:
    """How many coordinates a block has."""
    return tuple(part for piece in pieces for part in piece.length)


class DensityWriter:
    """Prints the log density of a block, with or without its gradient, into a function."""

    def __init__(self, function: Function, factors: Sequence[Factor], slopes: Sequence[Slope] = ()) -> None:
        self.function = function
        self.printer = function.printer
        self.factors = factors
        self.slopes = slopes

    def place(self, pieces: Sequence[Piece]) -> None:
        """Values at the coordinates `u`, and the sum of their log volume factors in `total`."""
        for piece in pieces:
            array = self.printer.column(piece.node.name)
            with self.printer.nested(f"for (int64_t i = 0; i < {self.function.length_text(piece.length)}; i++)"):
                self.printer.line(f"const double at = u[{self.start(piece)}i];")
                value, volume = piece.value("at")
                self.printer.line(f"{array}[i] = {value};")
                if volume != "0.0":
                    self.printer.line(f"total += {volume};")

    def start(self, piece: Piece) -> str:
        text = self.function.length_text(piece.before) if piece.before else "0"
        return "" if text == "0" else f"{text} + "

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
            place = f"slope[{self.start(piece)}0]"
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
        self.printer.line(f"slope[{self.start(piece)}{self.printer.offset(item.at, sizes)}] += {value};")
