"""The program of an elimination at many points: rows as families with a scale each, and terms that hold no Gaussian.

    log p(data, held)  =  terms(held)  +  log integral over the Gaussian unknowns of  exp(-1/2 sum_f scale_f |rows_f|^2)

Everything that no held unknown enters is computed once; what is left is evaluated at a batch of points together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from platewright.algebra.expression import Expression, Index, Size, all_indices, walk
from platewright.program.program import statement_text
from platewright.program.statements import Column, Statistic

POINT = Index("point@", "point@")
"""Runs over the points: a held unknown has this index and no other."""


@dataclass(frozen=True)
class Placed:
    """A value of each row, over its axes and `inner`, in the column of an unknown at `at` of its own positions."""

    column: int
    at: tuple[Expression, ...]
    value: Expression
    inner: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Family:
    """Rows with one scale at a point: `weight` is known, `scale` holds what is held, `code` says whose they are."""

    owner: str
    axes: tuple[Index, ...]
    weight: Expression
    scale: Expression
    code: tuple[Expression, ...] | None
    own: tuple[Placed, ...]
    dense: tuple[Placed, ...]
    rest: Expression


@dataclass(frozen=True, eq=False)
class Pointwise:
    """Compared by identity, as programs are."""

    title: str
    columns: Mapping[str, tuple[Index, ...]]
    """Data that the program reads, with their axes."""
    held: tuple[str, ...]
    batch: tuple[Index, ...]
    own: tuple[Column, ...]
    """Unknowns of each element of the batch, eliminated element by element."""
    dense: tuple[Column, ...]
    """The other Gaussian unknowns."""
    families: tuple[Family, ...]
    statistics: tuple[Statistic, ...]
    terms: Expression
    sizes: Mapping[str, int]
    """Plate sizes that the model fixes."""

    @property
    def plates(self) -> tuple[str, ...]:
        """Plates whose size the program uses."""
        found: dict[str, None] = {}
        for axes in (*self.columns.values(), self.batch, *(family.axes for family in self.families)):
            found.update({axis.plate: None for axis in axes})
        for column in (*self.own, *self.dense):
            found.update({axis.plate: None for axis in column.dense})
        parts = [self.terms, *(statistic.summand for statistic in self.statistics)]
        for family in self.families:
            parts += [family.weight, family.rest, *(placed.value for placed in (*family.own, *family.dense))]
        for part in parts:
            found.update({axis.plate: None for axis in sorted(all_indices(part), key=str)})
            found.update({node.plate: None for node in walk(part) if isinstance(node, Size)})
        found.pop(POINT.plate, None)
        return tuple(found)


def pointwise_text(program: Pointwise) -> str:
    """The stable text form."""
    lines = [f"program {program.title} at points of {', '.join(program.held)}"]
    lines += [f"  data {name}[{', '.join(axis.name for axis in axes)}]" for name, axes in program.columns.items()]
    lines += [f"  pass {statement_text(statistic)}" for statistic in program.statistics]
    own, dense = (", ".join(c.variable for c in columns) or "nothing" for columns in (program.own, program.dense))
    over = ", ".join(index.name for index in program.batch) or "none"
    lines.append(f"  pass rows by element of {over}: columns of {own} taken out, columns of {dense} stay")
    for family in program.families:
        shown = " + ".join(str(part.value) for part in (*family.own, *family.dense))
        where = ", ".join(map(str, family.code)) if family.code is not None else "no element"
        lines.append(f"    rows of {family.owner} at {where}: ({shown}), {family.rest}; scale {family.scale}")
    lines.append(f"  at each point eliminate {own} for each of {over}, then {dense} together")
    return "\n".join([*lines, f"  at each point add {program.terms}"])
