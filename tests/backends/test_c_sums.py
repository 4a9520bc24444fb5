"""Law of sums by C: where NumPy makes the expectations, C sums them up to the same modes, whatever is hidden."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.backends.c.compile import find_compiler
from platewright.backends.c.program import c_program
from platewright.operation import Declined
from platewright.run.hidden.em import Runner
from platewright.run.hidden.em_backend import SUMS_BY_C, choose_em_backend, why_not_fused
from platewright.schemas.em import EMPlan, plan_em
from schemas.chains_that_meet import MEETING
from schemas.gaussian_latents import LATENTS, mixture_of_factors
from schemas.hierarchies import HIERARCHIES
from schemas.small_instance import Case, instance

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def plan_of(case: Case) -> EMPlan | None:
    found = plan_em(case.graph, "map")
    return None if isinstance(found, Declined) or not why_not_fused(found) else found


SOLVED = tuple(case for case in (*LATENTS, *MEETING, *HIERARCHIES) if plan_of(case) is not None)


def test_many_models_have_expectations_that_no_fused_pass_makes() -> None:
    assert len(SOLVED) >= 20


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_modes_are_those_of_numpy(case: Case) -> None:
    plan = plan_of(case)
    assert plan is not None
    small = instance(case, 1)
    plain = Runner(plan, small.columns, small.sizes)
    compiled = Runner(plan, small.columns, small.sizes, compiled=True)
    soft = plain.guessed(np.random.default_rng(0))
    values = plain.begun(soft)
    for _ in range(3):
        found = plain.look(values)
        wanted = plain.next_values(found, values)
        modes = compiled.next_values(found, values)
        assert modes.keys() == wanted.keys()
        for name, value in wanted.items():
            np.testing.assert_allclose(modes[name], value, rtol=1e-9, atol=1e-9, err_msg=name)
        values = wanted


def test_the_fit_says_who_did_what_and_why() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(60, 1)) @ generator.normal(size=(1, 2)) + 0.3 * generator.normal(size=(60, 2))
    one, two = (
        mixture_of_factors().learn({"x": x}, goal="map", backend=backend, iterations=20, restarts=1)
        for backend in ("c", "numpy")
    )
    assert one.backend == SUMS_BY_C and "sums by c: z is Gaussian)" in one.how
    assert two.backend == "numpy" and two.how.endswith("(numpy)")
    assert one.log_joint == pytest.approx(two.log_joint, rel=1e-10)


def test_few_rows_are_not_worth_a_compilation() -> None:
    plan = plan_of(LATENTS[0])
    assert plan is not None and any(not c_program(program).left for program in plan.latent.programs)
    sizes = {"d": 3, "k": 2}
    assert choose_em_backend(plan, "auto", {**sizes, "n": 1000}) == "numpy"
    assert choose_em_backend(plan, "auto", {**sizes, "n": 100_000}) == SUMS_BY_C
    assert choose_em_backend(plan, "numpy", {**sizes, "n": 100_000}) == "numpy"
