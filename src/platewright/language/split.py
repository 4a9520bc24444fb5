"""The shape of a tree: what is asked at each inner node, and which branch follows each answer.

    Split(m.x, below=2.5)                      x < 2.5        two branches: yes, no
    Split(m.colour, level="red")               colour is red  two branches: yes, no
    Split(m.colour)                            which colour   one branch for each level

A branch is another split, or None: a leaf. A tree without any split is a single leaf, None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

from platewright.algebra.expression import Reference
from platewright.errors import ModelError, ParameterError, UnknownName, UnseenLevel


@dataclass(frozen=True, init=False)
class Split:
    """A question about one input, with a branch for each answer; branches that are left out are leaves.

    `below` asks whether a number is below a cut, `level` whether a category is one of its levels; with neither the
    input is a category with a branch for each level. `every` is a branch that follows all answers.

    >>> pw.Split("age", pw.Split("colour"), None, below=40)
    age < 40 ? (colour ?) : leaf
    """

    on: str
    below: float | None
    level: object
    branches: tuple[Split | None, ...]
    every: Split | None

    def __init__(
        self,
        on: str | Reference,
        *branches: Split | None,
        below: float | None = None,
        level: object = None,
        every: Split | None = None,
    ) -> None:
        name = on.name if isinstance(on, Reference) else on
        if not isinstance(name, str):
            raise ParameterError(f"a split on {on!r}", expected="an input of the tree: pw.Split(m.x, below=2.5)")
        if below is not None and level is not None:
            raise ParameterError(f"a split on `{name}` has below= and level=", expected="one of them")
        if below is not None and not (_is_number(below) and isfinite(below)):
            raise ParameterError(f"the cut of `{name}` is {below!r}", expected="a finite number")
        for branch in (*branches, every):
            if branch is not None and not isinstance(branch, Split):
                raise ParameterError(
                    f"a branch of the split on `{name}` is {branch!r}", expected="pw.Split(...) or None"
                )
        if branches and every is not None:
            raise ParameterError(f"the split on `{name}` has branches and every=", expected="one of them")
        if branches and (below is not None or level is not None):
            if len(branches) > 2:
                said = f"the split on `{name}` has {len(branches)} branches"
                raise ParameterError(said, expected="two: where it holds, where it does not")
            branches = (*branches, None)[:2]
        object.__setattr__(self, "on", name)
        object.__setattr__(self, "below", None if below is None else float(below))
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "branches", branches)
        object.__setattr__(self, "every", every)

    @property
    def is_binary(self) -> bool:
        """Whether it is a question with yes and no."""
        return self.below is not None or self.level is not None

    @property
    def question(self) -> str:
        """What is asked, in a few words."""
        if self.below is not None:
            return f"{self.on} < {self.below:g}"
        return f"{self.on} ?" if self.level is None else f"{self.on} is {self.level}"

    def __repr__(self) -> str:
        shown = [_shown(branch) for branch in self.branches] or ([_shown(self.every)] if self.every else [])
        return f"{self.question} {': '.join(shown)}" if len(shown) < 2 else f"{self.question} ? {' : '.join(shown)}"


def _shown(branch: Split | None) -> str:
    return "leaf" if branch is None else f"({branch!r})"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


@dataclass(frozen=True)
class Attribute:
    """An input of a tree: its name, and of a category how many levels it has, 0 while only data tell."""

    name: str
    levels: int | None = None
    """None of a number."""
    labels: tuple[object, ...] = ()
    """The names of the levels, where the data had names."""

    def code(self, level: object) -> int:
        """The number of one level, named or numbered."""
        assert self.levels is not None
        if level in self.labels:
            return self.labels.index(level)
        if isinstance(level, (int, np.integer)) and not self.labels and 0 <= int(level) < self.levels:
            return int(level)
        known = ", ".join(str(label) for label in (self.labels or range(self.levels)))
        raise UnseenLevel(
            f"`{self.name}` has no level {level!r}", where="a split of a tree", expected=f"one of {known}"
        )


def settled(shape: Split | None, attributes: Mapping[str, Attribute]) -> Split | None:
    """The shape with a branch for each answer, levels as numbers, and every input one of the tree's."""
    if shape is None:
        return None
    if shape.on not in attributes:
        raise UnknownName(shape.on, attributes, where="a split of a tree")
    found = attributes[shape.on]
    if shape.below is None and found.levels is None:
        raise ModelError(
            f"`{shape.on}` is a number, and its split has no cut", expected=f"pw.Split(m.{shape.on}, below=...)"
        )
    if shape.below is not None and found.levels is not None:
        raise ModelError(
            f"`{shape.on}` is a category, and its split has a cut",
            expected=f"pw.Split(m.{shape.on}) or pw.Split(m.{shape.on}, level=...)",
        )
    answers = 2 if shape.is_binary else found.levels
    assert answers is not None
    branches = shape.branches or (shape.every,) * answers
    if len(branches) != answers:
        raise ModelError(
            f"the split on `{shape.on}` has {len(branches)} branches", expected=f"{answers}, one for each level"
        )
    level = shape.level if shape.level is None else found.code(shape.level)
    inner = tuple(settled(branch, attributes) for branch in branches)
    return Split(shape.on, *inner, below=shape.below, level=level)


def named_levels(shape: Split | None, attributes: Mapping[str, Attribute]) -> Split | None:
    """The shape with levels by the names that data gave them."""
    if shape is None:
        return None
    labels = attributes[shape.on].labels
    level = labels[int(shape.level)] if labels and shape.level is not None else shape.level  # type: ignore[call-overload]
    inner = tuple(named_levels(branch, attributes) for branch in shape.branches)
    return Split(shape.on, *inner, below=shape.below, level=level)


def leaves_of(shape: Split | None) -> int:
    """How many leaves a settled shape has."""
    return 1 if shape is None else sum(leaves_of(branch) for branch in shape.branches)


def is_open(shape: Split | None, attributes: Mapping[str, Attribute]) -> bool:
    """Whether a shape asks for the levels of a category whose number only data tell."""
    if shape is None or shape.on not in attributes:
        return False
    levels = attributes[shape.on].levels
    return levels == 0 or any(is_open(branch, attributes) for branch in (*shape.branches, shape.every))


def shares_of(shape: Split | None) -> Iterator[float]:
    """For each leaf the share of prior rows that reaches it where branches share them evenly."""
    if shape is None:
        yield 1.0
        return
    for branch in shape.branches:
        yield from (share / len(shape.branches) for share in shares_of(branch))
