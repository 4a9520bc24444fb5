"""Which axis of a table an index picks: the one that it belongs to by name, wherever it was written.

    table on (origin, state), both the same set        table[m.lag("z")]            the first, in the order of `over=`
    table on (sex, region)                             table[m.r]                   region, whose elements r picks
    an expression on two plates that are one set       table[origin : m.lag("z")]   as said; without it, refused

Random variables, inputs and `pw.array` have an order that was written. An expression has none: where an index could
mean two of its axes, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platewright.algebra.expression import Lag, Literal, Reference
from platewright.errors import PlateError, UnknownName
from platewright.language.plate import Plate, root_of
from platewright.language.variable import Variable


@dataclass(frozen=True)
class Axes:
    """The axes of a table that can still be indexed: their plates, and whether somebody wrote down their order."""

    name: str
    plates: tuple[str, ...]
    is_ordered: bool
    roots: tuple[str, ...]

    def of_category(self, root: str) -> list[int]:
        """The axes along which a category with these levels can pick."""
        return [axis for axis, own in enumerate(self.roots) if own == root]

    def met_twice(self) -> list[int]:
        """The axes whose set another axis has too."""
        return [axis for axis, own in enumerate(self.roots) if self.roots.count(own) > 1]


@dataclass(frozen=True, eq=False)
class Picking:
    """The variables and plates of a model, as far as written; what its names remember until they are indexed."""

    variables: Mapping[str, Variable]
    plates: Mapping[str, Plate]

    def in_place(self, table: Reference | Literal, positions: Sequence[object]) -> tuple[object, ...]:
        """One position for each axis that is free, in the order of the axes; `:` for those that are left alone."""
        axes = self._axes(table)
        if len(positions) > len(axes.plates):
            return tuple(positions)  # which is refused with the number of axes
        chosen: dict[int, object] = {}
        rest: list[tuple[int, object]] = []
        for number, position in enumerate(positions):
            axis, what = _named(position, axes) or (self._axis_of(position, number, axes), position)
            if axis is None:
                rest.append((number, what))
            elif axis in chosen:
                raise _unclear(axes, [axis], "two indices pick it")
            else:
                chosen[axis] = what
        for number, what in rest:
            free = [axis for axis in range(len(axes.plates)) if axis not in chosen]
            chosen[number if number in free else free[0]] = what
        return tuple(chosen.get(axis, slice(None)) for axis in range(len(axes.plates)))

    def _axes(self, table: Reference | Literal) -> Axes:
        """The axes, but for a step back."""
        if isinstance(table, Literal):
            names, is_ordered, name = list(table.plates), True, "a table"
        else:
            variable = self.variables[table.name]
            names, name = [axis.plate for axis in variable.axes], table.name
            is_ordered = variable.definition is None or isinstance(variable.definition, Literal)
        names = [plate for plate, part in zip(names, table.indices, strict=True) if not isinstance(part, Lag)]
        return Axes(name, tuple(names), is_ordered, tuple(root_of(self.plates, plate) for plate in names))

    def _axis_of(self, position: object, number: int, axes: Axes) -> int | None:
        """The axis that a category belongs to; None where it belongs to none, and its place says which is meant."""
        if not isinstance(position, Reference):
            return None
        if position.name not in self.variables:  # the variable being defined: its own set, which the table has twice
            own = axes.met_twice()
        elif self.variables[position.name].domain.kind == "levels":
            own = axes.of_category(root_of(self.plates, str(self.variables[position.name].domain.levels)))
        else:
            return None
        if len(own) <= 1:
            return own[0] if own else None
        if axes.is_ordered and number in own:
            return number
        raise _unclear(axes, own, f"`{position.name}` could pick each of them")


def _named(position: object, axes: Axes) -> tuple[int, object] | None:
    """`origin : index` says which axis is meant."""
    if not isinstance(position, slice) or position.stop is None:
        return None
    if not isinstance(position.start, Plate):
        raise PlateError(f"`{axes.name}` indexed by a slice", expected="an index, `:`, or `plate : index`")
    if position.start.name not in axes.plates:
        raise UnknownName(position.start.name, axes.plates, where=f"axes of {axes.name}")
    return axes.plates.index(position.start.name), position.stop


def _unclear(axes: Axes, own: Sequence[int], why: str) -> PlateError:
    """The refusal to guess."""
    listed = [axes.plates[axis] for axis in own]
    return PlateError(
        f"which axis of `{axes.name}` is meant is not clear: {why} ({', '.join(listed)})",
        where=f"an index of {axes.name}",
        expected=f"the axis by its name: {axes.name}[{listed[0]} : index]",
        hint="the axes of an expression have no order; those of pw.array(values, over=(a, b)) have the order of over=",
    )
