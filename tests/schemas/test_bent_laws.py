"""Value, slopes and curvature by predictors are those of the log factors, for any density and any coordinates."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.build import call
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Reference
from platewright.backends.kernels import bent as sums
from platewright.backends.kernels import newton
from platewright.backends.kernels.ascent import looked
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.newton import looked_at, raised
from platewright.backends.numpy import bending
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.schemas import predictors
from platewright.schemas.em import EMPlan, plan_em
from platewright.schemas.predictors import bent_factors
from schemas.mutation import Mutant, planted
from schemas.raised_models import RAISED, RANDOM
from schemas.small_instance import Case
from schemas.test_ascent_laws import hills, parameters, parts


def softmax_regression() -> pw.Model:
    m = pw.Model("softmax regression")
    n, j, k = m.plate("n"), m.plate("j", 2), m.plate("k", 3)
    m.x = pw.Input(plates=(n, j))
    m.w = pw.Normal(0, sd=1, plates=(k, j))
    m.a = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Categorical(logits=m.a + pw.dot(m.x, m.w, over=j), over=k, plates=n)
    return m


def effects_of_groups() -> pw.Model:
    """Elements that rows look up, beside dense columns, an offset, and a scale whose coordinate is a logarithm."""
    m = pw.Model("effects of groups")
    n, g, j = m.plate("n"), m.plate("g", 3), m.plate("j", 2)
    m.x = pw.Input(plates=(n, j))
    m.e = pw.Input(plates=n)
    m.group = pw.Input(plates=n, levels=g)
    m.s = pw.Gamma(2, rate=1)
    m.u = pw.Normal(0, sd=2, plates=g)
    m.b = pw.Normal(0, sd=1, plates=(g, j))
    m.y = pw.StudentT(4, m.u[m.group] * m.e + pw.dot(m.x, m.b[m.group], over=j), scale=m.s, plates=n)
    return m


def shares_and_a_cut() -> pw.Model:
    """Coordinates of a simplex and of an interval."""
    m = pw.Model("shares and a cut")
    n, k = m.plate("n"), m.plate("k", 3)
    m.x = pw.Input(plates=(n, k))
    m.p = pw.Dirichlet(2.0, over=k)
    m.q = pw.Uniform(-1, 2)
    m.y = pw.Normal(pw.exp(pw.dot(m.x, m.p, over=k)) - m.q, sd=1, plates=n)
    return m


OTHERS = (
    Case("softmax_regression", softmax_regression, ("y",), {"n": 4}),
    Case("effects_of_groups", effects_of_groups, ("y",), {"n": 6}),
    Case("shares_and_a_cut", shares_and_a_cut, ("y",), {"n": 3}),
)
EVERY = (*RAISED, *OTHERS, *RANDOM)
BY_NAME = {case.name: case for case in EVERY}
EACH = pytest.mark.parametrize("case", EVERY, ids=str)


@EACH
def test_one_pass_finds_the_value_the_slopes_and_how_slopes_change(case: Case) -> None:
    plan, small, runner = parts(case, 1)
    values = parameters(plan, small)
    met = 0
    for hill in hills(runner, values):
        assert hill.bent is not None
        met += 1
        u = hill.coordinates.free(runner.text.named(values))
        here = looked_at(hill, u)
        height, slope = looked(hill, u)
        assert here.height == pytest.approx(height, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(here.slope, slope, rtol=1e-10, atol=1e-10 * (1 + np.abs(slope).max()))
        np.testing.assert_allclose(here.curvature, -changes(hill, u), rtol=1e-5, atol=1e-6)
    assert met


def changes(hill: Density, u: Array) -> Array:
    """Central differences on two scales, from which the first error is taken out."""

    def at(apart: float) -> Array:
        steps = apart * np.eye(len(u))
        return np.array([(looked(hill, u + step)[1] - looked(hill, u - step)[1]) / (2 * apart) for step in steps])

    return (4 * at(1e-4) - at(2e-4)) / 3


def test_a_log_factor_of_a_linear_predictor_has_one_number_a_row() -> None:
    plan = plan_em(BY_NAME["softmax_regression"].graph, "map")
    assert isinstance(plan, EMPlan)
    (rows,) = [one for one in plan.ascents[0].bent if one.owner == "y"]
    assert [(bend.first, bend.second) for bend in rows.bends] == [(0, 0)], "the class that was seen does not bend"
    logistic = plan_em(BY_NAME["no_hidden_class"].graph, "map")
    assert isinstance(logistic, EMPlan)
    (rows,) = [one for one in logistic.ascents[0].bent if one.owner == "y"]
    assert [str(one.expression) for one in rows.predictors] == ["a + b x[n]"], "x and -x are one"
    assert len(rows.bends) == 1


def test_rows_are_cut_into_blocks_and_nothing_changes() -> None:
    for name in ("effects_of_groups", "softmax_regression", "no_hidden_class"):
        plan, small, runner = parts(BY_NAME[name], 1)
        (hill,) = hills(runner, parameters(plan, small))
        u = hill.coordinates.free(runner.text.named(parameters(plan, small)))
        whole = looked_at(hill, u)
        space = dict(runner.text.space)
        runner.text.space["row_blocks"] = partial(_counted, found := [])  # type: ignore[index]
        cut = looked_at(hill, u)
        runner.text.space["row_blocks"] = space["row_blocks"]  # type: ignore[index]
        assert found and max(found) > 1
        assert cut.height == pytest.approx(whole.height, rel=1e-12)
        np.testing.assert_allclose(cut.slope, whole.slope, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(cut.curvature, whole.curvature, rtol=1e-12, atol=1e-12)


def _counted(found: list[int], *arguments: object) -> list[object]:
    kept, sums.ROWS_AT_ONCE = sums.ROWS_AT_ONCE, 2
    try:
        blocks = list(sums.row_blocks(*arguments))  # type: ignore[arg-type]
    finally:
        sums.ROWS_AT_ONCE = kept
    found.append(len(blocks))
    return blocks


@pytest.mark.parametrize("name", ["no_hidden_class", "softmax_regression", "effects_of_groups", "shares_and_a_cut"])
def test_steps_end_where_slopes_end(name: str) -> None:
    plan, small, runner = parts(BY_NAME[name], 2)
    for hill in hills(runner, parameters(plan, small)):
        u = hill.coordinates.free(runner.text.named(parameters(plan, small)))
        top = raised(hill, looked_at(hill, u))
        assert np.abs(top.slope).max() < 1e-7
        assert (np.linalg.eigvalsh(top.curvature) > 0).all()


def test_a_function_without_a_second_derivative_is_declined_by_name() -> None:
    x = Reference("x")
    found = bent_factors([Factor("y", (), call("digamma", x))], ["x"])
    assert isinstance(found, Declined)
    assert "in `y`: the derivative of trigamma is not known" in found.reason


def noticed(*names: str) -> None:
    for name in names:
        test_one_pass_finds_the_value_the_slopes_and_how_slopes_change(BY_NAME[name])


MUTANTS: tuple[Mutant, ...] = (
    Mutant("curvature of one predictor with another is lost", predictors._bent,
           "range(first, len(predictors))", "range(first, first + 1)", partial(noticed, "students")),
    Mutant("the other sign is the same", predictors._bent, "multiply(-1.0, mark)", "mark",
           partial(noticed, "no_hidden_class")),
    Mutant("pairs count twice", bending.BendingText.bend_lines, "multiply(0.5, bend.expression)", "bend.expression",
           partial(noticed, "no_hidden_class")),
    Mutant("a matrix without its transpose", sums.Bent.second, "self.half + self.half.T", "2 * self.half",
           partial(noticed, "students")),
    Mutant("the last rows are forgotten", sums.row_blocks, "range(0, count, ROWS_AT_ONCE)",
           "range(0, count - ROWS_AT_ONCE, ROWS_AT_ONCE)", test_rows_are_cut_into_blocks_and_nothing_changes),
    Mutant("coordinates do not turn", newton.in_coordinates, "found[place, place] +=", "found[place, place] -=",
           partial(noticed, "gammas")),
    Mutant("coordinates on one side only", newton.in_coordinates, "for column in across.T]", "for column in second.T]",
           partial(noticed, "gammas", "shares_and_a_cut")),
    Mutant("steps lead down", newton.solved, "return widths * np.linalg", "return -widths * np.linalg",
           partial(test_steps_end_where_slopes_end, "no_hidden_class")),
)  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(mutant: Mutant) -> None:
    with planted(mutant), pytest.raises((AssertionError, PlatewrightError, pytest.fail.Exception)):
        mutant.law()


def test_the_derivative_of_a_ratio_of_bessel_functions() -> None:
    x = Reference("x")

    def at(expression: Expression, place: float) -> float:
        return float(evaluate(expression, Environment({"x": np.asarray(place)}, {}), ()))

    ratio = call("bessel_ratio", x)
    for place in (1e-2, 0.5, 3.0, 40.0):
        apart = 1e-6 * place
        wanted = (at(ratio, place + apart) - at(ratio, place - apart)) / (2 * apart)
        assert at(differentiate(ratio, x), place) == pytest.approx(wanted, rel=1e-6)
