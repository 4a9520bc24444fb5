"""Mean-field updates in turn until the bound stands still: several short runs, the best carried on, stored on the way.

The bound may never fall: where it does, the derivation is wrong, and the run ends with an error. Plain mean updates
(Equation 26) have no bound; they run from one start until the means stand still.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from platewright.errors import ParameterError, PlatewrightError, Unbounded
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.checks.sanity import check_counts
from platewright.run.hidden.climbing import FALL
from platewright.run.hidden.mean_field import Runner, Settled
from platewright.run.ticking import Ticker
from platewright.schemas.mean_field import MeanFieldPlan

SHORT = 20
"""Iterations of each start before the best is carried on."""
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
    def start(self, generator: np.random.Generator) -> Mapping[str, Any]: ...
    def hidden(self, moments: Mapping[str, Array]) -> tuple[Mapping[str, Any], float]: ...
    def posterior(self, expectations: Mapping[str, Any]) -> Settled: ...


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
    plan: MeanFieldPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], update: str = "bound", **options: Any
) -> Bounded:
    """The search of `searched` with all rows in memory."""
    return searched(Runner(plan, columns, sizes, is_plain(update)), **options)


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
        search = _Search(runner, int(iterations), tolerance, checkpoint or Checkpoint(), ticker)
        # Without a bound there is nothing by which to prefer one start to another.
        return search.run(seed, 1 if runner.plain else int(restarts))


class _Search:
    """Stages of a search: one for each start, then the best of them carried on."""

    def __init__(
        self, runner: Updates, iterations: int, tolerance: float, checkpoint: Checkpoint, ticker: Ticker
    ) -> None:
        self.runner, self.iterations, self.tolerance = runner, iterations, tolerance
        self.checkpoint, self.ticker = checkpoint, ticker
        self.done: list[Track] = []
        self.current: Track | None = None

    def run(self, seed: int, restarts: int) -> Bounded:
        """All stages, from the beginning or from where a stored state left off."""
        self.take_up()
        short = min(SHORT, self.iterations) if restarts > 1 else self.iterations
        for number, generator in enumerate(np.random.default_rng(seed).spawn(restarts)):
            if self.stage(number, partial(self.begun, generator), short).interrupted:
                return self.ended(max(self.done, key=lambda track: track.history[-1:]), True)
        best = max(self.done[:restarts], key=lambda track: track.history[-1])
        if not best.converged and len(best.history) < self.iterations:
            best = self.stage(restarts, lambda: replace(best, before=best.moments, settled=None), self.iterations)
        return self.ended(best, best.interrupted)

    def begun(self, generator: np.random.Generator) -> Track:
        """The moments of parameters given a start."""
        return Track(self.runner.posterior(self.runner.start(generator)).moments)

    def stage(self, number: int, begin: Callable[[], Track], iterations: int) -> Track:
        """One run; a stored one is not repeated. Ctrl-C ends it after its last whole step."""
        if number < len(self.done):
            return self.done[number]
        now = self.current
        try:
            now = begin() if now is None else now
            self.current = None
            while not now.converged and len(now.history) < iterations:
                now = self.step(now)
                self.told(now)
        except KeyboardInterrupt:
            if now is None or now.settled is None:
                if not self.done:
                    raise  # nothing is there to return
                now = max(self.done, key=lambda track: track.history[-1])
            else:
                self.checkpoint.save(self.state(now), force=True)
            now = replace(now, interrupted=True)
            self.done.append(now)
            return now
        self.done.append(now)
        self.checkpoint.save(self.state(None), force=True)
        return now

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

    def told(self, now: Track) -> None:
        """After each step: show the objective, and store the state from time to time."""
        word = "largest change" if self.runner.plain else "bound"
        self.ticker.tick(len(now.history), f"{word} {now.history[-1]:.6g}")
        self.checkpoint.save_if_due(lambda: self.state(now))

    def ended(self, track: Track, interrupted: bool) -> Bounded:
        """What is kept of a run."""
        assert track.settled is not None
        known = {**track.before, **track.expectations}
        values, plain = track.settled.posterior.values, self.runner.plain
        bounds, changes = ((), track.history) if plain else (track.history, ())
        return Bounded(values, known, bounds, track.converged, interrupted, changes)

    # -- stored states ---

    def state(self, now: Track | None) -> State:
        """Everything needed to go on: each stage by the moments before its last step."""
        facts: list[dict[str, object]] = []
        arrays: dict[str, Array] = {}
        for number, found in enumerate([*self.done, now] if now is not None else self.done):
            facts.append({"history": list(found.history), "converged": found.converged})
            arrays |= {f"{number}:{name}": np.asarray(values) for name, values in found.before.items()}
        return State({"stages": facts, "at_work": now is not None}, arrays)

    def take_up(self) -> None:
        """Go on from a stored state; the last step of each stage is taken anew."""
        state = self.checkpoint.load()
        if state is None:
            return
        for number, facts in enumerate(state.facts["stages"]):
            before = {name.split(":", 1)[1]: v for name, v in state.arrays.items() if name.startswith(f"{number}:")}
            expectations, settled, _ = self.look(before)
            self.done.append(Track(before, expectations, settled, tuple(facts["history"]), facts["converged"]))
        if state.facts["at_work"]:
            self.current = self.done.pop()


def _change(before: Mapping[str, Array], after: Mapping[str, Array]) -> float:
    """The largest change of a moment, relative to its size."""
    changes = [np.max(np.abs(after[name] - before[name]) / (1 + np.abs(after[name])), initial=0.0) for name in after]
    return float(max(changes, default=0.0))
