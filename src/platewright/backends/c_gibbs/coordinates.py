"""Print unknowns on coordinates without constraints, as `backends/kernels/coordinates.py` has them.

    positive    x = exp(u)                interval    x = low + (high - low) logistic(u)         count    k = floor(u)

Probability vectors and matrices are whole values, whose charts are functions of their own (`charts.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from platewright.backends.c.expression import Unprintable
from platewright.backends.c_gibbs.function import Function, along
from platewright.graph.graph import Graph
from platewright.language.variable import Variable


@dataclass(frozen=True)
class Piece:
    """The coordinates of one unknown, and those that come before them in its block."""

    node: Variable
    before: tuple[Piece, ...]

    def count(self, function: Function) -> str:
        """How many there are."""
        return function.length_text((tuple(axis.plate for axis in self.node.axes),))

    def start(self, function: Function) -> str:
        """What is added to a place among its own to find it among all."""
        return f"{whole_count(function, self.before)} + " if self.before else ""

    def place(self, function: Function) -> None:
        """Put the values at the coordinates `u` into the array; the log of the volume factor goes into `total`."""
        raise NotImplementedError

    def free(self, function: Function) -> None:
        """Put the coordinates of the values into `u`: one for each element, unless values are whole."""
        array = function.printer.column(self.node.name)
        function.printer.line(self.each(function))
        function.printer.line(f"    u[{self.start(function)}i] = {self.coordinate(f'{array}[i]')};")

    def each(self, function: Function) -> str:
        """The loop over elements."""
        return f"for (int64_t i = 0; i < {self.count(function)}; i++)"

    def coordinate(self, x: str) -> str:
        """The coordinate of an element."""
        raise NotImplementedError

    def slope_at(self, function: Function, place: str) -> str:
        """Where the slope in a value is added up."""
        return f"slope[{self.start(function)}{place}]"

    def chain_rule(self, function: Function) -> None:
        """Slopes in the coordinates from those in the values."""
        raise NotImplementedError


@dataclass(frozen=True)
class Elements(Piece):
    """One coordinate for each element, within ends."""

    lower: float
    upper: float

    def place(self, function: Function) -> None:
        printer = function.printer
        array = printer.column(self.node.name)
        with printer.nested(self.each(function)):
            printer.line(f"const double at = u[{self.start(function)}i];")
            value, volume = self.value("at")
            printer.line(f"{array}[i] = {value};")
            if volume != "0.0":
                printer.line(f"total += {volume};")

    def chain_rule(self, function: Function) -> None:
        with function.printer.nested(self.each(function)):
            place = f"{self.start(function)}i"
            function.printer.line(f"const double at = u[{place}], along = slope[{place}];")
            function.printer.line(f"slope[{place}] = {self.slope('at', 'along')};")

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


@dataclass(frozen=True)
class Counts(Piece):
    """Whole numbers: k is the interval from k to k + 1, and outside the ends there is no volume."""

    lower: float
    upper: float

    def place(self, function: Function) -> None:
        printer = function.printer
        array = printer.column(self.node.name)
        with printer.nested(self.each(function)):
            printer.line(f"double at = floor(u[{self.start(function)}i]);")
            for end, beyond in ((self.lower, "<"), (self.upper, ">")):
                if math.isfinite(end):
                    with printer.nested(f"if (at {beyond} {end!r})"):
                        printer.line(f"at = {end!r};")
                        printer.line("total = -INFINITY;")
            printer.line(f"{array}[i] = (int64_t)at;")

    def coordinate(self, x: str) -> str:
        return f"(double){x} + uniform(random)"


@dataclass(frozen=True)
class Whole(Piece):
    """Values of several numbers: probability vectors (`shares`) or positive definite matrices (`matrices`)."""

    kind: str

    def count(self, function: Function) -> str:
        rows, wide = self.extents(function)
        each = f"({wide} - 1)" if self.kind == "shares" else f"({wide} * ({wide} + 1) / 2)"
        return each if rows == "1" else f"{rows} * {each}"

    def extents(self, function: Function) -> tuple[str, str]:
        """How many values, and how wide each is."""
        outer = self.node.axes[: -1 if self.kind == "shares" else -2]
        rows = function.length_text((tuple(axis.plate for axis in outer),))
        return rows, function.printer.size(self.node.axes[-1].plate)

    def place(self, function: Function) -> None:
        array, (rows, wide) = function.printer.column(self.node.name), self.extents(function)
        function.printer.line(f"total += {self.kind}_at(u + {self.start(function)}0, {rows}, {wide}, {array});")

    def free(self, function: Function) -> None:
        array, (rows, wide) = function.printer.column(self.node.name), self.extents(function)
        given = f"{array}, {rows}, {wide}, u + {self.start(function)}0"
        function.printer.line(f"coordinates_of_{self.kind}({given});")

    def slope_at(self, function: Function, place: str) -> str:
        return f"{self.slopes(function)}[{place}]"

    def slopes(self, function: Function) -> str:
        """The array for slopes in the values, of which there are more than coordinates."""
        return function.computed(f"slope of {self.node.name}", along(self.node.axes))

    def chain_rule(self, function: Function) -> None:
        rows, wide = self.extents(function)
        start = f"{self.start(function)}0"
        at = function.printer.column(self.node.name) if self.kind == "shares" else f"u + {start}"
        given = f"{at}, {self.slopes(function)}, {rows}, {wide}, slope + {start}"
        function.printer.line(f"slopes_of_{self.kind}({given});")


def pieces_of(graph: Graph, variables: Sequence[str]) -> tuple[Piece, ...]:
    """The coordinates of a block, one unknown after another."""
    found: tuple[Piece, ...] = ()
    for name in variables:
        node = graph.nodes[name]
        domain = node.domain
        match domain.kind:
            case "real":
                piece: Piece = Elements(node, found, domain.lower, domain.upper)
            case "vector":
                piece = Elements(node, found, -math.inf, math.inf)
            case "circle":
                piece = Elements(node, found, -math.pi, math.pi)
            case "integer":
                piece = Counts(node, found, domain.lower, domain.upper)
            case "simplex":
                piece = Whole(node, found, "shares")
            case "matrix":
                piece = Whole(node, found, "matrices")
            case _:
                raise Unprintable(f"`{name}` is {domain}, and C moves no such coordinates")
        found = (*found, piece)
    return found


def whole_count(function: Function, pieces: Sequence[Piece]) -> str:
    """How many coordinates several unknowns have; single ones are counted here."""
    parts = [piece.count(function) for piece in pieces]
    ones = parts.count("1")
    shown = [part for part in parts if part != "1"] + ([str(ones)] if ones or not parts else [])
    return " + ".join(shown)
