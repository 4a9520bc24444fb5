"""Find the labels that could be swapped without changing the joint: the symmetry group of a model.

    p ~ Dirichlet(1 over k),  z[n] ~ Categorical(p),  y[n] ~ Normal(mu[z[n]], 1)

Nothing in this joint tells one element of `k` from another, so every posterior mode comes `#k!` times. A relabelling of
a plate permutes the axes over it and the values of hidden variables whose levels it holds. The joint stays the same
when every factor meets the plate only by indices and hidden levels: a table written in the model, a fixed position, a
neighbour or known data along the plate tell elements apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod

import numpy as np

from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Literal,
    Reference,
    Root,
    children,
)
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable


@dataclass(frozen=True)
class Symmetry:
    """A plate with its copies, the classes of elements that may change places, and what moves with them."""

    plates: tuple[str, ...]
    classes: tuple[tuple[int, ...], ...]
    """Exchangeable elements; each class has two or more."""
    size: int
    levelled: tuple[str, ...]
    """Hidden variables whose values are labels of the plate."""
    along: Mapping[str, tuple[int, ...]]
    """Unknowns with axes over the plate, and which axes those are."""

    @property
    def order(self) -> int:
        """How many relabellings there are."""
        return prod(factorial(len(members)) for members in self.classes)

    @property
    def sentence(self) -> str:
        """What a user should know."""
        name = self.plates[0]
        if len(self.classes) == 1 and len(self.classes[0]) == self.size:
            which, count = f"the labels of `{name}`", f"{self.size}! = {self.order}"
        else:
            groups = " and ".join("{" + ", ".join(map(str, members)) + "}" for members in self.classes)
            which, count = f"the labels {groups} of `{name}`", str(self.order)
        return f"{which} are exchangeable: {count} relabellings have the same joint density"

    def relabellings(self) -> Iterator[tuple[int, ...]]:
        """All members of the group: element k becomes element `found[k]`; the first changes nothing."""
        for chosen in product(*(permutations(members) for members in self.classes)):
            found = list(range(self.size))
            for members, moved in zip(self.classes, chosen, strict=True):
                for old, new in zip(members, moved, strict=True):
                    found[old] = new
            yield tuple(found)

    def moved(self, values: Mapping[str, np.ndarray], to: tuple[int, ...], leading: int = 0) -> dict[str, np.ndarray]:
        """Values of the unknowns after element k has become element `to[k]`."""
        found = dict(values)
        back = np.argsort(to)
        for name, axes in self.along.items():
            if name in found:
                for axis in axes:
                    found[name] = np.take(found[name], back, axis=leading + axis)
        for name in self.levelled:
            if name in found:
                found[name] = np.asarray(to)[found[name]]
        return found


def find_symmetries(graph: Graph, factors: Iterable[Factor], sizes: Mapping[str, int]) -> tuple[Symmetry, ...]:
    """The exchangeable labels of all plates that hold the levels of hidden variables."""
    listed = tuple(factors)
    found = []
    for plates in plate_groups(graph):
        size = sizes.get(plates[0])
        levelled = tuple(name for name in graph.unknown if graph.nodes[name].domain.levels in plates)
        levelled = tuple(name for name in levelled if any(name in factor.names for factor in listed))
        if size is None or size < 2 or not levelled:
            continue
        classes = _Classes(graph, frozenset(plates), size).of(listed)
        if classes:
            found.append(Symmetry(plates, classes, size, levelled, along_plates(graph, plates)))
    return tuple(found)


def shows(graph: Graph, factor: Factor, plates: tuple[str, ...], size: int) -> bool:
    """Whether a factor may change when elements of these plates change places."""
    return _Classes(graph, frozenset(plates), size).of([factor]) != (tuple(range(size)),)


def plate_groups(graph: Graph) -> list[tuple[str, ...]]:
    """Plates with all that are declared like them: they share their labels."""
    groups: dict[str, list[str]] = {}
    for name in graph.plates:
        root = name
        while (like := graph.plates[root].like) is not None:
            root = like
        groups.setdefault(root, []).append(name)
    return [tuple(sorted(members, key=lambda name: name != root)) for root, members in groups.items()]


def along_plates(graph: Graph, plates: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    found = {}
    for name in graph.unknown:
        axes = tuple(k for k, axis in enumerate(graph.nodes[name].axes) if axis.plate in plates)
        if axes:
            found[name] = axes
    return found


class _Classes:
    """Splits the elements of a plate by whatever tells them apart."""

    def __init__(self, graph: Graph, plates: frozenset[str], size: int) -> None:
        self.graph = graph
        self.plates = plates
        self.size = size
        self.marks: list[tuple[object, ...]] = [() for _ in range(size)]
        """What is known of each element; equal marks mean that nothing tells two elements apart."""

    def of(self, factors: Iterable[Factor]) -> tuple[tuple[int, ...], ...]:
        for factor in factors:
            self._read(factor.expression)
        groups: dict[tuple[object, ...], list[int]] = {}
        for element, mark in enumerate(self.marks):
            groups.setdefault(mark, []).append(element)
        return tuple(tuple(members) for members in groups.values() if len(members) > 1)

    def _is_label(self, part: Expression) -> bool:
        """Whether an expression stands for an element of the plate that a relabelling moves."""
        if isinstance(part, Index):
            return part.plate in self.plates
        if not isinstance(part, Reference) or part.name not in self.graph.nodes:
            return False
        node = self.graph.nodes[part.name]
        return node.domain.levels in self.plates and not self.graph.is_known(part.name)

    def _read(self, part: Expression) -> None:
        if self._is_label(part):
            self._apart()  # a label used as a number
        match part:
            case Reference(name, indices):
                self._place(indices, self._axes(name))
                self._known(name)
                for index in indices:
                    self._inside(index)
                return
            case Literal(values, shape, plates, indices):
                self._table(np.reshape(values, shape), plates)
                self._place(indices, plates)
                for index in indices:
                    self._inside(index)
                return
            case Indicator(left, right) if self._is_label(left) or self._is_label(right):
                self._compared(left, right)
                self._inside(left)
                self._inside(right)
                return
            case Inverse(matrix, row, column, at_row, at_column):
                self._read(matrix)
                self._place((at_row, at_column), (row.plate, column.plate))
                self._inside(at_row)
                self._inside(at_column)
                return
            case Root(_, row, _, _, _) if row.plate in self.plates:
                return self._apart()  # a triangle depends on the order of its rows
        for child in children(part):
            self._read(child)

    def _inside(self, index: Expression) -> None:
        """A position: a label may stand here, and what it is looked up by is read on."""
        if isinstance(index, Index):
            return
        if isinstance(index, Reference):
            self._place(index.indices, self._axes(index.name))
            self._known(index.name)
            for inner in index.indices:
                self._inside(inner)
            return
        for child in children(index):
            if isinstance(child, Index) and child.plate not in self.plates:
                continue  # the neighbour on another plate
            self._read(child)

    def _axes(self, name: str) -> tuple[str, ...]:
        node: Variable | None = self.graph.nodes.get(name)
        return () if node is None else tuple(axis.plate for axis in node.axes)

    def _place(self, indices: tuple[Expression, ...], plates: tuple[str, ...]) -> None:
        """Whatever looks an element of the plate up must be a label, else it picks elements out."""
        for index, plate in zip(indices, plates, strict=True):
            if plate in self.plates:
                self._compared(index, index)

    def _compared(self, left: Expression, right: Expression) -> None:
        """Two sides that are both labels say nothing; a fixed position sets its element apart."""
        for side in (left, right):
            if isinstance(side, Constant) and 0 <= side.value < self.size:
                number = int(side.value)
                self.marks = [(*mark, "place", k == number) for k, mark in enumerate(self.marks)]
            elif not self._is_label(side):
                self._apart()

    def _table(self, values: np.ndarray, plates: tuple[str, ...]) -> None:
        """A table of the model: elements with different slices are told apart."""
        axes = [k for k, plate in enumerate(plates) if plate in self.plates]
        if len(axes) == 1:
            rows = np.moveaxis(values, axes[0], 0).reshape(self.size, -1)
            self.marks = [(*mark, row.tobytes()) for mark, row in zip(self.marks, rows, strict=True)]
        elif axes and np.ptp(values) > 0:
            self._pairs(values, axes)

    def _pairs(self, values: np.ndarray, axes: list[int]) -> None:
        """A table over the plate twice says nothing when only its diagonal differs from the rest."""
        if len(axes) > 2:
            return self._apart()
        square = np.moveaxis(values, axes, (0, 1)).reshape(self.size, self.size, -1)
        off = square[~np.eye(self.size, dtype=bool)]
        diagonal = square[np.arange(self.size), np.arange(self.size)]
        if (off != off[0]).any() or (diagonal != diagonal[0]).any():
            self._apart()

    def _known(self, name: str) -> None:
        """Data along the plate, or data that name its elements, tell them apart."""
        node = self.graph.nodes.get(name)
        if node is None or not self.graph.is_known(name):
            return
        if node.domain.levels in self.plates or any(axis.plate in self.plates for axis in node.axes):
            self._apart()

    def _apart(self) -> None:
        self.marks = [(*mark, k) for k, mark in enumerate(self.marks)]
