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
from platewright.backends.kernels.impossible import ImpossibleData
from platewright.backends.kernels.path_energy import Told
from platewright.backends.kernels.slices import SliceMover
from platewright.backends.kernels.trials import SETTLING, WEIGHED, stayed
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.run.checks.sanity import check_finite, impossible_data
from platewright.run.execute import improper
from platewright.run.hidden.printed import printed_gibbs
from platewright.run.samplers.moving import Mover, movers_of
from platewright.run.samplers.path_warnings import check_slopes
from platewright.run.samplers.stored_chains import StoredChain
from platewright.run.samplers.sums_of_draws import Sums
from platewright.schemas.gibbs import GibbsPlan

NOW = "now "
"""Before the names of values that are stored because no draw of them is."""


@dataclass(eq=False)
class Sampler:
    """One chain: current values, and how to move them."""

    plan: GibbsPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    generator: np.random.Generator
    values: dict[str, Array]
    data: Mapping[str, Any] = field(default_factory=dict)
    """What a sweep is given: data, and what no unknown enters, under the names of the printed text."""
    movers: dict[int, Mover] = field(default_factory=dict)

    def __post_init__(self) -> None:
        drawn = {name for block in self.plan.blocks for name in block.variables}
        self.printed = printed_gibbs(self.plan, frozenset(self.values) - drawn)
        self.size = self.printed.sized(self.sizes)
        if not self.data:
            with np.errstate(divide="ignore"):
                self.data = self.printed("prepared")(self.printed.named(self.columns), self.size)
        if not self.movers:
            self.movers = movers_of(self.printed, self.plan, self.sizes)

    def begun_at(self, values: Mapping[str, Array], generator: np.random.Generator) -> Sampler:
        """The same sampler at other values, with nothing learned yet."""
        return replace(self, values=dict(values), generator=generator, movers={})

    def sweep(self) -> None:
        """Draw every block once, in order, each given the newest values of the others, as the emitted file does."""
        moving = (self.movers,) if self.movers else ()
        values = self.printed.named(self.values)
        try:
            found = self.printed("sweep")(values, self.data, self.size, self.generator, *moving)
        except ImpossibleData as impossible:
            raise impossible_data(impossible) from impossible
        except ArithmeticError as error:
            raise improper(error) from error
        self.values |= {name: np.asarray(value) for name, value in self.printed.back(found).items()}
        check_finite(self.values)

    @property
    def everything(self) -> dict[str, Any]:
        """Data and values as the movers know them."""
        return {**self.data, **self.printed.named(self.values)}

    @property
    def paths(self) -> dict[tuple[str, ...], HamiltonianMover]:
        """The blocks that are moved along paths, by their variables."""
        blocks = self.plan.blocks
        return {blocks[n].variables: one for n, one in self.movers.items() if isinstance(one, HamiltonianMover)}

    def told(self) -> list[Told]:
        """What the paths since warm-up tell."""
        return [replace(one.told(), variables=variables) for variables, one in self.paths.items()]

    @property
    def sliced(self) -> list[str]:
        """The unknowns that are drawn by slices."""
        return list(self.slices)

    @property
    def slices(self) -> dict[str, SliceMover]:
        """The blocks that are drawn by slices, by their unknown."""
        blocks = self.plan.blocks
        return {blocks[n].variables[0]: one for n, one in self.movers.items() if isinstance(one, SliceMover)}

    @property
    def widths(self) -> dict[str, Array]:
        """The brackets of slices, by unknown."""
        return {name: found.width for name, found in self.slices.items() if found.width is not None}

    def set_widths(self, widths: Mapping[str, Array]) -> None:
        """Go on with brackets that were stored."""
        for name, found in self.slices.items():
            if name in widths:
                found.width = widths[name]


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

    sums: Mapping[str, Sums] = field(default_factory=dict)
    """Of the unknowns whose draws are not kept, before the first."""
    kept: dict[str, list[Array]] = field(default_factory=dict)
    last: tuple[int, Mapping[str, Any], Mapping[str, Array], Mapping[str, Sums]] = (0, {}, {}, {})
    """How many draws are whole, with the state of the generator, the widths of slices and the sums after them."""

    def stored(self) -> StoredChain:
        """The chain as it is stored: draws, generator and widths belong together, whenever Ctrl-C came."""
        count, generator, widths, sums = self.last
        draws = {name: np.array(values[:count]) for name, values in self.kept.items()}
        return StoredChain(draws, {"generator": generator}, widths, sums)


def tried(sampler: Sampler) -> Mapping[str, Array]:
    """The draws of a short trial; the start alone where there is no way from it, which the chain itself would tell."""
    begin = dict(sampler.values)
    try:
        return run_chain(sampler, SETTLING, WEIGHED, 1, lambda: None).draws
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
) -> StoredChain:
    """Warm up, then keep `count` draws, every `thin` sweeps; a chain that was `begun` warms up again and goes on.

    Warming up again finds the tuning of every block anew; the draws then go on from the stored values and numbers.
    """
    keeping = Keeping() if keeping is None else keeping
    for found in sampler.movers.values():
        found.begin_warm_up(warm_up)
        if warm_up and isinstance(found, HamiltonianMover):
            sampler.values |= sampler.printed.back(found.climb(sampler.everything, sampler.generator))
    for _ in range(warm_up):
        sampler.sweep()
        tick()
    check_state(sampler.plan.factors, Environment({**sampler.columns, **sampler.values}, sampler.sizes))
    if warm_up:
        check_slopes(sampler.paths, sampler.everything)
    for found in sampler.movers.values():
        found.end_warm_up()
    done = 0 if begun is None else begun.count
    names = [name for name in sampler.values if name not in keeping.sums]
    keeping.kept = {name: [] if begun is None else list(begun.draws[name]) for name in names}
    sums = dict(keeping.sums if begun is None else begun.sums)
    if begun is not None and done:
        sampler.values = {name: np.array(values[-1]) for name, values in keeping.kept.items()}
        sampler.values |= {name: np.array(begun.arrays[NOW + name]) for name in sums}
        sampler.set_widths(begun.arrays)
        sampler.generator.bit_generator.state = begun.facts["generator"]
        keeping.last = done, begun.facts["generator"], begun.arrays, sums
    for number in range(done, count):
        for _ in range(thin):
            sampler.sweep()
        for name in names:
            keeping.kept[name].append(np.array(sampler.values[name]))
        sums = {name: each.after(sampler.values[name][None]) for name, each in sums.items()}
        now = {NOW + name: np.array(sampler.values[name]) for name in sums}
        keeping.last = number + 1, sampler.generator.bit_generator.state, {**sampler.widths, **now}, sums
        tick()
    return keeping.stored()
