"""Mean field against enumeration: hidden probabilities, their entropy, and a bound that never falls."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.operation import Declined
from platewright.run.hidden.mean_field import Runner
from platewright.run.hidden.mean_field_search import run_mean_field
from platewright.schemas.hidden import factors_of
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field
from schemas.chains_that_meet import MEETING
from schemas.enumeration import expectations, weighed
from schemas.nested_classes import NESTED
from schemas.sequences import CHAINS
from schemas.small_instance import Case, instance
from schemas.tied_classes import TIED


def plan_of(case: Case) -> MeanFieldPlan | None:
    found = plan_mean_field(case.graph, "posterior")
    return None if isinstance(found, Declined) else found


SOLVED = tuple(case for case in (*TIED, *CHAINS, *MEETING, *NESTED) if plan_of(case) is not None)


def parts(case: Case, seed: int) -> tuple[MeanFieldPlan, Runner, dict[str, np.ndarray]]:
    plan = plan_of(case)
    assert plan is not None
    small = instance(case, seed)
    runner = Runner(plan, small.columns, small.sizes)
    return plan, runner, runner.start(np.random.default_rng(seed))


def test_chains_that_meet_and_nested_classes_have_a_mean_field() -> None:
    assert {case.name for case in (*MEETING, *NESTED)} <= {case.name for case in SOLVED}


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_hidden_probabilities_and_entropy_are_those_of_all_hidden_values(case: Case) -> None:
    plan, runner, start = parts(case, 1)
    moments = runner.posterior(start).moments
    found, entropy = runner.hidden(moments)
    factors = tuple(factors_of(plan.hidden))
    every, share, _ = weighed(plan, factors, {**runner.columns, **moments}, runner.all_sizes)  # type: ignore[arg-type]
    assert entropy == pytest.approx(-np.sum(share[share > 0] * np.log(share[share > 0])), rel=1e-9, abs=1e-9)
    wanted = expectations(plan, every, share, runner.all_sizes, runner.columns)  # type: ignore[arg-type]
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_the_lower_bound_never_falls(case: Case) -> None:
    for seed in range(2):
        plan, runner, _ = parts(case, seed)
        options = {"seed": seed, "restarts": 1, "iterations": 40, "tolerance": 0.0}
        bounds = np.array(run_mean_field(plan, runner.columns, runner.sizes, **options).bounds)
        assert np.isfinite(bounds).all()
        assert (np.diff(bounds) >= -1e-9 * (1 + np.abs(bounds[1:]))).all()
