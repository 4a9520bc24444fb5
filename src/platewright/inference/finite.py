"""The values of a variable that has finitely many, with the labels a user writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from platewright.errors import MissingValue, ModelError, UnknownName, UnseenLevel
from platewright.graph.graph import Graph
from platewright.language.plate import Plate


@dataclass(frozen=True)
class Finite:
    """A variable's levels: value `lower + position` in expressions, `labels[position]` for people."""

    name: str
    lower: int
    labels: tuple[object, ...]

    @property
    def size(self) -> int:
        """How many levels there are."""
        return len(self.labels)

    @cached_property
    def _places(self) -> dict[object, int]:
        return {label: place for place, label in enumerate(self.labels)}

    def place(self, value: object) -> int | None:
        """The place of a label, if it is one."""
        if isinstance(value, np.generic):
            value = value.item()
        try:
            return self._places.get(value)
        except TypeError:
            return None

    def position(self, value: object) -> int:
        """The place of a label, or an error that names the nearest."""
        place = self.place(value)
        if place is not None:
            return place
        value = value.item() if isinstance(value, np.generic) else value
        listed = [str(label) for label in self.labels]
        near = get_close_matches(str(value), listed, n=1)
        raise UnseenLevel(
            f"`{self.name}` has no level {value!r}",
            where="evidence",
            expected="one of: " + ", ".join(repr(label) for label in self.labels[:12]),
            hint=f"did you mean {self.labels[listed.index(near[0])]!r}?" if near else "",
        )


def finite(graph: Graph, name: str) -> Finite:
    """The levels of a node whose domain is finite."""
    domain = graph.nodes[name].domain
    if domain.kind == "levels":
        plate = _with_size(graph, str(domain.levels), name)
        return Finite(name, 0, tuple(plate.labels) if plate.labels else tuple(range(plate.size or 0)))
    lower, upper = int(domain.lower), int(domain.upper)
    return Finite(name, lower, tuple(range(lower, upper + 1)))


def _with_size(graph: Graph, plate: str, name: str) -> Plate:
    found = graph.plates[plate]
    while found.size is None and found.like is not None:
        found = graph.plates[found.like]
    if found.size is None:
        raise ModelError(
            f"the number of levels of `{name}` is not known",
            where=f"plate {plate}",
            hint=f"give it in the model: m.plate('{plate}', size)",
        )
    return found


def read_evidence(graph: Graph, evidence: Mapping[str, object]) -> dict[str, float]:
    """Values as expressions take them: positions for categories, numbers for the rest."""
    values: dict[str, float] = {}
    for name, value in evidence.items():
        if name not in graph.nodes:
            raise UnknownName(name, [known for known in graph.nodes if "@" not in known], where="evidence")
        node = graph.nodes[name]
        if node.kind == "deterministic":
            raise ModelError(
                f"`{name}` is a function of other variables and cannot be evidence",
                expected="a random, undirected or input variable",
                hint=f"observe its parents: {', '.join(sorted(node.parents)) or 'it has none'}",
            )
        if value is None or (isinstance(value, float) and value != value):
            raise MissingValue(f"the evidence for `{name}` is missing", hint="leave it out: it is unknown then")
        if node.domain.is_finite:
            levels = finite(graph, name)
            values[name] = float(levels.lower + levels.position(value))
        else:
            values[name] = _number(name, value)
    return values


def _number(name: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise UnseenLevel(f"`{name}` was given {value!r}", where="evidence", expected="a number") from None
    if not np.isfinite(number):
        raise UnseenLevel(f"`{name}` was given {value!r}", where="evidence", expected="a finite number")
    return number
