"""Blocks that cannot be moved along their gradient: it is not finite where their density is.

    y ~ Normal(sqrt(c * x^2), ...)    at c = 0:    the slope is  0 * infinity,  the density has nothing of it

The graph cannot tell, the data can: such a block is moved by slices, one coordinate after another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from platewright.family import Array
from platewright.run.samplers.gibbs import Sampler
from platewright.run.samplers.native_gibbs import NativeGibbs
from platewright.run.samplers.native_gibbs_moves import movers_of
from platewright.run.samplers.starting import Start
from platewright.schemas.blocks import CoordinateBlock, HamiltonianBlock
from platewright.schemas.gibbs import GibbsPlan

PROBES = 4
"""Starts at all of which a slope must be lost."""


def blocks_without_slope(
    plan: GibbsPlan,
    native: NativeGibbs | None,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    start: Start,
    seed: int,
) -> tuple[int, ...]:
    """The numbers of blocks whose gradient is finite at none of a few starts, though their density is at one."""
    blocks = {number: block for number, block in enumerate(plan.blocks) if isinstance(block, HamiltonianBlock)}
    waiting, possible = list(blocks), set()
    for probe in range(PROBES):
        if not waiting:
            break
        generator = np.random.default_rng([seed, probe])
        values = start(generator)
        if native is not None:
            movers = movers_of(native.chain(values, generator), generator)
            waiting = [number for number in waiting if movers[number].is_lost(values)]
        if not waiting:
            break
        sampler = Sampler(plan, columns, sizes, generator, dict(values))
        for number in list(waiting):
            path = sampler.paths[plan.blocks[number].variables]
            if native is None and not path.is_lost(sampler.everything):
                waiting.remove(number)
            elif np.isfinite(path.height(sampler.everything)):
                possible.add(number)
    return tuple(number for number in waiting if number in possible)


def sliced(plan: GibbsPlan, numbers: Collection[int]) -> GibbsPlan:
    """The plan with slices, one coordinate after another, for some of its Hamiltonian blocks."""
    blocks = list(plan.blocks)
    for number in numbers:
        block = blocks[number]
        assert isinstance(block, HamiltonianBlock)
        why = f"{block.why}; {reason(block.variables)}"
        blocks[number] = CoordinateBlock(block.variables, block.factors, why, block.without)
    return replace(plan, blocks=tuple(blocks))


def reason(variables: Sequence[str]) -> str:
    """Why a block is not moved along its gradient."""
    return f"{', '.join(variables)} by slices, for slopes are not finite where the density is"
