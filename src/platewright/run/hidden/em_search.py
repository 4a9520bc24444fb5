"""Search for the best mode by EM: several short climbs, the best carried on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from platewright.errors import ImproperPosterior, Unbounded
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint
from platewright.run.checks.initial import checked_initial
from platewright.run.checks.sanity import check_counts
from platewright.run.hidden.climbing import Climb, Seen, Slope, climb
from platewright.run.hidden.em import Estimate, Runner, start_values
from platewright.run.hidden.em_backend import SUMS_BY_C, native_runner
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.run.hidden.stages import Stages
from platewright.run.ticking import Ticker
from platewright.schemas.em import EMPlan

OPTIONS = ("restarts", "iterations", "tolerance", "initial", "checkpoint")
"""What `learn` passes on to EM."""


class Searched(Protocol):
    """What there is to search: a place to start, a hill to climb, and what is made of the end of a climb."""

    @property
    def plan(self) -> EMPlan: ...
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
    native: NativeEM | NativeCliques | None = None,
    **options: Any,
) -> Estimate:
    """The search of `search` with all rows in memory; its C is made here unless it is given."""
    if native is None and backend == "c":
        native = native_runner(plan, columns, sizes)
    options = with_initial(plan, sizes, options)
    return search(InMemory(plan, columns, sizes, native, backend == SUMS_BY_C), **options)


def with_initial(plan: EMPlan, sizes: Mapping[str, int], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their initial values checked; where these are all parameters, there is one start."""
    given = checked_initial(plan.graph, plan.learned, sizes, options.get("initial") or {})
    whole = {"restarts": 1} if given.keys() == set(plan.learned) else {}
    return {**options, **whole, "initial": given}


def search(
    runner: Searched,
    *,
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
    initial: Mapping[str, Array] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Estimate:
    """The best of several short runs, carried on until it stands still; one that has no upper bound gives way.

    Every run starts from the initial values of those parameters that have one.
    """
    check_counts(restarts=restarts, iterations=iterations)
    with Ticker("em", iterations) as ticker:
        climbs = Climbs(runner, iterations, tolerance, initial or {}, checkpoint, ticker)
        return runner.ended(climbs.run(seed, int(restarts)))


class Climbs(Stages[Climb[Seen]]):
    """Stages that are climbs; what was seen at stored values is looked at anew."""

    gives_way = (Unbounded, ImproperPosterior)

    def __init__(
        self,
        runner: Searched,
        iterations: int,
        tolerance: float,
        initial: Mapping[str, Array],
        checkpoint: Checkpoint | None,
        ticker: Ticker,
    ) -> None:
        super().__init__(iterations, tolerance, checkpoint, ticker)
        self.runner = runner
        self.initial = initial

    def begun(self, generator: np.random.Generator) -> Climb[Seen]:
        if self.initial.keys() == set(self.runner.plan.learned):
            return Climb(self.initial)
        return Climb({**self.runner.start(generator), **self.initial})

    def again(self, run: Climb[Seen]) -> Climb[Seen]:
        return Climb(run.values, list(run.history), run.highest, run.seen, run.seen_at)

    def pursued(self, run: Climb[Seen], iterations: int) -> Climb[Seen]:
        if run.history:  # broken off inside a longer step, the climb would not go on from there bit by bit
            self.last = self.state(run)
        return climb(self.runner.slope, run, iterations, self.tolerance, self.told)

    def stored(self, run: Climb[Seen]) -> tuple[dict[str, object], Mapping[str, Array]]:
        return {"highest": run.highest}, run.seen_at

    def taken_up(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Climb[Seen]:
        seen = self.runner.look(arrays)
        return Climb(arrays, list(facts["history"]), float(facts["highest"]), seen, arrays, facts["converged"])
