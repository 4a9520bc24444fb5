"""Plain mean updates (Equation 26): of every distribution its mean alone is handed on, so there is no bound.

theta := E(theta | statistics at the means of all else)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from platewright.backends.kernels.bound import Track, Update
from platewright.family import Array
from platewright.program.program import EVIDENCE
from platewright.run.exact.posterior import Posterior
from platewright.run.exact.runner import choose_runner
from platewright.run.execute import Statistics, finish, loaded
from platewright.run.hidden.plain_moments import mean_values, value_moments
from platewright.run.samplers.starting import starting_values
from platewright.schemas.mean_field import MeanFieldPlan

Values = Mapping[str, Array]
Sizes = Mapping[str, int]


def plain_start(plan: MeanFieldPlan, guesses: Values, sizes: Sizes, generator: np.random.Generator) -> dict[str, Array]:
    """Soft guesses, and moments of single values where blocks of parameters take turns."""
    found = dict(guesses)
    if plan.takes_turns:
        values = starting_values(plan.graph, plan.learned, sizes, generator)
        for block in plan.fields:
            found |= value_moments(block.expecter, values, sizes)
    return found


def plain_settled(
    plan: MeanFieldPlan,
    columns: Values,
    given: Values,
    sizes: Sizes,
    all_sizes: Sizes,
    sums: Callable[[int, Values], Statistics] | None,
) -> tuple[dict[str, Array], float, dict[str, Array]]:
    """The parameters of each block in turn, what they add to a bound, and the moments of their means."""
    known = {**columns, **given}
    values: dict[str, Array] = {}
    moments: dict[str, Array] = {}
    for number, (block, program) in enumerate(zip(plan.fields, plan.latent.programs, strict=True)):
        summed = partial(choose_runner(program, "numpy", 0).statistics, known, all_sizes)
        found = summed() if sums is None else sums(number, known)
        values |= finish(program, loaded(program), found, known, all_sizes)
        posterior = Posterior(plan.complete, values, {**columns, **given}, sizes)
        own = value_moments(block.expecter, mean_values(posterior, block.plan.conditionals), sizes)
        known |= own
        moments |= own
    return values, float(values[EVIDENCE]), moments


def plainly(update: Callable[[Values], Update], run: Track, iterations: int, tolerance: float) -> Iterator[Track]:
    """Updates until the means stand still; the largest change of a mean stands for the bound."""
    while not run.converged and len(run.history) < iterations:
        made = update(run.moments)
        change = _change(run.moments, made.moments)
        run = Track(made.moments, made, run.moments, (*run.history, change), change <= tolerance)
        yield run


def _change(before: Values, after: Values) -> float:
    """The largest change of a moment, relative to its size."""
    changes = [np.max(np.abs(after[name] - before[name]) / (1 + np.abs(after[name])), initial=0.0) for name in after]
    return float(max(changes, default=0.0))
