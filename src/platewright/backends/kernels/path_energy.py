"""The energies at which the paths of a Hamiltonian block begin, and what they tell of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Energies:
    """Running sums over the energies at which paths begin."""

    count: int = 0
    last: float = 0.0
    mean: float = 0.0
    spread: float = 0.0
    """Sum of squares about the mean."""
    changes: float = 0.0
    """Sum of squares of the changes from path to path."""

    def add(self, energy: float) -> None:
        """Take one more path into account."""
        change = energy - self.last if self.count else 0.0
        self.changes += change * change  # a power would raise where this is infinite: at a wild start it may be
        self.count += 1
        self.last = energy
        gap = energy - self.mean
        self.mean += gap / self.count
        self.spread += gap * (energy - self.mean)

    @property
    def share(self) -> float:
        """E-BFMI; 1 where the energy stands still, or runs out of numbers: divergence tells of that."""
        return self.changes / self.spread if 0 < self.spread < float("inf") else 1.0


@dataclass(frozen=True)
class Told:
    """The paths of one block of one chain after warm-up."""

    variables: tuple[str, ...]
    paths: int
    diverged: int
    energies: Energies
