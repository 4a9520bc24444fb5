"""One function of an emitted sampler: its printer, the arrays it touches, and its text.

All numbers of a chain lie in arrays that the caller owns: columns of data, unknowns, statistics of data alone, and
what blocks compute. A `Slot` says what an array holds and how large it is; the file knows it by its number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from platewright.algebra.expression import Index
from platewright.backends.c.expression import Unprintable
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.blocked import BlockedPrinter
from platewright.backends.c_gibbs.expression import Extent
from platewright.backends.c_gibbs.support import TAKEN
from platewright.backends.naming import Names

Role = OneOf["column", "unknown", "fixed", "computed"]

WORDS = (
    "chain",
    "random",
    "array",
    "bad",
    "kept",
    "x",
    "at",
    "design",
    "rows",
    "width",
    "uniform",
    "normal",
    "y0",
    "y1",
)


@dataclass(frozen=True)
class Slot:
    """An array of the sampler. `key` is unique; `name` is what expressions call it."""

    key: str
    name: str
    role: Role
    extents: tuple[Extent, ...]
    integer: bool = False
    block: int = -1
    turned: int = -1
    """The axis of the variable that lies last here; -1 where all lie as they are."""

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Its shape for given sizes of plates."""
        return tuple(length(extent, sizes) for extent in self.extents)


def length(extent: Extent, sizes: Mapping[str, int]) -> int:
    """The number that an extent stands for."""
    total = 0
    for plates in extent:
        part = 1
        for plate in plates:
            part *= sizes[plate]
        total += part
    return total


def along(indices: tuple[Index, ...]) -> tuple[Extent, ...]:
    """The extents of an array with one axis for each index."""
    return tuple(((index.plate,),) for index in indices)


@dataclass
class Arrays:
    """All arrays of a file in order, and the plates whose size it reads or holds."""

    axes: Mapping[str, tuple[Index, ...]]
    """Axes of every variable of the graph."""
    unknown: frozenset[str]
    integers: frozenset[str]
    constants: Mapping[str, int]
    """Small plates whose size the model fixes; it is written into the file."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """About how many elements plates have: rows of long ones are worked on in blocks."""
    slots: dict[str, Slot] = field(default_factory=dict)
    sizes: dict[str, None] = field(default_factory=dict)
    functions: int = 0
    """How many functions were begun: each has working arrays of its own, for one may call another."""

    def number(self, slot: Slot) -> int:
        """Where an array stands in the list that the caller hands over."""
        self.slots.setdefault(slot.key, slot)
        return list(self.slots).index(slot.key)

    def variable(self, name: str) -> Slot:
        """The array of a variable of the graph."""
        role: Role = "unknown" if name in self.unknown else "column"
        return Slot(name, name, role, along(self.axes[name]), name in self.integers)

    def turned(self, key: str, name: str, place: int) -> Slot:
        """A copy of a variable with one of its axes last."""
        axes = self.axes[name]
        order = (*axes[:place], *axes[place + 1 :], axes[place])
        return Slot(key, name, "column", along(order), name in self.integers, turned=place)

    def size_number(self, plate: str) -> int:
        """Where the size of a plate stands."""
        self.sizes.setdefault(plate)
        return list(self.sizes).index(plate)


class Function:
    """Writes one function; `local` are the arrays of its block."""

    def __init__(
        self, arrays: Arrays, block: int, local: dict[str, Slot], axes: Mapping[str, tuple[Index, ...]]
    ) -> None:
        self.arrays = arrays
        self.block = block
        self.local = local
        arrays.functions += 1
        self.place = arrays.functions
        self.lengths: dict[str, Extent] = {}
        """Plates that are made here: the rows that an elimination leaves."""
        held = {**arrays.axes, **axes}
        integers = frozenset(arrays.integers | {name for name, slot in local.items() if slot.integer})
        names = Names((*TAKEN, *WORDS))
        self.printer = BlockedPrinter(names, (), held, integers, trusted=arrays.unknown)

    def computed(self, name: str, extents: tuple[Extent, ...], integer: bool = False) -> str:
        """The pointer to an array that this block computes."""
        self.local.setdefault(name, Slot(f"{self.block}:{name}", name, "computed", extents, integer, self.block))
        return self.printer.column(name)

    def computed_over(self, name: str, axes: tuple[Index, ...]) -> str:
        """The pointer to an array that this block computes, which expressions may look up."""
        self.printer.columns = {**self.printer.columns, name: axes}
        return self.computed(name, along(axes))

    def slot(self, name: str) -> Slot:
        """The array behind a name."""
        if name in self.local:
            return self.local[name]
        if name in self.printer.rooms:
            return Slot(f"{self.place}:{name}", name, "computed", self.printer.rooms[name], block=self.block)
        if name in self.printer.turned:
            return self.arrays.turned(name, *self.printer.turned[name])
        if name not in self.arrays.axes:
            raise Unprintable(f"{name} is not computed by this block")
        return self.arrays.variable(name)

    def length_text(self, extent: Extent) -> str:
        """A length as C."""
        parts = [" * ".join(self.printer.size(plate) for plate in plates) or "1" for plates in extent]
        ones = sum(part == "1" for part in parts)
        shown = [part for part in parts if part != "1"] + ([str(ones)] if ones or not parts else [])
        return " + ".join(shown)

    def text(self, head: str, about: str, result: str = "bad") -> str:
        """The function with the lines printed so far."""
        body = self.printer.take()
        lengths = [(self.printer.size(plate), self.length_text(extent)) for plate, extent in self.lengths.items()]
        words = set(re.findall(r"\w+", "\n".join([*body, *(text for _, text in lengths)])))
        opening = []
        for values, name in self.printer.tables.items():
            listed = ", ".join(repr(float(value)).replace("inf", "INFINITY").replace("nan", "NAN") for value in values)
            if name in words:
                opening.append(f"static const double {name}[] = {{{listed}}};")
        for plate in self.printer.used_sizes:
            name = self.printer.size(plate)
            if name not in words or plate in self.lengths:
                continue
            value = self.arrays.constants.get(plate)
            source = str(value) if value is not None else f"chain->size[{self.arrays.size_number(plate)}]"
            opening.append(f"const int64_t {name} = {source};")
        opening += [f"const int64_t {name} = {value};" for name, value in lengths if name in words]
        for name in self.printer.used_columns:
            pointer = self.printer.column(name)
            if pointer in words:
                slot = self.slot(name)
                kind = "int64_t" if slot.integer else "double"
                kind = f"const {kind}" if slot.role in ("column", "fixed") else kind
                opening.append(f"{kind} *const {pointer} = chain->array[{self.arrays.number(slot)}];")
        if "random" in words:
            opening.append("uint64_t *const random = chain->random;")
        opening.append("int bad = 0;")
        if "bad" not in words and result != "bad":
            opening.pop()
        whole = [*opening, *body, f"return {result};"]
        return "\n".join([f"/* {c_comment(about)} */", head, "{", *(f"    {line}".rstrip() for line in whole), "}"])
