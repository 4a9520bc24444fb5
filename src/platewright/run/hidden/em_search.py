"""Search for the best mode by EM: several short climbs, the best carried on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from platewright.backends.kernels.accelerated import Climb, Hill, climb
from platewright.backends.numpy.learning import Options
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint
from platewright.run.checks.initial import checked_initial
from platewright.run.checks.sanity import check_counts
from platewright.run.hidden.em import Estimate, Runner
from platewright.run.hidden.em_backend import SUMS_BY_C, native_runner
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.run.hidden.printed import Printed
from platewright.run.hidden.stages import Stages
from platewright.run.hidden.telling import told
from platewright.run.ticking import Ticker
from platewright.schemas.em import EMPlan

OPTIONS = ("restarts", "iterations", "tolerance", "initial", "checkpoint")
"""What `learn` passes on to EM."""


class Searched(Protocol):
    """What there is to search: places to start, a hill to climb, and what is made of the end of a climb."""

    @property
    def plan(self) -> EMPlan: ...
    @property
    def text(self) -> Printed: ...
    @property
    def hill(self) -> Hill: ...
    def starts(self, seed: int) -> Callable[[np.random.Generator], Climb]: ...
    def ended(self, run: Climb, interrupted: bool = False) -> Estimate: ...


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
    return search(Runner(plan, columns, sizes, native, backend == SUMS_BY_C), **options)


def with_initial(plan: EMPlan, sizes: Mapping[str, int], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their initial values checked; one start where these are all parameters, or all lead to one mode."""
    given = checked_initial(plan.graph, plan.learned, sizes, options.get("initial") or {})
    whole = {"restarts": 1} if given.keys() == set(plan.learned) else {}
    alone = {"restarts": 1} if plan.has_one_mode else {}
    return {**alone, **options, **whole, "initial": given}


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
    given = runner.text.named(initial or {})

    def begun(generator: np.random.Generator) -> Climb:
        if given and given.keys() == {runner.text.names[name] for name in runner.plan.learned}:
            return Climb(given)
        return Climb({**starts(generator).values, **given})

    def taken_up(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Climb:
        history = tuple(facts["history"])
        return Climb(arrays, history, float(facts["highest"]), runner.hill.look(arrays), facts["converged"])

    with told(runner.plan), np.errstate(all="ignore"), Ticker("em", int(iterations)) as ticker:
        starts = runner.starts(seed)
        climbs: Callable[[Climb, int], Iterator[Climb]] = partial(climb, runner.hill, tolerance=tolerance)
        stages = Stages(begun, climbs, lambda run: ({"highest": run.highest}, run.values), taken_up)
        best = stages.run(seed, int(restarts), int(iterations), checkpoint, ticker)
        found = runner.ended(best, stages.interrupted)
    numbers = stages.ran({"seed": seed, "restarts": restarts, "iterations": iterations, "tolerance": tolerance}, best)
    return replace(found, options=Options(numbers, initial or {}))
