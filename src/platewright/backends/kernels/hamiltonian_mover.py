"""A block of coupled unknowns moved by its gradient: a path a sweep, tuned during warm-up and fixed after it.

Steps are tuned by dual averaging towards an acceptance of 0.8. The metric is the mean curvature of a few looks, put
right by the spread of the draws in windows of growing length, with the precision that the rest gives each unknown put
in anew at every sweep. Nothing is learned any more once draws are kept. Paths that lose the energy are counted, and
told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.backends.kernels.climb import climbed
from platewright.backends.kernels.curvature import (
    Bends,
    bends_at,
    coordinates_of,
    corrected,
    curvature_from,
    mean_of,
    split_of,
)
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.hamiltonian import MOST_DOUBLINGS, follow, reasonable_step
from platewright.backends.kernels.metric import curvature_apart
from platewright.backends.kernels.path_energy import Energies, Told
from platewright.family import Array

WANTED = 0.8
FIRST_STEP = 0.2
FIRST_WINDOW = 25
MOST_STARTS = 100
EARLY_DOUBLINGS = 6
"""How often a path may double while the metric is still a guess."""
LOOKS = (0, 10, 25)
"""Early sweeps at which the curvature where the chain is gives the metric."""
LOOK_EVERY = 25
"""Later sweeps between looks at the curvature, whose mean over a window is taken."""


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


def windows_begin(warm_up: int) -> int:
    """The sweep from which draws are learned from; before it chains still travel."""
    return min(75, int(0.15 * warm_up))


def window_ends(warm_up: int) -> list[int]:
    """Sweeps after which the metric is computed anew: windows double, and the last sweeps tune the step alone."""
    end = warm_up - min(50, int(0.1 * warm_up))
    found = []
    length = FIRST_WINDOW
    at = windows_begin(warm_up)
    while at + length <= end:
        at = at + length if at + 3 * length <= end else end
        found.append(at)
        length *= 2
    return found


def stops_of(warm_up: int) -> set[int]:
    """Sweeps before which something is learned besides the step."""
    begins, ends = windows_begin(warm_up), window_ends(warm_up)
    early = {look for look in LOOKS if look <= begins and look < warm_up}
    return early | set(range(begins, ends[-1] + 1, LOOK_EVERY)) | set(ends) if ends else early


class HamiltonianMover:
    """The state of one block of one chain.

    `leaves` are unknowns whose elements meet neither each other nor those of other leaves; `held` are scales.
    """

    def __init__(self, density: Density, leaves: Sequence[str] = (), held: Sequence[str] = ()) -> None:
        self.density = density
        self.split = split_of(density.coordinates, leaves)
        self.held = coordinates_of(density.coordinates, held)
        self.curvature = curvature_apart(np.ones(density.coordinates.size))
        self.step = FIRST_STEP
        self.tuning: DualAveraging | None = None
        self.looks: list[Bends] = []
        self.rests: list[Array] = []
        self.kept: list[Array] = []
        self.spreads: list[Array] = []
        self.sweeps = 0
        self.ends: list[int] = []
        self.begins = 0
        self.stops: set[int] = set()
        self.diverged = 0
        self.energies = Energies()

    def begin_warm_up(self, sweeps: int) -> None:
        """From now on paths are learned from."""
        self.ends = window_ends(sweeps)
        self.begins = windows_begin(sweeps)
        self.stops = stops_of(sweeps)
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

    def climb(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """Values to start from, where paths can be followed."""
        self.density.given(values)
        with np.errstate(all="ignore"):
            u = self._possible(values, generator)
            found = climbed(self.density, u, self.held, self.split, generator)
        return self.density.coordinates.values(found)[0] if len(u) else {}

    def height(self, values: Mapping[str, Array]) -> float:
        """The log density at these values, whether or not it has a slope there."""
        self.density.given(values)
        with np.errstate(all="ignore"):
            return self.density.log_density(self.density.coordinates.free(values))

    def is_lost(self, values: Mapping[str, Array]) -> bool:
        """Whether no path leads away from these values: the density, or its slope, is not finite there."""
        self.density.given(values)
        with np.errstate(all="ignore"):
            u = self.density.coordinates.free(values)
            return bool(len(u) and np.isfinite(u).all() and not np.isfinite(self.density.with_gradient(u)[0]))

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """New values of the block, given all others."""
        self.density.given(values)
        if not self.density.coordinates.size:
            return {}
        with np.errstate(all="ignore"):
            u = self.density.coordinates.free(values)
        if self.tuning is not None and self.sweeps in self.stops:
            u = self._possible(values, generator)
            self._look(u, generator)
        step = self.step if self.tuning is None else float(np.exp(self.tuning.log_step))
        metric = self.curvature.metric_given(self.density.known_precision())
        found = follow(u, self.density.with_gradient, metric, step, generator, self._most_doublings())
        self.diverged += found.diverged
        self.energies.add(found.energy)
        if self.tuning is not None:
            self.tuning.learn(found.acceptance)
            self.sweeps += 1
            self.kept.append(found.u)
            with np.errstate(divide="ignore"):
                self.spreads.append(1 / self.density.known_precision())
        return self.density.coordinates.values(found.u)[0]

    def _most_doublings(self) -> int:
        """How long a path may grow: a warm-up too short for a window never has more than a guess of the metric."""
        guessed = self.tuning is not None and (self.sweeps < self.begins or not self.ends)
        return EARLY_DOUBLINGS if guessed else MOST_DOUBLINGS

    def _possible(self, values: Mapping[str, Array], generator: np.random.Generator) -> Array:
        """Where the chain is; an impossible place is left for a possible one."""
        with np.errstate(all="ignore"):
            u = self.density.coordinates.free(values)
        if np.isfinite(u).all() and np.isfinite(self.density.log_density(u)):
            return u
        for number in range(MOST_STARTS):
            tried = generator.uniform(-1, 1, len(u)) * 2.0 ** -(number // 20)
            if np.isfinite(self.density.log_density(tried)):
                return tried
        return u

    def _look(self, u: Array, generator: np.random.Generator) -> None:
        """Learn from the curvature here, and at the end of a window from its draws."""
        bends = bends_at(self.density, u, self.split, generator)
        if self.sweeps < self.begins or not self.ends:
            self.curvature = curvature_from(bends, self.split, self.density.known_precision())
            self.kept, self.spreads = [], []
            self._restart(u, generator)
            return
        self.looks.append(bends)
        self.rests.append(self.density.known_precision())
        if self.sweeps in self.ends:
            fixed = 1 / np.mean(self.spreads, axis=0)  # as wide as the rest left them on the whole
            mean = mean_of(self.looks, self.split, self.rests, fixed)
            self.curvature = corrected(mean, self.split, np.array(self.kept), fixed)
            self.looks, self.rests = [], []
            self._restart(u, generator)
        if self.sweeps in self.ends or self.sweeps == self.begins:
            self.kept, self.spreads = [], []

    def _restart(self, u: Array, generator: np.random.Generator) -> None:
        metric = self.curvature.metric_given(self.density.known_precision())
        self.step = reasonable_step(u, self.density.with_gradient, metric, generator)
        self.tuning = DualAveraging.around(self.step)
