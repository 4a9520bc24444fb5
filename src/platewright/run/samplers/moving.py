"""What moves the blocks of a chain that are neither exact nor hidden chains: one mover a block, chosen by its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from platewright.backends.kernels.coordinate_slices import CoordinateMover
from platewright.backends.kernels.hamiltonian_mover import HamiltonianMover
from platewright.backends.kernels.mirror_moves import MirrorMover
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.samplers.block_density import BlockDensity
from platewright.run.samplers.bounded_draws import BlockWithinBounds
from platewright.run.samplers.orbit_moves import BlockAlongOrbit
from platewright.run.samplers.scale_moves import BlockAlongScale
from platewright.run.samplers.sites import BlockSites
from platewright.run.samplers.slicing import BlockSlices
from platewright.run.samplers.weighed import BlockWeighed
from platewright.schemas.blocks import (
    BoundedBlock,
    CoordinateBlock,
    HamiltonianBlock,
    MirrorBlock,
    Moved,
    OrbitBlock,
    ScaleBlock,
    SiteBlock,
    SliceBlock,
    WeighedBlock,
)


class Mover(Protocol):
    """A kernel that keeps the conditional of its block, with what it learns during warm-up."""

    def begin_warm_up(self, sweeps: int) -> None:
        """Learn from the next sweeps."""

    def end_warm_up(self) -> None:
        """Learn no more."""

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """New values of the block given all values."""


def mover(graph: Graph, block: Moved, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Mover:
    """The mover of a block."""
    match block:
        case SliceBlock():
            return BlockSlices(graph, block, sizes)
        case HamiltonianBlock():
            density = BlockDensity(graph, block.variables, block.factors, block.slopes, sizes, block.scaled)
            return HamiltonianMover(density, block.leaves, block.held)
        case CoordinateBlock():
            return CoordinateMover(BlockDensity(graph, block.variables, block.factors, (), sizes))
        case BoundedBlock():
            return BlockWithinBounds(graph, block, sizes)
        case ScaleBlock():
            return BlockAlongScale(graph, block, sizes)
        case OrbitBlock():
            return BlockAlongOrbit(graph, block, sizes)
        case MirrorBlock():
            shared = dict(zip(block.mirror.variables, block.mirror.shared, strict=True))
            return MirrorMover(BlockDensity(graph, block.variables, block.factors, (), sizes), shared)
        case SiteBlock():
            return BlockSites(graph, block, columns, sizes)
        case WeighedBlock():
            return BlockWeighed(graph, block, columns, sizes)
