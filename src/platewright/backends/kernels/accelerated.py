"""Climb by steps that never go down, and take longer ones where short ones have become slow (SQUAREM).

    r = u1 - u0,  v = (u2 - u1) - r,  a = -|r| / |v|        u = u0 - 2 a r + a^2 v

The longer step (Varadhan and Roland 2008) looks at two plain ones, in coordinates without constraints. It is taken
only if the objective there is no lower; else the plain steps stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from platewright.backends.kernels.coordinates import Joined
from platewright.family import Array

FALL = 1e-9
"""How far the objective may fall by rounding, relative to its size."""
PLAIN = 20
"""Steps before longer ones are tried."""
STEEPEST = 23.0
"""How far the log density of a row may rise above the first iteration's, for each real number in it: a scale that fell
by 1e-10 holds nothing but rounding."""


@dataclass(frozen=True, eq=False)
class Seen:
    """What a look finds: expectations, the objective, and the largest log density of a row."""

    expectations: Any
    objective: float
    steepest: float


@dataclass(frozen=True, eq=False)
class Hill:
    """How to look at a place, and how to step on from what was seen there.

    `coordinates` are those of longer steps; without them all steps are plain. `reals` is how many real numbers are seen
    in an element, which bounds how steep it may become.
    """

    look: Callable[[Mapping[str, Array]], Any]
    step: Callable[[Any, Mapping[str, Array]], Mapping[str, Array]]
    coordinates: Any
    reals: float


@dataclass(frozen=True, eq=False)
class Climb:
    """A climb so far: where it stands, the objective at each iteration, how steep a row may be, and what is seen."""

    values: Mapping[str, Array]
    history: tuple[float, ...] = ()
    highest: float = np.inf
    seen: Any = None
    converged: bool = False


class Unlimited(ArithmeticError):
    """A start from which the objective rises without end; `edge` is a parameter that runs to the end of its range."""

    def __init__(self, edge: str = "") -> None:
        self.edge = edge
        runs = f": `{edge}` runs to the edge of its range" if edge else ""
        super().__init__(f"the objective has no upper bound{runs}")


def climb(hill: Hill, run: Climb, iterations: int, tolerance: float) -> Iterator[Climb]:
    """Go on until the objective stands still or the iterations are used up; each state can be gone on from."""
    if run.seen is None:
        run = seen_from(hill, run, run.values, tolerance)
        yield run
    while not run.converged and len(run.history) < iterations:
        run, ahead = stepped(hill, run, iterations, tolerance)
        if not run.converged and len(run.history) < iterations:
            run = seen_from(hill, run, ahead, tolerance)
        yield run


def seen_from(hill: Hill, run: Climb, values: Mapping[str, Array], tolerance: float) -> Climb:
    """The climb with a look at new values, checked: the objective may not fall, nor a row become too steep."""
    seen = hill.look(values)
    if not run.history and hill.reals:
        run = replace(run, highest=seen.steepest + STEEPEST * hill.reals)
    if seen.steepest > run.highest or seen.objective == np.inf:
        raise Unlimited()
    if not np.isfinite(seen.objective):
        raise RuntimeError(f"the objective of EM is {seen.objective}")
    if run.history and seen.objective < run.history[-1] - FALL * (1 + abs(run.history[-1])):
        raise RuntimeError(f"the objective of EM fell from {run.history[-1]:.10g} to {seen.objective:.10g}")
    return arrived_at(run, values, seen, tolerance)


def arrived_at(run: Climb, values: Mapping[str, Array], seen: Any, tolerance: float) -> Climb:
    """The climb with one iteration more."""
    rise = abs(seen.objective - run.history[-1]) if run.history else np.inf
    still = bool(rise <= tolerance * (1 + abs(seen.objective)))
    return Climb(values, (*run.history, seen.objective), run.highest, seen, still)


def stepped(hill: Hill, run: Climb, iterations: int, tolerance: float) -> tuple[Climb, Mapping[str, Array]]:
    """One plain step; late in the climb two, and a longer one from what they show. Then where to look next."""
    first, second = run.values, hill.step(run.seen, run.values)
    if hill.coordinates is None or len(run.history) < PLAIN or len(run.history) + 2 > iterations:
        return run, second
    run = seen_from(hill, run, second, tolerance)
    if run.converged:
        return run, second
    third = hill.step(run.seen, second)
    longer = pointed_to(hill.coordinates, first, second, third)
    if longer is None:
        return run, third
    with np.errstate(all="ignore"):
        try:
            seen = hill.look(longer)
        except (ArithmeticError, np.linalg.LinAlgError):
            return run, third  # a place where the model has no density: the plain step stands
    if not np.isfinite(seen.objective) or seen.objective < run.history[-1] or seen.steepest > run.highest:
        return run, third
    # Standing still is judged by plain steps alone.
    return arrived_at(run, longer, seen, -1.0), hill.step(seen, longer)


def pointed_to(
    coordinates: Joined, first: Mapping[str, Array], second: Mapping[str, Array], third: Mapping[str, Array]
) -> Mapping[str, Array] | None:
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
