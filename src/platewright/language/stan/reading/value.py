"""A Stan expression on its way to the statements of a graphical model: sizes, and its element at any place.

    X * beta        sizes (N,)      at (i)  ->  inprod(X[i, ], beta[])

Whole axes are asked for by `Empty()`; what cannot give them is first put into an array of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from platewright.language.bugs.syntax import (
    NOWHERE,
    Element,
    Empty,
    FunctionCall,
    Index,
    Number,
    Operation,
    Place,
    Range,
    elements,
)
from platewright.language.bugs.syntax import Expression as Tree

Indices = tuple[Index, ...]


@dataclass(frozen=True)
class Value:
    """`kind` is what the last axes are to linear algebra: `vector`, `row`, `matrix`, or else `array`."""

    at: Callable[[Indices], Tree]
    sizes: tuple[Tree, ...] = ()
    kind: str = "array"
    is_whole: bool = False
    """Whether it holds whole numbers, whose division drops the rest."""
    gives_slices: bool = True

    @property
    def rank(self) -> int:
        """How many axes it has."""
        return len(self.sizes)

    @property
    def scalar(self) -> Tree:
        """The number itself, where there are no axes."""
        assert not self.sizes
        return self.at(())

    def all(self) -> Tree:
        """The whole of it as a slice."""
        return self.at((Empty(),) * self.rank)


def number(value: float, place: Place = NOWHERE, is_whole: bool = False) -> Value:
    """A constant."""
    return Value(lambda _: Number(float(value), place), is_whole=is_whole)


def scalar(tree: Tree, is_whole: bool = False) -> Value:
    """A number that is written out already."""
    return Value(lambda _: tree, is_whole=is_whole)


def array(name: str, sizes: tuple[Tree, ...], kind: str, before: Indices, place: Place, is_whole: bool) -> Value:
    """A named array; `before` are the loops that its first dimensions stand for."""
    if not (before or sizes):
        return Value(lambda _: Element(name, None, place), is_whole=is_whole)
    loops = {part.name for part in before if isinstance(part, Element)}
    ragged = [any(one.indices is None and one.name in loops for one in elements(size)) for size in sizes]

    def element(at: Indices) -> Tree:
        told = (Range(Number(1.0), size) if isinstance(part, Empty) and hangs else part
                for part, size, hangs in zip(at, sizes, ragged))  # fmt: skip
        return Element(name, (*before, *told), place)

    return Value(element, sizes, kind, is_whole)


def mapped(function: Callable[..., Tree], *values: Value) -> Value:
    """Element by element; numbers go with everything."""
    longest = max(values, key=lambda value: value.rank)

    def at(indices: Indices) -> Tree:
        return function(*(value.at(indices if value.rank else ()) for value in values))

    whole = all(value.is_whole for value in values)
    slices = all(value.gives_slices for value in values)
    return Value(at, longest.sizes, longest.kind, whole, slices)


def calling(name: str, *values: Value) -> Value:
    """A function of BUGS, element by element."""
    return replace(mapped(lambda *parts: FunctionCall(name, parts, _place(parts)), *values), is_whole=False)


def operated(operator: str, *values: Value) -> Value:
    """An operator of BUGS, element by element."""
    return mapped(lambda *parts: operation(operator, *parts), *values)


def operation(operator: str, *parts: Tree) -> Tree:
    """An operation; numbers are negated at once."""
    if operator == "neg" and isinstance(parts[0], Number):
        return Number(-parts[0].value, parts[0].place)
    if operator == "+" and Number(0.0) in parts and len(parts) == 2:
        return parts[1] if parts[0] == Number(0.0) else parts[0]
    return Operation(operator, parts, _place(parts))


def _place(parts: tuple[Tree, ...]) -> Place:
    return next((part.place for part in parts if part.place != NOWHERE), NOWHERE)


def times(one: Tree, two: Tree) -> Tree:
    """A product."""
    return Operation("*", (one, two), _place((one, two)))


def power(base: Tree, exponent: float) -> Tree:
    """A power by a number."""
    return Operation("^", (base, Number(exponent)), _place((base,)))
