"""Law of parameters that take turns: one pass leaves the statistics of every block, at whatever values others have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import platewright as pw
from backends.test_c_em import TURNS, assert_same, planned, rows_of
from platewright.backends.c.compile import find_compiler
from platewright.run.hidden.em import Runner
from platewright.run.hidden.em_backend import SUMS_BY_C, choose_em_backend, why_not_fused
from platewright.run.hidden.native_em import NativeEM
from platewright.schemas.em import EMPlan, plan_em
from schemas.sequences import CHAINS
from schemas.small_instance import Case, instance

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

ROWS = 900


def in_turn(case: Case) -> EMPlan | None:
    plan = plan_em(case.graph, "map")
    return plan if isinstance(plan, EMPlan) and plan.takes_turns and not why_not_fused(plan) else None


CASES = [case for case in (*TURNS, *CHAINS) if in_turn(case) is not None]


def assert_blocks(em: NativeEM, values: Any, others: Any) -> None:
    """Each block at values that the expectation has not seen."""
    found, wanted = em.step(values), em.numpy_step(values)
    assert found.objective == pytest.approx(wanted.objective, rel=1e-10)
    for number in range(len(em.plan.latent.programs)):
        assert_same(found.given(number, others), wanted.given(number, others), within=1e-9)
    assert not em.by_numpy


def test_many_cases_take_turns_in_c() -> None:
    assert len(CASES) >= 9


@pytest.mark.parametrize("case", CASES, ids=str)
def test_statistics_of_every_block_are_those_of_numpy(case: Case) -> None:
    plan = in_turn(case)
    assert plan is not None
    whole = case if case in CHAINS else rows_of(case, 300)
    drawn, other = instance(whole, seed=1), instance(whole, seed=2)
    em = NativeEM(plan, drawn.columns, drawn.sizes)
    assert em.native, em.left
    values, others = ({name: one.hidden[name] for name in plan.learned} for one in (drawn, other))
    assert_blocks(em, values, others)


def mixture() -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2.0, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    return m, n, k


def gammas() -> pw.Model:
    m, n, k = mixture()
    m.shape, m.rate = pw.Gamma(2.0, rate=0.5, plates=k), pw.Gamma(1.5, rate=1.0, plates=k)
    m.y = pw.Gamma(m.shape[m.z], rate=m.rate[m.z], plates=n)
    return m


def angles() -> pw.Model:
    m, n, k = mixture()
    m.mean, m.close = pw.VonMises(0.0, 0.01, plates=k), pw.Gamma(1.5, rate=0.1, plates=k)
    m.y = pw.VonMises(m.mean[m.z], m.close[m.z], plates=n)
    return m


def shares() -> pw.Model:
    m, n, k = mixture()
    m.a, m.b = pw.Gamma(2.0, rate=0.5, plates=k), pw.Gamma(2.0, rate=0.5, plates=k)
    m.y = pw.Beta(m.a[m.z], m.b[m.z], plates=n)
    return m


def drawn_of(name: str, generator: np.random.Generator) -> Any:
    second = generator.random(ROWS) < 0.4
    if name == "gammas":
        return generator.gamma(np.where(second, 9.0, 2.0), np.where(second, 2.0, 1.0))
    if name == "angles":
        return generator.vonmises(np.where(second, 2.0, -1.0), np.where(second, 8.0, 2.0))
    return generator.beta(np.where(second, 8.0, 2.0), np.where(second, 2.0, 5.0))


@pytest.mark.parametrize("build", [gammas, angles, shares])
def test_parameters_without_a_closed_mode_climb_on_the_sums_of_c(build: Any) -> None:
    y = drawn_of(build.__name__, np.random.default_rng(4))
    model = build()
    plan = planned(model, ("y",))
    assert choose_em_backend(plan, "c", {"n": ROWS, "k": 2}) == "c"
    one, other = (model.learn({"y": y}, goal="map", backend=backend) for backend in ("c", "numpy"))
    assert one.made_by and f"(c: {one.made_by})" in one.how and "(numpy)" in other.how
    assert one.log_joint == pytest.approx(other.log_joint, rel=1e-9)
    for name in plan.learned:
        np.testing.assert_allclose(one[name].value, other[name].value, rtol=1e-4)


def test_slopes_that_go_over_the_rows_are_left_to_numpy_with_the_reason() -> None:
    m, n, k = mixture()
    m.size, m.chance = pw.Gamma(2.0, rate=0.2, plates=k), pw.Beta(1.5, 1.5, plates=k)
    m.y = pw.NegativeBinomial(m.size[m.z], m.chance[m.z], plates=n)
    plan = planned(m, ("y",))
    assert "goes over all rows" in why_not_fused(plan) or "ties the row" in why_not_fused(plan)
    assert choose_em_backend(plan, "c", {"n": ROWS, "k": 2}) in ("numpy", SUMS_BY_C)


def regressions() -> pw.Model:
    m, n, k = mixture()
    j = m.plate("j", 2)
    m.x = pw.Input(plates=(n, j))
    m.precision = pw.Gamma(1.5, rate=1e-12, plates=k)
    m.slope = pw.Normal(0, sd=10, plates=(k, j))
    m.y = pw.Normal(pw.dot(m.x, m.slope[m.z], over=j), precision=m.precision[m.z], plates=n)
    return m


def test_a_sum_of_squares_that_is_a_difference_of_large_numbers_is_made_by_numpy() -> None:
    generator = np.random.default_rng(5)
    x = generator.normal(size=(ROWS, 2))
    slope = np.array([[1.0, 2.0], [-1.0, 1.0]])
    z = generator.integers(0, 2, ROWS)
    y = (x * slope[z]).sum(axis=1) + 1e-7 * generator.normal(size=ROWS)
    plan, sizes = planned(regressions(), ("x", "y")), {"n": ROWS, "k": 2, "j": 2}
    columns = {"x": x, "y": y}
    em = NativeEM(plan, columns, sizes)
    assert em.native, em.left
    runner = Runner(plan, columns, sizes, em)
    values = {"p": np.array([0.5, 0.5]), "slope": slope, "precision": np.array([1e12, 1e12])}
    found = runner.next_values(runner.look(values), values)
    assert em.by_numpy
    wanted = runner.maximised(runner.expected(values).expectations, values)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9)
