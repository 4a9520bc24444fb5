"""Mean-field updates in turn until the bound stands still: several short runs, the best carried on.

The bound may never fall: where it does, the derivation is wrong, and the run ends with an error. Plain mean updates
(Equation 26) have no bound; they run from one start until the means stand still.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from platewright.backends.kernels.bound import Track, Update, rising
from platewright.backends.numpy.learning import DEFAULTS, Options
from platewright.errors import ParameterError
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint
from platewright.run.checks.sanity import check_counts
from platewright.run.hidden.em_backend import choose_field_backend, native_runner
from platewright.run.hidden.few_rows import Gathered
from platewright.run.hidden.mean_field import Runner, with_noises
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.run.hidden.plain_updates import plainly
from platewright.run.hidden.stages import Stages
from platewright.run.hidden.telling import told
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
    options: Options = DEFAULTS
    """What the run was told, for its source."""


class Updates(Protocol):
    """What there is to iterate."""

    @property
    def plan(self) -> MeanFieldPlan: ...
    @property
    def plain(self) -> bool: ...
    def starts(self, seed: int) -> Callable[[np.random.Generator], Mapping[str, Array]]: ...
    def updated(self, moments: Mapping[str, Array]) -> Update: ...
    def kept(self, moments: Mapping[str, Array], expectations: Mapping[str, Any]) -> Mapping[str, Any]: ...


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
    few = Runner(found.few.plan, found.columns, found.sizes, is_plain(update), few=found.few)
    best = searched(few, **options)
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

    def stored(run: Track) -> tuple[Mapping[str, object], Mapping[str, Array]]:
        return {}, run.moments if run.before is None else run.before

    def taken_up(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Track:
        made = runner.updated(arrays)
        return Track(made.moments, made, arrays, tuple(facts["history"]), facts["converged"])

    with told(runner.plan), Ticker("mean-field", int(iterations)) as ticker:
        starts = runner.starts(seed)
        tracks = partial(plainly if runner.plain else rising, runner.updated, tolerance=tolerance)
        stages = Stages(lambda generator: Track(starts(generator)), tracks, stored, taken_up)
        stages.objective = "largest change" if runner.plain else "bound"
        # Without a bound there is nothing by which to prefer one start to another.
        count = 1 if runner.plain else int(restarts)
        best = stages.run(seed, count, int(iterations), checkpoint, ticker)
        known = runner.kept(best.before, best.last.expectations)
    bounds, changes = ((), best.history) if runner.plain else (best.history, ())
    numbers = stages.ran({"seed": seed, "restarts": count, "iterations": iterations, "tolerance": tolerance}, best)
    options = Options(numbers)
    return Bounded(best.last.values, known, bounds, best.converged, stages.interrupted, changes, options)
