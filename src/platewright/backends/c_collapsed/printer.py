"""Print expressions of a collapsed sampler as C: tables in their own layout, for one level or for WIDE at a time.

1.2 + T[w[n], level]     prints     1.2 + (double)table_T[data_w[at] * stride + level]      for one level
                                    1.2 + COUNTS(row_T + at)                                for eight
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Lag,
    Literal,
    LogDeterminant,
    Reference,
    Size,
    children,
    free_indices,
    mentions,
)
from platewright.backends.c.expression import CCode, CPrinter, Unprintable
from platewright.backends.c_collapsed.support import WIDE


@dataclass(frozen=True)
class TableLayout:
    """How a table lies in memory: the axis that levels run along is the last one, padded to whole vectors."""

    name: str
    plates: tuple[str, ...]
    order: tuple[int, ...]
    """Axes of the table in the order in which they are stored."""
    type: str

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Extents in memory."""
        extents = [sizes[self.plates[axis]] for axis in self.order]
        if extents:
            extents[-1] = padded(extents[-1])
        return tuple(extents)


def padded(count: int) -> int:
    """The next multiple of WIDE."""
    return -(-count // WIDE) * WIDE


@dataclass
class CollapsedPrinter(CPrinter):
    """The printer of one emitted sampler."""

    tables_by_name: Mapping[str, TableLayout] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    rows: dict[Reference, str] = field(default_factory=dict)
    """While eight levels are printed at a time: the pointer to the row of each table."""
    cells: dict[Reference, str] = field(default_factory=dict)
    """While one level is printed: the cell of each row."""
    fixed: dict[Expression, str] = field(default_factory=dict)
    """Numbers that no element changes, computed once."""
    vector_level: Index | None = None
    """The index of the levels, while eight of them are printed at a time."""
    real: bool = False
    """Whether integers are printed as doubles, so that they meet vectors of them."""
    used_strides: dict[str, None] = field(default_factory=dict)

    def pointer(self, table: str) -> str:
        """The C name of a table."""
        return self.names(f"table_{table}")

    def stride(self, plate: str) -> str:
        """The padded size of a plate."""
        self.used_strides[plate] = None
        return self.names(f"stride {plate}")

    def code(self, expression: Expression) -> CCode:
        if expression in self.fixed:
            return CCode(self.fixed[expression])
        if isinstance(expression, LogDeterminant):
            return self.log_determinant(expression)
        if isinstance(expression, Reference) and expression in self.rows:
            layout = self.tables_by_name[expression.name]
            load = "COUNTS" if layout.type == "int32_t" else "VALUES"
            return CCode(f"{load}({self.rows[expression]} + at)")
        if isinstance(expression, Reference) and expression in self.cells:
            return CCode(self.cells[expression])
        if isinstance(expression, Literal) and expression.indices == (self.vector_level,):
            return CCode(f"VALUES({self.literal(expression)} + at)")
        found = super().code(expression)
        if self.real and isinstance(expression, (Size, Reference)) and found.integer:
            return CCode(f"(double){found.text.removeprefix('(int64_t)')}")
        return found

    def fix(self, whole: Expression, changing: frozenset[str]) -> dict[str, list[str]]:
        """Names and lines of the closed parts of an expression: sums and functions of what never changes."""
        if isinstance(whole, (Constant, Size)) or whole in self.fixed:
            return {}
        found: dict[str, list[str]] = {}
        if free_indices(whole) or mentions(whole, changing) or isinstance(whole, Reference):
            for part in children(whole):
                found |= self.fix(part, changing)
            return found
        value = self.code(whole)
        name = self.temporary("fixed")
        self.fixed[whole] = name
        return {name: [*self.take(), f"const double {name} = {value.text};"]}

    def literal(self, part: Literal) -> str:
        """The C name of a table that the model gives; it is padded like a row."""
        return self.tables.setdefault(part.values, f"given_{len(self.tables) + 1}")

    def table(self, values: tuple[float, ...], shape: tuple[int, ...], indices: tuple[Expression, ...]) -> CCode:
        name = self.tables.setdefault(values, f"given_{len(self.tables) + 1}")
        return CCode(f"{name}[{self.offset(indices, [str(extent) for extent in shape]) if indices else 0}]")

    def reference(self, name: str, indices: tuple[Expression, ...]) -> CCode:
        if name in self.tables_by_name:
            return CCode(f"(double){self.cell(name, indices)}")
        if name not in self.columns:
            raise Unprintable(f"{name} is not among the data")
        integer = name in self.integers
        sizes = self.extents(self.columns[name])
        if len(sizes) != len(indices):
            raise Unprintable(f"{name} has {len(sizes)} axes but is looked up with {len(indices)}")
        text = f"{self.column(name)}[{self.offset(indices, sizes) if indices else 0}]"
        return CCode(f"(int64_t){text}" if integer else text, integer=integer)

    def extents(self, axes: Sequence[Index]) -> list[str]:
        """Sizes of the axes after the first, which no offset needs."""
        return ["", *(self.size(axis.plate) for axis in axes[1:])][: len(axes)]

    def cell(self, table: str, indices: tuple[Expression, ...]) -> str:
        """One cell of a table, to be read or written."""
        return f"{self.pointer(table)}[{self.place(table, indices)}]"

    def place(self, table: str, indices: tuple[Expression, ...]) -> str:
        """The offset of a cell."""
        layout = self.tables_by_name[table]
        text = "0"
        for number, axis in enumerate(layout.order):
            position = self.position(indices[axis], "")
            if number == 0:
                text = position
                continue
            plate = layout.plates[axis]
            size = self.stride(plate) if number == len(layout.order) - 1 else self.size(plate)
            text = f"{text if text.isidentifier() else f'({text})'} * {size} + {position}"
        return text

    def row(self, table: str, indices: tuple[Expression, ...]) -> str:
        """The address of the row along the last axis."""
        layout = self.tables_by_name[table]
        text = ""
        for axis in layout.order[:-1]:
            position = self.position(indices[axis], "")
            text = f"({text} * {self.size(layout.plates[axis])} + {position})" if text else position
        stride = self.stride(layout.plates[layout.order[-1]])
        return f"{self.pointer(table)} + {text} * {stride}" if text else self.pointer(table)

    def offset(self, indices: tuple[Expression, ...], sizes: list[str]) -> str:
        """Where an element lies in an array in C order."""
        text = self.position(indices[0], sizes[0])
        for index, size in zip(indices[1:], sizes[1:], strict=True):
            text = f"{text if text.isidentifier() else f'({text})'} * {size} + {self.position(index, size)}"
        return text

    def position(self, index: Expression, size: str) -> str:
        """Codes were checked against their plates before anything ran."""
        held, self.real = self.real, False
        code = self.code(index)
        self.real = held
        if not code.integer or isinstance(index, Lag):
            raise Unprintable(f"{index} cannot be a position")
        return code.text if isinstance(index, Index) or code.text.startswith("(int64_t)") else f"({code.text})"

    def log_determinant(self, part: LogDeterminant) -> CCode:
        """Fill a matrix, then factor it."""
        size = self.size(part.row.plate)
        with self.loop(part.row) as row, self.loop(part.column) as column:
            value = self.code(part.matrix)
            self.lines.append(f"matrix[{row} * {size} + {column}] = {value.text};")
        name = self.temporary("inner")
        self.lines.append(f"const double {name} = log_determinant(matrix, {size});")
        return CCode(name)
