"""Mean-field updates in turn until the bound stands still: several short runs, the best carried on.

The bound may never fall: where it does, the derivation is wrong, and the run ends with an error. Plain mean updates
(Equation 26) have no bound; they run from one start until the means stand still.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from platewright.errors import ParameterError, PlatewrightError, Unbounded
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint
from platewright.run.checks.sanity import check_counts
from platewright.run.hidden.climbing import FALL
from platewright.run.hidden.em_backend import choose_field_backend, native_runner
from platewright.run.hidden.few_rows import Gathered
from platewright.run.hidden.mean_field import Runner, Settled, with_noises
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.run.hidden.stages import Stages
from platewright.run.ticking import Ticker
from platewright.schemas.mean_field import MeanFieldPlan

UPDATES = ("bound", "plain")


@dataclass(frozen=True, eq=False)
class Bounded:
    """Values of the distributions, hidden probabilities, and the lower bound at each iteration."""

    values: Mapping[str, Array]
    expectations: Mapping[str, Any]
    bounds: tuple[float, ...]
    converged: bool
    interrupted: bool = False
    changes: tuple[float, ...] = ()
    """For plain mean updates, which have no bound: the largest relative change of a mean at each iteration."""


class Updates(Protocol):
    """What there is to iterate."""

    @property
    def plain(self) -> bool: ...
    def begun(self, generator: np.random.Generator) -> Mapping[str, Array]: ...
    def hidden(self, moments: Mapping[str, Array]) -> tuple[Mapping[str, Any], float]: ...
    def posterior(self, expectations: Mapping[str, Any]) -> Settled: ...
    def kept(self, moments: Mapping[str, Array], expectations: Mapping[str, Any]) -> Mapping[str, Any]: ...


@dataclass(frozen=True, eq=False)
class Track:
    """A run so far: the moments before its last step, what that step gave, and the objective at each."""

    before: Mapping[str, Array]
    expectations: Mapping[str, Any] = field(default_factory=dict)
    settled: Settled | None = None
    history: tuple[float, ...] = ()
    converged: bool = False
    interrupted: bool = False

    @property
    def moments(self) -> Mapping[str, Array]:
        """What the next step starts from."""
        return self.before if self.settled is None else self.settled.moments


def run_mean_field(
    plan: MeanFieldPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    update: str = "bound",
    native: NativeEM | NativeCliques | None = None,
    **options: Any,
) -> Bounded:
    """The search of `searched` with all rows in memory."""
    return searched(Runner(plan, columns, sizes, is_plain(update), native), **options)


def native_field(
    plan: MeanFieldPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], backend: str
) -> tuple[NativeEM | NativeCliques | None, str, str]:
    """The C of the pass over the rows where it is wanted and there is one; which backend it is then, and why not C."""
    chosen, why = choose_field_backend(plan, backend, sizes)
    if chosen != "c":
        return None, chosen, why
    native = native_runner(plan, columns, with_noises(plan, sizes))
    if native.native:
        return native, "c", ""
    return None, "numpy", native.left[0][1]


def run_on_few(
    found: Gathered[MeanFieldPlan],
    plan: MeanFieldPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    update: str = "bound",
    **options: Any,
) -> Bounded:
    """The same search on the few rows that stand for all; what is expected of each comes at the end."""
    best = searched(Runner(found.few.plan, found.columns, found.sizes, is_plain(update)), **options)
    whole = Runner(plan, columns, sizes, is_plain(update))
    return replace(best, expectations={**best.expectations, **whole.hidden(best.expectations)[0]})


def is_plain(update: str) -> bool:
    """Whether only means are handed on, by the option `update`."""
    if update not in UPDATES:
        raise ParameterError(f"update={update!r}", expected="'bound' or 'plain'")
    return update == "plain"


def searched(
    runner: Updates,
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
    checkpoint: Checkpoint | None = None,
) -> Bounded:
    """The best of several short runs, carried on until it stands still."""
    check_counts(restarts=restarts, iterations=iterations)
    with Ticker("mean-field", int(iterations)) as ticker:
        search = Tracks(runner, iterations, tolerance, checkpoint, ticker)
        # Without a bound there is nothing by which to prefer one start to another.
        return search.ended(search.run(seed, 1 if runner.plain else int(restarts)))


class Tracks(Stages[Track]):
    """Stages that are tracks, each stored by the moments before its last step, which is taken anew."""

    def __init__(
        self, runner: Updates, iterations: int, tolerance: float, checkpoint: Checkpoint | None, ticker: Ticker
    ) -> None:
        super().__init__(iterations, tolerance, checkpoint, ticker)
        self.runner = runner
        self.objective = "largest change" if runner.plain else "bound"

    def begun(self, generator: np.random.Generator) -> Track:
        return Track(self.runner.begun(generator))

    def again(self, run: Track) -> Track:
        return replace(run, before=run.moments, settled=None)

    def pursued(self, run: Track, iterations: int) -> Track:
        """Whole steps only: Ctrl-C drops the one at work."""
        try:
            while not run.converged and len(run.history) < iterations:
                run = self.step(run)
                self.told(run)
        except KeyboardInterrupt:
            if run.settled is None:
                raise
            return replace(run, interrupted=True)
        return run

    def step(self, now: Track) -> Track:
        """Hidden variables, then blocks of parameters; the objective is checked."""
        before = now.moments
        expectations, settled, entropy = self.look(before)
        if self.runner.plain:
            change = _change(before, settled.moments)
            return Track(before, expectations, settled, (*now.history, change), change <= self.tolerance)
        bound = settled.evidence + entropy
        if not np.isfinite(bound):
            raise Unbounded("the objective of mean field")
        last = now.history[-1] if now.history else -np.inf
        if bound < last - FALL * (1 + abs(last)):
            raise PlatewrightError(
                f"the lower bound fell from {last:.10g} to {bound:.10g}",
                hint="this is a defect of the derivation: please report the model",
            )
        still = bool(now.history) and abs(bound - last) <= self.tolerance * (1 + abs(bound))
        return Track(before, expectations, settled, (*now.history, bound), still)

    def look(self, before: Mapping[str, Array]) -> tuple[Mapping[str, Any], Settled, float]:
        """One step from given moments."""
        expectations, entropy = self.runner.hidden(before)
        return expectations, self.runner.posterior({**before, **expectations}), entropy

    def ended(self, track: Track) -> Bounded:
        """What is kept of a run."""
        assert track.settled is not None
        known = self.runner.kept(track.before, track.expectations)
        values, plain = track.settled.posterior.values, self.runner.plain
        bounds, changes = ((), track.history) if plain else (track.history, ())
        return Bounded(values, known, bounds, track.converged, track.interrupted, changes)

    def stored(self, run: Track) -> tuple[dict[str, object], Mapping[str, Array]]:
        return {}, run.before

    def taken_up(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Track:
        expectations, settled, _ = self.look(arrays)
        return Track(arrays, expectations, settled, tuple(facts["history"]), facts["converged"])


def _change(before: Mapping[str, Array], after: Mapping[str, Array]) -> float:
    """The largest change of a moment, relative to its size."""
    changes = [np.max(np.abs(after[name] - before[name]) / (1 + np.abs(after[name])), initial=0.0) for name in after]
    return float(max(changes, default=0.0))
