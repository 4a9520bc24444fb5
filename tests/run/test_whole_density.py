"""The log density of a whole model for others: its value, slopes and curvatures, by NumPy and by C."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

import platewright as pw
from platewright.backends.c.compile import find_compiler
from platewright.errors import NotSolvable, PlatewrightError, ShapeError, UnknownName
from platewright.operation import Declined
from platewright.run.whole_density import LogDensity, PointDerivatives, tape_of
from platewright.schemas.whole_density import WholeDensity, whole_density
from schemas.small_instance import Case, Instance, instance, log_joint
from schemas.test_conditional_ratio import EVERY
from schemas.test_slopes import JUMPS

STEPS = (4e-3, 2e-3, 1e-3)
KEPT = (
    "hierarchy",
    "logistic",
    "pumps",
    "topics",
    "mixture_diagonal",
    "random_slopes",
    "growth",
    "tied_full",
    "schools",
)
"""Judged in every run; all others in the slow one."""


def marked(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=[] if case.name in KEPT else [pytest.mark.slow])


SMOOTH = [marked(case) for case in EVERY if case.name not in JUMPS]


def extrapolated(of: Callable[[float], np.ndarray]) -> np.ndarray:
    """The derivative at zero: central differences of three steps, their errors of order two and four taken out."""
    rough = [(of(h) - of(-h)) / (2 * h) for h in STEPS]
    finer = [(4 * b - a) / 3 for a, b in pairwise(rough)]
    return np.asarray((16 * finer[1] - finer[0]) / 15)


def judged(case: Case) -> tuple[Instance, WholeDensity]:
    small = instance(case, 1)
    held = [name for name in small.graph.unknown if small.graph.nodes[name].domain.is_discrete]
    found = whole_density(small.graph, held)
    assert not isinstance(found, Declined), found
    return small, found


@pytest.mark.parametrize("case", SMOOTH)
def test_slopes_and_curvatures_are_limits_of_differences(case: Case) -> None:
    small, whole = judged(case)
    values = {name: np.asarray(small.values[name], float) for name in whole.variables}

    def moved(name: str, place: tuple[int, ...], by: float) -> dict[str, np.ndarray]:
        array = values[name].copy()
        array[place] += by
        return {**values, name: array}

    def at(point: dict[str, np.ndarray]) -> PointDerivatives:
        return PointDerivatives(tape_of(whole, small.values, small.sizes), whole, point, small.values)

    def height(point: dict[str, np.ndarray]) -> np.ndarray:
        factors = (*whole.block.factors, *whole.constant)
        return np.array(log_joint(factors, {**small.values, **point}, small.sizes))

    slopes, curvatures = at(values).gradient(), at(values).hessian()
    for name in whole.variables:
        if small.graph.nodes[name].domain.kind == "matrix":  # one element alone cannot be moved
            continue
        for place in list(np.ndindex(values[name].shape))[-2:]:
            unit = min(1.0, 0.5 * abs(float(values[name][place])))
            found = extrapolated(lambda h, n=name, p=place, c=unit: height(moved(n, p, c * h))) / unit
            scale = max(1.0, float(np.abs(slopes[name]).max()))
            assert slopes[name][place] == pytest.approx(float(found), rel=1e-7, abs=1e-7 * scale)
            for other in whole.variables:
                if small.graph.nodes[other].domain.kind == "matrix":
                    continue
                found = extrapolated(lambda h, n=name, p=place, c=unit, o=other: at(moved(n, p, c * h)).gradient()[o])
                size = max(1.0, float(np.abs(curvatures[name, other]).max()))
                np.testing.assert_allclose(curvatures[name, other][place], found / unit, rtol=1e-7, atol=1e-7 * size)
                turned = curvatures[other, name][(..., *place)]
                np.testing.assert_allclose(curvatures[name, other][place], turned, rtol=1e-9, atol=1e-9 * size)


@pytest.mark.parametrize("case", SMOOTH)
def test_coordinates_give_the_log_joint_and_its_slopes(case: Case) -> None:
    small, whole = judged(case)
    if not whole.variables:
        return
    by_numpy = LogDensity(whole, small.values, small.sizes, "numpy")
    u = by_numpy.coordinates({name: small.values[name] for name in whole.variables}) + 0.1
    joint = log_joint((*whole.block.factors, *whole.constant), {**small.values, **by_numpy.values(u)}, small.sizes)
    value, slope = by_numpy.with_gradient(u)
    assert value == pytest.approx(joint + by_numpy.volume(u), rel=1e-10, abs=1e-10)
    for k in range(by_numpy.size)[-3:]:
        along = np.eye(by_numpy.size)[k]
        found = extrapolated(lambda h, along=along: np.array(by_numpy(u + h * along)))
        assert slope[k] == pytest.approx(float(found), rel=1e-6, abs=1e-6 * max(1.0, float(np.abs(slope).max())))
    if find_compiler() is None:
        return
    by_c = LogDensity(whole, small.values, small.sizes)
    assert by_c.with_gradient(u)[0] == pytest.approx(value, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(by_c.gradient(u), slope, rtol=1e-9, atol=1e-9 * max(1.0, float(np.abs(slope).max())))


def regression() -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("regression")
    row, j = m.plate("row"), m.plate("j")
    m.x = pw.Input(plates=(row, j))
    m.w = pw.Normal(0, sd=2, plates=j)
    m.tau = pw.Gamma(2, rate=1)
    m.y = pw.Normal(pw.dot(m.x, m.w, over=j), precision=m.tau, plates=row)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 2))
    return m, {"x": x, "y": x @ [1.0, -2.0] + 0.5 * rng.normal(size=30)}


def mixture() -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("mixture")
    row, k = m.plate("row"), m.plate("k", 2)
    m.p = pw.Dirichlet(2.0, over=k)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    return m, {"y": np.array([-2.0, 2.2, 1.9, -1.4, 0.3])}


def test_an_optimiser_of_others_finds_the_mode() -> None:
    m, data = regression()
    density = m.derive(["y"]).log_density(data)
    found = minimize(
        lambda u: -(density(u) - density.volume(u)),
        density.start(),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )
    mode = m.learn(data, goal="map", by="em")
    for name, value in density.values(found.x).items():
        np.testing.assert_allclose(value, mode.point[name], rtol=1e-4)
    slopes = mode.gradient(mode.point)
    assert max(float(np.abs(slope).max()) for slope in slopes.values()) < 1e-4


def test_the_integral_over_all_coordinates_is_the_evidence() -> None:
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    data = {"heads": [1, 0, 1, 1]}
    density = m.derive(["heads"]).log_density(data)
    grid = np.linspace(-25.0, 25.0, 4001)
    total = np.log(sum(np.exp(density([u])) for u in grid) * (grid[1] - grid[0]))
    assert total == pytest.approx(m.learn(data).log_evidence, rel=1e-10)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_classes_are_summed_out_or_held(backend: str) -> None:
    m, data = mixture()
    point = {"p": np.array([0.3, 0.7]), "mu": np.array([-1.5, 1.8])}
    density = m.derive(["y"], by="gibbs").log_density(data, backend=backend)
    assert density.names == ("p", "mu") and density.size == 3
    assert [step.gone for step in density.steps] == [("z",)]
    u = density.coordinates(point)
    logs = np.log(point["p"]) - 0.5 * np.log(2 * np.pi) - 0.5 * (data["y"][:, None] - point["mu"]) ** 2
    prior = np.log(6 * 0.3 * 0.7) - np.log(2 * np.pi * 9) - 0.5 * np.sum(point["mu"] ** 2) / 9
    expected = float(np.logaddexp(*logs.T).sum() + prior)
    assert density(u) - density.volume(u) == pytest.approx(expected, rel=1e-12)
    fit = m.learn(data, by="gibbs", draws=20, warm_up=20, chains=1)
    shares = np.exp(logs - np.logaddexp(*logs.T)[:, None])
    away = data["y"][:, None] - point["mu"]
    np.testing.assert_allclose(fit.gradient(point)["mu"], (shares * away).sum(axis=0) - point["mu"] / 9, rtol=1e-12)
    z = np.array([0, 1, 1, 0, 1])
    known = fit.gradient({**point, "z": z})["mu"]
    np.testing.assert_allclose(known, [away[z == k, k].sum() - point["mu"][k] / 9 for k in range(2)], rtol=1e-12)
    bent = fit.hessian(point)["mu", "mu"]
    spread = shares[:, 0] * shares[:, 1]
    across = -(spread * away[:, 0] * away[:, 1]).sum()
    assert bent[0, 1] == pytest.approx(across, rel=1e-12) and bent[1, 0] == pytest.approx(across, rel=1e-12)


@pytest.mark.parametrize("way", ["exact", "em", "gibbs", "quadrature", "laplace"])
def test_every_result_has_slopes_and_curvatures(way: str) -> None:
    m = pw.Model("mean and precision")
    row = m.plate("row")
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, precision=m.tau) if way == "exact" else pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=row)
    y = np.array([0.3, 1.0, -0.4])
    goal = {"em": "map", "laplace": "evidence"}.get(way, "posterior")
    options = {"draws": 20, "warm_up": 10} if way == "gibbs" else {}
    fit = m.learn({"y": y}, goal, by=way, **options)
    tau, mu = 0.7, 0.2
    slopes, bent = fit.gradient({"tau": tau, "mu": mu}), fit.hessian({"tau": tau, "mu": mu})
    prior = tau if way == "exact" else 1.0
    assert slopes["mu"] == pytest.approx(tau * (y - mu).sum() - prior * mu, rel=1e-12)
    assert bent["mu", "mu"] == pytest.approx(-3 * tau - prior, rel=1e-12)
    assert bent["tau", "mu"] == pytest.approx((y - mu).sum() - (mu if way == "exact" else 0.0), rel=1e-12)


def test_missing_cells_are_unknowns_of_the_density() -> None:
    m = pw.Model("holes")
    row = m.plate("row")
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mu, sd=1, plates=row)
    data = {"y": np.array([0.5, np.nan, 1.0])}
    density = m.derive([], partly="y").log_density(data)
    value = density(density.coordinates({"mu": 0.4}))
    logs = [-0.5 * (y - 0.4) ** 2 for y in (0.5, 1.0)]
    assert value == pytest.approx(sum(logs) - 0.5 * 0.16 - 1.5 * np.log(2 * np.pi), rel=1e-12)


def test_what_has_no_slope_is_refused_with_its_reason() -> None:
    m = pw.Model("count")
    m.n = pw.Poisson(3.0)
    m.y = pw.Normal(m.n, sd=1)
    with pytest.raises(NotSolvable, match="counts without end") as caught:
        m.derive(["y"], by="gibbs").log_density({"y": 2.0})
    assert isinstance(caught.value.declined, Declined)
    m, data = regression()
    plan = m.derive(["y"])
    with pytest.raises(ShapeError, match="3 numbers"):
        plan.log_density(data)([0.0, 1.0])
    with pytest.raises(UnknownName, match="backend"):
        plan.log_density(data, backend="rust")
    fit = m.learn(data, by="gibbs", draws=20, warm_up=10)
    with pytest.raises(UnknownName, match="no value for `tau`"):
        fit.gradient({"w": [0.0, 1.0]})
    with pytest.raises(UnknownName, match="sigma"):
        fit.gradient({"w": [0.0, 1.0], "tau": 1.0, "sigma": 2.0})
    with pytest.raises(ShapeError, match="axes"):
        fit.hessian({"w": 1.0, "tau": 1.0})
    with pytest.raises(PlatewrightError, match="elements"):
        fit.hessian({"w": [0.0, 1.0, 2.0], "tau": 1.0})


def test_curvatures_of_two_plates_stand_in_the_order_of_their_names() -> None:
    m = pw.Model("products")
    i, j = m.plate("i"), m.plate("j")
    m.a = pw.Normal(0, sd=1, plates=i)
    m.b = pw.Normal(0, sd=1, plates=j)
    m.y = pw.Normal(m.a * m.b, sd=1, plates=(i, j))
    y = np.arange(6.0).reshape(2, 3)
    a, b = np.array([0.5, -1.0]), np.array([1.0, 2.0, -0.5])
    bent = m.learn({"y": y}, by="gibbs", draws=5, warm_up=5, chains=1).hessian({"a": a, "b": b})
    np.testing.assert_allclose(bent["a", "b"], y - 2 * np.outer(a, b), rtol=1e-12)
    np.testing.assert_allclose(bent["b", "a"], bent["a", "b"].T, rtol=1e-12)
    np.testing.assert_allclose(bent["a", "a"], -np.eye(2) * (1 + b @ b), rtol=1e-12)


def test_the_normaliser_of_an_undirected_part_is_there() -> None:
    m = pw.Model("pair")
    row, two = m.plate("row"), m.plate("two", 2)
    m.u = pw.Normal(0, sd=1)
    m.a, m.b = pw.Undirected(levels=two, plates=row), pw.Undirected(levels=two, plates=row)
    m.potential("pair", m.u * pw.equal(m.a, m.b), of=[m.a, m.b])
    a, b = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    density = m.derive(["a", "b"], by="gibbs").log_density({"a": a, "b": b})
    u = 0.7
    expected = 3 * u - 4 * np.log(2 * np.exp(u) + 2) - 0.5 * u**2 - 0.5 * np.log(2 * np.pi)
    assert density([u]) == pytest.approx(expected, rel=1e-12)
    assert density.gradient([u])[0] == pytest.approx(3 - 4 * np.exp(u) / (np.exp(u) + 1) - u, rel=1e-12)
