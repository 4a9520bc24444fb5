"""Undirected variables on plates, element by element: each copy is a level of its own in the potentials written out.

    sum over edge of J equal(x[a[edge]], x[b[edge]])       becomes       J equal(x0, x1) + J equal(x0, x3) + ...
    sum over i, j of W[i, j] v[n, i] h[n, j]               becomes       W[0, 0] v0 h0 + ...   for each n

Plates that all members and potentials share, one element by itself as with the rows of data, are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from platewright.algebra.build import add
from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Lag,
    Literal,
    Reference,
    Size,
    Sum,
    all_indices,
    bound,
    fresh,
    names,
    rebuild,
    walk,
)
from platewright.graph.graph import Graph
from platewright.language.variable import Potential, Variable

MOST_COPIES = 2_000
MOST_TERMS = 20_000
"""Copies of variables, and terms of potentials, beyond which nothing is written out."""

Place = dict[Index, int]


class CannotWrite(Exception):
    """Why potentials cannot be written out."""


class Copies:
    """The copies of the members of an undirected component, and its potentials as terms about these."""

    def __init__(self, graph: Graph, members: Sequence[Variable], potentials: Sequence[Potential]) -> None:
        self.graph, self.members = graph, {node.name: node for node in members}
        self.potentials = potentials
        self.shared = tuple(index for index in members[0].plates if self._is_shared(index))
        self.taken: set[Index] = set(self.shared)
        for potential in potentials:
            self.taken |= set(all_indices(potential.expression))
        self.levels: dict[tuple[str, tuple[int, ...]], Index] = {}
        """By variable and element the index that stands for its level."""

    def terms(self) -> list[Expression]:
        """The potentials at all elements of the plates that are written out."""
        found: list[Expression] = []
        count = sum(prod(self._size(axis) for axis in self._own(potential.axes)) for potential in self.potentials)
        if count > MOST_TERMS:
            raise CannotWrite(f"its potentials have {count:,} terms (at most {MOST_TERMS:,})")
        for node in self.members.values():
            for at in product(*(range(self._size(axis)) for axis in self._own(node.plates))):
                self.levels[node.name, at] = self._fresh(node)
        for potential in self.potentials:
            for place in self._places(potential.axes):
                found.append(self.written(potential.expression, place))
        return found

    def _fresh(self, node: Variable) -> Index:
        if len(self.levels) >= MOST_COPIES:
            raise CannotWrite(f"its variables have more than {MOST_COPIES:,} elements")
        index = fresh(Index(str(node.domain.levels), str(node.domain.levels)), self.taken)
        self.taken.add(index)
        return index

    def _is_shared(self, index: Index) -> bool:
        """Whether each element of a plate stands by itself: nothing looks at a member anywhere else along it."""
        if any(index not in node.plates for node in self.members.values()):
            return False
        for potential in self.potentials:
            if index not in potential.axes:
                return False
            for part in walk(potential.expression):
                if isinstance(part, Reference) and part.name in self.members:
                    if part.indices[self.members[part.name].plates.index(index)] != index:
                        return False
        return True

    def _own(self, axes: tuple[Index, ...]) -> list[Index]:
        return [axis for axis in axes if axis not in self.shared]

    def _size(self, index: Index) -> int:
        plate = self.graph.plates[index.plate]
        size = plate.size
        if plate.within is not None:
            raise CannotWrite(f"the data say which `{plate.within}` each `{index.plate}` belongs to")
        if size is None:
            raise CannotWrite(
                f"elements of plate `{index.plate}` meet, and the model does not say how many there are: "
                f'm.plate("{index.plate}", 3) does'
            )
        return size

    def _places(self, axes: tuple[Index, ...]) -> Iterator[Place]:
        own = self._own(axes)
        for at in product(*(range(self._size(axis)) for axis in own)):
            yield dict(zip(own, at, strict=True))

    # -- expressions ---

    def written(self, whole: Expression, place: Place) -> Expression:
        """An expression at one element; sums over elements of members are written out too."""
        match whole:
            case Reference(name, indices) if name in self.members:
                return self.levels[name, self._at(self.members[name], indices, place)]
            case Literal(values, shape, _, indices) if all(self._position(at, place) is not None for at in indices):
                return Constant(self._looked_up(values, shape, indices, place))
            case Index() if whole in place:
                return Constant(float(place[whole]))
            case Lag(index) if index in place:
                return Constant(float(max(place[index] - 1, 0)))  # a potential has no start: the first looks at itself
            case Size(plate) if any(plate == index.plate for index in place):
                return Constant(float(self._size(Index(plate, plate))))
            case Sum(index, body) if names(body) & self.members.keys():
                return add(*(self.written(body, {**place, index: at}) for at in range(self._size(index))))
        if bound(whole) and names(whole) & self.members.keys():
            raise CannotWrite(f"{whole} stands over elements of its variables")
        return rebuild(whole, lambda part: self.written(part, place))

    def _at(self, node: Variable, indices: tuple[Expression, ...], place: Place) -> tuple[int, ...]:
        """The element of a member that is meant."""
        found = []
        for axis, at in zip(node.plates, indices, strict=True):
            if axis in self.shared:
                continue
            position = self._position(at, place)
            if position is None:
                raise CannotWrite(
                    f"which element of `{node.name}` `{at}` means is known with the data alone; "
                    "m.end = pw.array([...], over=edge) writes it into the model"
                )
            if not 0 <= position < self._size(axis):
                raise CannotWrite(f"`{node.name}` has no element {position}")
            found.append(position)
        return tuple(found)

    def _position(self, at: Expression, place: Place) -> int | None:
        """Where an index points at one element, if the model says so."""
        found = self.written(at, place) if not names(at) & self.members.keys() else at
        return int(found.value) if isinstance(found, Constant) else None

    def _looked_up(
        self, values: tuple[float, ...], shape: tuple[int, ...], indices: tuple[Expression, ...], place: Place
    ) -> float:
        flat = 0
        for size, at in zip(shape, indices, strict=True):
            flat = flat * size + (self._position(at, place) or 0)
        return values[flat]
