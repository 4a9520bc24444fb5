"""Any small model summed and integrated without theory: every value of what is discrete, a grid over what is not.

    p(data) = sum over classes z of integral over u of p(data, z, x(u)) |dx/du|

The lines of the model are read by `second_reading`. For each z the mode in u is climbed to and the grid is laid along
the curvature there, bent outwards by sinh so that slow tails are reached; steps are halved until the sum stands still.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from scipy import special

from independent.second_reading import second_log_joint

Array = np.ndarray
FARTHEST = 8.0
"""The end of the grid in asinh of standard deviations."""
NEGLIGIBLE = 28.0
"""How far below the largest, as a logarithm, what is left out lies."""
FINEST = 0.0625
AT_ONCE = 40_000
MOST_POINTS = 400_000


class TooMuch(Exception):
    """More points than a test should look at."""


@dataclass(frozen=True)
class Space:
    """Where the unknown cells of a variable lie: one of `levels` values, an interval, or shares that sum to one."""

    shape: tuple[int, ...]
    levels: int = 0
    low: float = -np.inf
    high: float = np.inf
    shares: bool = False
    known: Array | None = None
    """The values of a variable of which some cells are known; NaN where one is not."""

    @property
    def cells(self) -> list[tuple[int, ...]]:
        """The places of what is unknown; for shares each place is a whole vector."""
        shape = self.shape[:-1] if self.shares else self.shape
        return [at for at in np.ndindex(*shape) if self.known is None or np.isnan(self.known[at])]


@dataclass(frozen=True)
class Found:
    """A sum or integral, how far its last halving moved it, and the means of the unknowns."""

    log_evidence: float
    error: float
    means: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class BruteForce:
    """The lines of a model with data, and where its unknowns lie."""

    lines: Sequence[str]
    data: Mapping[str, Array]
    groups: Mapping[str, Array]
    sizes: Mapping[str, int]
    unknown: Mapping[str, Space] = field(default_factory=dict)

    @cached_property
    def discrete(self) -> list[tuple[str, tuple[int, ...], int]]:
        """Every discrete cell with the number of its values."""
        return [(name, at, space.levels) for name, space in self.unknown.items() if space.levels for at in space.cells]

    @cached_property
    def continuous(self) -> list[tuple[str, tuple[int, ...], int]]:
        """Every continuous cell with the number of its coordinates."""
        return [
            (name, at, space.shape[-1] - 1 if space.shares else 1)
            for name, space in self.unknown.items()
            if not space.levels
            for at in space.cells
        ]

    @property
    def ways(self) -> int:
        """How many values the discrete cells have together."""
        return int(np.prod([float(levels) for *_, levels in self.discrete]))

    @property
    def width(self) -> int:
        """How many coordinates the continuous cells have together."""
        return sum(count for *_, count in self.continuous)

    def values(self, classes: Array, u: Array) -> tuple[dict[str, Array], Array]:
        """All unknowns at many points, and the log volume factor of each point."""
        count, volume = len(classes), np.zeros(len(classes))
        found = {}
        for name, space in self.unknown.items():
            start = np.zeros(space.shape) if space.known is None else np.nan_to_num(space.known)
            found[name] = np.array(np.broadcast_to(start, (count, *space.shape)))
        for number, (name, at, _) in enumerate(self.discrete):
            found[name][(slice(None), *at)] = classes[:, number]
        first = 0
        for name, at, wide in self.continuous:
            values, more = _placed(u[:, first : first + wide], self.unknown[name])
            found[name][(slice(None), *at)] = values
            volume += more
            first += wide
        return found, volume

    def coordinates(self, values: Mapping[str, Array]) -> Array:
        """The coordinates of one value of everything."""
        parts = [_freed(np.asarray(values[name])[at], self.unknown[name]) for name, at, _ in self.continuous]
        return np.concatenate(parts) if parts else np.zeros(0)

    def log_density(self, classes: Array, u: Array) -> Array:
        """The log joint with its volume factor, at many points."""
        found = []
        for start in range(0, len(classes), AT_ONCE):
            values, volume = self.values(classes[start : start + AT_ONCE], u[start : start + AT_ONCE])
            with np.errstate(all="ignore"):
                logs = second_log_joint(self.lines, {**self.data, **values}, self.groups, self.sizes, tuple(values))
                found.append(np.broadcast_to(logs, volume.shape) + volume)
        logs = np.concatenate(found)
        # A share that rounding takes to 1 may have an infinite density: the grid has no point there.
        return np.where(logs < np.inf, logs, -np.inf)

    def log_joint_at(self, values: Mapping[str, Array]) -> float:
        """The log joint at one value of everything."""
        with np.errstate(all="ignore"):
            return float(second_log_joint(self.lines, {**self.data, **values}, self.groups, self.sizes))

    def integrated(self, tolerance: float = 1e-7, most: int = MOST_POINTS) -> Found:
        """The log evidence; raises `TooMuch` where that takes more than `most` points."""
        if self.ways * 4**self.width > most:
            raise TooMuch(f"{self.ways} ways, {self.width} numbers")
        every = np.array(list(product(*(range(levels) for *_, levels in self.discrete))), dtype=int)
        every = every.reshape(self.ways, len(self.discrete))
        if self.width == 0:
            return self._weighed(
                every, np.zeros((len(every), 0)), self.log_density(every, np.zeros((len(every), 0))), 0
            )
        modes, heights = _climbed(self, every)
        kept = heights > heights.max() - NEGLIGIBLE
        every, modes = every[kept], modes[kept]
        roots = _roots(self, every, modes)
        return _summed(self, every, modes, roots, tolerance, most)

    def _weighed(self, classes: Array, u: Array, logs: Array, error: float) -> Found:
        total = float(special.logsumexp(logs)) if np.isfinite(logs).any() else -np.inf
        weights = np.exp(logs - total)
        values, _ = self.values(classes, u)
        with np.errstate(all="ignore"):
            means = {name: np.tensordot(weights, np.nan_to_num(value), axes=1) for name, value in values.items()}
        return Found(total, error, means)


def _placed(u: Array, space: Space) -> tuple[Array, Array]:
    """The value at coordinates, and the log of |dx/du|."""
    if space.shares:
        logs = np.concatenate([u, np.zeros((len(u), 1))], axis=1)
        logs = logs - special.logsumexp(logs, axis=1, keepdims=True)
        return np.exp(logs), logs.sum(axis=1)
    x = u[:, 0]
    if np.isfinite(space.low) and np.isfinite(space.high):
        wide = space.high - space.low
        return space.low + wide * special.expit(x), np.log(wide) + special.log_expit(x) + special.log_expit(-x)
    if np.isfinite(space.low):
        x = np.clip(x, -600, 600)
        return space.low + np.exp(x), x
    return x, np.zeros(len(x))


def _freed(value: Array, space: Space) -> Array:
    if space.shares:
        return np.log(value[:-1] / value[-1])
    if np.isfinite(space.low) and np.isfinite(space.high):
        return special.logit((np.atleast_1d(value) - space.low) / (space.high - space.low))
    return np.log(np.atleast_1d(value) - space.low) if np.isfinite(space.low) else np.atleast_1d(value).astype(float)


def _climbed(what: BruteForce, classes: Array) -> tuple[Array, Array]:
    """For each row of classes a mode: the best of some points, then damped Newton steps for all rows at once."""
    spread = np.random.default_rng(0).standard_normal((24, what.width)) * 1.5
    spread[0] = 0
    rows = np.repeat(classes, len(spread), axis=0)
    tried = what.log_density(rows, np.tile(spread, (len(classes), 1))).reshape(len(classes), -1)
    u, height = spread[tried.argmax(axis=1)], tried.max(axis=1)
    for _ in range(40):
        slope, bend = _differences(what, classes, u, 1e-4)
        step = np.array([_uphill(g, h) for g, h in zip(slope, bend)])
        moved = False
        for cut in (1.0, 0.3, 0.05):
            ahead = what.log_density(classes, u + cut * step)
            better = ahead > height + 1e-10
            u, height = np.where(better[:, None], u + cut * step, u), np.where(better, ahead, height)
            step = np.where(better[:, None], 0.0, step)
            moved = moved or bool((better & (height > height.max() - 2 * NEGLIGIBLE)).any())
        if not moved:
            break
    return u, height


def _differences(what: BruteForce, classes: Array, u: Array, step: float) -> tuple[Array, Array]:
    """Gradients and second derivatives by differences, for all rows at once."""
    d = what.width
    moves = [np.zeros(d)]
    moves += [sign * step * row for row in np.eye(d) for sign in (1, -1)]
    pairs = [(i, j) for i in range(d) for j in range(i)]
    for i, j in pairs:
        moves += [step * (a * np.eye(d)[i] + b * np.eye(d)[j]) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    at = (u[:, None, :] + np.array(moves)[None]).reshape(-1, d)
    found = what.log_density(np.repeat(classes, len(moves), axis=0), at).reshape(len(u), len(moves))
    with np.errstate(invalid="ignore"):
        up, down = found[:, 1 : 2 * d + 1 : 2], found[:, 2 : 2 * d + 2 : 2]
        slope = (up - down) / (2 * step)
        bend = np.zeros((len(u), d, d))
        bend[:, range(d), range(d)] = (up + down - 2 * found[:, :1]) / step**2
        for number, (i, j) in enumerate(pairs):
            a, b, c, e = (found[:, 1 + 2 * d + 4 * number + k] for k in range(4))
            bend[:, i, j] = bend[:, j, i] = (a - b - c + e) / (4 * step**2)
    return np.nan_to_num(slope), np.nan_to_num(bend)


def _uphill(slope: Array, bend: Array) -> Array:
    """A Newton step on the concave part of the curvature, not longer than two."""
    values, vectors = np.linalg.eigh(bend)
    step = vectors @ ((vectors.T @ slope) / np.maximum(np.abs(values), 1e-2))
    return step * min(1.0, 2.0 / (np.linalg.norm(step) + 1e-300))


def _roots(what: BruteForce, classes: Array, modes: Array) -> Array:
    """For each row a matrix whose columns are standard deviations along the curvature."""
    _, bend = _differences(what, classes, modes, 1e-3)
    found = []
    for one in bend:
        values, vectors = np.linalg.eigh(-one)
        found.append(vectors / np.sqrt(np.clip(values, 0.05, None)))
    return np.array(found)


def _summed(what: BruteForce, classes: Array, modes: Array, roots: Array, tolerance: float, most: int) -> Found:
    """Sums on grids whose steps are halved; each new grid covers what mattered on the one before, and a step more.

    The coarsest grows until nothing that matters lies at its ends: tails may matter together far from all axes.
    """
    d = what.width
    boxes = _scanned(what, classes, modes, roots)
    before, spent, step = np.inf, 0, 1.0
    while step >= FINEST:
        rows, places, weights = [], [], []
        for number in range(len(classes)):
            axes = [np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step for low, high in boxes[number]]
            spent += int(np.prod([len(axis) for axis in axes]))
            if spent > most:
                raise TooMuch(f"{spent} points")
            t = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
            rows.append(np.full(len(t), number))
            places.append(t)
            log_root = np.linalg.slogdet(roots[number])[1]
            weights.append(np.log(np.cosh(t)).sum(axis=1) + d * np.log(step) + log_root)
        row, t = np.concatenate(rows), np.concatenate(places)
        u = modes[row] + np.einsum("pij,pj->pi", roots[row], np.sinh(t))
        logs = what.log_density(classes[row], u) + np.concatenate(weights)
        total = float(special.logsumexp(logs))
        if abs(total - before) < tolerance and step <= 0.5:
            return what._weighed(classes[row], u, logs, abs(total - before))
        seen, boxes = boxes, _mattering(boxes, row, t, logs, step)
        wider = np.stack([np.minimum(seen, boxes)[..., 0], np.maximum(seen, boxes)[..., 1]], axis=-1)
        if step == 1.0 and (wider != seen).any():
            boxes = wider  # what lies beyond, away from all axes, is looked for first
        else:
            before, step = total, step / 2
    raise TooMuch(f"steps of {step} still move the sum")


def _scanned(what: BruteForce, classes: Array, modes: Array, roots: Array) -> Array:
    """How far each axis matters when it is gone along alone."""
    d = what.width
    line = np.arange(-FARTHEST, FARTHEST + 1)
    t = np.concatenate([np.outer(line, axis) for axis in np.eye(d)])
    row = np.repeat(np.arange(len(classes)), len(t))
    every = np.tile(t, (len(classes), 1))
    u = modes[row] + np.einsum("pij,pj->pi", roots[row], np.sinh(every))
    logs = what.log_density(classes[row], u) + np.log(np.cosh(every)).sum(axis=1)
    counts = (logs > logs.max() - NEGLIGIBLE).reshape(len(classes), d, len(line))
    low = np.where(counts, line, 0.0).min(axis=2) - 1
    high = np.where(counts, line, 0.0).max(axis=2) + 1
    return np.clip(np.stack([low, high], axis=2), -FARTHEST, FARTHEST)


def _mattering(boxes: Array, row: Array, t: Array, logs: Array, step: float) -> Array:
    """The parts of the boxes that hold all but nothing of the sum, a step wider on each side."""
    found = np.zeros_like(boxes)
    counts = logs > logs.max() - NEGLIGIBLE
    for number in range(len(boxes)):
        inside = t[counts & (row == number)]
        if len(inside):
            found[number, :, 0] = np.maximum(inside.min(axis=0) - step, -FARTHEST)
            found[number, :, 1] = np.minimum(inside.max(axis=0) + step, FARTHEST)
    return found
