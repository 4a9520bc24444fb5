"""The statements of a program: each is data that every backend can print or run.

A `Statistic` or `Pool` is a pass over rows and forms a monoid: partial results of any partition of the rows can be
merged (and, but for extremes, subtracted). All other statements work on what the passes left; N is gone by then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from platewright.algebra.expression import Expression, Index


@dataclass(frozen=True)
class Statistic:
    """`name[indices] = sum (or max) over rows of summand`: a sufficient statistic (Theorem 4.1)."""

    name: str
    indices: tuple[Index, ...]
    over: tuple[Index, ...]
    summand: Expression
    kind: OneOf["sum", "max", "min"] = "sum"
    because: str = ""


@dataclass(frozen=True)
class Feature:
    """One column of a row for each position of `inner`."""

    expression: Expression
    inner: tuple[Index, ...] = ()


@dataclass(frozen=True)
class Cell:
    """A group of rows: `index` numbers the groups, `code` says which group a row is in."""

    index: Index
    code: Expression


@dataclass(frozen=True)
class Pool:
    """Weight, mean and centred scatter of row features in each cell: all that a Gaussian needs of its rows."""

    name: str
    over: tuple[Index, ...]
    cells: tuple[Cell, ...]
    features: tuple[Feature, ...]
    weight: Expression
    because: str = ""


@dataclass(frozen=True)
class Assign:
    """`name[indices] = expression`."""

    name: str
    indices: tuple[Index, ...]
    expression: Expression
    because: str = ""


@dataclass(frozen=True)
class Column:
    """The columns of a least-squares problem that belong to one unknown: one for each position of `dense`."""

    variable: str
    dense: tuple[Index, ...]
    at: tuple[Expression, ...] = ()
    """Where the unknown is looked up: batch indices, functions of them, and the dense indices."""


@dataclass(frozen=True)
class Entry:
    """Feature number `feature` of a source belongs to column block `column` at `positions` on its dense axes."""

    feature: int
    column: int
    positions: tuple[Expression, ...]


@dataclass(frozen=True)
class Source:
    """Rows of a least-squares problem, pooled in cells or one row a cell.

    `cells` are the batch indices and then others; the last features are the right-hand sides.
    """

    owner: str
    pool: str | None
    cells: tuple[Index, ...]
    features: tuple[Feature, ...]
    weight: Expression
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Triangularise:
    """Eliminate the first `eliminated` column blocks, in each batch, by orthogonal triangularisation of all rows.

    Leaves `name.root`, `name.log_root`, `name.cross_<k>` (one for each other column block), `name_solution`, and what
    the rows say about the other columns: `name.left_<k>`, `name.left` or, when no other is there, `name.residual`.

    `along` is an ordered plate on which the eliminated columns are a chain: a row touches them at one step, and at the
    one before. They are eliminated step by step then, in time and memory that grow with the steps.
    """

    name: str
    batch: tuple[Index, ...]
    columns: tuple[Column, ...]
    eliminated: int
    sources: tuple[Source, ...]
    output: Index | None = None
    because: str = ""
    along: str | None = None

    @property
    def outer(self) -> tuple[Column, ...]:
        """Columns of unknowns that are eliminated later."""
        return self.columns[self.eliminated :]

    def inside(self, column: Column) -> tuple[Index, ...]:
        """The dense indices of a column at one step: without that of the plate along which steps follow each other."""
        return tuple(index for index in column.dense if index.plate != self.along)

    def step_of(self, source: Source) -> Index:
        """The index of a source that numbers the steps."""
        return next(index for index in source.cells[len(self.batch) :] if index.plate == self.along)


Statement = Statistic | Pool | Assign | Triangularise
