"""The model while it is being written: plates made, names given, and what has been put where.

A draft is filled by the translation, piece by piece with parents first, and then read off as the finished model.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from platewright.algebra.expression import Expression, Index
from platewright.language.bugs.arithmetic import Scope
from platewright.language.bugs.arrays import Block, Piece
from platewright.language.bugs.folding import Folded
from platewright.language.bugs.plating import Token, Union
from platewright.language.bugs.report import Report
from platewright.language.model import Model
from platewright.language.plate import Plate
from platewright.algebra.domain import REAL
from platewright.language.variable import Variable

Array = np.ndarray


@dataclass(frozen=True)
class Source:
    """Where the values of a model variable are found in BUGS arrays: the array, the cells, and what is taken off."""

    array: str
    cells: tuple[Array, ...] | None
    shift: float = 0.0


@dataclass
class Draft:
    """Everything the translation knows."""

    text: str
    folded: Folded
    shapes: Mapping[str, tuple[int, ...]]
    blocks: Mapping[str, Block]
    union: Union
    levels: Mapping[str, list[Token]]
    model: Model
    report: Report
    identifiers: dict[str, str] = field(default_factory=dict)
    plates: dict[tuple[Token, int], Plate] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    columns: dict[str, Array] = field(default_factory=dict)
    """Known columns that the translation itself makes: memberships of long plates."""
    labels: dict[int, str] = field(default_factory=dict)
    """Piece number -> the name of its variable."""
    wholes: dict[str, str] = field(default_factory=dict)
    """Array -> the variable that holds all of it."""
    dropped: dict[int, str] = field(default_factory=dict)
    """Pieces that were left out, with the reason."""

    @property
    def scope(self) -> Scope:
        """Constants, for evaluation."""
        return self.folded.scope

    def identifier(self, name: str) -> str:
        """A name that Python and the model accept, the same for the same BUGS name."""
        if name not in self.identifiers:
            self.identifiers[name] = self.fresh(name)
        return self.identifiers[name]

    def fresh(self, name: str) -> str:
        """A new name close to the one wished for."""
        wished = "".join(letter if letter.isalnum() else "_" for letter in name).strip("_") or "x"
        wished = wished if not wished[0].isdigit() else f"x{wished}"
        taken = {*self.identifiers.values(), *self.model.variables, *self.model.potentials, *self.model.plates}
        while wished in taken or keyword.iskeyword(wished) or hasattr(type(self.model), wished):
            wished += "_"
        self.identifiers.setdefault(f" {wished}", wished)
        return wished

    def plate(self, token: Token, variant: int = 0) -> Plate:
        """The plate of a token; variant 1 is a second index over the same set."""
        root = self.union.root(token)
        if (root, variant) not in self.plates:
            if variant:
                first = self.plate(root)
                self.plates[root, variant] = self.model.plate(self.fresh(f"{first.name}_{variant + 1}"), like=first)
            else:
                wish = next(iter(self.union.wishes[root]), "") or self._wish(root)
                size = None if root in self.union.opened else self.union.sizes[root]
                self.plates[root, 0] = self.model.plate(self.fresh(wish), size)
        return self.plates[root, variant]

    @staticmethod
    def _wish(root: Token) -> str:
        return f"{root[1]}_axis" if root[0] == "dim" else "part"

    def slice_plate(self, size: int) -> Plate:
        """A plate for a part of a dimension."""
        token = ("slice", size)
        self.union.add(token, size, f"first{size}")
        return self.plate(token)

    def dimension(self, name: str, dimension: int, variant: int = 0) -> Plate:
        """The plate of one dimension of an array."""
        return self.plate(("dim", name, dimension), variant)

    def axes(self, name: str) -> tuple[Plate, ...]:
        """The plates of all dimensions of an array; the second of two alike is a second index."""
        found: list[Plate] = []
        roots: list[Token] = []
        for dimension in range(len(self.shapes[name])):
            root = self.union.root(("dim", name, dimension))
            found.append(self.plate(root, roots.count(root)))
            roots.append(root)
        return tuple(found)

    def piece_plates(self, piece: Piece) -> tuple[Plate, ...]:
        """The plates of a piece's own axes, in the order of the grid."""
        found: list[Plate] = []
        roots: list[Token] = []
        for number in range(len(piece.grid.axes)):
            root = self.union.root(("loop", piece.number, number))
            found.append(self.plate(root, roots.count(root)))
            roots.append(root)
        return tuple(found)

    def event_plate(self, piece: Piece, dimension: int) -> Plate:
        """The plate of an axis inside a value: the dimension's own when it is whole, else one of the right size."""
        spot = piece.spots[dimension]
        size = getattr(spot, "size", 0)
        if size != self.shapes[piece.name][dimension]:
            return self.slice_plate(size)
        root = self.union.root(("dim", piece.name, dimension))
        own = [self.union.root(("loop", piece.number, number)) for number in range(len(piece.grid.axes))]
        return self.plate(root, own.count(root))

    def add_deterministic(self, name: str, axes: tuple[Index, ...], definition: Expression) -> None:
        """A deterministic node with its axes as told; assignment would read them off, and lose unused ones."""
        self.model._variables[name] = Variable(name, "deterministic", axes, REAL, definition=definition)
