"""The result of a collapsed Gibbs run: draws of hidden variables, and of parameters given them, chain by chain.

Parameters are integrated out while the chain runs. When a draw is kept, they are drawn from their exact posterior given
the hidden variables, and their conditional means are averaged: with the same chain, a mean of conditional means is
never worse than a mean of draws (Rao and Blackwell).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from platewright.backends.c.compile import find_compiler
from platewright.backends.c.expression import Unprintable
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.errors import BackendError, ParameterError, SizeError, UnknownName
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.checks.allocation import MOST_NUMBERS
from platewright.run.checks.sanity import check_counts
from platewright.run.exact.native import _warn_once
from platewright.run.samplers.collapsed import CollapsedSampler
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.native_collapsed import NativeCollapsed, emitted, visiting_order
from platewright.run.samplers.parameters_given import parameters_given
from platewright.run.samplers.sampling import SampledFit
from platewright.run.samplers.starting import starting_values
from platewright.run.samplers.stored_chains import StoredChain, packed, stored_chains
from platewright.run.ticking import progress
from platewright.schemas.collapsed import CollapsedPlan

Sampler = CollapsedSampler | NativeCollapsed


@dataclass(frozen=True, eq=False, repr=False)
class CollapsedFit(SampledFit):
    """Draws from the posterior, the parameters being integrated out of the chain."""

    derivation: CollapsedPlan  # type: ignore[assignment]
    means: Mapping[str, Array] = field(default_factory=dict)
    """Conditional means of the parameters, averaged over the kept sweeps."""
    log_joint: Array | None = None
    """`log p(data, hidden variables)` of every draw, by chain: what to watch for convergence."""

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        return f"{self.derivation.schema}: {self.derivation.summary} ({self.backend})"

    def expected(self, name: str) -> Array:
        """The posterior mean of a parameter: its conditional mean, averaged over the kept sweeps."""
        if name not in self.means:
            raise UnknownName(name, self.means, where="fit.expected(...)")
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


def start_sampler(data: CollapsedData, hidden: Mapping[str, Array], random: Xoshiro, backend: str) -> Sampler:
    """A sampler in C, or the plain one where there is no compiler or no C for the plan; both make the same draws."""
    if backend not in ("auto", "numpy", "c"):
        raise UnknownName(backend, ("auto", "numpy", "c"), where="backend=")
    try:
        source = emitted(data)
    except Unprintable as refusal:
        if backend != "numpy":
            _warn_once(f"{refusal}; NumPy runs the sampler")
        return CollapsedSampler(data, hidden, random)
    order = visiting_order(data, source)
    compiler = find_compiler()
    if backend != "numpy" and compiler is None:
        _warn_once("no C compiler was found (CC, cc, gcc, clang or the package ziglang), so NumPy runs the sampler")
    if backend == "numpy" or compiler is None:
        return CollapsedSampler(data, hidden, random, order)
    try:
        return NativeCollapsed(data, hidden, random, source, order, compiler)
    except BackendError as error:
        _warn_once(f"{error.found}; NumPy runs the sampler")
        return CollapsedSampler(data, hidden, random, order)


SUM, TRACE = "sum of ", "log joint"
"""Names of what is stored of a chain beside its draws."""


@dataclass(eq=False)
class _Chain:
    """What one chain has left so far."""

    kept: dict[str, list[Array]] = field(default_factory=dict)
    sums: dict[str, Array] = field(default_factory=dict)
    trace: list[float] = field(default_factory=list)

    @classmethod
    def begun(cls, stored: StoredChain) -> _Chain:
        """A chain that goes on."""
        sums = {name.removeprefix(SUM): value for name, value in stored.arrays.items() if name.startswith(SUM)}
        return cls({name: list(values) for name, values in stored.draws.items()}, sums, list(stored.arrays[TRACE]))

    def stored(self, sampler: Sampler, generator: np.random.Generator) -> StoredChain:
        """The chain after its last draw, with all that the next one follows from."""
        arrays = {SUM + name: np.asarray(value) for name, value in self.sums.items()}
        draws = {name: np.array(values) for name, values in self.kept.items()}
        facts = {"generator": generator.bit_generator.state}
        return StoredChain(draws, facts, {**sampler.state(), **arrays, TRACE: np.array(self.trace)})

    def keep(self, values: Mapping[str, Array], means: Mapping[str, Array], log_joint: float) -> None:
        for name, value in values.items():
            self.kept.setdefault(name, []).append(value)
        for name, value in means.items():
            self.sums[name] = self.sums.get(name, 0.0) + value
        self.trace.append(log_joint)


def run_collapsed(
    plan: CollapsedPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    chains: int = 4,
    draws: int = 1000,
    warm_up: int = 500,
    thin: int = 1,
    seed: int = 0,
    backend: str = "auto",
    initial: Mapping[str, object] | None = None,
    checkpoint: Checkpoint | None = None,
) -> CollapsedRun:
    """Independent chains from random starts, or from initial values; the first axis of each result numbers them.

    Ctrl-C ends the run with the chains that are complete, or with the draws of the first as far as it came.
    """
    check_counts(chains=chains, draws=draws, thin=thin)
    check_counts(0, warm_up=warm_up)
    _check_kept(plan, sizes, chains * draws)
    data = CollapsedData(plan, columns, sizes)
    ticks = progress(range(chains * (warm_up + draws)), plan.schema)
    store = checkpoint or Checkpoint()
    stored: dict[int, StoredChain] = {}
    found: list[_Chain] = []
    ended: dict[int, StoredChain] = {}
    used = "numpy"
    for number, source in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        for_start, for_sweeps, for_parameters = source.spawn(3)
        start = starting_values(plan.graph, plan.hidden, sizes, np.random.default_rng(for_start), initial)
        _check_levels(plan, sizes, start)
        sampler = start_sampler(data, start, Xoshiro.seeded(for_sweeps), backend)
        used = "c" if isinstance(sampler, NativeCollapsed) else "numpy"
        if number == 0:
            store = replace(store, key=f"{store.key} {used}")  # states of NumPy and C are not alike
            stored = stored_chains(store)
            given_hidden = parameters_given(data, sampler.hidden, chains * draws, used)
        generator = np.random.default_rng(for_parameters)
        chain = _Chain()
        last = stored.get(number)
        try:
            if last is not None:
                chain = _Chain.begun(last)
                sampler.set_state(last.arrays)
                generator.bit_generator.state = last.facts["generator"]
            for _ in range(0 if last is not None else warm_up):
                sampler.sweep()
                next(ticks, None)
            for _ in range(len(chain.trace), draws):
                sampler.sweep(thin)
                hidden = sampler.hidden
                values, means, log_joint = given_hidden(hidden, generator)
                chain.keep({**{n: v.astype(np.int32) for n, v in hidden.items()}, **values}, means, log_joint)
                next(ticks, None)
                store.save_if_due(partial(_state, ended, number, chain, sampler, generator))
        except KeyboardInterrupt:
            if not found and not chain.trace:
                raise
            found = found or [chain]
            break
        found.append(chain)
        if store.path is not None:
            ended[number] = chain.stored(sampler, generator)
            store.save(packed(ended), force=True)
    return _gathered(plan, found, used)


def _state(
    ended: Mapping[int, StoredChain], number: int, chain: _Chain, sampler: Sampler, generator: np.random.Generator
) -> State:
    """All chains that ended, and the one at work."""
    return packed({**ended, number: chain.stored(sampler, generator)})


def _gathered(plan: CollapsedPlan, found: list[_Chain], backend: str) -> CollapsedRun:
    """Chains side by side, and means over all of them."""
    order = [name for name in plan.graph.nodes if name in found[0].kept]
    stacked = {name: np.array([chain.kept.pop(name) for chain in found]) for name in order}
    count = sum(len(chain.trace) for chain in found)
    means = {name: np.asarray(sum(chain.sums[name] for chain in found)) / count for name in found[0].sums}
    return CollapsedRun(stacked, means, np.array([chain.trace for chain in found]), backend)


def _check_levels(plan: CollapsedPlan, sizes: Mapping[str, int], start: Mapping[str, Array]) -> None:
    """Tables are written at these values, so none may lie outside."""
    for move in plan.moves:
        values = np.asarray(start[move.hidden])
        if values.size and (values.min() < 0 or values.max() >= sizes[move.level.plate]):
            raise ParameterError(
                f"an initial value of `{move.hidden}` out of range",
                expected=f"a whole number from 0 to {sizes[move.level.plate] - 1}",
            )


def _check_kept(plan: CollapsedPlan, sizes: Mapping[str, int], draws: int) -> None:
    """Draws that would not fit are refused before the first sweep."""
    unknown = [name for conditional in plan.complete.conditionals for name in conditional.variables]
    numbers = 0.0
    for name in (*plan.hidden, *unknown):
        numbers += float(np.prod([float(sizes[axis.plate]) for axis in plan.graph.nodes[name].axes]))
    if numbers * draws > MOST_NUMBERS:
        raise SizeError(
            f"{draws} draws of {numbers:.3g} numbers each would take {8 * draws * numbers / 2**30:.3g} GiB",
            expected=f"at most {MOST_NUMBERS:.3g} numbers",
            hint=f"keep fewer: chains=1, draws={max(1, int(MOST_NUMBERS // numbers)) if numbers else 1}, with thin=10",
        )
