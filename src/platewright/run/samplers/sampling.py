"""The result of a Gibbs run: draws by chain, their diagnostics, and the plan behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.backends.c.compile import find_compiler
from platewright.backends.c.expression import Unprintable
from platewright.backends.kernels.bounded_draws import put_within
from platewright.backends.numpy.learning import DEFAULTS, Options
from platewright.derive.cautions import improper_unknowns
from platewright.errors import BackendError, NotLearned, PlatewrightError, UnknownName
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint
from platewright.run.checks.computed import check_computed, computed_probabilities
from platewright.run.checks.initial import checked_initial
from platewright.run.checks.room import check_draws
from platewright.run.checks.sanity import check_counts, check_near
from platewright.run.evidence.evidence import Evidence
from platewright.run.exact.native_blocks import thread_count
from platewright.run.results.about_chains import about_chains, about_labels, about_sides, relabelled
from platewright.run.results.followers import followers, worth_showing
from platewright.run.results.outcome import Written
from platewright.run.results.predicting import RowPrediction, predict_rows
from platewright.run.results.result import Result
from platewright.run.results.saving_sums import sums_to_write
from platewright.run.results.writing import iterated, options_to_write
from platewright.run.samplers.averaging import expected_value
from platewright.run.samplers.bounded_draws import bounds_of
from platewright.run.samplers.convergence import Slow, converged, slowest
from platewright.run.samplers.extending import FIRST, until_enough
from platewright.run.samplers.gibbs import check_state
from platewright.run.samplers.heights import heights_of
from platewright.run.samplers.labels import Matching, match
from platewright.run.samplers.lost_slopes import blocks_without_slope, reason, sliced
from platewright.run.samplers.monitoring import Drawn
from platewright.run.samplers.native_choice import native_gibbs
from platewright.run.samplers.native_gibbs import NativeGibbs, rows_in_a_sweep
from platewright.run.samplers.native_gibbs_chains import Counts, run_chains
from platewright.run.samplers.path_warnings import warn_of_paths
from platewright.run.samplers.plain_chains import one_by_one
from platewright.run.samplers.possible_state import possible_state
from platewright.run.samplers.sampled import Sampled, Summed, one_after_another
from platewright.run.samplers.starting import Start, starting_values
from platewright.run.samplers.stored_chains import (
    interrupted,
    ran_with,
    side_by_side,
    sums_by_chain,
)
from platewright.run.samplers.sums_of_draws import Sums, levels_of, not_kept, size_of
from platewright.run.ticking import Ticker
from platewright.schemas.blocks import BoundedBlock
from platewright.schemas.doubtful import doubtful_factors
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.one_mode import has_one_mode

SECONDS_TO_BEGIN = 0.05
"""Sampling that NumPy would take less time for is left to it: C is written and compiled in memory in 0.01 to 0.03
seconds."""


@dataclass(frozen=True, eq=False, repr=False)
class SampledFit(Result):
    """Draws from the posterior, chain by chain."""

    derivation: GibbsPlan
    chains: Mapping[str, Array]
    """By name: chain, draw, then the axes of the variable."""
    why: str = ""
    """Why the backend that was asked for did not run."""
    sums: Mapping[str, tuple[Sums, ...]] = field(default_factory=dict, kw_only=True)
    """By name and chain, of the unknowns whose draws were not kept."""
    told: Options = field(default=DEFAULTS, kw_only=True)
    """How many sweeps ran, and from where."""

    @property
    def options(self) -> Options:
        """What the run was told, as the emitted program names it."""
        return self.told

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        why = f": {self.why}" if self.why else ""
        return f"gibbs: {self.derivation.summary} ({self.ran_by}{why})"

    @property
    def learned(self) -> tuple[str, ...]:
        """The unknowns that were drawn."""
        return tuple(name for name in self.derivation.graph.nodes if name in self.chains or name in self.sums)

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of unknowns, and what is predicted of the rows that were learned from."""
        plan = self.derivation
        return followers(plan.graph, tuple(self.chains), plan.barren, self.columns, self.sizes)

    def __getitem__(self, name: str) -> Sampled | Summed:
        """The posterior of one unknown, of a function of unknowns or of a prediction, as draws of all chains."""
        if name in self.sums:
            return Summed(name, self.sums[name], self.labels)
        found = self.matched.get(name)
        if found is None:
            found = self.followed(name)
        return Sampled(name, one_after_another(found), self.labels, found)

    def followed(self, name: str) -> Array:
        """The draws of a node that follows from the unknowns."""
        if name not in self.functions:
            raise self.absent(name, self)
        return Drawn(self.derivation.graph, self.matched, self.columns, self.sizes).node(name, self.seed)

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

    def _mean(self, name: str) -> Array:
        """The posterior mean, of a discrete unknown the probabilities; of conditional means where they are known."""
        if name in self.sums:
            return (
                self[name].mean
                if not levels_of(self.derivation.graph.nodes[name], self.sizes)
                else self.probabilities(name)
            )
        if name in self.functions and name not in self.derivation.barren:
            return np.asarray(self[name].mean)
        return expected_value(self, name)

    def predict(self, new: object, count: int = 1000, seed: int | None = None) -> RowPrediction:
        """Posterior predictive of what `new` leaves open; `new` gives values of new rows, or just their number."""
        chosen = self.seed if seed is None else seed
        return predict_rows(self.derivation, self.draws(count, chosen), self.sizes, self.labels, new, chosen)

    def draws(self, count: int | None = None, seed: int | None = None) -> dict[str, Array]:
        """All draws, or a random choice of them."""
        if self.sums and not self.chains:
            raise self._lacks("draws", f"keep={list(self.sums)[:1]} keeps some")
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
        finite = [drawn for drawn in self.learned if drawn in nodes and nodes[drawn].domain.is_finite]
        if name not in finite:
            raise UnknownName(name, finite, where="probabilities")
        if name in self.sums:
            return Summed(name, self.sums[name]).shares
        size = levels_of(nodes[name], self.sizes)
        return np.stack([(self.flat[name] == level).mean(axis=0) for level in range(size)], axis=-1)

    @property
    def notes(self) -> tuple[str, ...]:
        """Labels that could be swapped, and what the chains say against their numbers."""
        labels = about_labels(self.symmetries, relabelled(self))
        return (*labels, *self._sides, *about_chains(self))

    @property
    def _sides(self) -> list[str]:
        """What priors alone tell: signs, and which element is which."""
        return about_sides(self.derivation.blocks)

    def parameters(self) -> dict[str, Array]:
        """The draws of all chains, under the labels that they had."""
        return {name: one_after_another(values) for name, values in self.chains.items()}

    def draws_by_chain(self, count: int, seed: int | None) -> tuple[dict[str, Array], str]:
        """The chains as they are, under labels that agree, and functions of them."""
        if self.sums and not self.chains:
            raise NotLearned("no draw was kept", hint=f'keep=["{next(iter(self.sums))}"] keeps some')
        functions = {name: self.followed(name) for name in self.functions}
        return {name: np.asarray(values) for name, values in {**self.matched, **functions}.items()}, "chains"

    @cached_property
    def evidence(self) -> Evidence:
        """The log evidence by Chib's method."""
        from platewright.run.evidence.evidence_chib import chib

        if self.sums:
            raise NotLearned(f"the draws of `{next(iter(self.sums))}` were not kept", hint="learn without keep=")
        return chib(self.derivation, self.columns, self.sizes, self.chains, self.seed)

    def written(self) -> Written:
        """What a file keeps of the draws."""
        groups = {"chains": self.chains, "columns": self.columns, **options_to_write(self.options)}
        return iterated(self, {**groups, **sums_to_write(self.sums)}, why=self.why)

    def diagnostics(self) -> dict[str, dict[str, Array]]:
        """R-hat and effective sample size of every quantity, under labels that agree."""
        found: dict[str, dict[str, Array]] = {}
        for name in self._diagnosed:
            if not self.derivation.graph.nodes[name].domain.is_discrete:
                r_hat, size = converged(self._by_chain(name))
                found[name] = {"r_hat": r_hat, "effective_size": size}
        return found

    @cached_property
    def slow(self) -> tuple[Slow, ...]:
        """The slowest element of each quantity, under labels that agree."""
        nodes = self.derivation.graph.nodes
        found = (slowest(name, self._by_chain(name), nodes[name].domain.is_discrete) for name in self._diagnosed)
        return tuple(one for one in found if one is not None)

    @cached_property
    def _diagnosed(self) -> tuple[str, ...]:
        """Unknowns with draws, and functions of them."""
        plan = self.derivation
        functions = [name for name in self.functions if name not in plan.barren]
        return worth_showing(plan.graph, tuple(self.chains), functions, plan.barren)

    def _by_chain(self, name: str) -> Array:
        return self.matched[name] if name in self.matched else self.followed(name)


@dataclass(frozen=True, eq=False)
class Choice:
    """How a plan is run: by which backend, with the compiled plan where it is C, and why not the one asked for."""

    backend: str
    native: NativeGibbs | None = None
    why: str = ""
    interrupted: bool = False
    """Whether Ctrl-C ended the run."""
    plan: GibbsPlan | None = None
    """What ran, where it is not what was asked for."""
    told: Options = DEFAULTS
    sums: Mapping[str, tuple[Sums, ...]] = field(default_factory=dict)
    """By name and chain, of the unknowns whose draws were not kept."""

    @property
    def made_by(self) -> str:
        """Who compiled it."""
        return "" if self.native is None else self.native.shared.made_by


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
        if backend == "c" and find_compiler() is not None:  # one is there, and does not do what was asked for
            raise
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
    draws: int | None = None,
    warm_up: int = 500,
    thin: int = 1,
    seed: int = 0,
    backend: str = "numpy",
    initial: Mapping[str, object] | None = None,
    keep: Iterable[str] | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[dict[str, Array], Choice]:
    """Independent chains from jittered starts, or from initial values; the first axis of each result numbers them.

    Without a number of draws the run goes on until it has enough of them (`extending.py`).

    Of the unknowns that `keep` does not name there are sums alone, beside the choice of the backend. Ctrl-C ends the
    run with the chains that are complete, or with the draws that all chains at work have.
    """
    longer = until_enough(plan.graph, plan.factors, sizes) if draws is None else None
    draws = FIRST if draws is None else draws
    check_counts(chains=chains, draws=draws, thin=thin)
    check_counts(0, warm_up=warm_up)
    columns = {name: _single(plan, name, values) for name, values in columns.items()}
    counts = Counts(int(chains), int(draws), int(warm_up), int(thin))
    wanted = list(dict.fromkeys(name for block in plan.blocks for name in block.variables))
    without = not_kept(keep, plan.graph, wanted)
    sums = {name: Sums.of(plan.graph.nodes[name], sizes) for name in without}
    check_draws(plan.graph, set(wanted) - set(sums), sizes, counts.chains * counts.draws)

    def start(generator: np.random.Generator) -> dict[str, Array]:
        values = starting_values(plan.graph, wanted, sizes, generator, initial)
        for block in plan.blocks:
            if isinstance(block, BoundedBlock):
                (name,) = block.variables
                bounds = bounds_of(block, plan.graph.nodes[name], Environment({**columns, **values}, sizes))
                values[name] = put_within(values[name], *bounds)
        return possible_state(plan.graph, plan.factors, columns, sizes, values, generator)

    is_computed = bool(computed_probabilities(plan.graph))
    if is_computed:
        check_computed(plan.graph, columns, sizes, start(np.random.default_rng(seed)))
    heights = None if initial or has_one_mode(plan) else heights_of(plan, columns, sizes)
    sweeps = int(chains * (warm_up + draws * thin))
    chosen = choose_gibbs_backend(plan, columns, sizes, backend, sweeps, start, seed)
    lost = blocks_without_slope(plan, chosen.native, columns, sizes, start, seed)
    if lost:
        options: dict[str, Any] = {"chains": chains, "draws": draws, "warm_up": warm_up, "thin": thin, "seed": seed}
        options["draws"] = None if longer else draws
        options |= {"backend": backend, "initial": initial, "checkpoint": checkpoint, "keep": keep}
        found, by_slices = run_gibbs(sliced(plan, lost), columns, sizes, **options)
        parts = [reason(plan.blocks[number].variables) for number in lost]
        return found, replace(
            by_slices,
            plan=by_slices.plan or sliced(plan, lost),
            why="; ".join([*parts, *([by_slices.why] if by_slices.why else [])]),
        )
    store = (checkpoint or Checkpoint()).with_option("backend", chosen.backend)

    doubtful = doubtful_factors(plan.graph, plan.factors, wanted)

    def check(number: int, values: Mapping[str, Array]) -> None:
        # What data alone make impossible is so in every chain: the first one looks at all factors.
        check_state(doubtful if number else plan.factors, Environment({**columns, **values}, sizes))

    with Ticker("gibbs", counts.chains * (counts.warm_up + counts.draws)) as ticker:
        tick = ticker.advance
        if chosen.native is not None:
            run = (counts, seed, thread_count(), start, check, tick, store, heights, sums, longer)
            ran, told = run_chains(chosen.native, *run)
            warn_of_paths(told)
        else:
            ran = one_by_one(plan, columns, sizes, counts, seed, start, store, tick, heights, sums, longer)
    draws = max(counts.draws, max(chain.count for chain in ran))
    side, by_chain = side_by_side(ran, counts.draws), sums_by_chain(ran, counts.draws)
    found = {name: side[name] for name in plan.graph.nodes if name in side}
    check_near(
        {**found, **{name: size_of(each) for name, each in by_chain.items()}}, improper_unknowns(plan.graph), columns
    )
    for chain in range(len(next(iter(found.values()), ())) if is_computed else 0):
        check_computed(plan.graph, columns, sizes, {name: values[chain, -1] for name, values in found.items()})
    why = interrupted(found, by_chain, (counts.chains, draws))
    more = f"{draws} draws of each chain, for effective ones" if draws > counts.draws and not why else ""
    said = ": ".join(part for part in (chosen.why, why, more) if part)
    begun = checked_initial(plan.graph, wanted, sizes, initial or {})
    options_told = ran_with(begun, found, by_chain, seed=seed, warm_up=counts.warm_up, thin=counts.thin)
    return found, replace(chosen, why=said, interrupted=bool(why), sums=by_chain, told=options_told)


def _single(plan: GibbsPlan, name: str, values: Array) -> Array:
    """A single number may come as a column of one row."""
    node = plan.graph.nodes.get(name)
    return np.reshape(values, ()) if node is not None and not node.axes and np.size(values) == 1 else values
