"""A plate: a named set of repetitions, and with it a named index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from platewright.algebra.expression import Index
from platewright.errors import PlateError


@dataclass(frozen=True, slots=True)
class Plate:
    """What `m.plate(...)` returns. Its size may come from the data."""

    name: str
    size: int | None = None
    labels: tuple[object, ...] | None = None
    within: str | None = None
    like: str | None = None
    ordered: bool = False

    @property
    def index(self) -> Index:
        """The index that runs over this plate."""
        return Index(self.name, self.name)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        size = "?" if self.size is None else str(self.size)
        inside = f" within {self.within}" if self.within else ""
        return f"plate {self.name} ({size}{inside})"


def root_of(plates: Mapping[str, Plate], name: str) -> str:
    """The plate whose set a plate repeats, through any number of `like=`."""
    while name in plates and (like := plates[name].like) is not None:
        name = like
    return name


def membership(inner: str, outer: str) -> str:
    """The name of the known column that says which outer element each inner element belongs to."""
    return f"{outer}@{inner}"


def beginning(plate: str) -> str:
    """The name of the known column that is one on the first element of each sequence of an ordered plate."""
    return f"first@{plate}"


def check_size(owner: str, size: object, word: str = "size") -> int:
    """A whole number from 1, of Python's or NumPy's kind."""
    if isinstance(size, (int, np.integer)) and not isinstance(size, (bool, np.bool_)) and size >= 1:
        return int(size)
    raise PlateError(f"{owner} has {word} {size!r}", expected="a whole number from 1")


def check_labels(name: str, labels: object) -> tuple[object, ...]:
    """Distinct labels, one for each element."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise PlateError(f"plate `{name}` has labels {labels!r}", expected="a list of labels")
    found = tuple(labels)
    try:
        distinct = len(set(found))
    except TypeError:
        raise PlateError(f"plate `{name}` has labels that are lists or tables", expected="text or numbers") from None
    if distinct < len(found):
        raise PlateError(f"plate `{name}` has a label twice", expected="distinct labels")
    return found
