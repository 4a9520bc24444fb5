"""The one door for arrays that come from files: each is what the plan expects of it before anything uses it.

    name -> kind of number, shape by plates, range (codes within their plate), finite where it must be

C reads and writes where codes and sizes say, so nothing that a file claims goes further unless it was looked at here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from platewright.algebra.domain import Domain
from platewright.errors import FormatError
from platewright.family import Array
from platewright.language.variable import Variable

if TYPE_CHECKING:
    from platewright.run.checkpoint import State

Kind = Literal["real", "whole", "words"]
"""Doubles; integers; words of 64 bits of a random state."""
TYPES: Mapping[Kind, str] = {"real": "fiu", "whole": "fiu", "words": "u"}
LARGEST_WHOLE = 2**53
"""Beyond this a whole number is no longer one as a double."""


@dataclass(frozen=True)
class Expected:
    """What an array must be; a length of None may be any."""

    shape: tuple[int | None, ...]
    kind: Kind = "real"
    lower: float = -inf
    upper: float = inf
    finite: bool = True
    """Whether infinities are refused."""
    nan: bool = False
    """Whether NaN is let through, of what only tells how a run went."""

    def after(self, *lengths: int | None) -> Expected:
        """The same with axes before its own: chains and draws."""
        return replace(self, shape=(*lengths, *self.shape))

    def __str__(self) -> str:
        lengths = ", ".join("any" if length is None else str(length) for length in self.shape)
        within = f" in [{self.lower:g}, {self.upper:g}]" if (self.lower, self.upper) != (-inf, inf) else ""
        words = {"real": "numbers", "whole": "whole numbers", "words": "words of 64 bits"}
        return f"{words[self.kind]}{within} of shape ({lengths})"


def admitted(name: str, found: Array, wanted: Expected, where: str = "") -> Array:
    """The array, if it is what was expected; else a `FormatError` says what it is."""
    shown = f"`{name}`"[:60]
    array = np.asarray(found)
    if array.dtype.kind not in TYPES[wanted.kind] or (wanted.kind == "words" and array.dtype != np.uint64):
        raise _refused(f"{shown} has the type {array.dtype}", wanted, where)
    fits = len(array.shape) == len(wanted.shape)
    if not fits or any(want not in (None, length) for want, length in zip(wanted.shape, array.shape)):
        raise _refused(f"{shown} has the shape {array.shape}", wanted, where)
    if not array.size or wanted.kind == "words":
        return array
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array) if wanted.finite else np.isnan(array)
        if bad.any() and not wanted.nan:
            raise _refused(f"{shown} holds {array[bad].flat[0]}{_place(bad)}", wanted, where)
        if wanted.kind == "whole" and (bad := array != np.floor(array)).any():
            raise _refused(f"{shown} holds {array[bad].flat[0]}{_place(bad)}", wanted, where)
        if wanted.kind == "whole" and (np.abs(array) <= LARGEST_WHOLE).all():
            array = array.astype(np.int64)
    outside = (array < wanted.lower) | (array > wanted.upper)
    if outside.any():
        raise _refused(f"{shown} holds {array[outside].flat[0]}{_place(outside)}", wanted, where)
    return array


def all_admitted(
    found: Mapping[str, Array], wanted: Mapping[str, Expected], where: str = "", *, optional: Iterable[str] = ()
) -> dict[str, Array]:
    """Arrays by name: those that are expected and no others; `optional` ones may be missing."""
    if strange := sorted(set(found) - set(wanted)):
        raise FormatError(f"`{strange[0]}` is not expected here"[:80], where=where, expected=_listed(wanted))
    if missing := sorted(set(wanted) - set(found) - set(optional)):
        raise FormatError(f"`{missing[0]}` is missing"[:80], where=where, expected=_listed(wanted))
    return {name: admitted(name, values, wanted[name], where) for name, values in found.items()}


def as_values_of(node: Variable, sizes: Mapping[str, int], *, expects_codes: bool = True) -> Expected:
    """What values of a variable must be: its shape, and its range or the levels of its plate."""
    shape = tuple(size_of(axis.plate, sizes) for axis in node.axes)
    lower, upper = range_of(node.domain, sizes)
    whole = node.domain.is_discrete and expects_codes
    return Expected(shape, "whole" if whole else "real", lower, upper)


def range_of(domain: Domain, sizes: Mapping[str, int]) -> tuple[float, float]:
    """The ends of a domain; of categories the first and the last level."""
    if domain.kind == "levels":
        return 0, size_of(str(domain.levels), sizes) - 1
    if domain.kind == "integer":
        return domain.lower, min(domain.upper, LARGEST_WHOLE)
    if domain.kind == "simplex":
        return 0.0, 1.0 + 1e-5  # a sum of shares is one but for rounding
    return (domain.lower, domain.upper) if domain.kind == "real" else (-inf, inf)


def size_of(plate: str, sizes: Mapping[str, int]) -> int:
    """The size of a plate, which the file must tell."""
    if plate not in sizes:
        raise FormatError(f"the size of plate `{plate}` is missing"[:80])
    return sizes[plate]


Facts = dict[str, Any]


def stages_admitted(
    state: State, example: Mapping[str, Array], names: Iterable[str]
) -> tuple[list[tuple[Facts | None, dict[str, Array]]], bool]:
    """The stages of a stored search, each with its arrays, and whether the last of them was at work.

    Arrays must be like those of the example, and `names` are the numbers that are told of a stage beside its objective.
    """
    wanted = {name: Expected(np.shape(values)) for name, values in example.items()}
    stages, at_work = state.facts["stages"], state.facts["at_work"]
    if not isinstance(stages, list) or not isinstance(at_work, bool) or (at_work and not (stages and stages[-1])):
        raise FormatError("the stages are damaged")
    parts: dict[int, dict[str, Array]] = {number: {} for number in range(len(stages))}
    for key, values in state.arrays.items():
        place, _, name = key.partition(":")
        parts[int(place)][name] = values
    found: list[tuple[Facts | None, dict[str, Array]]] = []
    for number, facts in enumerate(stages):
        if facts is None:
            found.append((None, all_admitted(parts[number], {})))
            continue
        found.append((_facts_admitted(facts, set(names)), all_admitted(parts[number], wanted)))
    return found, at_work


def _facts_admitted(facts: Any, names: set[str]) -> Facts:
    """What is told of a stage: its objective at each iteration, whether it converged, and numbers."""
    if not isinstance(facts, dict) or not isinstance(facts.get("converged"), bool):
        raise FormatError("a stage is damaged")
    history = facts.get("history")
    if not isinstance(history, list) or not history or not all(type(each) is float for each in history):
        raise FormatError("the objective of a stage is damaged")
    if not np.isfinite(history).all() or set(facts) != {"history", "converged", *names}:
        raise FormatError("what is told of a stage is damaged")
    if any(type(facts[name]) not in (int, float) for name in names):
        raise FormatError("a number of a stage is damaged")
    return facts


def check_generator(state: object, kind: str) -> None:
    """The state of NumPy's random numbers, as a file tells it, is one that can be set."""
    match state:
        case {
            "bit_generator": str(name),
            "state": {"state": int(first), "inc": int(second)},
            "has_uint32": int(held),
            "uinteger": int(left),
        }:
            words = 0 <= first < 2**128 and 0 <= second < 2**128 and second % 2 == 1
            if name == kind and words and held in (0, 1) and 0 <= left < 2**32:
                return
    raise FormatError("the state of the random numbers is damaged", expected=f"that of {kind}")


def _refused(found: str, wanted: Expected, where: str) -> FormatError:
    return FormatError(found, where=where, expected=str(wanted))


def _place(bad: Array) -> str:
    place = ", ".join(str(number) for number in np.argwhere(bad)[0])
    return f" at element {place}" if place else ""


def _listed(wanted: Mapping[str, Expected]) -> str:
    names = ", ".join(wanted)
    return names if len(names) < 200 else names[:200] + " ..."
