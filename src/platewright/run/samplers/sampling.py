"""The result of a Gibbs run: draws by chain, their diagnostics, and the plan behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.backends.c.expression import Unprintable
from platewright.backends.kernels.bounded_draws import put_within
from platewright.backends.kernels.hamiltonian_mover import HamiltonianMover
from platewright.backends.kernels.trials import Heights, trial_starts
from platewright.derive.cautions import improper_unknowns
from platewright.errors import BackendError, PlatewrightError, UnknownName
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.checks.sanity import check_counts, check_near
from platewright.run.exact.native_blocks import thread_count
from platewright.run.results.predicting import RowPrediction, predict_rows
from platewright.run.results.shown import Shown
from platewright.run.samplers.averaging import expected_value
from platewright.run.samplers.bounded_draws import bounds_of
from platewright.run.samplers.diagnosing import array_stats
from platewright.run.samplers.gibbs import Keeping, Sampler, check_state, run_chain, tried
from platewright.run.samplers.heights import heights_of
from platewright.run.samplers.labels import Matching, match
from platewright.run.samplers.lost_slopes import blocks_without_slope, reason, sliced
from platewright.run.samplers.monitoring import Drawn
from platewright.run.samplers.moving import Mover
from platewright.run.samplers.native_choice import native_gibbs
from platewright.run.samplers.native_gibbs import NativeGibbs, rows_in_a_sweep
from platewright.run.samplers.native_gibbs_chains import Counts, run_chains
from platewright.run.samplers.path_warnings import warn_of_paths
from platewright.run.samplers.possible_state import possible_state
from platewright.run.samplers.sampled import Sampled, one_after_another
from platewright.run.samplers.starting import Start, starting_values
from platewright.run.samplers.stored_chains import StoredChain, interrupted, packed, side_by_side, stored_chains
from platewright.run.ticking import Ticker
from platewright.schemas.blocks import BoundedBlock
from platewright.schemas.doubtful import doubtful_factors
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.one_mode import has_one_mode

SECONDS_TO_BEGIN = 0.05
"""Sampling that NumPy would take less time for is left to it: C is written and read by its interpreter in 0.005 to 0.02
seconds, and compiled only where that pays."""


@dataclass(frozen=True, eq=False, repr=False)
class SampledFit(Shown):
    """Draws from the posterior, chain by chain."""

    derivation: GibbsPlan
    chains: Mapping[str, Array]
    """By name: chain, draw, then the axes of the variable."""
    why: str = ""
    """Why the backend that was asked for did not run."""

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        why = f": {self.why}" if self.why else ""
        return f"gibbs: {self.derivation.summary} ({self.backend}{why})"

    def __getitem__(self, name: str) -> Sampled:
        """The posterior of one unknown, of a function of unknowns or of a prediction, as draws of all chains."""
        found = self.matched.get(name)
        if found is None:
            found = self._followed(name)
        return Sampled(name, one_after_another(found), self.labels, found)

    def _followed(self, name: str) -> Array:
        """The draws of a node that follows from the unknowns."""
        graph = self.derivation.graph
        follow = [
            node
            for node, variable in graph.nodes.items()
            if node in self.derivation.barren or (variable.definition is not None and not graph.is_known(node))
        ]
        if name not in follow:
            raise self.absent(name, [*self.flat, *follow])
        return Drawn(graph, self.matched, self.columns, self.sizes).node(name, self.seed)

    @cached_property
    def matching(self) -> Matching:
        """For exchangeable labels the relabelling of every draw that makes all draws agree."""
        return match(self.symmetries, self.chains)

    @cached_property
    def matched(self) -> Mapping[str, Array]:
        """The draws by chain, under labels that agree from draw to draw."""
        return self.matching.moved(self.chains)

    @cached_property
    def flat(self) -> Mapping[str, Array]:
        """Draws of all chains one after another, under labels that agree."""
        return {name: one_after_another(values) for name, values in self.matched.items()}

    def expected(self, name: str) -> Array:
        """The posterior mean, of a discrete unknown the probabilities; of conditional means where they are known."""
        return expected_value(self, name)

    def predict(self, new: object, count: int = 1000, seed: int | None = None) -> RowPrediction:
        """Posterior predictive of what `new` leaves open; `new` gives values of new rows, or just their number."""
        chosen = self.seed if seed is None else seed
        return predict_rows(self.derivation, self.draws(count, chosen), self.sizes, self.labels, new, chosen)

    def draws(self, count: int | None = None, seed: int | None = None) -> dict[str, Array]:
        """All draws, or a random choice of them."""
        if count is None:
            return dict(self.flat)
        total = len(next(iter(self.flat.values())))
        chosen = np.random.default_rng(self.seed if seed is None else seed).integers(0, total, count)
        return {name: values[chosen] for name, values in self.flat.items()}

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)` by Chib's method; `evidence` has its Monte Carlo error."""
        return self.evidence.value

    def probabilities(self, name: str) -> Array:
        """For a discrete unknown the share of draws in which each element has each value."""
        nodes = self.derivation.graph.nodes
        if name in nodes and not nodes[name].domain.is_finite:
            raise PlatewrightError(f"`{name}` is {nodes[name].domain}", expected="a variable with finitely many values")
        finite = [drawn for drawn in self.flat if drawn in nodes and nodes[drawn].domain.is_finite]
        if name not in finite:
            raise UnknownName(name, finite, where="probabilities")
        node = nodes[name]
        size = self.sizes[str(node.domain.levels)] if node.domain.kind == "levels" else node.domain.listed
        return np.stack([(self.flat[name] == level).mean(axis=0) for level in range(size)], axis=-1)

    def diagnostics(self) -> dict[str, dict[str, Array]]:
        """R-hat and effective sample size of every quantity, under labels that agree (needs the extra `arviz`)."""
        stats = array_stats()
        found: dict[str, dict[str, Array]] = {}
        for name, values in self.matched.items():
            if not np.issubdtype(values.dtype, np.floating):
                continue
            found[name] = {
                "r_hat": np.asarray(stats.rhat(values, chain_axis=0, draw_axis=1)),
                "effective_size": np.asarray(stats.ess(values, chain_axis=0, draw_axis=1)),
            }
        return found


@dataclass(frozen=True, eq=False)
class Choice:
    """How a plan is run: by which backend, with the compiled plan where it is C, and why not the one asked for."""

    backend: str
    native: NativeGibbs | None = None
    why: str = ""


def choose_gibbs_backend(
    plan: GibbsPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    backend: str,
    sweeps: int,
    start: Start,
    seed: int,
) -> Choice:
    """C where it was asked for, or where so many sweeps pay for writing it; NumPy where a part has no C."""
    if backend not in ("auto", "numpy", "c"):
        raise UnknownName(backend, ("auto", "numpy", "c"), where="backend=")
    if backend == "numpy" or (backend == "auto" and sweeps * seconds_by_numpy(plan, sizes) < SECONDS_TO_BEGIN):
        return Choice("numpy")
    try:
        return Choice("c", native_gibbs(plan, columns, sizes, sweeps, start, seed))
    except Unprintable as refusal:
        return Choice("numpy", why=str(refusal))
    except BackendError as error:
        return Choice("numpy", why=error.found)


def seconds_by_numpy(plan: GibbsPlan, sizes: Mapping[str, int]) -> float:
    """About how long a sweep of NumPy takes: so much a statement, and so much a row."""
    statements = sum(2 + len(program.passes) + len(program.body) for program in plan.programs)
    statements += 20 * (len(plan.blocks) - len(plan.programs))
    return 1e-4 * statements + 5e-8 * rows_in_a_sweep(plan, sizes)


def run_gibbs(
    plan: GibbsPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    chains: int = 4,
    draws: int = 1000,
    warm_up: int = 500,
    thin: int = 1,
    seed: int = 0,
    backend: str = "numpy",
    initial: Mapping[str, object] | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[dict[str, Array], Choice]:
    """Independent chains from jittered starts, or from initial values; the first axis of each result numbers them.

    Ctrl-C ends the run with the chains that are complete, or with the draws that all chains at work have.
    """
    check_counts(chains=chains, draws=draws, thin=thin)
    check_counts(0, warm_up=warm_up)
    columns = {name: _single(plan, name, values) for name, values in columns.items()}
    counts = Counts(int(chains), int(draws), int(warm_up), int(thin))
    wanted = list(dict.fromkeys(name for block in plan.blocks for name in block.variables))

    def start(generator: np.random.Generator) -> dict[str, Array]:
        values = starting_values(plan.graph, wanted, sizes, generator, initial)
        for block in plan.blocks:
            if isinstance(block, BoundedBlock):
                (name,) = block.variables
                bounds = bounds_of(block, plan.graph.nodes[name], Environment({**columns, **values}, sizes))
                values[name] = put_within(values[name], *bounds)
        return possible_state(plan.graph, plan.factors, columns, sizes, values, generator)

    heights = None if initial or has_one_mode(plan) else heights_of(plan, columns, sizes)
    sweeps = int(chains * (warm_up + draws * thin))
    chosen = choose_gibbs_backend(plan, columns, sizes, backend, sweeps, start, seed)
    lost = blocks_without_slope(plan, chosen.native, columns, sizes, start, seed)
    if lost:
        options: dict[str, Any] = {"chains": chains, "draws": draws, "warm_up": warm_up, "thin": thin, "seed": seed}
        options |= {"backend": backend, "initial": initial, "checkpoint": checkpoint}
        found, ran = run_gibbs(sliced(plan, lost), columns, sizes, **options)
        parts = [*(reason(plan.blocks[number].variables) for number in lost), *([ran.why] if ran.why else [])]
        return found, replace(ran, why="; ".join(parts))
    store = checkpoint or Checkpoint()
    store = replace(store, key=f"{store.key} {chosen.backend}")  # the backends have random numbers of their own

    doubtful = doubtful_factors(plan.graph, plan.factors, wanted)

    def check(number: int, values: Mapping[str, Array]) -> None:
        # What data alone make impossible is so in every chain: the first one looks at all factors.
        check_state(doubtful if number else plan.factors, Environment({**columns, **values}, sizes))

    with Ticker("gibbs", counts.chains * (counts.warm_up + counts.draws)) as ticker:
        tick = ticker.advance
        if chosen.native is not None:
            found, told = run_chains(chosen.native, counts, seed, thread_count(), start, check, tick, store, heights)
            warn_of_paths(told)
        else:
            found = _one_by_one(plan, columns, sizes, counts, seed, start, store, tick, heights)
    check_near(found, improper_unknowns(plan.graph), columns)
    why = interrupted(found, (counts.chains, counts.draws))
    return found, replace(chosen, why=": ".join(part for part in (chosen.why, why) if part))


def _one_by_one(
    plan: GibbsPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    counts: Counts,
    seed: int,
    start: Start,
    store: Checkpoint,
    tick: Callable[[], object],
    heights: Heights | None,
) -> dict[str, Array]:
    """Chains by NumPy, one after another."""
    stored = stored_chains(store)
    found: list[Mapping[str, Array]] = []
    movers: list[Mover] = []
    generators = np.random.default_rng(seed).spawn(counts.chains)
    first = Sampler(plan, columns, sizes, generators[0], dict(start(np.random.default_rng(seed))))

    def trial(number: int, values: Mapping[str, Array]) -> Mapping[str, Array]:
        return tried(first.begun_at(values, generators[number]))

    starts = trial_starts(counts.chains, counts.warm_up, lambda number: start(generators[number]), trial, heights)
    for number, generator in enumerate(generators):
        begun = stored.get(number)
        if begun is not None and begun.count == counts.draws:
            found.append(begun.draws)
            continue
        sampler = first.begun_at(starts[number], generator)
        keeping = Keeping()

        def state(keeping: Keeping = keeping) -> State:
            at_work = [keeping.stored()] if keeping.last[0] else []
            return packed(dict(enumerate([*map(StoredChain, found), *at_work])))

        def told(keeping: Keeping = keeping, state: Callable[[], State] = state) -> None:
            tick()
            if keeping.last[0]:  # a warm-up leaves nothing to store
                store.save_if_due(state)

        try:
            draws = run_chain(sampler, counts.warm_up, counts.draws, counts.thin, told, keeping, begun)
        except KeyboardInterrupt:
            part = keeping.stored()
            if not found and not part.count:
                raise
            store.save(state(), force=True)
            found.append(part.draws)
            break
        found.append(draws)
        movers += sampler.movers.values()
        store.save(packed(dict(enumerate(map(StoredChain, found)))), force=True)
    warn_of_paths(mover.told() for mover in movers if isinstance(mover, HamiltonianMover))
    side = side_by_side(found, counts.draws)
    return {name: side[name] for name in plan.graph.nodes if name in side}


def _single(plan: GibbsPlan, name: str, values: Array) -> Array:
    """A single number may come as a column of one row."""
    node = plan.graph.nodes.get(name)
    return np.reshape(values, ()) if node is not None and not node.axes and np.size(values) == 1 else values
