"""Print the log density of a block and its slopes, at values that belong to coordinates without constraints.

Factors and slopes over the same rows share one loop; many rows are worked on in blocks (`blocked.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from platewright.algebra.build import add, multiply
from platewright.algebra.expression import Add, Expression, Index, Reference, free_indices, names, parts
from platewright.backends.c.expression import CCode
from platewright.backends.c_gibbs.blocked import LEAST, goes_in_blocks
from platewright.backends.c_gibbs.coordinates import Piece
from platewright.backends.c_gibbs.expression import is_costly, is_product
from platewright.backends.c_gibbs.function import Function
from platewright.graph.graph import Factor
from platewright.program.derivatives import Slope

Item = Expression | Slope
Axes = tuple[Index, ...]


class DensityWriter:
    """Prints the log density of a block, with or without its gradient, into a function."""

    def __init__(self, function: Function, factors: Sequence[Factor], slopes: Sequence[Slope] = ()) -> None:
        self.function = function
        self.printer = function.printer
        self.factors = factors
        self.slopes = slopes

    def add_up(self, variables: Sequence[str], pieces: Sequence[Piece] = ()) -> None:
        """Log factors into `total` and slopes into `slope`: a loop for all over the same rows."""
        begin = {piece.node.name: piece for piece in pieces}
        single = [piece for piece in pieces if not piece.node.axes]
        for piece in single:
            self.printer.line(f"double slope_of_{self.printer.column(piece.node.name)} = 0.0;")
        rows = self.over_rows(frozenset(variables))
        blocked = self.blocked(rows)
        for over, group in rows.items():
            if over in blocked:
                self.blocks_of_rows(over, blocked[over], rows, begin)
            elif not any(over[: len(axes)] == axes for axes in blocked):
                self.plain_rows(over, group, begin)
        for piece in single:
            place = piece.slope_at(self.function, "0")
            self.printer.line(f"{place} += slope_of_{self.printer.column(piece.node.name)};")

    def over_rows(self, wanted: frozenset[str]) -> dict[Axes, list[Item]]:
        """Terms of factors and slopes by the rows that they are over."""
        rows: dict[Axes, list[Item]] = {}
        for factor in self.factors:
            whole = factor.expression
            terms = whole.terms if isinstance(whole, Add) else (whole,)
            rows.setdefault(factor.axes, []).extend(term for term in terms if names(term) & wanted)
        for slope in self.slopes:
            rows.setdefault(slope.over, []).append(slope)
        return rows

    def plain_rows(self, over: Axes, group: Sequence[Item], begin: dict[str, Piece]) -> None:
        """Row after row."""
        with ExitStack() as loops:
            for index in over:
                loops.enter_context(self.printer.loop(index))
            for item in group:
                self.item(item, begin)

    def item(self, item: Item, begin: dict[str, Piece]) -> None:
        if not isinstance(item, Slope):
            self.printer.line(f"total += {self.printer.code(item).whole};")
            return
        self.printer.line(f"{self.target(item, begin)} += {self.printer.code(item.expression).whole};")

    def target(self, slope: Slope, begin: dict[str, Piece]) -> str:
        """Where a slope is added up."""
        piece = begin[slope.variable]
        if not piece.node.axes:
            return f"slope_of_{self.printer.column(slope.variable)}"
        sizes = [self.printer.size(axis.plate) for axis in piece.node.axes]
        return piece.slope_at(self.function, self.printer.offset(slope.at, sizes))

    # -- blocks of rows ------------------------------------------------------------------------------------------------

    def blocked(self, rows: Mapping[Axes, Sequence[Item]]) -> dict[Axes, Index]:
        """Rows that are worked on in blocks, with the plate that is cut: the longest, where that pays.

        What is over the same rows and inner plates besides goes along with them.
        """
        lengths = self.function.arrays.lengths
        found: dict[Axes, Index] = {}
        for over in sorted(rows, key=len):
            if not over or any(over[: len(axes)] == axes for axes in found):
                continue
            longest = max(over, key=lambda index: lengths.get(index.plate, 0))
            group = [item for other, items in rows.items() if other[: len(over)] == over for item in items]
            expressions = [item.expression if isinstance(item, Slope) else item for item in group]
            if lengths.get(longest.plate, 0) >= LEAST and goes_in_blocks(expressions, longest):
                found[over] = longest
        return found

    def blocks_of_rows(
        self, over: Axes, index: Index, rows: Mapping[Axes, Sequence[Item]], begin: dict[str, Piece]
    ) -> None:
        """All rows of a block at once; what is over inner plates besides shares what it has in common with them."""
        with ExitStack() as loops:
            for other in over:
                if other != index:
                    loops.enter_context(self.printer.loop(other))
            loops.enter_context(self.printer.blocks(index))
            for more, items in rows.items():
                if more[: len(over)] == over:
                    for item in items:
                        self.item_of_rows(item, more[len(over) :], begin)

    def item_of_rows(self, item: Item, inner: Axes, begin: dict[str, Piece]) -> None:
        """One item for a block of rows, at the elements of inner plates: those of costly parts outside the others."""
        whole = item.expression if isinstance(item, Slope) else item
        costly = [part for part in parts(whole) if is_costly(part)]
        needed = {index: sum(index in free_indices(part) for part in costly) for index in inner}
        with ExitStack() as loops:
            ordered = sorted(inner, key=lambda index: -needed[index])
            for index in ordered:
                loops.enter_context(self.printer.loop(index))
            if isinstance(item, Slope):
                self.slope_of_rows(item, ordered[-1] if ordered else None, begin)
            else:
                self.printer.each(f"total += {self.printer.code(item).whole};")

    def slope_of_rows(self, slope: Slope, innermost: Index | None, begin: dict[str, Piece]) -> None:
        printer = self.printer
        apart = any(printer.differs(place) for place in slope.at)
        value = self.along(slope.expression, innermost)
        if not begin[slope.variable].node.axes:
            printer.each(f"{self.target(slope, begin)} += {value.whole};")
        elif not apart:  # one place for all rows
            found = printer.temporary("sum")
            printer.line(f"double {found} = 0.0;")
            printer.each(f"{found} += {value.whole};")
            printer.line(f"{self.target(slope, begin)} += {found};")
        else:  # rows may share a place: first their values, several at a time, then one after another
            name = printer.array_of(value.text)
            printer.each_apart(f"{self.target(slope, begin)} += {name}[i];")

    def along(self, expression: Expression, innermost: Index | None) -> CCode:
        """A value in the innermost loop over a plate, where what does not change along it was computed before."""
        if innermost is None:
            return self.printer.code(expression)
        factors = is_product(with_common_factors_outside(expression))
        inside = [factor for factor in factors if innermost in free_indices(factor)]
        before = multiply(*(factor for factor in factors if factor not in inside))
        if not inside or not self.printer.differs(before) or isinstance(before, Reference):
            return self.printer.code(expression)
        text = " * ".join([self.printer.kept(before), *(self.printer.code(factor).wrapped(2) for factor in inside)])
        return CCode(text, 2)


def with_common_factors_outside(expression: Expression) -> Expression:
    """`a x - b x` as `(a - b) x`: factors that all terms of a sum have."""
    if not isinstance(expression, Add):
        return expression
    terms = [list(is_product(term)) for term in expression.terms]
    common = [factor for factor in terms[0] if all(factor in term for term in terms)]
    for term in terms:
        for factor in common:
            term.remove(factor)
    return multiply(add(*(multiply(*term) for term in terms)), *common)
