"""A block of coupled unknowns moved by its gradient: a path a sweep, tuned during warm-up and fixed after it.

Steps are tuned by dual averaging towards an acceptance of 0.8, the metric is the spread of the draws in windows of
growing length, with the precision that the rest gives each unknown put in anew at every sweep; nothing is learned any
more once draws are kept. Paths that lose the energy are counted, and told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.backends.kernels.density import Density
from platewright.backends.kernels.hamiltonian import MOST_DOUBLINGS, Metric, follow, reasonable_step
from platewright.backends.kernels.path_energy import Energies, Told
from platewright.family import Array

WANTED = 0.8
FIRST_STEP = 0.2
MOST_DENSE = 60
"""Blocks with at most so many coordinates get a full covariance, larger ones a scale for each coordinate."""
FIRST_WINDOW = 25
MOST_STARTS = 100
EARLY_DOUBLINGS = 6
"""How often a path may double while the metric is still a guess."""
LOOKS = (0, 10, 25)
"""Early sweeps at which the curvature where the chain is gives the metric."""
MOST_PROBED = 200


@dataclass
class DualAveraging:
    """Nesterov's scheme for the step: the average of late iterates is kept (Hoffman & Gelman 2014, section 3.2)."""

    centre: float
    count: int = 0
    error: float = 0.0
    log_step: float = 0.0
    log_average: float = 0.0

    @classmethod
    def around(cls, step: float) -> DualAveraging:
        """Adaptation that begins at a step and leans towards longer ones."""
        return cls(np.log(10 * step), log_step=np.log(step))

    def learn(self, acceptance: float) -> None:
        """Take the acceptance of one path into account."""
        self.count += 1
        share = 1 / (self.count + 10)
        self.error = (1 - share) * self.error + share * (WANTED - acceptance)
        self.log_step = self.centre - np.sqrt(self.count) / 0.05 * self.error
        weight = self.count**-0.75
        self.log_average = weight * self.log_step + (1 - weight) * self.log_average


def window_ends(warm_up: int) -> list[int]:
    """Sweeps after which the metric is computed anew: windows double, and the last sweeps tune the step alone."""
    begin = min(75, int(0.15 * warm_up))
    end = warm_up - min(50, int(0.1 * warm_up))
    found = []
    length = FIRST_WINDOW
    at = begin
    while at + length <= end:
        at = at + length if at + 3 * length <= end else end
        found.append(at)
        length *= 2
    return found


class HamiltonianMover:
    """The state of one block of one chain."""

    def __init__(self, density: Density) -> None:
        self.density = density
        self.curvature = Curvature(np.ones(density.coordinates.size))
        self.step = FIRST_STEP
        self.tuning: DualAveraging | None = None
        self.kept: list[Array] = []
        self.fixed: list[Array] = []
        self.sweeps = 0
        self.ends: list[int] = []
        self.begins = 0
        self.diverged = 0
        self.energies = Energies()

    def begin_warm_up(self, sweeps: int) -> None:
        """From now on paths are learned from."""
        self.ends = window_ends(sweeps)
        self.begins = min(75, int(0.15 * sweeps))
        self.tuning = DualAveraging.around(self.step) if sweeps else None
        self.sweeps = 0

    def end_warm_up(self) -> None:
        """From now on nothing changes."""
        if self.tuning is not None and self.tuning.count:
            self.step = float(np.exp(self.tuning.log_average))
        self.tuning = None
        self.diverged = 0
        self.energies = Energies()

    def told(self) -> Told:
        """What the paths since warm-up tell."""
        variables = tuple(part.name for part in self.density.coordinates.parts)
        return Told(variables, self.energies.count, self.diverged, self.energies)

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """New values of the block, given all others."""
        self.density.given(values)
        u = self._start(values, generator)
        if not len(u):
            return {}
        if self.tuning is not None and self.sweeps in LOOKS and self.sweeps <= self.begins:
            self.curvature = curvature_at(self.density, u, generator)
            self._restart(u, generator)
        step = self.step if self.tuning is None else float(np.exp(self.tuning.log_step))
        metric = self.curvature.metric(self.density.known_precision())
        found = follow(u, self.density.with_gradient, metric, step, generator, self._most_doublings())
        self.diverged += found.diverged
        self.energies.add(found.energy)
        if self.tuning is not None:
            self._learn(found.u, found.acceptance, generator)
        return self.density.coordinates.values(found.u)[0]

    def _most_doublings(self) -> int:
        """How long a path may grow: a warm-up too short for a window never has more than a guess of the metric."""
        guessed = self.tuning is not None and (self.sweeps < self.begins or not self.ends)
        return EARLY_DOUBLINGS if guessed else MOST_DOUBLINGS

    def _start(self, values: Mapping[str, Array], generator: np.random.Generator) -> Array:
        """Where the chain is; during warm-up an impossible place is left for a possible one."""
        with np.errstate(all="ignore"):
            u = self.density.coordinates.free(values)
        if self.tuning is None or (np.isfinite(u).all() and np.isfinite(self.density.log_density(u))):
            return u
        for number in range(MOST_STARTS):
            tried = generator.uniform(-1, 1, len(u)) * 2.0 ** -(number // 20)
            if np.isfinite(self.density.log_density(tried)):
                return tried
        return u

    def _restart(self, u: Array, generator: np.random.Generator) -> None:
        metric = self.curvature.metric(self.density.known_precision())
        self.step = reasonable_step(u, self.density.with_gradient, metric, generator)
        self.tuning = DualAveraging.around(self.step)

    def _learn(self, u: Array, acceptance: float, generator: np.random.Generator) -> None:
        assert self.tuning is not None
        self.tuning.learn(acceptance)
        self.sweeps += 1
        if self.sweeps > self.begins:
            self.kept.append(u)
            self.fixed.append(self.density.known_precision())
        if self.sweeps in self.ends and len(self.kept) > 1:
            self.curvature = curvature_of(np.array(self.kept), np.mean(self.fixed, axis=0), self.curvature)
            self.kept, self.fixed = [], []
            self._restart(u, generator)


@dataclass(frozen=True, eq=False)
class Curvature:
    """What is learned about the precision of the coordinates, beside what the rest fixes: a table or its diagonal.

    A metric may depend on the rest, which stands still while the block moves; so it follows the scales outside.
    """

    learned: Array

    def metric(self, fixed: Array) -> Metric:
        """A root of the inverse of learned + fixed."""
        fixed = _in_range(fixed)
        if self.learned.ndim == 1:
            return Metric((self.learned + fixed) ** -0.5)
        root = np.linalg.cholesky(self.learned + np.diag(fixed))
        return Metric(np.linalg.inv(root).T)


def curvature_of(draws: Array, fixed: Array, before: Curvature) -> Curvature:
    """The precision of draws less what the rest fixed meanwhile, drawn towards what was known when they are few."""
    count, size = draws.shape
    share = count / (count + 5.0)
    known = before.metric(fixed)
    if size <= MOST_DENSE and count > 2 * size:
        root = known.root if known.root.ndim == 2 else np.diag(known.root)
        spread = share * np.atleast_2d(np.cov(draws.T)) + (1 - share) * root @ root.T
        return Curvature(_positive(np.linalg.inv(spread) - np.diag(fixed), np.diag(np.linalg.inv(spread))))
    scale = known.root if known.root.ndim == 1 else np.sqrt(np.diag(known.root @ known.root.T))
    precision = 1 / (share * draws.var(axis=0, ddof=1) + (1 - share) * scale**2)
    return Curvature(np.maximum(precision - fixed, 1e-3 * precision))


def _positive(table: Array, size: Array) -> Array:
    """The nearest table whose directions all have some precision, on the scale of `size`."""
    scale = np.sqrt(np.maximum(_in_range(size), 1e-12))
    values, vectors = np.linalg.eigh(_in_range(table) / np.outer(scale, scale))
    return (vectors * np.maximum(values, 1e-3)) @ vectors.T * np.outer(scale, scale)


def _in_range(precision: Array) -> Array:
    """Precisions as numbers: at a wild start some are infinite. Any metric keeps the target, so this is no bias."""
    return np.clip(np.nan_to_num(precision), -1e12, 1e12)


def curvature_at(density: Density, u: Array, generator: np.random.Generator) -> Curvature:
    """A first guess from the curvature at a point, by differences of the gradient; its signs are set aside."""
    size = len(u)
    fixed = density.known_precision()
    width = 1e-4

    def bent(direction: Array) -> Array:
        ahead, behind = density.with_gradient(u + width * direction), density.with_gradient(u - width * direction)
        # A guess only: where the gradient has no number, any positive precision keeps the target as it is.
        with np.errstate(invalid="ignore", over="ignore"):
            slope = (behind[1] - ahead[1]) / (2 * width)
        return np.clip(np.nan_to_num(slope), -1e12, 1e12)

    if size <= MOST_DENSE:
        table = np.array([bent(direction) for direction in np.eye(size)])
        values, vectors = np.linalg.eigh(0.5 * (table + table.T))
        whole = (vectors * np.clip(np.abs(values), 1e-6, 1e12)) @ vectors.T
        return Curvature(_positive(whole - np.diag(fixed), np.diag(whole)))
    if size <= MOST_PROBED:
        diagonal = np.array([bent(direction) @ direction for direction in np.eye(size)])
    else:  # the mean of v * (H v) over random signs v is the diagonal of H
        signs = np.sign(generator.random((30, size)) - 0.5)
        diagonal = np.mean([sign * bent(sign) for sign in signs], axis=0)
    precision = np.clip(np.abs(diagonal), 1e-6, 1e12)
    return Curvature(np.maximum(precision - fixed, 1e-3 * precision))
