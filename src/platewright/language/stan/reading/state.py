"""What is known while a Stan program is read: its variables, the loops around a statement, and what was said so far.

Everything becomes statements of the graphical language that BUGS texts are read from: each carries its own loops, and a
variable that is assigned anew gets a new array (single static assignment), `mu`, `mu.2`, `mu.3`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from platewright.errors import nearest
from platewright.language.bugs import relations
from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.arithmetic import MOST_CELLS, NotKnown, Scope, compute
from platewright.language.bugs.syntax import Place
from platewright.language.stan.reading.survey import Survey
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import Indices, Value, array

Array = np.ndarray
MOST_STATEMENTS = 20_000


@dataclass(frozen=True)
class Head:
    """A loop around statements: its variable and what it runs over."""

    variable: str
    domain: bugs.Expression | bugs.Range
    place: Place


@dataclass(frozen=True)
class Variable:
    """A variable of the text, and the array that holds it now."""

    name: str
    array: str
    role: str
    """`data`, `parameter`, `computed` (of data alone), or `derived`."""
    kind: str
    sizes: tuple[bugs.Expression, ...]
    base: str
    before: tuple[str, ...] = ()
    """Loops that the first dimensions of its array stand for."""
    declared_in: tuple[str, ...] = ()
    """The loops around its declaration."""
    is_whole: bool = False
    is_assigned: bool = False
    lower: Value | None = None
    upper: Value | None = None
    pending: tuple[str, Value, tuple[str, ...]] | None = None
    """A running total: its operation, what it was before, and the loops of the terms, in the array `array`."""
    is_stale: bool = False
    """Whether the loop that gave it its value has ended."""
    held: object = field(default=None, compare=False)
    """Which arrays hold its cells (`versions.Held`), where that is known."""


@dataclass
class State:
    """The program while it is read."""

    constants: dict[str, Array]
    has_data: bool
    variables: dict[str, Variable] = field(default_factory=dict)
    loops: tuple[Head, ...] = ()
    said: list[bugs.Statement] = field(default_factory=list)
    declared: list[tuple[str, tuple[bugs.Expression, ...]]] = field(default_factory=list)
    definitions: dict[str, tuple[tuple[str, ...], bugs.Expression]] = field(default_factory=dict)
    """Array -> its loop variables in the order of its dimensions, and the one expression that defines all its cells."""
    instead: dict[int, bugs.Expression] = field(default_factory=dict)
    """By the number of a draw among the statements: its log density, should its cells have been drawn before."""
    partly: set[str] = field(default_factory=set)
    """Arrays that have been assigned at all."""
    totals: dict[str, list[tuple[str, tuple[Head, ...]]]] = field(default_factory=dict)
    """Variable that is summed up -> arrays of its terms, with the loops these stand in."""
    added: list[bugs.Statement] = field(default_factory=list)
    """Statements that the reader itself needs."""
    taken: set[str] = field(default_factory=set)
    masses: dict[int, bugs.Expression] = field(default_factory=dict)
    """By the number of a draw: the log of what its bounds leave of its density, where the text keeps constants."""
    settled: set[str] = field(default_factory=set)
    """Arrays that data alone settle."""
    numbers: int = 0
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    block: str = ""
    in_order: bool = False
    """Whether loops that carry values are read round by round, not all rounds at once."""
    surveys: dict[str, Survey] = field(default_factory=dict)
    """What the loops around do with variables, by their own variables."""
    rounds: int = 0
    """How many statements have been read in rounds one by one."""

    def fresh(self, word: str) -> str:
        """A name that no Stan text can have."""
        self.numbers += 1
        return f"{word}.{self.numbers}"

    @property
    def loop_names(self) -> tuple[str, ...]:
        """The variables of the loops around, outermost first."""
        return tuple(head.variable for head in self.loops)

    def find(self, name: str, place: Place) -> Variable:
        """A variable that was declared."""
        if name not in self.variables:
            near = nearest(name, [*self.variables, *self.loop_names])
            hint = f"did you mean `{near}`?" if near else ""
            raise Trouble(place, f"`{name}` is not declared", "a variable declared before", hint)
        return self.variables[name]

    def value(self, name: str, place: Place) -> Value:
        """A variable as it is now; in a loop that assigns it, as this round has assigned it."""
        known = self.find(name, place)
        for loop in self.loop_names:
            if loop not in known.before and loop not in known.declared_in and name in self.surveys[loop].kept:
                raise Trouble(place, f"`{name}` has its value from the round before", "a value for each round")
        return self.now(known, place)

    def now(self, known: Variable, place: Place) -> Value:
        """A variable as it was assigned last."""
        name = known.name
        if known.pending is not None:
            raise Trouble(place, f"`{name}` is read while it is being summed up", "a total that is read after its loop")
        if known.is_stale:
            raise Trouble(place, f"`{name}` has its value from a loop that has ended", "a value for each round")
        before: Indices = tuple(bugs.Element(loop, None, place) for loop in known.before)
        return array(known.array, known.sizes, known.kind, before, place, known.is_whole)

    def say(self, statement: bugs.Assignment | bugs.Draw, extra: tuple[Head, ...] = ()) -> None:
        """Write a statement down inside the loops around it."""
        if len(self.said) >= MOST_STATEMENTS:
            raise Trouble(statement.place, f"the text unrolls into more than {MOST_STATEMENTS:,} statements")
        whole: bugs.Statement = statement
        for head in reversed((*self.loops, *extra)):
            whole = bugs.Loop(head.variable, head.domain, (whole,), head.place)
        self.said.append(whole)

    def heads(self, sizes: tuple[bugs.Expression, ...], place: Place) -> tuple[Head, ...]:
        """Loops over the axes of a value."""
        return tuple(
            Head(
                self.fresh("i"),
                bugs.Range(bugs.Number(1.0, place), size, place),
                Place(place.line, 10**6 + self.numbers),
            )
            for size in sizes
        )

    def held(self, value: Value, place: Place) -> Value:
        """The value in an array of its own, so that slices of it can be taken."""
        name, heads = self.fresh("value"), self.heads(value.sizes, place)
        loops = tuple(bugs.Element(loop, None, place) for loop in self.loop_names)
        at = tuple(bugs.Element(head.variable, None, place) for head in heads)
        target = bugs.Element(name, (*loops, *at) or None, place)
        tree = value.at(at)
        self.say(bugs.Assignment(target, tree, None, place), heads)
        if self.is_known(tree):
            self.settled.add(name)
        self.definitions[name] = ((*self.loop_names, *(head.variable for head in heads)), tree)
        return array(name, value.sizes, value.kind, loops, place, value.is_whole)

    def sliced(self, value: Value, place: Place) -> Value:
        """The value, if need be in an array of its own, such that whole axes can be asked for."""
        return value if value.gives_slices else self.held(value, place)

    def is_known(self, tree: bugs.Expression) -> bool:
        """Whether an expression hangs on data and loops only."""
        return all(("." in one.name and one.indices is None) or one.name in self.settled or one.name in self.loop_names
                   for one in bugs.elements(tree))  # fmt: skip

    def known(self, tree: bugs.Expression) -> float | None:
        """The number that a tree is worth, where data settle it."""
        try:
            found = compute(tree, Scope(self.constants))
        except NotKnown:
            return None
        return float(found) if np.ndim(found) == 0 else None

    def numbers_of(self, value: Value, place: Place) -> Array | None:
        """The numbers of a vector or a matrix, where data settle them."""
        sizes = [self.known(size) for size in value.sizes]
        if any(size is None for size in sizes) or math.prod(int(size or 0) for size in sizes) > MOST_CELLS:
            return None
        heads = self.heads(value.sizes, place)
        tree = value.at(tuple(bugs.Element(head.variable, None, place) for head in heads))
        loops = tuple(relations.Head(head.variable, head.domain, head.place) for head in heads)
        scope = Scope(self.constants)
        try:
            grid = relations.lay_out(relations.Relation(bugs.Assignment(bugs.Element("_"), tree), loops), scope, "")
            found = np.asarray(relations.compute_on(tree, grid, scope), dtype=float)
        except NotKnown:
            return None
        shaped: Array = np.broadcast_to(found, grid.shape).reshape([int(size or 0) for size in sizes])
        return None if np.isnan(shaped).any() else shaped

    def inside(self, head: Head) -> None:
        """Enter a loop."""
        if head.variable in self.variables or head.variable in self.loop_names:
            raise Trouble(head.place, f"the loop variable `{head.variable}` is a variable already", "another name")
        self.loops = (*self.loops, head)

    def change(self, name: str, **changes: object) -> Variable:
        """A variable with some facts changed."""
        self.variables[name] = replace(self.variables[name], **changes)  # type: ignore[arg-type]
        return self.variables[name]


def elements_of(names: tuple[str, ...], place: Place) -> tuple[bugs.Element, ...]:
    """Loop variables as indices."""
    return tuple(bugs.Element(name, None, place) for name in names)


def shapes_of(constants: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    """The shapes of what is known."""
    return {name: values.shape for name, values in constants.items()}
