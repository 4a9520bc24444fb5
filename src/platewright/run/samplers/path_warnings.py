"""What the paths of Hamiltonian blocks tell: which were lost, and whether the energy was explored.

    E-BFMI  =  sum (E_t - E_{t-1})^2 / sum (E_t - mean E)^2                          (Betancourt 2016)

A path keeps its energy, so only the new momentum of each path changes it. Where those changes are small beside the
spread of the energy, the chain creeps from level to level, and long tails are visited too seldom, whatever R-hat says.
A chain that stands where its density has no slope, and would stay there, is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

from platewright.backends.kernels.hamiltonian_mover import HamiltonianMover
from platewright.backends.kernels.path_energy import Told
from platewright.errors import DivergenceWarning, EnergyWarning, LostSlope
from platewright.family import Array

LEAST_SHARE = 0.2
LEAST_PATHS = 100
"""Below the share an energy counts as unexplored; with fewer paths it says nothing."""


def warn_of_paths(told: Iterable[Told], stacklevel: int = 4) -> None:
    """Tell of lost paths and of energies that were not explored, block by block, over all chains."""
    blocks: dict[tuple[str, ...], list[Told]] = {}
    for one in told:
        blocks.setdefault(one.variables, []).append(one)
    for variables, chains in blocks.items():
        shown = ", ".join(variables)
        lost, paths = sum(one.diverged for one in chains), sum(one.paths for one in chains)
        if lost:
            text = f"{lost} of {paths} paths of {shown} diverged: draws near there are too few"
            warnings.warn(
                f"{text}; a longer warm-up or another parameterisation may help",
                DivergenceWarning,
                stacklevel=stacklevel,
            )
        least = min((one.energies.share for one in chains if one.energies.count >= LEAST_PATHS), default=1.0)
        if least < LEAST_SHARE:
            text = f"the paths of {shown} did not explore the energy (E-BFMI {least:.2g}, wanted {LEAST_SHARE} or more)"
            warnings.warn(
                f"{text}: long tails are visited too seldom; more draws or another parameterisation may help",
                EnergyWarning,
                stacklevel=stacklevel,
            )


def check_slopes(paths: Mapping[tuple[str, ...], HamiltonianMover], values: Mapping[str, Array]) -> None:
    """Refuse a state that no path leads out of; its density is known to be finite."""
    for variables, path in paths.items():
        if path.is_lost(values):
            raise LostSlope(variables)
