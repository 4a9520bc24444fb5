"""Which networks a family has: arcs forbidden and required, tiers, the most parents, and a prior over what is left.

tiers=[["age", "sex"], ["diet"], ["illness"]]      no arc leads from a later tier into an earlier one
pw.uniform_dags()                                  every allowed network is as probable as any other
pw.arcs(0.1)                                       p(network) ~ 0.1^arcs 0.9^(pairs - arcs), over the allowed ones
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from platewright.errors import CycleError, ModelError, ParameterError, SizeError, UnknownName
from platewright.structure.network import Arc, find_cycle

if TYPE_CHECKING:
    from platewright.structure.columns import Column

MOST_CELLS = 2**31


@dataclass(frozen=True)
class ArcPrior:
    """A prior over networks by their number of arcs."""

    probability: float = 0.5

    def __post_init__(self) -> None:
        if isinstance(self.probability, bool) or not isinstance(self.probability, int | float):
            raise ParameterError(f"an arc with probability {self.probability!r}", expected="a number between 0 and 1")
        if not 0.0 < self.probability < 1.0:
            raise ParameterError(
                f"an arc with probability {self.probability}",
                expected="a number between 0 and 1, without the ends",
                hint="forbid= and require= hold what is certain",
            )

    @property
    def log_odds(self) -> float:
        """What each arc adds to the log prior."""
        return log(self.probability) - log(1.0 - self.probability)

    def __str__(self) -> str:
        return "uniform over networks" if self.probability == 0.5 else f"arcs of probability {self.probability:g}"


def uniform_dags() -> ArcPrior:
    """All allowed directed acyclic graphs are equally probable.

    >>> print(pw.uniform_dags())
    uniform over networks
    """
    return ArcPrior(0.5)


def arcs(probability: float) -> ArcPrior:
    """Each arc is there with this probability, on condition that there is no directed cycle.

    >>> print(pw.arcs(0.1))
    arcs of probability 0.1
    """
    return ArcPrior(probability)


@dataclass(frozen=True, eq=False)
class Rules:
    """Parents that each node may have, those it must have, and how many at most; nodes by number."""

    allowed: tuple[frozenset[int], ...]
    required: tuple[frozenset[int], ...]
    most: int

    @property
    def is_free(self) -> bool:
        """Whether every network is allowed."""
        count = len(self.allowed)
        wide = all(len(found) == count - 1 for found in self.allowed)
        return wide and self.most >= count - 1 and not any(self.required)

    @property
    def masks(self) -> tuple[list[int], list[int]]:
        """Allowed and required parents as bits."""
        return [bits(found) for found in self.allowed], [bits(found) for found in self.required]


def bits(nodes: Iterable[int]) -> int:
    """A set of nodes as the bits of a number."""
    return sum(1 << node for node in nodes)


def members(code: int) -> list[int]:
    """The nodes whose bits are set."""
    found = []
    while code:
        low = code & -code
        found.append(low.bit_length() - 1)
        code ^= low
    return found


def read_rules(
    columns: Sequence[Column],
    forbid: Iterable[Arc],
    require: Iterable[Arc],
    tiers: Sequence[Iterable[str]],
    max_parents: int | None,
    allow: Iterable[Arc] | None = None,
) -> Rules:
    """Rules from names, checked against each other; categories cannot hang on numbers."""
    names = [column.name for column in columns]
    number = {name: place for place, name in enumerate(names)}
    forbidden, required = _pairs(forbid, number, "forbid="), _pairs(require, number, "require=")
    if max_parents is not None and (isinstance(max_parents, bool) or not isinstance(max_parents, int | np.integer)):
        raise ParameterError(f"max_parents is {max_parents!r}", expected="a whole number from 0")
    if max_parents is not None and max_parents < 0:
        raise ParameterError(f"max_parents is {max_parents}", expected="a whole number from 0")
    if both := sorted(forbidden & required):
        raise ModelError(f"the arc {both[0][0]} -> {both[0][1]} is both forbidden and required", expected="one of them")
    if cycle := find_cycle(names, required):
        raise CycleError(f"the required arcs lead in a circle: {' -> '.join(cycle)}", where="require=")
    tier = _tiers(tiers, number)
    wanted = None if allow is None else _pairs(allow, number, "the optional arcs") | required
    allowed: list[frozenset[int]] = []
    for child in columns:
        above = set()
        for parent in columns:
            arc = (parent.name, child.name)
            if parent is child or arc in forbidden or (wanted is not None and arc not in wanted):
                continue
            if why := _refused(parent, child, tier):
                if arc in required:
                    raise ModelError(f"the required arc {arc[0]} -> {arc[1]} cannot be: {why}", where="require=")
                continue
            above.add(number[parent.name])
        allowed.append(frozenset(above))
    needed = tuple(frozenset(number[p] for p, c in required if c == name) for name in names)
    most = len(names) - 1 if max_parents is None else int(max_parents)
    for name, above_it in zip(names, needed, strict=True):
        if len(above_it) > most:
            raise ModelError(f"{len(above_it)} parents of `{name}` are required, and max_parents is {most}")
        _check_fits(columns, name, above_it)
    return Rules(tuple(allowed), needed, most)


def _pairs(arcs: Iterable[Arc], known: Iterable[str], where: str) -> set[Arc]:
    found = set()
    for arc in arcs:
        if isinstance(arc, str) or len(pair := tuple(arc)) != 2:
            raise ModelError(f"{arc!r} is no arc", where=where, expected="a pair (parent, child)")
        for name in pair:
            if name not in known:
                raise UnknownName(str(name), known, where=where)
        if pair[0] == pair[1]:
            raise CycleError(f"the arc {pair[0]} -> {pair[1]} leads from a node to itself", where=where)
        found.add((pair[0], pair[1]))
    return found


def _tiers(tiers: Sequence[Iterable[str]], known: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, tier in enumerate(tiers):
        for name in [tier] if isinstance(tier, str) else tier:
            if name not in known:
                raise UnknownName(str(name), known, where="tiers=")
            if name in found:
                raise ModelError(f"`{name}` is in two tiers", where="tiers=")
            found[name] = number
    return found


def _refused(parent: Column, child: Column, tier: dict[str, int]) -> str:
    """Why an arc cannot be; nothing where it can."""
    if parent.kind != "category" and child.kind != "number":
        return (
            f"`{child.name}` has a {child.kind} for each state of its parents, and `{parent.name}` is a {parent.kind}"
        )
    if parent.group is not None:
        return f"`{parent.name}` is a {parent.kind}, which no regression has as an input"
    if parent.name in tier and child.name in tier and tier[parent.name] > tier[child.name]:
        return f"`{parent.name}` is in a later tier"
    return ""


def _check_fits(columns: Sequence[Column], name: str, above: frozenset[int]) -> None:
    cells = 1
    for column in (*(columns[node] for node in above), *(column for column in columns if column.name == name)):
        cells *= max(1, len(column.levels))
    if cells > MOST_CELLS:
        shown = ", ".join(f"{columns[node].name} ({len(columns[node].levels)} levels)" for node in sorted(above))
        raise SizeError(
            f"the table of `{name}` would have {cells} cells",
            where=f"its required parents {shown}",
            expected=f"at most {MOST_CELLS}",
        )
