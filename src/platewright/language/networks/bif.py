"""Read a discrete Bayesian network in the Bayesian Interchange Format (BIF 0.15).

    variable smoke { type discrete [ 2 ] { yes, no }; }
    probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }

`table` lists the values with the first variable of the parentheses slowest; `default` fills the rows not given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from platewright.language.model import Model
from platewright.language.networks.network import Conditional, directed_model, learnable_model
from platewright.language.networks.tokens import Words, read_text

M = TypeVar("M", bound=Model)

_PLAIN: Callable[[str], Any] = Model

MOST_ENTRIES = 1 << 27
LARGEST_GAP = 0.01
"""How far the probabilities of a row may sum from one: files round to few digits."""

_WORDS = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|\s+)|(?P<mark>[{}()\[\],;|])|"[^"\n]*"|[^\s{}()\[\],;|"]+|.""", re.DOTALL
)


def read_bif(
    source: str | Path,
    make: Callable[[str], M] = _PLAIN,
    learnable: bool = False,
    sample_size: float = 1.0,
    around_tables: bool = False,
) -> M:
    """The model in a BIF file (plain or gzip) or text; `make` makes the empty model from a title.

    Names that Python does not allow are changed (`a-b` to `a_b`); state labels stay as they are. `learnable` makes the
    tables unknown, under a prior worth `sample_size` rows of data.
    """
    text, title = read_text(source)
    reader = _Reader(Words(text, title, _WORDS))
    found = reader.read()
    if learnable:
        return learnable_model(make, reader.title, reader.labels, found, sample_size, around_tables)
    return directed_model(make, reader.title, reader.labels, found)


def read_parents(source: str | Path) -> dict[str, tuple[str, ...]]:
    """The variables of a BIF file or text with their parents, in the order of the text."""
    text, title = read_text(source)
    reader = _Reader(Words(text, title, _WORDS))
    above = {conditional.name: conditional.parents for conditional in reader.read()}
    return {name: tuple(above[name]) for name in reader.labels}


class _Reader:
    def __init__(self, words: Words) -> None:
        self.words = words
        self.title = "network"
        self.labels: dict[str, tuple[str, ...]] = {}
        self.conditionals: dict[str, Conditional] = {}

    def read(self) -> list[Conditional]:
        words = self.words
        while not words.is_done():
            match words.peek():
                case "network":
                    self._network()
                case "variable":
                    self._variable()
                case "probability":
                    self._probability()
                case found:
                    raise words.error(f"found `{found}`", "network, variable or probability")
        for name in self.labels:
            if name not in self.conditionals:
                raise words.error(f"variable `{name}` has no probabilities", f"probability ( {name} ...) {{ ... }}")
        if not self.labels:
            raise words.error("there is no variable in this text", "variable NAME { type discrete ... }")
        return list(self.conditionals.values())

    def _network(self) -> None:
        words = self.words
        words.take("network")
        if words.peek() != "{":
            self.title = _plain(words.next("a name"))
        words.take("{")
        while words.peek() != "}":
            self._skip_property()
        words.take("}")

    def _skip_property(self) -> None:
        if self.words.peek() != "property":
            raise self.words.error(f"found `{self.words.peek()}`", "property or }")
        while self.words.next("a ; at the end of the property") != ";":
            pass

    def _variable(self) -> None:
        words = self.words
        words.take("variable")
        at = words.at
        name = _plain(words.next("the name of a variable"))
        if name in self.labels:
            raise words.error(f"variable `{name}` is there twice", at=at)
        words.take("{")
        while words.peek() != "}":
            if words.peek() == "type":
                self.labels[name] = self._type()
            else:
                self._skip_property()
        if name not in self.labels:
            raise words.error(f"variable `{name}` has no type", "type discrete [ n ] { ... };")
        words.take("}")

    def _type(self) -> tuple[str, ...]:
        words = self.words
        words.take("type")
        words.take("discrete")
        words.take("[")
        at = words.at
        count = words.whole_number("the number of states")
        words.take("]")
        words.take("{")
        labels = self._listed("}")
        if len(labels) != count or count < 1:
            raise words.error(f"{count} states declared, {len(labels)} listed", "equal numbers, at least 1", at=at)
        if len(set(labels)) < count:
            raise words.error("a state is listed twice", "distinct states", at=at)
        words.take(";")
        return labels

    def _listed(self, end: str) -> tuple[str, ...]:
        """Words with commas between, up to the closing mark, which is taken too."""
        found: list[str] = []
        while self.words.peek() != end:
            if found:
                self.words.take(",")
            found.append(_plain(self.words.next(end)))
        self.words.take(end)
        return tuple(found)

    def _known(self) -> str:
        words = self.words
        at = words.at
        name = _plain(words.next("the name of a variable"))
        if name not in self.labels:
            raise words.error(f"there is no variable `{name}`", "a variable declared above", at=at)
        return name

    def _probability(self) -> None:
        words = self.words
        words.take("probability")
        words.take("(")
        at = words.at
        name = self._known()
        parents: list[str] = []
        if words.peek() == "|":
            words.take("|")
            parents.append(self._known())
            while words.peek() == ",":
                words.take(",")
                parents.append(self._known())
        words.take(")")
        if name in self.conditionals:
            raise words.error(f"`{name}` has probabilities already", at=at)
        if len({name, *parents}) < len(parents) + 1:
            raise words.error(f"a variable is named twice in the probabilities of `{name}`", at=at)
        shape = [len(self.labels[parent]) for parent in parents] + [len(self.labels[name])]
        if prod(shape) > MOST_ENTRIES:
            raise words.error(f"the table of `{name}` has {prod(shape)} entries", f"at most {MOST_ENTRIES}", at=at)
        values = self._rows(name, parents, shape)
        gap = np.abs(values.sum(axis=-1) - 1)
        if not gap.max() <= LARGEST_GAP:
            if np.isnan(gap).any():
                raise words.error(f"`{name}` has no probabilities for some states of its parents", at=at)
            raise words.error(
                f"probabilities of `{name}` sum to {values.sum(axis=-1).flat[gap.argmax()]:g}", "1", at=at
            )
        self.conditionals[name] = Conditional(name, tuple(parents), values)

    def _rows(self, name: str, parents: list[str], shape: list[int]) -> np.ndarray:
        words = self.words
        values = np.full(shape, np.nan)
        default: list[float] | None = None
        positions = [{label: place for place, label in enumerate(self.labels[parent])} for parent in parents]
        words.take("{")
        while (word := words.peek()) != "}":
            if word == "property":
                self._skip_property()
                continue
            at = words.at
            words.next("table, default, (...) or }")
            match word:
                case "table":
                    listed = np.reshape(self._numbers(prod(shape)), [shape[-1], *shape[:-1]])
                    values[...] = np.moveaxis(listed, 0, -1)
                case "default":
                    default = self._numbers(shape[-1])
                case "(":
                    states = self._listed(")")
                    if len(states) != len(parents):
                        raise words.error(f"{len(states)} states for {len(parents)} parents", at=at)
                    row = []
                    for parent, place, state in zip(parents, positions, states, strict=True):
                        if state not in place:
                            raise words.error(
                                f"`{parent}` has no state `{state}`", "one of: " + ", ".join(place), at=at
                            )
                        row.append(place[state])
                    values[tuple(row)] = self._numbers(shape[-1])
                case _:
                    raise words.error(f"found `{word}`", "table, default, (...) or }", at=at)
        words.take("}")
        if default is not None:
            values[np.isnan(values).any(axis=-1)] = default
        return values

    def _numbers(self, count: int) -> list[float]:
        words = self.words
        found = [words.number("a probability")]
        while words.peek() != ";":
            if words.peek() == ",":
                words.take(",")
            found.append(words.number("a probability"))
            if len(found) > count:
                break
        if len(found) != count:
            raise words.error(f"{len(found)} numbers", f"{count} numbers")
        words.take(";")
        return found


def _plain(word: str) -> str:
    return word[1:-1] if word.startswith('"') and len(word) > 1 else word
