"""Long runs visit hidden values as often as their exact posterior says, and sweeps keep the joint distribution."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.family import Array
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.collapsed_fit import Sampler, start_sampler
from platewright.run.samplers.parameters_given import ParametersGiven, by_numpy
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.gibbs import GibbsPlan
from schemas.collapsed_models import COLLAPSED
from schemas.joint_distribution import compare
from schemas.small_instance import Case, Instance, instance
from schemas.test_collapsed_ratio import log_evidence, plan_of

LEVEL = 1e-5
CASES = {case.name: case for case in COLLAPSED}
ENUMERATED = ("topics", "document_classes", "blocks", "conjugate_precisions", "full_wishart", "two_causes", "switched")
QUICK = ("topics",)
SLOW = tuple(case.name for case in COLLAPSED if case.name not in (*QUICK, "classes_of_groups", "document_classes"))


def started(plan: CollapsedPlan, small: Instance, seed: np.random.SeedSequence, backend: str = "auto") -> Sampler:
    data = CollapsedData(plan, small.columns, small.sizes)
    hidden = {name: small.values[name] for name in plan.hidden}
    return start_sampler(data, hidden, Xoshiro.seeded(seed), backend)


def exact_posterior(plan: CollapsedPlan, small: Instance) -> dict[tuple[int, ...], float]:
    """Every value of all hidden variables with its probability."""
    shapes = [small.values[name].shape for name in plan.hidden]
    ranges = [
        product(range(small.sizes[move.level.plate]), repeat=int(np.prod(shape)))
        for move, shape in zip(plan.moves, shapes, strict=True)
    ]
    states, logs = [], []
    for choice in product(*ranges):
        values = {n: np.array(c).reshape(s) for n, c, s in zip(plan.hidden, choice, shapes, strict=True)}
        states.append(tuple(int(level) for part in choice for level in part))
        logs.append(log_evidence(plan, {**small.columns, **values}, dict(small.sizes)))
    share = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    return dict(zip(states, share, strict=True))


def chance(case: Case, count: int = 4000, thin: int = 8, backend: str = "auto") -> float:
    """How probable the frequencies of a long run are, rare states taken together."""
    plan, small = plan_of(case), instance(case, 2)
    expected = exact_posterior(plan, small)
    sampler = started(plan, small, np.random.SeedSequence(11), backend)
    seen = dict.fromkeys(expected, 0)
    sampler.sweep(50)
    for _ in range(count):
        sampler.sweep(thin)
        hidden = sampler.hidden
        seen[tuple(int(level) for name in plan.hidden for level in hidden[name].ravel())] += 1
    often = [state for state, share in expected.items() if share * count >= 10]
    observed = [seen[state] for state in often]
    wanted = [expected[state] * count for state in often]
    rest = count - sum(wanted)
    if rest > 5:
        observed.append(count - sum(observed))
        wanted.append(rest)
    assert len(wanted) >= 3, "too few states to tell"
    return float(stats.chisquare(observed, np.array(wanted) * sum(observed) / sum(wanted)).pvalue)


@pytest.mark.parametrize("name", ENUMERATED)
def test_values_are_visited_as_often_as_they_should_be(name: str) -> None:
    assert chance(CASES[name]) > LEVEL


def test_the_plain_sampler_too() -> None:
    assert chance(CASES["topics"], 500, 1, "numpy") > LEVEL


def moved(_: GibbsPlan, small: Instance, generator: np.random.Generator) -> dict[str, Array]:
    """A few collapsed sweeps, then the parameters given the hidden variables."""
    plan = plan_of(small.case)
    sampler = started(plan, small, np.random.SeedSequence(int(generator.integers(2**63))))
    sampler.sweep(3)
    hidden = sampler.hidden
    drawn, _, _ = ParametersGiven(sampler.data, by_numpy(sampler.data))(hidden, generator)
    return {**hidden, **drawn}


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_sweep_keeps_the_joint_distribution(name: str) -> None:
    found = compare(CASES[name], moved)
    assert found.passed, found
