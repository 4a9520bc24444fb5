"""Run a Gibbs plan: sweep over the blocks, keep the draws, watch convergence.

Statistics that no unknown enters are computed once, before the first sweep; the others once a sweep.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.kernels.hamiltonian_mover import HamiltonianMover
from platewright.backends.kernels.slices import SliceMover
from platewright.backends.kernels.trials import SETTLING, WEIGHED, stayed
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.language.plate import beginning
from platewright.program.program import Program
from platewright.run.checks.sanity import check_finite, check_possible
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import Loaded, Statistics, arguments, finish, loaded
from platewright.run.hidden.chain import backward_sample, chain_weights, forward
from platewright.run.samplers.lost_slopes import check_slopes
from platewright.run.samplers.moving import Mover, mover
from platewright.run.samplers.split_program import split_program
from platewright.run.samplers.stored_chains import StoredChain
from platewright.schemas.blocks import ChainBlock, ExactBlock
from platewright.schemas.gibbs import GibbsPlan


@dataclass(frozen=True, eq=False)
class Prepared:
    """An exact block ready to run: what never changes is computed already."""

    block: ExactBlock
    module: Loaded
    moving: Loaded | None
    moving_program: Program
    fixed: Statistics


@dataclass(eq=False)
class Sampler:
    """One chain: current values, and how to move them."""

    plan: GibbsPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    generator: np.random.Generator
    values: dict[str, Array]
    prepared: dict[int, Prepared] = field(default_factory=dict)
    movers: dict[int, Mover] = field(default_factory=dict)

    def __post_init__(self) -> None:
        changing = frozenset(self.values)
        for number, block in enumerate(self.plan.blocks):
            if isinstance(block, ExactBlock) and number not in self.prepared:
                self.prepared[number] = self._prepare(block, changing)
            elif not isinstance(block, ExactBlock | ChainBlock):
                self.movers[number] = mover(self.plan.graph, block, self.columns, self.sizes)

    def begun_at(self, values: Mapping[str, Array], generator: np.random.Generator) -> Sampler:
        """The same sampler at other values, with nothing learned yet."""
        return replace(self, values=dict(values), generator=generator, movers={})

    def _prepare(self, block: ExactBlock, changing: frozenset[str]) -> Prepared:
        program = block.plan.program
        fixed, moving = split_program(program, changing)
        found: Statistics = {}
        if fixed.passes:
            module = loaded(fixed)
            found = module.statistics(*arguments(fixed, module, self.columns, self.sizes))
        active = loaded(moving) if moving.passes else None
        return Prepared(block, loaded(program), active, moving, found)

    def sweep(self) -> None:
        """Draw every block once, in order, each given the newest values of the others."""
        with np.errstate(all="ignore"):
            for number, block in enumerate(self.plan.blocks):
                match block:
                    case ExactBlock():
                        self._draw_exact(self.prepared[number])
                    case ChainBlock():
                        self._draw_chain(block)
                    case _:
                        self.values |= self.movers[number].move({**self.columns, **self.values}, self.generator)
        check_finite(self.values)

    def _draw_exact(self, ready: Prepared) -> None:
        everything = {**self.columns, **self.values}
        statistics = dict(ready.fixed)
        if ready.moving is not None:
            statistics |= ready.moving.statistics(
                *arguments(ready.moving_program, ready.moving, everything, self.sizes)
            )
        program = ready.block.plan.program
        computed = finish(program, ready.module, statistics, everything, self.sizes)
        posterior = Posterior(ready.block.plan, computed, everything, self.sizes)
        for name, values in posterior.draws(1, self.generator).items():
            self.values[name] = values[0]

    @property
    def widths(self) -> dict[str, Array]:
        """The brackets of slices, by unknown."""
        sliced = [found for found in self.movers.values() if isinstance(found, SliceMover)]
        return {found.name: found.width for found in sliced if found.width is not None}

    def set_widths(self, widths: Mapping[str, Array]) -> None:
        """Go on with brackets that were stored."""
        for found in self.movers.values():
            if isinstance(found, SliceMover) and found.name in widths:
                found.width = widths[found.name]

    def _draw_chain(self, block: ChainBlock) -> None:
        name = block.variables[0]
        node = self.plan.graph.nodes[name]
        step = node.axes[0].plate
        environment = Environment({**self.columns, **self.values}, self.sizes)
        levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
        weights = chain_weights(name, block.factors, levels, self.columns[beginning(step)], environment)
        filtered, added = forward(weights)
        check_possible(name, added.sum())
        self.values[name] = backward_sample(weights, filtered, self.generator)


def check_state(factors: Iterable[Factor], environment: Environment) -> None:
    """The state reached must be one that the model can produce together with the data."""
    for factor in factors:
        with np.errstate(all="ignore"):
            found = np.array(evaluate(factor.expression, environment, factor.axes))
        if not (found > -np.inf).all():
            place = ", ".join(str(number) for number in np.argwhere(~(found > -np.inf))[0])
            raise PlatewrightError(
                f"warm-up found no state that the model allows: `{factor.owner}` has probability zero",
                where=f"element {place} of `{factor.owner}`" if place else "",
                hint="look for probabilities of exactly 0 or 1 in the model, and for data of extreme size",
            )


@dataclass(eq=False)
class Keeping:
    """The draws of one chain as they come, and how it stood after the last whole one."""

    kept: dict[str, list[Array]] = field(default_factory=dict)
    last: tuple[int, Mapping[str, Any], Mapping[str, Array]] = (0, {}, {})
    """How many draws are whole, with the state of the generator and the widths of slices after them."""

    def stored(self) -> StoredChain:
        """The chain as it is stored: draws, generator and widths belong together, whenever Ctrl-C came."""
        count, generator, widths = self.last
        draws = {name: np.array(values[:count]) for name, values in self.kept.items()}
        return StoredChain(draws, {"generator": generator}, widths)


def tried(sampler: Sampler) -> Mapping[str, Array]:
    """The draws of a short trial; the start alone where there is no way from it, which the chain itself would tell."""
    begin = dict(sampler.values)
    try:
        return run_chain(sampler, SETTLING, WEIGHED, 1, lambda: None)
    except PlatewrightError:
        return stayed(begin)


def run_chain(
    sampler: Sampler,
    warm_up: int,
    count: int,
    thin: int,
    tick: Any,
    keeping: Keeping | None = None,
    begun: StoredChain | None = None,
) -> dict[str, Array]:
    """Warm up, then keep `count` draws, every `thin` sweeps; a chain that was `begun` warms up again and goes on.

    Warming up again finds the tuning of every block anew; the draws then go on from the stored values and numbers.
    """
    keeping = Keeping() if keeping is None else keeping
    for found in sampler.movers.values():
        found.begin_warm_up(warm_up)
        if warm_up and isinstance(found, HamiltonianMover):
            sampler.values |= found.climb({**sampler.columns, **sampler.values}, sampler.generator)
    for _ in range(warm_up):
        sampler.sweep()
        tick()
    everything = {**sampler.columns, **sampler.values}
    check_state(sampler.plan.factors, Environment(everything, sampler.sizes))
    if warm_up:
        check_slopes([found for found in sampler.movers.values() if isinstance(found, HamiltonianMover)], everything)
    for found in sampler.movers.values():
        found.end_warm_up()
    done = 0 if begun is None else begun.count
    keeping.kept = {name: [] if begun is None else list(begun.draws[name]) for name in sampler.values}
    if begun is not None and done:
        sampler.values = {name: np.array(values[-1]) for name, values in keeping.kept.items()}
        sampler.set_widths(begun.arrays)
        sampler.generator.bit_generator.state = begun.facts["generator"]
        keeping.last = done, begun.facts["generator"], begun.arrays
    for number in range(done, count):
        for _ in range(thin):
            sampler.sweep()
        for name, values in sampler.values.items():
            keeping.kept[name].append(np.array(values))
        keeping.last = number + 1, sampler.generator.bit_generator.state, sampler.widths
        tick()
    return {name: np.array(values) for name, values in keeping.kept.items()}
