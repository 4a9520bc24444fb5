"""Climb by steps that never go down, and take longer ones where short ones have become slow.

    r = u1 - u0,  v = (u2 - u1) - r,  a = -|r| / |v|        u = u0 - 2 a r + a^2 v

The longer step (SQUAREM, Varadhan and Roland 2008) looks at two plain ones, in coordinates without constraints. It is
taken only if the objective there is no lower; else the plain steps stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from platewright.backends.kernels.coordinates import Joined
from platewright.errors import PlatewrightError, Unbounded
from platewright.family import Array

FALL = 1e-9
"""How far the objective may fall by rounding, relative to its size."""
PLAIN = 20
"""Steps before longer ones are tried."""


class Seen(Protocol):
    """What a step looks at: the objective at given values, and the largest log density of a row."""

    @property
    def objective(self) -> float: ...
    @property
    def steepest(self) -> float: ...


Look = TypeVar("Look", bound=Seen)
Values = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Slope(Generic[Look]):
    """A hill: how to look at a place, and how to step on from what was seen there."""

    look: Callable[[Values], Look]
    step: Callable[[Look, Values], dict[str, Array]]
    coordinates: Joined | None = None
    """For longer steps; without them all steps are plain."""
    reals: float = 0.0
    """How many real numbers are seen in an element: bounds how steep it may become."""
    steepest: float = np.inf


@dataclass(eq=False)
class Climb(Generic[Look]):
    """A climb so far: where it stands, what is seen there, and the objective at each step."""

    values: Values
    history: list[float] = field(default_factory=list)
    highest: float = np.inf
    seen: Look | None = None
    seen_at: Values = field(default_factory=dict)
    """The values that `seen` belongs to."""
    converged: bool = False
    interrupted: bool = False


def climb(
    slope: Slope[Any],
    start: Climb[Any],
    iterations: int,
    tolerance: float,
    told: Callable[[Climb[Any]], None] = lambda _: None,
) -> Climb[Any]:
    """Go on until the objective stands still or the iterations are used up; Ctrl-C ends it where it is.

    A start that has seen its place already is a climb to be carried on. `told` hears of every look but those inside a
    longer step: a state stored then can be carried on bit by bit.
    """
    now = start
    goes_on = now.seen is not None
    try:
        while len(now.history) < iterations and not now.converged:
            if not goes_on:
                _look(slope, now, tolerance)
                told(now)
            goes_on = False
            if now.converged or len(now.history) >= iterations:
                break
            _go_on(slope, now, iterations, tolerance)
    except KeyboardInterrupt:
        if now.seen is None:
            raise
        now.values, now.interrupted = now.seen_at, True
    if now.seen is not None and now.seen_at is not now.values:
        now.values = now.seen_at
    return now


def _look(slope: Slope[Any], now: Climb[Any], tolerance: float) -> None:
    """The objective where the climb stands, checked."""
    seen = slope.look(now.values)
    objective = seen.objective
    if not now.history and slope.reals:
        now.highest = seen.steepest + slope.steepest * slope.reals
    if seen.steepest > now.highest or objective == np.inf:
        raise Unbounded
    if not np.isfinite(objective):
        raise PlatewrightError(
            f"the objective of EM is {objective}", hint="this is a defect of the derivation: report the model"
        )
    if now.history and objective < now.history[-1] - FALL * (1 + abs(now.history[-1])):
        raise PlatewrightError(
            f"the objective of EM fell from {now.history[-1]:.10g} to {objective:.10g}",
            hint="this is a defect of the derivation: please report the model",
        )
    _arrive(now, now.values, seen, tolerance)


def _arrive(now: Climb[Any], values: Values, seen: Any, tolerance: float) -> None:
    before = now.history[-1] if now.history else None
    now.values, now.seen, now.seen_at = values, seen, values
    now.history.append(seen.objective)
    now.converged = before is not None and abs(seen.objective - before) <= tolerance * (1 + abs(seen.objective))


def _go_on(slope: Slope[Any], now: Climb[Any], iterations: int, tolerance: float) -> None:
    """One plain step; late in the climb two, and a longer one from what they show."""
    first, seen = now.values, now.seen
    second = slope.step(seen, first)
    now.values = second
    if slope.coordinates is None or len(now.history) < PLAIN or len(now.history) + 2 > iterations:
        return
    _look(slope, now, tolerance)
    if now.converged:
        return
    third = slope.step(now.seen, second)
    now.values = third
    longer = _longer(slope.coordinates, first, second, third)
    if longer is None:
        return
    with np.errstate(all="ignore"):
        try:
            seen = slope.look(longer)
        except (PlatewrightError, np.linalg.LinAlgError):
            return  # a place where the model has no density: the plain step stands
    if np.isfinite(seen.objective) and seen.objective >= now.history[-1] and seen.steepest <= now.highest:
        # Standing still is judged by plain steps alone.
        _arrive(now, longer, seen, -1.0)
        now.values = slope.step(seen, longer)


def _longer(coordinates: Joined, first: Values, second: Values, third: Values) -> Values | None:
    """The place that two plain steps point to; nothing where they do not slow down."""
    try:
        places = [coordinates.free(values) for values in (first, second, third)]
    except np.linalg.LinAlgError:
        return None
    step = places[1] - places[0]
    bend = places[2] - places[1] - step
    size = float(np.linalg.norm(bend))
    if not np.isfinite(size) or size == 0.0:
        return None
    length = float(np.linalg.norm(step)) / size
    if length <= 1.0:
        return None
    moved = places[0] + 2 * length * step + length**2 * bend
    with np.errstate(over="ignore", invalid="ignore"):
        found = coordinates.values(moved)[0]
    if not all(np.isfinite(values).all() for values in found.values()):
        return None
    return {**first, **found}
