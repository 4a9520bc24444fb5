"""The source of mean field runs alone, and takes the steps that the library takes."""

from __future__ import annotations

import numpy as np
import pytest

from backends.running import flowers, running
from platewright.backends.numpy.mean_field import _MeanFieldEmitter, numpy_mean_field_source
from platewright.elimination.state import FamilyConditional
from platewright.program.program import EVIDENCE
from platewright.run.hidden.mean_field_search import run_mean_field
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field
from schemas import chains_that_meet, hierarchies, mixtures, sequences
from schemas.gaussian_latents import LATENTS
from schemas.small_instance import Case, instance

EVERY = (*mixtures.MIXTURES, *sequences.CHAINS, *hierarchies.HIERARCHIES, *LATENTS, *chains_that_meet.MEETING)


def is_one_block(case: Case) -> bool:
    plan = plan_mean_field(case.graph, "posterior")
    if not isinstance(plan, MeanFieldPlan) or len(plan.blocks) > 1:
        return False
    return all(isinstance(c, FamilyConditional) for c in plan.complete.conditionals)


CASES = [case for case in EVERY if is_one_block(case)]


def test_many_cases_are_here() -> None:
    assert len(CASES) >= 8


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_seed_leads_to_the_same_distributions(case: Case) -> None:
    plan = plan_mean_field(case.graph, "posterior")
    assert isinstance(plan, MeanFieldPlan)
    emitter = _MeanFieldEmitter(plan)
    emitter.module()
    names = emitter.names
    space = running(numpy_mean_field_source(plan))
    small = instance(case, 0)
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    wanted = run_mean_field(plan, small.columns, small.sizes, seed=3, restarts=1, iterations=3000, tolerance=1e-13)
    found = space["learn"](data, size, seed=3, restarts=1, iterations=3000, tolerance=1e-13)
    assert found["lower_bound"] == pytest.approx(wanted.bounds[-1], rel=1e-8)
    shown = [name for name in plan.maximise.results if name != EVIDENCE]
    assert shown
    assert all(np.allclose(found[name], wanted.values[name], rtol=1e-3, atol=1e-4) for name in shown)


def test_what_has_no_source_says_so() -> None:
    m, data = flowers()
    text = m.derive(data, by="mean-field").source()
    assert text.startswith("# The steps of the algorithm, to read") and "moments of `mu`" in text.splitlines()[0]
