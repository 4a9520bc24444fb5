"""Which loops and dimensions are the same plate: a union of everything that runs over the same set in step.

    for (i in 1:N) { y[i] ~ dnorm(mu[i], tau); mu[i] <- a[i] + b * x[i] }        loop i, y.1, mu.1, a.1, x.1: one plate

A loop joins a dimension only when it covers the whole of it, in order. Two axes of one array over the same set get two
plates, the second `like` the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from platewright.language.bugs.arithmetic import Scope, canonical
from platewright.language.bugs.arrays import Fixed, Piece, Ragged, Span, Spot, locate, straight
from platewright.language.bugs.relations import Axis
from platewright.language.bugs.syntax import (
    Draw,
    Element,
    Expression,
    FunctionCall,
    Operation,
    elements,
)

Token = tuple[object, ...]
_SAME_AXES = {"exp", "log", "sqrt", "abs", "pow", "phi", "logit", "ilogit", "step", "round", "sort"}


@dataclass
class Union:
    """Sets of tokens that are one plate, with the size and the wish for a name of each."""

    parent: dict[Token, Token] = field(default_factory=dict)
    sizes: dict[Token, int] = field(default_factory=dict)
    wishes: dict[Token, list[str]] = field(default_factory=dict)
    opened: set[Token] = field(default_factory=set)

    def add(self, token: Token, size: int, wish: str = "", is_open: bool = False) -> None:
        """Make a token known."""
        if token not in self.parent:
            self.parent[token] = token
            self.sizes[token] = size
            self.wishes[token] = []
        root = self.root(token)
        if wish and wish not in self.wishes[root]:
            self.wishes[root].append(wish)
        if is_open:
            self.opened.add(root)

    def root(self, token: Token) -> Token:
        """The one that stands for the set."""
        while self.parent[token] != token:
            self.parent[token] = self.parent[self.parent[token]]
            token = self.parent[token]
        return token

    def join(self, one: Token, two: Token) -> None:
        """Make two sets one, when they have the same size."""
        one, two = self.root(one), self.root(two)
        if one == two or self.sizes[one] != self.sizes[two]:
            return
        self.parent[two] = one
        self.wishes[one] += [wish for wish in self.wishes[two] if wish not in self.wishes[one]]
        if two in self.opened:
            self.opened.add(one)


class Plating:
    """Collects tokens from every piece: ("dim", array, d), ("loop", piece, axis), ("levels", constant)."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], scope: Scope, constants: Iterable[str]) -> None:
        self.shapes = shapes
        self.scope = scope
        self.constants = set(constants)
        self.union = Union()
        self.levels: dict[str, list[Token]] = {}
        self.seen: dict[Token, object] = {}
        for name, shape in shapes.items():
            for dimension, size in enumerate(shape):
                self.union.add(("dim", name, dimension), size)

    def read(self, pieces: Iterable[Piece]) -> Union:
        """All pieces, loops first, so that plates are named by them."""
        pieces = [part for piece in pieces for part in (piece, *piece.inner)]
        for piece in pieces:
            for number, axis in enumerate(piece.grid.axes):
                wish = "" if any("." in variable for variable in axis.variables) else "_".join(axis.variables)
                token = ("loop", piece.number, number)
                self.union.add(token, axis.size, wish, axis.is_open)
                # Statements inside the same loop run over the same set, whole dimension or not.
                heads = [head.place for head in piece.relation.loops if head.variable in axis.variables]
                same = ("heads", tuple((place.line, place.column) for place in heads), axis.size)
                if heads and len(heads) == len(axis.variables) and self._first_with(same, axis):
                    self.union.add(same, axis.size)
                    self.union.join(same, token)
        for piece in pieces:
            for element in (piece.relation.target, *piece.relation.uses()):
                self._element(element, piece)
            for expression in piece.relation.expressions():
                self._tokens(expression, piece)
            if isinstance(piece.relation.statement, Draw):
                self._events(piece, piece.relation.statement)
        self._join_levels()
        return self.union

    def _first_with(self, key: Token, axis: Axis) -> bool:
        """Whether the axis has the values that this loop had before (unrolling an outer loop may change them)."""
        values = tuple(axis.values[variable].tobytes() for variable in axis.variables)
        return self.seen.setdefault(key, values) == values

    def _element(self, element: Element, piece: Piece) -> None:
        shape = self.shapes.get(element.name)
        if shape is None or not element.indices or len(element.indices) != len(shape):
            return
        for dimension, (part, spot) in enumerate(zip(element.indices, self._spots(element, piece))):
            token = ("dim", element.name, dimension)
            if isinstance(spot, Fixed) and (found := straight(spot.at, piece.grid)) is not None:
                axis, offset = found
                if offset == 0 and piece.grid.axes[axis].size == shape[dimension]:
                    self.union.join(("loop", piece.number, axis), token)
            elif isinstance(spot, Fixed) and isinstance(part, Element) and part.indices is None:
                self._outer(part.name, piece, token, shape[dimension])
            elif (isinstance(part, Element) and part.name in self.constants and part.indices is not None) or (
                isinstance(part, Element) and part.name in self.shapes and not isinstance(spot, Fixed)
            ):
                self.levels.setdefault(part.name, []).append(token)

    def _outer(self, variable: str, piece: Piece, token: Token, size: int) -> None:
        """A loop variable of a long axis that indexes a dimension takes its values from that set."""
        for number, axis in enumerate(piece.grid.axes):
            if variable in axis.variables and len(axis.variables) > 1:
                outer = ("outer", piece.number, number, variable)
                if outer not in self.union.parent:
                    self.union.add(outer, size)
                self.union.join(token, outer)

    def _spots(self, element: Element, piece: Piece) -> tuple[Spot, ...]:
        return locate(element, self.shapes[element.name], piece.grid, self.scope)

    def _tokens(self, node: Expression, piece: Piece) -> list[Token]:
        """The dimensions that a vector expression runs over; parts that go in step are joined."""
        match node:
            case Element(name, indices):
                if name in piece.grid.loops or name not in self.shapes:
                    return []
                if indices is not None and len(indices) != len(self.shapes[name]):
                    return []
                for part in indices or ():
                    for inner in elements(part):
                        self._element(inner, piece)
                return [
                    ("dim", name, d) if self._is_whole(spot, self.shapes[name][d]) else ("part", name, d)
                    for d, spot in enumerate(self._spots(node, piece))
                    if not isinstance(spot, Fixed) and self._is_slice(node, d)
                ]
            case Operation("%*%", (left, right)):
                one, two = self._tokens(left, piece), self._tokens(right, piece)
                if one and two:
                    self._join(one[-1:], two[:1])
                return [*one[:-1], *two[1:]]
            case Operation(_, operands):
                return self._in_step([self._tokens(part, piece) for part in operands])
            case FunctionCall(name, arguments):
                found = [self._tokens(part, piece) for part in arguments]
                word = canonical(name)
                if word == "inprod":
                    self._in_step(found)
                return found[0] if found and word in ("inverse", *_SAME_AXES) else []
        return []

    @staticmethod
    def _is_whole(spot: Spot, size: int) -> bool:
        return isinstance(spot, Ragged) or spot == Span(0, size)

    @staticmethod
    def _is_slice(node: Element, dimension: int) -> bool:
        return node.indices is None or not isinstance(node.indices[dimension], (Element, Operation, FunctionCall))

    def _in_step(self, several: list[list[Token]]) -> list[Token]:
        longest = max(several, key=len, default=[])
        for other in several:
            if len(other) == len(longest):
                self._join(longest, other)
        return longest

    def _join(self, one: list[Token], two: list[Token]) -> None:
        for first, second in zip(one, two):
            if first[0] == "dim" and second[0] == "dim":
                self.union.join(first, second)

    def _events(self, piece: Piece, draw: Draw) -> None:
        """The axis inside a value is that of its vector parameters; categories range over the same set."""
        own = [("dim", piece.name, d) for d in piece.events if self._whole(piece, d)]
        for argument in draw.density.arguments:
            found = self._tokens(argument, piece)
            if own and found:
                self._join([own[0]] * len(found), found)
                self._join([own[-1]] * len(found), found)
            if draw.density.name == "dcat" and len(found) == 1 and found[0][0] == "dim":
                self.levels.setdefault(piece.name, []).append(found[0])

    def _whole(self, piece: Piece, dimension: int) -> bool:
        return bool(piece.spots[dimension] == Span(0, self.shapes[piece.name][dimension]))

    def _join_levels(self) -> None:
        """What a category indexes is the set of its levels."""
        for tokens in self.levels.values():
            for token in tokens[1:]:
                self.union.join(tokens[0], token)
