"""What moves the blocks of a chain that are neither exact nor elementwise: one mover a block, chosen by its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.samplers.bounded_draws import BoundedMover
from platewright.run.samplers.coordinate_slices import CoordinateMover
from platewright.run.samplers.hamiltonian_block import HamiltonianMover
from platewright.run.samplers.orbit_moves import OrbitMover
from platewright.run.samplers.scale_moves import ScaleMover
from platewright.run.samplers.sites import SiteMover
from platewright.schemas.blocks import (
    BoundedBlock,
    CoordinateBlock,
    HamiltonianBlock,
    OrbitBlock,
    ScaleBlock,
    SiteBlock,
)


class Mover(Protocol):
    """A kernel that keeps the conditional of its block, with what it learns during warm-up."""

    def begin_warm_up(self, sweeps: int) -> None:
        """Learn from the next sweeps."""

    def end_warm_up(self) -> None:
        """Learn no more."""

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """New values of the block given all values."""


Moved = HamiltonianBlock | CoordinateBlock | ScaleBlock | OrbitBlock | BoundedBlock | SiteBlock


def mover(graph: Graph, block: Moved, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Mover:
    """The mover of a block."""
    match block:
        case HamiltonianBlock():
            return HamiltonianMover(graph, block, sizes)
        case CoordinateBlock():
            return CoordinateMover(graph, block, sizes)
        case BoundedBlock():
            return BoundedMover(graph, block, sizes)
        case ScaleBlock():
            return ScaleMover(graph, block, sizes)
        case OrbitBlock():
            return OrbitMover(graph, block, sizes)
        case SiteBlock():
            return SiteMover(graph, block, columns, sizes)
