"""Search for the best mode: several short climbs, the best carried on; stored on the way, and shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from platewright.errors import ImproperPosterior, PlatewrightError, Unbounded
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.checks.sanity import check_counts
from platewright.run.hidden.climbing import Climb, Seen, Slope, climb
from platewright.run.hidden.em import Estimate, Runner, start_values
from platewright.run.hidden.em_backend import SUMS_BY_C, native_runner
from platewright.run.ticking import Ticker
from platewright.schemas.em import EMPlan

SHORT = 20
"""Iterations of each start before the best is carried on."""


class Searched(Protocol):
    """What there is to search: a place to start, a hill to climb, and what is made of the end of a climb."""

    @property
    def slope(self) -> Slope[Any]: ...
    def start(self, generator: np.random.Generator) -> dict[str, Array]: ...
    def look(self, values: Mapping[str, Array]) -> Any: ...
    def ended(self, climbed: Climb[Any]) -> Estimate: ...


@dataclass(frozen=True, eq=False)
class InMemory(Runner):
    """All rows are there at once."""

    def start(self, generator: np.random.Generator) -> dict[str, Array]:
        """Parameters to start from."""
        return start_values(self, generator)


def run_em(
    plan: EMPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    backend: str = "numpy",
    **options: Any,
) -> Estimate:
    """The search of `search` with all rows in memory."""
    native = native_runner(plan, columns, sizes) if backend == "c" else None
    return search(InMemory(plan, columns, sizes, native, backend == SUMS_BY_C), **options)


def search(
    runner: Searched,
    *,
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
    checkpoint: Checkpoint | None = None,
) -> Estimate:
    """The best of several short runs, carried on until it stands still; one that has no upper bound gives way."""
    check_counts(restarts=restarts, iterations=iterations)
    with Ticker("em", iterations) as ticker:
        return _Search(runner, int(iterations), tolerance, checkpoint or Checkpoint(), ticker).run(seed, int(restarts))


class _Search:
    """Stages of a search: one for each start, then those that carry on, the best first."""

    def __init__(
        self, runner: Searched, iterations: int, tolerance: float, checkpoint: Checkpoint, ticker: Ticker
    ) -> None:
        self.runner, self.iterations, self.tolerance = runner, iterations, tolerance
        self.checkpoint, self.ticker = checkpoint, ticker
        self.done: list[Climb[Seen] | None] = []
        """Stages that ended; nothing for one that found no bound."""
        self.trouble: PlatewrightError | None = None
        self.current: Climb[Seen] | None = None
        self.last: State | None = None
        """The state at the last look, from which a run goes on bit by bit."""

    def run(self, seed: int, restarts: int) -> Estimate:
        """All stages, from the beginning or from where a stored state left off."""
        self.take_up()
        short = min(SHORT, self.iterations) if restarts > 1 else self.iterations
        for number, generator in enumerate(np.random.default_rng(seed).spawn(restarts)):
            ended = self.stage(number, partial(_begun, self.runner, generator), short)
            if ended is not None and ended.interrupted:
                return self.best()
        order = sorted((c for c in self.done[:restarts] if c is not None), key=lambda c: -c.history[-1])
        for place, begun in enumerate(order):
            if begun.converged or len(begun.history) >= self.iterations:
                return self.runner.ended(begun)
            ended = self.stage(restarts + place, partial(_again, begun), self.iterations)
            if ended is not None:
                return self.runner.ended(ended)
        assert self.trouble is not None
        raise self.trouble

    def stage(self, number: int, begin: Callable[[], Climb[Seen]], iterations: int) -> Climb[Seen] | None:
        """One climb; a stored one is not repeated."""
        if number < len(self.done):
            return self.done[number]
        try:
            start = self.current if self.current is not None else begin()
            self.current = None
            found: Climb[Seen] | None = climb(self.runner.slope, start, iterations, self.tolerance, self.told)
        except (Unbounded, ImproperPosterior) as error:
            self.trouble, found = error, None
        if found is not None and found.interrupted:
            self.checkpoint.save(self.state(found) if self.last is None else self.last, force=True)
            self.done.append(found)
            return found
        self.done.append(found)
        self.checkpoint.save(self.state(None), force=True)
        return found

    def best(self) -> Estimate:
        """The highest climb so far."""
        found = max((c for c in self.done if c is not None), key=lambda c: c.history[-1])
        found.interrupted = True
        return self.runner.ended(found)

    def told(self, now: Climb[Seen]) -> None:
        """After each look: show the objective, and store the state from time to time."""
        self.ticker.tick(len(now.history), f"objective {now.history[-1]:.6g}")
        if self.checkpoint.path is not None:
            self.last = self.state(now)
            self.checkpoint.save(self.last)

    # -- stored states ---

    def state(self, now: Climb[Seen] | None) -> State:
        """Everything needed to go on: ended stages, and the one at work before its next step."""
        facts: list[dict[str, object] | None] = []
        arrays: dict[str, Array] = {}
        for number, found in enumerate([*self.done, now] if now is not None else self.done):
            if found is None:
                facts.append(None)
                continue
            facts.append({"history": list(found.history), "highest": found.highest, "converged": found.converged})
            arrays |= {f"{number}:{name}": np.asarray(values) for name, values in found.seen_at.items()}
        return State({"stages": facts, "at_work": now is not None}, arrays)

    def take_up(self) -> None:
        """Go on from a stored state; what was seen at its values is looked at anew."""
        state = self.checkpoint.load()
        if state is None:
            return
        for number, facts in enumerate(state.facts["stages"]):
            if facts is None:
                self.done.append(None)
                self.trouble = Unbounded()
                continue
            mine = {name.split(":", 1)[1]: v for name, v in state.arrays.items() if name.startswith(f"{number}:")}
            found: Climb[Seen] = Climb(
                mine, list(facts["history"]), float(facts["highest"]), None, mine, facts["converged"]
            )
            found.seen = self.runner.look(mine)
            self.done.append(found)
        if state.facts["at_work"]:
            self.current = self.done.pop()


def _begun(runner: Searched, generator: np.random.Generator) -> Climb[Seen]:
    """A climb from a start of its own."""
    return Climb(runner.start(generator))


def _again(begun: Climb[Seen]) -> Climb[Seen]:
    """A climb that goes on where another ended."""
    return Climb(begun.values, list(begun.history), begun.highest, begun.seen, begun.seen_at)
