"""Tuning of the blocks that C moves along a gradient or along a scale: learned during warm-up, then fixed.

Steps are learned by C, path by path. At a few stops Python looks at the curvature and at the draws since the last, and
puts a new metric where C reads it; between stops, and after warm-up, whole sweeps are C's.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.c_gibbs.arrow import TUNING
from platewright.backends.c_gibbs.coordinate_slices import ALONG
from platewright.backends.kernels.coordinate_slices import LEAST_WIDTH
from platewright.backends.kernels.coordinates import Joined
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.hamiltonian_mover import DualAveraging, HamiltonianMover
from platewright.backends.kernels.path_energy import Energies, Told
from platewright.family import Array
from platewright.run.samplers.native_gibbs import NativeChain
from platewright.schemas.blocks import HamiltonianBlock

AT = {word: place for place, word in enumerate(TUNING)}
"""Where the numbers of a block stand."""


class NativeDensity(Density):
    """The log density of a block with its gradient, by C; calls leave the chain at the coordinates last asked for.

    What C found there is kept until the chain moves in another way, for the same point is asked about several times.
    """

    def __init__(self, chain: NativeChain, number: int, coordinates: Joined) -> None:
        super().__init__(coordinates, lambda _: self.log_density(coordinates.free(chain.arrays)))
        self.chain = chain
        self.number = number
        self.last: tuple[Array, Array] | None = None

    def given(self, values: Mapping[str, Array]) -> None:
        """The chain, or what surrounds the block, has moved."""
        self.last = None

    def log_density(self, u: Array) -> float:
        """The log density at coordinates, up to a constant."""
        return float(self._found(u)[0])

    def with_gradient(self, u: Array) -> tuple[float, Array]:
        """The log density and its gradient."""
        found = self._found(u)
        return float(found[0]), found[1 : 1 + len(u)]

    def known_precision(self) -> Array:
        """The precision that the rest gives each coordinate."""
        size = self.coordinates.size
        found = self.last[1] if self.last is not None else self._found(self.coordinates.free(self.chain.arrays))
        return found[1 + size :]

    def _found(self, u: Array) -> Array:
        if self.last is None or not (u == self.last[0]).all():
            self.last = np.array(u), self.chain.gradients(self.number, u)
        return self.last[1]


class NativeHamiltonian(HamiltonianMover):
    """A block whose paths and steps are C's, and whose metric is Python's."""

    density: NativeDensity

    def __init__(
        self, chain: NativeChain, number: int, block: HamiltonianBlock, generator: np.random.Generator
    ) -> None:
        super().__init__(NativeDensity(chain, number, chain.coordinates_of(number)), block.leaves, block.held)
        self.chain = chain
        self.number = number
        self.generator = generator
        self.numbers = chain.arrays[f"{number}:tuning"]
        self.sums = chain.arrays[f"{number}:spread_sums"]
        self.hand_over()

    def hand_over(self) -> None:
        """Put step and metric where C reads them."""
        found, tuning = self.curvature, self.tuning
        root = found.root
        lower = np.linalg.inv(root.inverse)
        learned = [root.leaves, root.across.ravel(), lower.ravel(), *found.stretches()]
        self.chain.replace(f"{self.number}:curvature", np.concatenate(learned))
        places = np.concatenate([found.order, found.ties.ravel()])
        self.chain.replace(f"{self.number}:places", np.array(places, np.int64))
        step = self.step if tuning is None else float(np.exp(tuning.log_step))
        head = step, len(found.leaves), found.ties.shape[1], self._most_doublings(), tuning is not None
        self.numbers[: len(head)] = head
        if tuning is not None:
            state = tuning.centre, tuning.count, tuning.error, tuning.log_step, tuning.log_average
            self.numbers[AT["CENTRE"] : AT["ACCEPTANCE"]] = state

    @property
    def names(self) -> list[str]:
        """The unknowns of the block."""
        return [part.name for part in self.density.coordinates.parts]

    def take_back(self, draws: Mapping[str, Array]) -> None:
        """What C has learned from the sweeps that made these draws."""
        sweeps = len(next(iter(draws.values())))
        centre, count, error, log_step, average = self.numbers[AT["CENTRE"] : AT["ACCEPTANCE"]].tolist()
        self.tuning = DualAveraging(centre, int(count), error, log_step, average)
        self.sweeps += sweeps
        free = self.density.coordinates.free
        self.kept += [free({name: values[k] for name, values in draws.items()}) for k in range(sweeps)]
        self.spreads += [self.sums / max(sweeps, 1)] * sweeps
        self.sums[...] = 0.0

    def start_high(self) -> None:
        """Climb before the first sweep; the chain is left where that led."""
        if self.density.coordinates.size:
            self._leave_at(self.density.coordinates.free(self.climb(self.chain.arrays, self.generator)))

    def stop(self, draws: Mapping[str, Array]) -> None:
        """Learn from the sweeps since the last stop, and hand over what is to be done until the next."""
        if not self.density.coordinates.size:
            return
        with np.errstate(all="ignore"):
            self.take_back(draws)
            if self.sweeps in self.stops:
                self.density.given({})
                u = self._possible(self.chain.arrays, self.generator)
                self._look(u, self.generator)
                self._leave_at(u)
            self.hand_over()

    def _leave_at(self, u: Array) -> None:
        """Looks leave the chain elsewhere."""
        self.density.given({})
        self.density.log_density(u)
        self.density.given({})

    def end_warm_up(self) -> None:
        """From now on nothing changes."""
        super().end_warm_up()
        self.hand_over()
        self.numbers[AT["PATHS"] :] = 0.0

    def told(self) -> Told:
        """What the paths since warm-up tell, as C has added it up."""
        count, diverged, last, mean, spread, changes = self.numbers[AT["PATHS"] :].tolist()
        return Told(tuple(self.names), int(count), int(diverged), Energies(int(count), last, mean, spread, changes))


def movers_of(chain: NativeChain, generator: np.random.Generator) -> dict[int, NativeHamiltonian]:
    """The blocks of a chain whose metric is learned."""
    found = {}
    for number, block in enumerate(chain.owner.plan.blocks):
        if isinstance(block, HamiltonianBlock):
            found[number] = NativeHamiltonian(chain, number, block, generator)
    return found


def tune_scales(chain: NativeChain) -> None:
    """Brackets of moves along a scale or an orbit follow the size of the moves so far."""
    for number in chain.owner.source.doors.scales:
        tuning = chain.arrays[f"{number}:tuning"]
        if tuning[2] > 0:
            tuning[0] = max(3 * tuning[1] / tuning[2], LEAST_WIDTH)
    for number in chain.owner.source.doors.coordinates:
        u, widths, moved = (chain.arrays[f"{number}:{word}"] for word in ALONG)
        sweeps = chain.arrays[f"{number}:tuning"][0]
        if sweeps > 0:
            widths[...] = np.maximum(3 * moved / sweeps, 1e-8 * (1 + np.abs(u)))
