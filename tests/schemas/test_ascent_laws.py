"""EM without closed modes: slopes are differences, an ascent never falls, and it ends where a brute search ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import platewright as pw
from platewright.backends.kernels import ascent
from platewright.backends.kernels.ascent import ascended, looked
from platewright.backends.kernels.density import Density
from platewright.errors import NotSolvable
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.hidden.batchable import why_whole
from platewright.run.hidden.em import Runner
from platewright.run.hidden.em_search import run_em
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.em import EMPlan, plan_em
from schemas.enumeration import weighed
from schemas.raised_models import RAISED, RANDOM, gammas
from schemas.small_instance import Case, Instance, Values, instance

EACH = pytest.mark.parametrize("case", (*RAISED, *RANDOM), ids=str)


def parts(case: Case, seed: int) -> tuple[EMPlan, Instance, Runner]:
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan), plan
    small = instance(case, seed)
    return plan, small, Runner(plan, small.columns, small.sizes)


def parameters(plan: EMPlan, small: Instance) -> Values:
    return {name: np.asarray(small.hidden[name], dtype=float) for name in plan.learned}


def enumerated(plan: EMPlan, small: Instance, values: Values) -> float:
    """The log joint summed over all values of hidden variables, by listing them."""
    return weighed(plan, plan.factors, {**small.columns, **values}, small.sizes)[2]


def hills(runner: Runner, values: Values) -> Iterator[Density]:
    """The expected log factors of each block without a closed mode, given statistics and all else."""
    everything = {**runner.columns, **values, **runner.expected(values).expectations}
    for number, hill in enumerate(runner.hills, start=len(runner.plan.blocks)):
        sums = runner.summed(runner.plan.latent.programs[number], everything)
        hill.given({**runner.text.named(everything), **runner.text.statistics(number, sums)})
        yield hill


def test_these_models_have_parameters_without_a_closed_mode() -> None:
    plans = [parts(case, 0)[0] for case in RAISED]
    assert all(plan.ascents for plan in plans)
    assert sum(bool(parts(case, 0)[0].ascents) for case in RANDOM) >= 13


@EACH
def test_slopes_are_differences_of_the_enumerated_objective(case: Case) -> None:
    """Equation 18: the slope of the expected log joint is that of the objective itself."""
    for seed in range(2):
        plan, small, runner = parts(case, seed)
        values = parameters(plan, small)
        expected = runner.expected(values)
        assert expected.objective == pytest.approx(enumerated(plan, small, values), rel=1e-10, abs=1e-10)
        for hill in hills(runner, values):
            named, back = runner.text.named, runner.text.back
            u = hill.coordinates.free(named(values))
            _, slope = looked(hill, u)
            for place in range(len(u)):
                apart = 1e-5 * (np.arange(len(u)) == place)
                moved = [{**values, **back(hill.coordinates.values(at)[0])} for at in (u + apart, u - apart)]
                heights = [runner.expected(at).objective for at in moved]
                wanted = (heights[0] - heights[1]) / 2e-5
                assert slope[place] == pytest.approx(wanted, rel=1e-5, abs=1e-5 * (1 + abs(expected.objective)))


@EACH
def test_an_ascent_never_falls_and_raises_what_has_a_slope(case: Case) -> None:
    plan, small, runner = parts(case, 3)
    values = parameters(plan, small)
    for hill in hills(runner, values):
        near = hill.coordinates.free(runner.text.named(values))
        before, slope = looked(hill, near)
        after, rest = looked(hill, hill.coordinates.free(ascended(hill, runner.text.named(values))))
        assert after > before or np.abs(slope).max() < 1e-6
        assert np.abs(rest).max() < 1e-4 * (1 + np.abs(slope).max()), "a dozen of Newton's steps lead to the top"
        for seed in range(5):
            far = near + 2 * np.random.default_rng(seed).normal(size=len(near))
            before, _ = looked(hill, far)
            after, _ = looked(hill, hill.coordinates.free(ascended(hill, hill.coordinates.values(far)[0])))
            assert after > before


@EACH
def test_the_objective_never_falls(case: Case) -> None:
    for seed in range(2):
        _, _, runner = parts(case, seed)
        start = runner.guessed(np.random.default_rng(seed))
        history = np.array(runner.run(start, 30, 0.0).objective)
        assert np.isfinite(history).all()
        assert (np.diff(history) >= -1e-9 * (1 + np.abs(history[1:]))).all()


@pytest.mark.parametrize("case", RAISED, ids=str)
def test_a_search_without_slopes_finds_no_higher_place(case: Case) -> None:
    plan, small, runner = parts(replace(case, sizes={"n": 4}), 5)
    found = run_em(plan, small.columns, small.sizes, restarts=8, iterations=3000, tolerance=1e-13)
    chart = unconstrained([small.graph.nodes[name] for name in plan.learned], small.sizes)
    best = found.objective[-1]
    values = {name: np.asarray(value) for name, value in found.values.items()}
    assert enumerated(plan, small, values) == pytest.approx(best, rel=1e-10, abs=1e-10)

    def depth(u: Array) -> float:
        with np.errstate(all="ignore"):
            height = runner.expected(chart.values(np.clip(u, -30, 30))[0]).objective
        return -height if np.isfinite(height) else 1e10

    generator = np.random.default_rng(0)
    for start in (chart.free(values), *(generator.normal(size=chart.size) for _ in range(3))):
        tried = optimize.minimize(depth, start, method="BFGS", options={"maxiter": 200})
        assert -tried.fun <= best + 1e-6 * (1 + abs(best)), "differences lead to a higher place"


# -- against densities written by hand ---


def test_a_mixture_of_gammas_has_the_likelihood_of_scipy_and_no_higher_place_nearby() -> None:
    m = pw.Model("gammas")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.0, over=k)
    m.shape = pw.Flat(lower=0, plates=k)
    m.rate = pw.Flat(lower=0, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Gamma(m.shape[m.z], rate=m.rate[m.z], plates=n)
    r = np.random.default_rng(0)
    y = np.concatenate([r.gamma(2.0, 1.0, 150), r.gamma(30.0, 0.5, 150)])
    fit = m.learn({"y": y}, goal="map")

    def height(u: Array) -> float:
        share = 1 / (1 + np.exp(-u[0]))
        each = [stats.gamma.logpdf(y, np.exp(u[1 + j]), scale=np.exp(-u[3 + j])) for j in range(2)]
        return float(np.logaddexp(np.log(share) + each[0], np.log1p(-share) + each[1]).sum())

    p = fit["p"].value
    at = np.array([np.log(p[0] / p[1]), *np.log(fit["shape"].value), *np.log(fit["rate"].value)])
    assert fit.log_likelihood == pytest.approx(height(at), rel=1e-10)
    tried = optimize.minimize(lambda u: -height(u), at, method="BFGS", options={"gtol": 1e-8})
    assert -tried.fun <= height(at) + 1e-6


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e6])
def test_the_units_of_a_covariate_do_not_matter(size: float) -> None:
    m = pw.Model("logistic regressions")
    n, k = m.plate("n"), m.plate("k", 2)
    m.x = pw.Input(plates=n)
    m.p = pw.Dirichlet(2.0, over=k)
    m.a = pw.Flat(plates=k)
    m.b = pw.Flat(plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Binomial(20, logit=m.a[m.z] + m.b[m.z] * m.x, plates=n)
    r = np.random.default_rng(3)
    x, z = r.normal(size=200), r.integers(0, 2, 200)
    y = r.binomial(20, 1 / (1 + np.exp(-(np.array([-1.0, 1.0])[z] + np.array([1.5, -1.0])[z] * x))))
    fit = m.learn({"x": size * x, "y": y}, goal="map")
    order = np.argsort(fit["a"].value)
    np.testing.assert_allclose(fit["b"].value[order] * size, [1.5, -1.0], atol=0.25)
    plain = m.learn({"x": x, "y": y}, goal="map")
    assert fit.log_joint == pytest.approx(plain.log_joint, rel=1e-7)


def test_numbers_far_from_zero_lose_no_digits() -> None:
    m = pw.Model("scales with an odd prior")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2.0, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Flat(plates=k)
    m.s = pw.HalfCauchy(scale=1, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=m.s[m.z], plates=n)
    r = np.random.default_rng(0)
    y = np.round(np.concatenate([r.normal(0, 1, 60), r.normal(8, 2, 60)]), 3)
    near, far = (m.learn({"y": y + offset}, goal="map", restarts=2) for offset in (0.0, 1e8))
    assert far.log_joint == pytest.approx(near.log_joint, rel=1e-6)


# -- statistics, batches, many coordinates ---


def test_statistics_of_batches_give_the_modes_of_all_rows(tmp_path: Path) -> None:
    m = gammas()
    r = np.random.default_rng(0)
    y = np.concatenate([r.gamma(2.0, 1.0, 90_000), r.gamma(30.0, 0.5, 90_000)])
    rows = tmp_path / "rows.csv"
    rows.write_text("y\n" + "\n".join(map(repr, y.tolist())), encoding="utf-8")
    options = {"goal": "map", "restarts": 1, "iterations": 6, "backend": "numpy"}
    batched, whole = (m.learn(data, **options) for data in (rows, {"y": y}))
    assert "in batches" in batched.how
    assert batched.log_joint == pytest.approx(whole.log_joint, rel=1e-9)


def test_slopes_that_need_rows_need_all_of_them() -> None:
    found = {case.name: why_whole(parts(case, 0)[0], "n") for case in RAISED}
    assert found["gammas"] == ""
    assert found["poisson_regressions"] == "the slopes of w need every row at each look"


def test_what_is_an_exponential_family_leaves_statistics_and_no_row() -> None:
    for name, rows in {
        "gammas": False,
        "betas": False,
        "negative_binomials": True,
        "logistic_regressions": True,
    }.items():
        plan = parts(next(case for case in RAISED if case.name == name), 0)[0]
        (ascent,) = plan.ascents
        assert any(axis.plate == "n" for factor in ascent.factors for axis in factor.axes) == rows, name
        assert bool(plan.latent.programs[-1].passes) != rows, name


def test_many_coordinates_are_raised_by_what_steps_tell() -> None:
    kept, ascent.MOST_SOLVED = ascent.MOST_SOLVED, 50
    try:
        check_many_coordinates()
    finally:
        ascent.MOST_SOLVED = kept


def check_many_coordinates() -> None:
    m = pw.Model("wide regression")
    n, j = m.plate("n"), m.plate("j", 60)
    m.x = pw.Input(plates=(n, j))
    m.w = pw.Normal(0, sd=1, plates=j)
    m.y = pw.Bernoulli(logit=pw.dot(m.x, m.w, over=j), plates=n)
    r = np.random.default_rng(1)
    x = r.normal(size=(300, 60)) * np.linspace(0.2, 5, 60)
    y = (r.random(300) < 1 / (1 + np.exp(-x[:, :20].sum(axis=1)))).astype(int)
    w = m.learn({"x": x, "y": y}, goal="map", restarts=1, iterations=2)["w"].value  # two looks, one step between
    slope = x.T @ (y - 1 / (1 + np.exp(-x @ w))) - w
    assert np.abs(slope).max() < 1e-3


# -- near misses ---


def _declined(m: pw.Model, known: tuple[str, ...]) -> str:
    with pytest.raises(NotSolvable) as refused:
        m.derive(known=known, goal="map", by="em")
    return str(refused.value)


def test_a_parameter_with_values_apart_has_no_slope() -> None:
    m = pw.Model("sizes")
    n = m.plate("n")
    m.size = pw.Poisson(8)
    m.p = pw.Beta(2, 2)
    m.x = pw.Binomial(m.size, p=m.p, plates=n)
    assert "`size` has no slope, for its values are apart" in _declined(m, ("x",))


def test_a_parameter_that_bounds_data_has_no_slope() -> None:
    m = pw.Model("ends")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.end = pw.Gamma(2, rate=1, plates=k)
    m.x = pw.Uniform(0, m.end[m.z], plates=n)
    assert "no derivative" in _declined(m, ("x",))


def test_an_angle_without_a_closed_mode_is_declined() -> None:
    m = pw.Model("headings")
    n = m.plate("n")
    m.q = pw.Beta(2, 2)
    m.z = pw.Bernoulli(m.q, plates=n)
    m.mu = pw.VonMises(0, concentration=1)
    m.y = pw.Normal(pw.exp(m.mu) * (1 + m.z), sd=1, plates=n)
    assert "`mu` is an angle" in _declined(m, ("y",))


def test_an_effect_of_every_row_that_is_not_gaussian_is_no_parameter() -> None:
    m = pw.Model("row effects")
    n, j = m.plate("n"), m.plate("j", 3)
    m.w = pw.Normal(0, sd=1, plates=j)
    m.u = pw.Normal(0, sd=1, plates=n)
    m.y = pw.Poisson(pw.exp(m.w * m.u), plates=(n, j))
    found = plan_em(replace(Case("row effects", lambda: m, ("y",), {"n": 3})).graph, "map")
    assert isinstance(found, Declined)
    assert "u does not enter the density as a Gaussian" in found.reason
