"""The joint mode in closed form, asked for with `integrate=[]`, against a numerical search on the log joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import platewright as pw
from platewright.errors import NotSolvable, PlatewrightError
from platewright.run.exact.changing import needs_rows
from run.row_examples import example

RNG = np.random.default_rng(2)


def found_by_search(fit: object, start: dict[str, np.ndarray], positive: tuple[str, ...]) -> tuple[dict, float]:
    """The mode by Nelder-Mead and BFGS on the log joint, positive unknowns by their logarithm."""
    names = list(start)
    shapes = [np.shape(start[name]) for name in names]
    sizes = [int(np.prod(shape, dtype=int)) for shape in shapes]

    def point(vector: np.ndarray) -> dict[str, np.ndarray]:
        parts = np.split(vector, np.cumsum(sizes)[:-1])
        values = {name: part.reshape(shape) for name, part, shape in zip(names, parts, shapes)}
        return {name: np.exp(value) if name in positive else value for name, value in values.items()}

    def loss(vector: np.ndarray) -> float:
        return -fit.log_joint_at(point(vector))  # type: ignore[attr-defined]

    best = minimize(loss, np.zeros(sum(sizes)), method="BFGS", options={"gtol": 1e-9})
    best = minimize(loss, best.x, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000})
    return point(best.x), -best.fun


CASES: dict[str, tuple[str, ...]] = {
    "normal_gamma": ("tau",),
    "normal_inverse_gamma": ("s2",),
    "regression": ("tau",),
    "hierarchy": (),
    "hierarchy_of_scale": ("tau",),
    "exposure": ("p",),
    "known_scales": (),
    "autoregression": ("tau",),
}


@pytest.mark.parametrize("name", CASES)
def test_the_mode_is_where_a_search_finds_it(name: str) -> None:
    model, data = example(name, rows=20)
    fit = model.learn(data, goal="map", integrate=[])
    assert set(fit.estimate) == fit.posterior.unknown
    found, height = found_by_search(fit, dict(fit.estimate), CASES[name])
    assert fit.log_joint == pytest.approx(height, abs=1e-6)
    assert fit.log_joint >= height - 1e-9
    for unknown, value in found.items():
        np.testing.assert_allclose(fit[unknown].value, value, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", [*CASES, "coin", "groups", "direction", "table", "crossed"])
def test_no_point_nearby_is_higher(name: str) -> None:
    model, data = example(name, rows=20)
    fit = model.learn(data, goal="map", integrate=[])
    rng = np.random.default_rng(0)
    for _ in range(20):
        moved = {}
        for unknown, value in fit.estimate.items():
            stirred = np.asarray(value) * np.exp(0.01 * rng.normal(size=np.shape(value)))
            simplex = fit.plan.graph.nodes[unknown].domain.kind == "simplex"
            moved[unknown] = stirred / stirred.sum(axis=-1, keepdims=True) if simplex else stirred
        assert fit.log_joint_at(moved) <= fit.log_joint + 1e-9


@pytest.mark.parametrize("goal", ["map", "posterior"])
@pytest.mark.parametrize("name", [*CASES, "coin", "groups", "direction", "table", "crossed", "normal_wishart"])
def test_a_fit_without_its_rows_knows_its_densities(name: str, goal: str) -> None:
    """Rows that were read from a file are not kept; the log joint at the estimate follows from the statistics."""
    model, data = example(name, rows=20)
    fit = model.learn(data, goal=goal, integrate=[] if goal == "map" else None)
    bare = replace(fit, columns={})
    if needs_rows(fit.plan.program):
        pytest.skip("such a fit keeps its rows")
    assert bare.log_joint == pytest.approx(fit.log_joint, rel=1e-9)
    assert bare.log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-9)
    assert str(bare.summary()) == str(fit.summary())


def test_the_mode_of_a_coin_by_hand() -> None:
    model, _ = example("coin")
    fit = model.learn({"x": [1, 1, 0, 1]}, goal="map")
    assert float(fit["p"].value) == pytest.approx((3 + 0.5) / (4 + 1))


def test_the_mode_of_a_table_by_hand() -> None:
    m = pw.Model("table")
    n, k = m.plate("n"), m.plate("k", 3)
    m.t = pw.Dirichlet(2, over=k)
    m.x = pw.Categorical(m.t, plates=n)
    fit = m.learn({"x": [0, 0, 1]}, goal="map")
    np.testing.assert_allclose(fit["t"].value, [3 / 6, 2 / 6, 1 / 6])


def test_the_joint_mode_is_not_the_marginal_mode() -> None:
    model, data = example("normal_gamma", rows=6)
    joint = float(model.learn(data, goal="map")["tau"].value)
    marginal = float(model.learn(data)["tau"].mode)
    assert joint > marginal


def test_a_fit_for_the_mode_has_no_evidence() -> None:
    model, data = example("coin")
    with pytest.raises(PlatewrightError, match="no evidence"):
        _ = model.learn(data, goal="map").log_evidence


def test_the_likelihood_at_the_mode_is_that_of_the_data() -> None:
    model, _ = example("coin")
    fit = model.learn({"x": [1, 1, 0, 1]}, goal="map")
    p = 0.7
    assert fit.log_likelihood == pytest.approx(3 * np.log(p) + np.log(1 - p))


def make_logistic() -> pw.Model:
    m = pw.Model("logistic")
    n = m.plate("n")
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Bernoulli(logit=m.b, plates=n)
    return m


def make_two_scales() -> pw.Model:
    m = pw.Model("two scales")
    n = m.plate("n")
    m.tau, m.rho = pw.Gamma(2, rate=1), pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, precision=m.rho)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    return m


@pytest.mark.parametrize("make", [make_logistic, make_two_scales])
def test_a_mode_without_closed_form_is_declined_by_the_exact_schema(make: Callable[[], pw.Model]) -> None:
    model = make()
    with pytest.raises(NotSolvable, match="exact declined"):
        model.learn({"y": [0, 1, 1]}, goal="map", by="exact")
