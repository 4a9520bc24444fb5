"""The model while it is being written: plates made, names given, and what has been put where.

A draft is filled by the translation, piece by piece with parents first, and then read off as the finished model.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from platewright.algebra.domain import REAL
from platewright.algebra.expression import Expression, Index, free_indices
from platewright.language.bugs.arithmetic import Scope
from platewright.language.bugs.arrays import Block, Piece
from platewright.language.bugs.folding import Folded
from platewright.language.bugs.plating import Token, Union
from platewright.language.bugs.report import Report
from platewright.language.distribution import Distribution, Input
from platewright.language.model import Model
from platewright.language.naming import named
from platewright.language.plate import Plate, membership
from platewright.language.variable import Potential, Variable

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
    loop_columns: dict[tuple[int, str], str] = field(default_factory=dict)
    """(Piece, loop variable) -> the known column with the variable's values along a long plate."""
    ordered: set[Token] = field(default_factory=set)
    """Dimensions and loops along which a series runs."""
    kept: dict[Token, str] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    """Piece number -> the name of its variable."""
    wholes: dict[str, str] = field(default_factory=dict)
    """Array -> the variable that holds all of it."""
    conditionals: dict[str, str] = field(default_factory=dict)
    """For a node in a circle, the factor that holds what its line says."""
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
        model = self.model
        while (
            f" {wished}" in self.identifiers
            or any(wished in names for names in (model.variables, model.potentials, model.plates))
            or keyword.iskeyword(wished)
            or hasattr(type(model), wished)
        ):
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
                size = None if root in self.union.opened else self.union.sizes[root]
                self.plates[root, 0] = self.model.plate(self.plate_name(root), size, ordered=self.is_ordered(root))
        return self.plates[root, variant]

    def is_ordered(self, root: Token) -> bool:
        """Whether a series runs along a set."""
        return any(self.union.root(token) == root for token in self.ordered)

    def plate_name(self, root: Token) -> str:
        """The name kept for a plate, or a new one."""
        if root not in self.kept:
            wish = next(iter(self.union.wishes[root]), "")
            if not wish:
                named = (token for token in self.union.parent if token[0] == "dim" and self.union.root(token) == root)
                wish = f"{next(named, ('', 'part'))[1]}_axis"
            self.kept[root] = self.fresh(wish)
        return self.kept[root]

    def keep_names(self) -> None:
        """Plates of whole dimensions choose first: `i` for the array, `i_` for the part of it that a loop covers."""
        tokens = list(self.union.parent)
        for wanted in ("dim", "loop"):
            for token in tokens:
                if token[0] == wanted and self.union.wishes[self.union.root(token)]:
                    self.plate_name(self.union.root(token))

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
            if (root, 0) not in self.plates:
                self._long_plate(piece, number, root)
            found.append(self.plate(root, roots.count(root)))
            roots.append(root)
        return tuple(found)

    def _long_plate(self, piece: Piece, number: int, root: Token) -> None:
        """A long axis lies within the plate of its outer loop; its other loops become known columns."""
        axis = piece.grid.axes[number]
        if len(axis.variables) < 2:
            return
        outer = ("outer", piece.number, number, axis.variables[0])
        within = self.plate(outer) if outer in self.union.parent else None
        ordered = self.is_ordered(root)
        plate = self.model.plate(self.plate_name(root), self.union.sizes[root], within=within, ordered=ordered)
        self.plates[root, 0] = plate
        if within is not None:
            self.columns[membership(plate.name, within.name)] = axis.values[axis.variables[0]] - 1
        for variable in axis.variables:
            token = ("outer", piece.number, number, variable)
            if token not in self.union.parent or (variable == axis.variables[0] and within is not None):
                continue
            label = self.fresh(f"{variable}_of_{plate.name}")
            setattr(self.model, label, Input(plates=plate, levels=self.plate(token)))
            self.columns[label] = axis.values[variable] - 1
            self.loop_columns[piece.number, variable] = label

    def event_plate(self, piece: Piece, dimension: int) -> Plate:
        """The plate of an axis inside a value: the dimension's own when it is whole, else one of the right size."""
        spot = piece.spots[dimension]
        size = getattr(spot, "size", 0)
        if size != self.shapes[piece.name][dimension]:
            return self.slice_plate(size)
        root = self.union.root(("dim", piece.name, dimension))
        own = [self.union.root(("loop", piece.number, number)) for number in range(len(piece.grid.axes))]
        return self.plate(root, own.count(root))

    # Positions here are shifted indices and tables too, which the language does not let a user write: `m.x = ...`
    # would refuse them, so these three put variables in place themselves.

    def add_deterministic(self, name: str, axes: tuple[Index, ...], definition: Expression) -> None:
        """A deterministic node with its axes as told; assignment would read them off, and lose unused ones."""
        self.model.__dict__["_variables"][name] = Variable(name, "deterministic", axes, REAL, definition=definition)

    def add_random(self, name: str, drawn: Distribution) -> None:
        """A random node."""
        self.model.__dict__["_variables"][name] = named(name, drawn, self.model.plates)

    def add_potential(self, name: str, value: Expression) -> None:
        """A log factor, repeated over the plates it depends on."""
        free = free_indices(value)
        axes = tuple(plate.index for plate in self.model.plates.values() if plate.index in free)
        self.model.__dict__["_potentials"][name] = Potential(name, axes, value)
