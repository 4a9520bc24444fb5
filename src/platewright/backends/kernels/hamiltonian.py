"""Hamiltonian moves: follow the gradient with momentum until the path turns back (Hoffman & Gelman 2014).

    r' = r + step/2 R' grad(u)        u' = u + step R r'        r'' = r' + step/2 R' grad(u')         R R' = metric

The path doubles forwards or backwards at random; the next state is chosen among its points by their weight
exp(-energy), so the target is kept for any step and any metric that do not depend on the present state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from platewright.backends.kernels.metric import Metric
from platewright.family import Array

MOST_DOUBLINGS = 10
DIVERGED = 1000.0
"""A rise in energy beyond which a path has left the level sets it should follow."""

Sloped = Callable[[Array], tuple[float, Array]]
"""A log density with its gradient."""


@dataclass(frozen=True, eq=False)
class State:
    """A point on a path: coordinates, momentum, log density and its gradient."""

    u: Array
    r: Array
    log_density: float
    gradient: Array

    @property
    def energy(self) -> float:
        """Minus the log of the joint density of coordinates and momentum."""
        return 0.5 * float(self.r @ self.r) - self.log_density


def leapfrog(state: State, step: float, density: Sloped, metric: Metric) -> State:
    """One step along a path; reversible, and it keeps volumes."""
    half = state.r + 0.5 * step * metric.back(state.gradient)
    u = state.u + step * metric.along(half)
    log_density, gradient = density(u)
    return State(u, half + 0.5 * step * metric.back(gradient), log_density, gradient)


@dataclass(frozen=True, eq=False)
class Path:
    """A piece of a path: its ends, one of its points chosen by weight, and sums over its points."""

    first: State
    last: State
    chosen: State
    log_weight: float
    momentum: Array
    acceptance: float
    steps: int
    goes_on: bool
    diverged: bool = False


def _turns(momentum: Array, one: State, two: State) -> bool:
    """Whether the ends of a path approach each other."""
    return float(momentum @ one.r) <= 0 or float(momentum @ two.r) <= 0


def _joined(older: Path, newer: Path, backwards: bool, generator: np.random.Generator, biased: bool) -> Path:
    """Two neighbouring pieces as one; `biased` prefers the newer half, as the whole path does."""
    before, after = (newer, older) if backwards else (older, newer)
    log_weight = float(np.logaddexp(older.log_weight, newer.log_weight))
    chance = newer.log_weight - (older.log_weight if biased else log_weight)
    takes_newer = newer.goes_on and np.log(generator.random()) < chance
    momentum = older.momentum + newer.momentum
    turning = (
        _turns(momentum, before.first, after.last)
        or _turns(before.momentum + after.first.r, before.first, after.first)
        or _turns(after.momentum + before.last.r, before.last, after.last)
    )
    return Path(
        before.first,
        after.last,
        newer.chosen if takes_newer else older.chosen,
        log_weight if newer.goes_on else older.log_weight,
        momentum,
        older.acceptance + newer.acceptance,
        older.steps + newer.steps,
        newer.goes_on and not turning,
        newer.diverged,
    )


@dataclass(frozen=True, eq=False)
class Follower:
    """What all pieces of one path share."""

    density: Callable[[Array], tuple[float, Array]]
    metric: Metric
    step: float
    energy: float
    generator: np.random.Generator

    def piece(self, start: State, backwards: bool, depth: int) -> Path:
        """`2^depth` further points from an end of the path."""
        if depth == 0:
            return self.point(start, backwards)
        older = self.piece(start, backwards, depth - 1)
        if not older.goes_on:
            return older
        newer = self.piece(older.first if backwards else older.last, backwards, depth - 1)
        return _joined(older, newer, backwards, self.generator, biased=False)

    def point(self, start: State, backwards: bool) -> Path:
        """One further point."""
        new = leapfrog(start, -self.step if backwards else self.step, self.density, self.metric)
        weight = self.energy - new.energy
        weight = weight if np.isfinite(weight) else -np.inf
        diverged = weight < -DIVERGED
        return Path(new, new, new, weight, new.r, min(1.0, float(np.exp(min(weight, 0.0)))), 1, not diverged, diverged)


@dataclass(frozen=True, eq=False)
class Move:
    """Where a path led, how well its steps kept the energy, and whether it was lost."""

    u: Array
    acceptance: float
    diverged: bool
    steps: int
    energy: float
    """That of the point where the path began, with its momentum."""


def follow(
    u: Array,
    density: Sloped,
    metric: Metric,
    step: float,
    generator: np.random.Generator,
    most_doublings: int = MOST_DOUBLINGS,
) -> Move:
    """One move: draw a momentum, double the path until it turns, choose one of its points."""
    log_density, gradient = density(u)
    start = State(u, generator.standard_normal(len(u)), log_density, gradient)
    follower = Follower(density, metric, step, start.energy, generator)
    path = Path(start, start, start, 0.0, start.r, 0.0, 0, True)
    for depth in range(most_doublings):
        backwards = bool(generator.random() < 0.5)
        piece = follower.piece(path.first if backwards else path.last, backwards, depth)
        path = _joined(path, piece, backwards, generator, biased=True)
        if not path.goes_on:
            break
    return Move(path.chosen.u, path.acceptance / max(path.steps, 1), path.diverged, path.steps, start.energy)


def reasonable_step(u: Array, density: Sloped, metric: Metric, generator: np.random.Generator) -> float:
    """A step that changes the energy by about log 0.8; where adaptation begins."""
    step = 1.0
    log_density, gradient = density(u)
    start = State(u, generator.standard_normal(len(u)), log_density, gradient)
    direction = 0.0
    for _ in range(60):
        change = start.energy - leapfrog(start, step, density, metric).energy
        good = np.isfinite(change) and change > np.log(0.8)
        if direction == 0.0:
            direction = 1.0 if good else -1.0
        elif good != (direction > 0):
            break
        step *= 2.0**direction
    return step
