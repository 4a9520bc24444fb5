"""A decision: the expected utility of every action, the best policy, and what seeing something first is worth.

    value = sum over seen_1 of max over action_1 of sum over seen_2 of max ... sum over the rest of p u

Sums and maxima follow the order of time, from the last to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from platewright.errors import ModelError, NotLearned, SizeError, SupportError, UnknownName
from platewright.family import Array
from platewright.inference.finite import Finite
from platewright.run.results.influence import Influence, with_knowledge

MOST_STATES = 2_000_000


@dataclass(frozen=True, eq=False)
class Weighed:
    """Tables over all that is finite, in the order of time: probabilities, and probabilities times utilities."""

    levels: tuple[Finite, ...]
    weights: Array
    worth: Array
    error: float = 0.0
    """The Monte Carlo error of expected utilities, where there were draws."""


Weigh = Callable[[Influence], Weighed]


def check_states(levels: tuple[Finite, ...]) -> int:
    """How many combinations there are; refused where there are too many."""
    count = 1
    for one in levels:
        count *= one.size
    if count > MOST_STATES:
        raise SizeError(
            f"{count} combinations of {', '.join(one.name for one in levels)}",
            expected=f"at most {MOST_STATES}",
            hint="give some of these variables",
        )
    return count


@dataclass(frozen=True, eq=False)
class Decision:
    """What `fit.decide(evidence)` returns."""

    influence: Influence
    cases: frozenset[str]
    weigh: Weigh

    @cached_property
    def _weighed(self) -> Weighed:
        return self.weigh(self.influence)

    @cached_property
    def _solved(self) -> tuple[float, dict[str, Array], dict[str, Array]]:
        """The value, and for each action its expected utilities (times the probability of what is seen) and that."""
        found, axes = self._weighed, list(self.influence.axes)
        total, weights = found.worth, found.weights
        mass = self._mass(weights, axes)
        utilities: dict[str, Array] = {}
        masses: dict[str, Array] = {}
        for action, seen in reversed(list(zip(self.influence.actions, self.influence.seen, strict=True))):
            place = axes.index(action)
            rest = tuple(range(place + 1, len(axes)))
            total, weights = total.sum(axis=rest), weights.sum(axis=rest)
            utilities[action], masses[action] = total, weights[..., 0]
            best = total.argmax(axis=-1)[..., None]
            total = np.take_along_axis(total, best, axis=-1)[..., 0]
            weights = np.take_along_axis(weights, best, axis=-1)[..., 0]
            axes = axes[:place]
            below = tuple(range(place - len(seen), place))
            total, weights = total.sum(axis=below), weights.sum(axis=below)
            axes = axes[: place - len(seen)]
        return float(total.sum()) / mass, utilities, masses

    def _mass(self, weights: Array, axes: list[str]) -> float:
        """The probability of what is given."""
        at = tuple(0 if name in self.influence.actions else slice(None) for name in axes)
        mass = float(weights[at].sum())
        if not mass > 0.0:
            raise SupportError("what is given has probability zero", where="evidence")
        return mass

    @property
    def value(self) -> float:
        """The expected utility of the best policy, given the evidence."""
        return self._solved[0]

    @property
    def error(self) -> float:
        """The Monte Carlo error of the expected utilities; zero where all was computed exactly."""
        return self._weighed.error

    def expected(self, action: str | None = None) -> Mapping[object, float | Mapping[object, float]]:
        """The expected utility of each level of an action, later ones taken in the best way.

        Where something is seen before it, one such table for each of its values (tuples of several).
        """
        action = self._action(action)
        utilities, masses = self._solved[1][action], self._solved[2][action]
        levels = self._levels(action)
        if utilities.ndim == 1:
            mass = float(masses)
            return {label: float(value) / mass for label, value in zip(levels.labels, utilities, strict=True)}
        found: dict[object, float | Mapping[object, float]] = {}
        for key, at in self._observations(action, masses):
            table = zip(levels.labels, utilities[at], strict=True)
            found[key] = {label: float(value) / float(masses[at]) for label, value in table}
        return found

    def policy(self, action: str | None = None) -> Mapping[object, object]:
        """The best level of an action for each value of what is seen before it (tuples of several)."""
        action = self._action(action)
        utilities, masses = self._solved[1][action], self._solved[2][action]
        labels = self._levels(action).labels
        return {key: labels[int(utilities[at].argmax())] for key, at in self._observations(action, masses)}

    @property
    def best(self) -> object:
        """The best level of the first action, where nothing is to be seen before it."""
        action = self._action(None)
        utilities = self._solved[1][action]
        if utilities.ndim > 1:
            shown = ", ".join(f"`{name}`" for name in self._before(action))
            raise NotLearned(f"the best level of `{action}` depends on {shown}", hint="policy() lists it, or give them")
        return self._levels(action).labels[int(utilities.argmax())]

    def value_of(self, name: str, before: str | None = None) -> float:
        """What it is worth to see a variable before an action, the first by default: asked before it is seen."""
        if name in self.influence.given:
            return 0.0
        told = with_knowledge(self.influence, self.cases, name, before)
        return Decision(told, self.cases, self.weigh).value - self.value

    # -- parts ---

    def _action(self, name: str | None) -> str:
        if not self.influence.actions:
            raise ModelError("nothing is to be decided", expected="an action that is not given")
        if name is None:
            return self.influence.actions[0]
        if name not in self.influence.actions:
            raise UnknownName(name, self.influence.actions, where="actions that are not given")
        return name

    def _levels(self, name: str) -> Finite:
        return self._weighed.levels[self.influence.axes.index(name)]

    def _before(self, action: str) -> tuple[str, ...]:
        return self.influence.axes[: self.influence.axes.index(action)]

    def _observations(self, action: str, masses: Array) -> list[tuple[object, tuple[int, ...]]]:
        """What may be known before an action, with names and as places; what cannot be is left out."""
        levels = [self._levels(name) for name in self._before(action)]
        found: list[tuple[object, tuple[int, ...]]] = []
        for at in product(*(range(one.size) for one in levels)):
            if float(masses[at]) > 0.0:
                labels = tuple(one.labels[place] for one, place in zip(levels, at, strict=True))
                found.append((labels[0] if len(labels) == 1 else labels, at))
        return found

    def __str__(self) -> str:
        about = f" (Monte Carlo error {self.error:.2g})" if self.error else ""
        lines = [f"expected utility {self.value:.6g}{about}"]
        for action in self.influence.actions:
            before = self._before(action)
            lines.append(f"{action}" + (f", knowing {', '.join(before)}" if before else ""))
            table = self.expected(action)
            for label, found in table.items():
                shown = (
                    ", ".join(f"{one} {value:.6g}" for one, value in found.items())
                    if isinstance(found, Mapping)
                    else f"{found:.6g}"
                )
                chosen = self.policy(action)[label] if before else None
                lines.append(f"  {_shown(label):<12} {shown}" + (f"  -> {chosen}" if before else ""))
            if not before:
                lines.append(f"  -> {self.policy(action)[()]}")
        return "\n".join(lines)

    __repr__ = __str__


def _shown(label: object) -> str:
    return ", ".join(str(part) for part in label) if isinstance(label, tuple) else str(label)
