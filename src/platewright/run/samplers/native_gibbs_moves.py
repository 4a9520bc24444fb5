"""Tuning of the blocks that C moves along a gradient or along a scale: learned in Python during warm-up, then fixed.

During warm-up the blocks of a sweep are called one by one, so that a path's acceptance can be learned from at once;
after it step and metric stand in the arrays of the chain, and whole sweeps are C's.
"""

from __future__ import annotations

import numpy as np

from platewright.backends.kernels.coordinates import Joined
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.hamiltonian import MOST_DOUBLINGS
from platewright.backends.kernels.hamiltonian_mover import LOOKS, HamiltonianMover, curvature_at
from platewright.backends.kernels.path_energy import Energies, Told
from platewright.family import Array
from platewright.run.samplers.native_gibbs import NativeChain
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.blocks import HamiltonianBlock


class NativeDensity(Density):
    """The log density of a block with its gradient, by C; calls leave the chain at the coordinates last asked for.

    What C found there is kept until the chain moves in another way, for the same point is asked about several times.
    """

    def __init__(self, chain: NativeChain, number: int, coordinates: Joined) -> None:
        super().__init__(coordinates, lambda _: self.log_density(coordinates.free(chain.arrays)))
        self.chain = chain
        self.number = number
        self.last: tuple[Array, Array] | None = None

    def forget(self) -> None:
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
        u = self.coordinates.free(self.chain.arrays)
        return self._found(u)[1 + len(u) :]

    def _found(self, u: Array) -> Array:
        if self.last is None or not np.array_equal(u, self.last[0]):
            self.last = np.array(u), self.chain.gradients(self.number, u)
        return self.last[1]


class NativeHamiltonian(HamiltonianMover):
    """A block whose paths are C's and whose tuning is Python's."""

    density: NativeDensity

    def __init__(
        self, chain: NativeChain, number: int, block: HamiltonianBlock, generator: np.random.Generator
    ) -> None:
        owner = chain.owner
        coordinates = unconstrained([owner.plan.graph.nodes[name] for name in block.variables], owner.sizes)
        super().__init__(NativeDensity(chain, number, coordinates))
        self.chain = chain
        self.number = number
        self.generator = generator
        self.hand_over(MOST_DOUBLINGS)

    def hand_over(self, doublings: int) -> None:
        """Put step and metric where C reads them."""
        learned = self.curvature.learned
        step = self.step if self.tuning is None else float(np.exp(self.tuning.log_step))
        self.chain.replace(f"{self.number}:curvature", np.array(learned, float, order="C"))
        self.chain.arrays[f"{self.number}:tuning"][:3] = step, learned.ndim == 2, doublings

    def path(self) -> None:
        """One move of the chain, learned from."""
        if not self.density.coordinates.size:
            return
        with np.errstate(all="ignore"):
            self.density.forget()
            u = self._start(self.chain.arrays, self.generator)
            if self.tuning is not None and self.sweeps in LOOKS and self.sweeps <= self.begins:
                self.curvature = curvature_at(self.density, u, self.generator)
                self._restart(u, self.generator)
            self.hand_over(self._most_doublings())
            self.density.log_density(u)  # the chain stands where it was, or where it starts anew
            self.chain.run(1, 1, only=self.number)
            self.density.forget()
            acceptance = self.chain.arrays[f"{self.number}:tuning"][3]
            if self.tuning is None:
                return
            found = self.density.coordinates.free(self.chain.arrays)
            self._learn(found, float(acceptance), self.generator)
            self.density.log_density(found)  # learning may have looked elsewhere

    def end_warm_up(self) -> None:
        """From now on nothing changes."""
        super().end_warm_up()
        self.hand_over(MOST_DOUBLINGS)
        self.chain.arrays[f"{self.number}:tuning"][6:] = 0.0

    def told(self) -> Told:
        """What the paths since warm-up tell, as C has added it up."""
        count, diverged, last, mean, spread, changes = self.chain.arrays[f"{self.number}:tuning"][6:].tolist()
        variables = tuple(part.name for part in self.density.coordinates.parts)
        return Told(variables, int(count), int(diverged), Energies(int(count), last, mean, spread, changes))


def movers_of(chain: NativeChain, generator: np.random.Generator) -> dict[int, NativeHamiltonian]:
    """The blocks of a chain that are tuned sweep by sweep."""
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
            tuning[0] = max(3 * tuning[1] / tuning[2], 1e-3)
