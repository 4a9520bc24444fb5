"""The result of a collapsed Gibbs run: draws of hidden variables, and of parameters given them, chain by chain.

Parameters are integrated out while the chain runs. When a draw is kept, they are drawn from their exact posterior given
the hidden variables, and their conditional means are averaged: with the same chain, a mean of conditional means is
never worse than a mean of draws (Rao and Blackwell).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from platewright.backends.c.compile import find_compiler
from platewright.backends.c.expression import Unprintable
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.backends.numpy.learning import DEFAULTS, Options
from platewright.errors import BackendError, NotLearned, ParameterError, UnknownName
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.checks.initial import checked_initial
from platewright.run.checks.room import check_draws
from platewright.run.checks.sanity import check_counts
from platewright.run.door import Expected, as_values_of
from platewright.run.evidence.evidence import Evidence
from platewright.run.exact.native import _warn_once
from platewright.run.results.outcome import Written
from platewright.run.results.saving_sums import sums_to_write
from platewright.run.results.writing import collapsed, options_to_write
from platewright.run.samplers.collapsed import HIDDEN, RANDOM, CollapsedSampler
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.extending import FIRST, MOST, reached, until_enough
from platewright.run.samplers.native_collapsed import NativeCollapsed, choose_functions, emitted, visiting_order
from platewright.run.samplers.parameters_given import parameters_given
from platewright.run.samplers.sampling import SampledFit
from platewright.run.samplers.starting import starting_values
from platewright.run.samplers.stored_chains import StoredChain, Wanted, packed, ran_with, stored_chains
from platewright.run.samplers.sums_of_draws import Sums, not_kept
from platewright.run.ticking import progress
from platewright.schemas.collapsed import CollapsedPlan

Sampler = CollapsedSampler | NativeCollapsed


@dataclass(frozen=True, eq=False, repr=False)
class CollapsedFit(SampledFit):
    """Draws from the posterior, the parameters being integrated out of the chain."""

    derivation: CollapsedPlan  # type: ignore[assignment]
    means: Mapping[str, Array] = field(default_factory=dict)
    """Conditional means of the parameters, averaged over the kept sweeps."""
    log_joint: Array | None = None  # type: ignore[assignment]
    """`log p(data, hidden variables)` of every draw, by chain: what to watch for convergence."""

    @property
    def options(self) -> Options:
        """What the run was told, and in which order elements were visited."""
        data = CollapsedData(self.derivation, self.columns, self.sizes)
        try:
            return replace(self.told, visited=visiting_order(data, emitted(data)))
        except Unprintable:  # in the order in which they come
            return self.told

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        why = f": {self.why}" if self.why else ""
        return f"{self.derivation.schema}: {self.derivation.summary} ({self.ran_by}{why})"

    @property
    def _sides(self) -> list[str]:
        """A collapsed chain makes no jumps."""
        return []

    @cached_property
    def evidence(self) -> Evidence:
        """There is none."""
        raise NotLearned("a collapsed run keeps no conditionals of its parameters", hint='learn(data, goal="evidence")')

    def written(self) -> Written:
        """What a file keeps of the draws."""
        trace = {} if self.log_joint is None else {"log joint": self.log_joint}
        groups = {"chains": self.chains, "means": self.means, "trace": trace, "columns": self.columns}
        return collapsed(self, {**groups, **options_to_write(self.options), **sums_to_write(self.sums)}, self.why)

    def _mean(self, name: str) -> Array:
        """Of a parameter its conditional mean, averaged over the kept sweeps."""
        if name in self.derivation.hidden:
            return self.probabilities(name)
        if name not in self.means:
            return np.asarray(self[name].mean)
        if self.matching.switched:  # means over draws that use different labels say nothing
            return self.flat[name].mean(axis=0)
        return self.means[name]


@dataclass(frozen=True, eq=False)
class CollapsedRun:
    """What the chains left."""

    chains: Mapping[str, Array]
    means: Mapping[str, Array]
    log_joint: Array
    backend: str
    made_by: str = ""
    """Who compiled it."""
    why: str = ""
    """What Ctrl-C left, in words."""
    sums: Mapping[str, tuple[Sums, ...]] = field(default_factory=dict)
    """By name and chain, of the unknowns whose draws were not kept."""
    told: Options = DEFAULTS


def start_sampler(
    data: CollapsedData, hidden: Mapping[str, Array], random: Xoshiro, backend: str, sweeps: int = 1
) -> Sampler:
    """A sampler in C for so many sweeps of all chains, or the plain one where nobody compiles it: the same draws."""
    if backend not in ("auto", "numpy", "c"):
        raise UnknownName(backend, ("auto", "numpy", "c"), where="backend=")
    try:
        source = emitted(data)
    except Unprintable as refusal:
        if backend != "numpy":
            _warn_once(f"{refusal}; NumPy runs the sampler")
        return CollapsedSampler(data, hidden, random)
    visited = visiting_order(data, source)
    if backend == "numpy":
        return CollapsedSampler(data, hidden, random, visited)
    try:
        functions = choose_functions(data, hidden, source, visited, sweeps)
        return NativeCollapsed(data, hidden, random, source, visited, functions)
    except BackendError as error:
        if backend == "c" and find_compiler() is not None:  # one is there, and does not do what was asked for
            raise
        _warn_once(f"{error.found}; NumPy runs the sampler")
        return CollapsedSampler(data, hidden, random, visited)


SUM, TRACE = "sum of ", "log joint"
"""Names of what is stored of a chain beside its draws."""


@dataclass(eq=False)
class _Chain:
    """What one chain has left so far."""

    kept: dict[str, list[Array]] = field(default_factory=dict)
    trace: list[float] = field(default_factory=list)
    whole: tuple[int, dict[str, Array], Mapping[str, Sums]] = (0, {}, {})
    """How many draws are whole, the sums of conditional means over them, and those of draws that are not kept: set at
    once, whenever Ctrl-C comes."""

    @classmethod
    def begun(cls, stored: StoredChain) -> _Chain:
        """A chain that goes on."""
        sums = {name.removeprefix(SUM): value for name, value in stored.arrays.items() if name.startswith(SUM)}
        kept = {name: list(values) for name, values in stored.draws.items()}
        return cls(kept, list(stored.arrays[TRACE]), (stored.count, sums, stored.sums))

    def keep(self, values: Mapping[str, Array], means: Mapping[str, Array], log_joint: float) -> None:
        count, sums, summed = self.whole
        for name, value in values.items():
            if name not in summed:
                self.kept.setdefault(name, []).append(value)
        self.trace.append(log_joint)
        more = {name: sums.get(name, 0.0) + value for name, value in means.items()}
        self.whole = count + 1, more, {name: each.after(values[name][None]) for name, each in summed.items()}

    def cut(self) -> _Chain:
        """The whole draws alone."""
        count = self.whole[0]
        return _Chain({name: values[:count] for name, values in self.kept.items()}, self.trace[:count], self.whole)


@dataclass(frozen=True, eq=False)
class _After:
    """All that the next draw of a chain follows from, after so many draws."""

    count: int
    facts: Mapping[str, Any]
    arrays: Mapping[str, Array]
    sums: Mapping[str, Sums]

    @classmethod
    def last_draw(cls, chain: _Chain, sampler: Sampler, generator: np.random.Generator) -> _After:
        count, sums, summed = chain.whole
        arrays = {SUM + name: np.asarray(value) for name, value in sums.items()}
        return cls(count, {"generator": generator.bit_generator.state}, {**sampler.state(), **arrays}, summed)

    def stored(self, chain: _Chain) -> StoredChain:
        """The chain as it was then."""
        draws = {name: np.array(values[: self.count]) for name, values in chain.kept.items()}
        return StoredChain(draws, self.facts, {**self.arrays, TRACE: np.array(chain.trace[: self.count])}, self.sums)


def run_collapsed(
    plan: CollapsedPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    chains: int = 4,
    draws: int | None = None,
    warm_up: int = 500,
    thin: int = 1,
    seed: int = 0,
    backend: str = "auto",
    initial: Mapping[str, object] | None = None,
    keep: Iterable[str] | None = None,
    checkpoint: Checkpoint | None = None,
) -> CollapsedRun:
    """Independent chains from random starts, or from initial values; the first axis of each result numbers them.

    Without a number of draws the run goes on until it has enough of them (`extending.py`).

    Of the unknowns that `keep` does not name there are sums alone. Ctrl-C ends the run with the chains that are
    complete, or with the draws of the first as far as it came.
    """
    longer = until_enough(plan.graph, plan.factors, sizes) if draws is None else None
    draws = FIRST if draws is None else draws
    check_counts(chains=chains, draws=draws, thin=thin)
    check_counts(0, warm_up=warm_up)
    unknown = [name for conditional in plan.complete.conditionals for name in conditional.variables]
    without = not_kept(keep, plan.graph, (*plan.hidden, *unknown))
    sums = {name: Sums.of(plan.graph.nodes[name], sizes) for name in without}
    check_draws(plan.graph, {*plan.hidden, *unknown} - set(sums), sizes, int(chains * draws))
    data = CollapsedData(plan, columns, sizes)
    ticks = progress(range(chains * (warm_up + draws)), plan.schema)
    store = checkpoint or Checkpoint()
    stored: dict[int, StoredChain] = {}
    found: list[_Chain] = []
    complete: list[_Chain] = []
    ended: dict[int, StoredChain] = {}
    at_work: dict[int, tuple[Sampler, np.random.Generator, _Chain]] = {}
    used, cut, number = "numpy", "", 0
    sources = np.random.SeedSequence(seed).spawn(chains)
    while number < chains:
        after: _After | None = None
        try:
            if number in at_work:
                sampler, generator, chain = at_work[number]
            else:
                for_start, for_sweeps, for_parameters = sources[number].spawn(3)
                start = starting_values(plan.graph, plan.hidden, sizes, np.random.default_rng(for_start), initial)
                _check_levels(plan, sizes, start)
                sweeps = chains * (warm_up + draws * thin)
                sampler = start_sampler(data, start, Xoshiro.seeded(for_sweeps), backend, sweeps)
                used = "c" if isinstance(sampler, NativeCollapsed) else "numpy"
                if number == 0:
                    store = store.with_option("backend", used)  # states of NumPy and C are not alike
                    most = draws if longer is None else MOST
                    stored = stored_chains(store, _wanted(plan, sizes, (chains, most), for_parameters, sums))
                    draws = draws if longer is None else reached([each.count for each in stored.values()])
                    given_hidden = parameters_given(data, sampler.hidden, chains * draws, used)
                generator = np.random.default_rng(for_parameters)
                chain = _Chain(whole=(0, {}, sums))
                last = stored.get(number)
                if last is not None:
                    chain = _Chain.begun(last)
                    arrays = {name: value for name, value in last.arrays.items() if name != TRACE}
                    after = _After(last.count, last.facts, arrays, last.sums)
                    sampler.set_state(last.arrays)
                    generator.bit_generator.state = last.facts["generator"]
                for _ in range(0 if last is not None else warm_up):
                    sampler.sweep()
                    next(ticks, None)
                at_work[number] = sampler, generator, chain
            for _ in range(len(chain.trace), draws):
                sampler.sweep(thin)
                hidden = sampler.hidden
                values, means, log_joint = given_hidden(hidden, generator)
                chain.keep({**{n: v.astype(np.int32) for n, v in hidden.items()}, **values}, means, log_joint)
                next(ticks, None)
                if store.path is not None:
                    after = _After.last_draw(chain, sampler, generator)
                    store.save_if_due(partial(_state, ended, number, chain, after))
        except KeyboardInterrupt:
            if after is not None:
                store.save(_state(ended, number, chain, after), force=True)
            if not complete and not found and not chain.whole[0]:
                raise
            found = complete or found or [chain.cut()]
            cut = f"interrupted: {len(found)} of {chains} chains, {len(found[0].trace)} of {draws} draws each"
            break
        found.append(chain)
        number += 1
        if store.path is not None:
            ended[number - 1] = _After.last_draw(chain, sampler, generator).stored(chain)
            store.save(packed(ended), force=True)
        if longer is not None and number == chains:
            wanted = longer({name: np.array([each.kept[name] for each in found]) for name in found[0].kept})
            if wanted > draws:
                complete, found = [each.cut() for each in found], []
                draws, number = wanted, 0
    if not cut and longer is not None and draws > FIRST:
        cut = f"{draws} draws of each chain, for effective ones"
    made_by = sampler.made_by if isinstance(sampler, NativeCollapsed) else ""
    run = _gathered(plan, found, used, cut, made_by)
    begun = checked_initial(plan.graph, plan.hidden, sizes, initial or {})
    return replace(run, told=ran_with(begun, run.chains, run.sums, seed=seed, warm_up=warm_up, thin=thin))


def _wanted(
    plan: CollapsedPlan,
    sizes: Mapping[str, int],
    counts: tuple[int, int],
    source: np.random.SeedSequence,
    summed: Mapping[str, Sums],
) -> Wanted:
    """What the stored chains of this run must be."""
    nodes = plan.graph.nodes
    unknown = [name for conditional in plan.complete.conditionals for name in conditional.variables]
    values = {name: as_values_of(nodes[name], sizes) for name in (*plan.hidden, *unknown)}
    state = {f"{HIDDEN}{name}": values[name] for name in plan.hidden} | {RANDOM: Expected((4,), "words")}
    sums = {f"{SUM}{name}": Expected(values[name].shape) for name in unknown}

    def arrays(chain: StoredChain) -> Mapping[str, Expected]:
        return {**state, **sums, TRACE: Expected((chain.count,))}

    kind = type(np.random.default_rng(source).bit_generator).__name__
    return Wanted(*counts, values, arrays, kind, summed)


def _state(ended: Mapping[int, StoredChain], number: int, chain: _Chain, after: _After) -> State:
    """All chains that ended, and the one at work."""
    return packed({**ended, number: after.stored(chain)})


def _gathered(plan: CollapsedPlan, found: list[_Chain], backend: str, why: str, made_by: str) -> CollapsedRun:
    """Chains side by side, and means over all of them."""
    order = [name for name in plan.graph.nodes if name in found[0].kept]
    stacked = {name: np.array([chain.kept.pop(name) for chain in found]) for name in order}
    count = sum(len(chain.trace) for chain in found)
    means = {name: np.asarray(sum(chain.whole[1][name] for chain in found)) / count for name in found[0].whole[1]}
    summed = {name: tuple(chain.whole[2][name] for chain in found) for name in found[0].whole[2]}
    return CollapsedRun(stacked, means, np.array([chain.trace for chain in found]), backend, made_by, why, summed)


def _check_levels(plan: CollapsedPlan, sizes: Mapping[str, int], start: Mapping[str, Array]) -> None:
    """Tables are written at these values, so none may lie outside."""
    for move in plan.moves:
        values = np.asarray(start[move.hidden])
        if values.size and (values.min() < 0 or values.max() >= sizes[move.level.plate]):
            raise ParameterError(
                f"an initial value of `{move.hidden}` out of range",
                expected=f"a whole number from 0 to {sizes[move.level.plate] - 1}",
            )
