"""The joint-distribution test of samplers (Geweke 2004; sequential and at a small level, as in Gandy and Scott 2020).

    prior:  parameters and data drawn from the model
    moved:  the same, then a few sweeps of the sampler given the data

A sampler whose sweep keeps the posterior keeps the joint: both columns have one distribution. Replications are
independent, so that plain two-sample tests apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from platewright.algebra.evaluate import Environment, evaluate
from platewright.family import Array
from platewright.run.samplers.gibbs import Sampler
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas.small_instance import Case, Instance, drawn, instance

LEVEL = 1e-5
Sweeper = Callable[[GibbsPlan, Instance, np.random.Generator], dict[str, Array]]


def swept(
    plan: GibbsPlan, small: Instance, generator: np.random.Generator, kind: type[Sampler] = Sampler
) -> dict[str, Array]:
    """Unknowns after a few sweeps that start at their present values."""
    sampler = kind(plan, small.columns, small.sizes, generator, dict(small.hidden))
    for _ in range(4):
        sampler.sweep()
    return sampler.values


@dataclass(frozen=True)
class Verdict:
    """What the sequential test says, and the smallest probability that it saw."""

    passed: bool
    smallest: float
    replications: int


def compare(case: Case, move: Sweeper = swept, first: int = 150, rounds: int = 3, seed: int = 0) -> Verdict:
    """Pass when nothing is unusual; fail below the level; look again with more replications in between.

    With k functions, a round fails below LEVEL / (rounds k) and passes above 0.05 / k.
    """
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan), plan
    smallest = 1.0
    count = first
    for number in range(rounds):
        generator = np.random.default_rng([seed, number])
        before, after = _functions(case, plan, move, generator, count)
        chances = [chance for k in range(before.shape[1]) for chance in _chances(before[:, k], after[:, k])]
        smallest = min(chances, default=1.0)
        if smallest < LEVEL / (rounds * len(chances)):
            return Verdict(False, smallest, count)
        if smallest > 0.05 / len(chances):
            return Verdict(True, smallest, count)
        count *= 4
    return Verdict(True, smallest, count // 4)


def _chances(before: Array, after: Array) -> list[float]:
    if np.ptp(np.concatenate([before, after])) == 0:
        return []
    return [
        float(stats.ks_2samp(before, after, method="asymp").pvalue),
        float(stats.mannwhitneyu(before, after, method="asymptotic").pvalue),
    ]


def _functions(case: Case, plan: GibbsPlan, move: Sweeper, generator: np.random.Generator, count: int) -> Array:
    """Functions of parameters and data in both columns, from separate replications."""
    start = instance(case, int(generator.integers(2**31)))
    given = {name: v for name, v in start.values.items() if start.graph.nodes[name].kind != "random"}
    rows: list[list[list[float]]] = [[], []]
    for column in (0, 1):
        for _ in range(count):
            values = drawn(start.graph, start.sizes, given, generator)
            small = Instance(case, start.graph, start.sizes, values)
            if column:
                values = {**values, **move(plan, small, generator)}
            rows[column].append(_summaries(plan, start, values))
    return np.array(rows)


def _summaries(plan: GibbsPlan, small: Instance, values: dict[str, Array]) -> list[float]:
    """First and last element of each unknown, and every log factor: they tie unknowns to data and to each other."""
    environment = Environment(values, small.sizes)
    found = [float(np.sum(evaluate(f.expression, environment, f.axes))) for f in plan.factors]
    for name in small.graph.unknown:
        flat = np.ravel(values[name])
        found += [float(flat[0])] if len(flat) == 1 else [float(flat[0]), float(flat[-1])]
    return found
