"""The source of mean field runs alone and takes the steps that the library takes, with one block or several."""

from __future__ import annotations

import numpy as np
import pytest

from backends.running import running
from platewright.backends.numpy.mean_field import mean_field_emitter, numpy_mean_field_source
from platewright.elimination.state import GaussianConditional
from platewright.run.hidden.mean_field_search import run_mean_field
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field
from schemas import chains_that_meet
from schemas.field_models import EVERY
from schemas.nested_classes import NESTED
from schemas.small_instance import Case, instance

FOUND = [(case, plan_mean_field(case.graph, "posterior")) for case in (*EVERY, *chains_that_meet.MEETING, *NESTED)]
CASES = [(case, plan) for case, plan in FOUND if isinstance(plan, MeanFieldPlan)]


def test_many_cases_are_here() -> None:
    assert len(CASES) >= 30
    assert sum(len(plan.fields) > 1 for _, plan in CASES) >= 5
    assert sum(any(isinstance(c, GaussianConditional) for c in plan.complete.conditionals) for _, plan in CASES) >= 10


@pytest.mark.parametrize(("case", "plan"), CASES, ids=[case.name for case, _ in CASES])
def test_the_same_seed_leads_to_the_same_distributions(case: Case, plan: MeanFieldPlan) -> None:
    emitter = mean_field_emitter(plan)
    emitter.module()
    names = emitter.names
    space = running(numpy_mean_field_source(plan))
    small = instance(case, 0)
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    options = {"seed": 3, "restarts": 1, "iterations": 10}
    wanted = run_mean_field(plan, small.columns, small.sizes, **options)
    found = space["learn"](data, size, **options)
    assert found["lower_bound"] == pytest.approx(wanted.bounds[-1], rel=1e-9)
    shown = [name for name in found if name != "lower_bound"]
    assert shown
    for name in shown:
        np.testing.assert_allclose(found[name], wanted.values[name], rtol=1e-6, atol=1e-8, err_msg=name)
