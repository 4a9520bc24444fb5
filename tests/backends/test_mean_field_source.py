"""The source of mean field runs alone, and takes the steps that the library takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from backends.running import flowers, run_file, running
from platewright.backends.numpy.mean_field import _MeanFieldEmitter, numpy_mean_field_source
from platewright.program.program import EVIDENCE
from platewright.run.hidden.mean_field import run_mean_field
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field
from schemas import chains_that_meet, hierarchies, mixtures, sequences
from schemas.gaussian_latents import LATENTS
from schemas.small_instance import Case, instance

EVERY = (*mixtures.MIXTURES, *sequences.CHAINS, *hierarchies.HIERARCHIES, *LATENTS, *chains_that_meet.MEETING)


def is_one_block(case: Case) -> bool:
    plan = plan_mean_field(case.graph, "posterior")
    return isinstance(plan, MeanFieldPlan) and len(plan.blocks) == 1


CASES = [case for case in EVERY if is_one_block(case)]


def test_many_cases_are_here() -> None:
    assert len(CASES) >= 15


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_seed_takes_the_same_steps(case: Case) -> None:
    plan = plan_mean_field(case.graph, "posterior")
    assert isinstance(plan, MeanFieldPlan)
    emitter = _MeanFieldEmitter(plan)
    emitter.module()
    names = emitter.names
    space = running(numpy_mean_field_source(plan))
    small = instance(case, 0)
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    wanted = run_mean_field(plan, small.columns, small.sizes, seed=3, restarts=1, iterations=30)
    found = space["learn"](data, size, seed=3, restarts=1, iterations=30)
    assert found["lower_bound"] == pytest.approx(wanted.bounds[-1], rel=1e-9)
    shown = [name for name in plan.maximise.results if name != EVIDENCE]
    assert shown
    assert all(np.allclose(found[name], wanted.values[name], rtol=1e-6, atol=1e-8) for name in shown)


def test_the_file_runs_alone_on_a_table(tmp_path: Path) -> None:
    m, data = flowers()
    fit = m.learn(data, by="mean-field")
    found = run_file(fit.source(), data, tmp_path)
    assert found["lower_bound"] == pytest.approx(fit.lower_bound, rel=1e-9)
    assert np.allclose(found["share.concentration"], fit.posterior.values["share.concentration"], rtol=1e-6)
