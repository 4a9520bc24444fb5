"""Standard errors are roots of the inverse curvature, and what has no maximum is refused with unknown and column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw
from platewright.errors import NoMaximum

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
OUTCOMES = (RNG.random(60) < special.expit(0.5 + X[:, 0])).astype(int)


def logistic(prior: Callable[[Any], Any] = lambda j: pw.Flat(plates=j)) -> pw.Model:
    m = pw.Model("logistic")
    row, j = m.plate("row"), m.plate("j", labels=["age", "dose", "sex"])
    m.x = pw.Input(plates=(row, j))
    m.a, m.b = pw.Flat(), prior(j)
    m.y = pw.Bernoulli(logit=m.a + pw.dot(m.x, m.b, over=j), plates=row)
    return m


def test_standard_errors_of_a_regression_are_those_of_its_information() -> None:
    fit = logistic().learn({"x": X, "y": OUTCOMES}, goal="map")
    design = np.column_stack([np.ones(60), X])
    p = special.expit(design @ np.concatenate([[float(np.asarray(fit["a"].value))], np.asarray(fit["b"].value)]))
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ (design * (p * (1 - p))[:, None]))))
    np.testing.assert_allclose(np.asarray(fit["a"].sd), errors[0], rtol=1e-6)
    np.testing.assert_allclose(np.asarray(fit["b"].sd), errors[1:], rtol=1e-6)
    assert fit.summary().to_dict()["rows"][0]["sd"] == pytest.approx(errors[0], rel=1e-3)


def test_standard_errors_have_the_hidden_integrated_out_and_are_those_of_values() -> None:
    m = pw.Model("counts")
    g = m.plate("g")
    m.b = pw.Gamma(2, rate=0.5)
    m.u = pw.Gamma(m.b, rate=m.b, plates=g)
    m.y = pw.Poisson(m.u, plates=g)
    y = np.array([0, 5, 2, 1, 3, 0, 0, 4])
    fit = m.learn({"y": y}, goal="map")
    b = float(np.asarray(fit["b"].value))

    def height(at: float) -> float:
        return float(stats.gamma.logpdf(at, 2, scale=2) + stats.nbinom.logpmf(y, at, at / (at + 1)).sum())

    bend = (height(b + 1e-3) - 2 * height(b) + height(b - 1e-3)) / 1e-6
    assert float(np.asarray(fit["b"].sd)) == pytest.approx((-bend) ** -0.5, rel=1e-4)


def test_standard_errors_of_shares_add_up() -> None:
    m = pw.Model("classes")
    row, k = m.plate("row"), m.plate("k", 2)
    m.share = pw.Dirichlet(3.0, over=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.y = pw.Normal(pw.array([0.0, 5.0], over=k)[m.z], sd=0.5, plates=row)
    fit = m.learn({"y": [0.1, -0.2, 5.1, 4.8, 5.3, 0.0, 5.2]}, goal="map")
    share = np.asarray(fit["share"].value)
    counts = np.array([3, 4]) + 2.0
    np.testing.assert_allclose(share, counts / counts.sum(), rtol=1e-6)
    np.testing.assert_allclose(np.asarray(fit["share"].sd), np.sqrt(share.prod() / counts.sum()), rtol=1e-4)


SEPARATED: dict[str, tuple[np.ndarray, np.ndarray, str]] = {
    "one column": (X, (X[:, 1] > 0).astype(int), r"`b\[dose\]` up, which meets `x`, `y`"),
    "two columns": (X, (X[:, 0] + X[:, 1] > 0.3).astype(int), "no maximum"),
    "one of its values": (
        np.column_stack([X[:, :2], X[:, 2] > 0]),
        np.where(X[:, 2] > 0, 1, OUTCOMES),
        r"`b\[sex\]` up, which meets `x`, `y`",
    ),
    "columns that follow from each other": (
        np.column_stack([X[:, :2], X[:, 0] - X[:, 1]]),
        OUTCOMES,
        r"no one maximum.*`b\[age\]`.*`b\[dose\]`.*`b\[sex\]`",
    ),
    "a column of zeros": (X * [1, 1, 0], OUTCOMES, r"no one maximum.*`b\[sex\]`"),
}


@pytest.mark.parametrize("name", SEPARATED)
def test_what_a_line_separates_has_no_maximum(name: str) -> None:
    x, y, words = SEPARATED[name]
    with pytest.raises(NoMaximum, match=words):
        logistic().learn({"x": x, "y": y}, goal="map")
    far = logistic(lambda j: pw.Normal(0, sd=100, plates=j)).learn({"x": x, "y": y}, goal="map")
    assert np.isfinite(np.asarray(far["b"].sd)).all()  # with proper priors there is one


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e5])
def test_a_maximum_is_found_whatever_the_units(size: float) -> None:
    fit = logistic().learn({"x": X * size, "y": OUTCOMES}, goal="map")
    plain = logistic().learn({"x": X, "y": OUTCOMES}, goal="map")
    np.testing.assert_allclose(np.asarray(fit["b"].value) * size, np.asarray(plain["b"].value), rtol=1e-5)
    np.testing.assert_allclose(np.asarray(fit["b"].sd) * size, np.asarray(plain["b"].sd), rtol=1e-5)


def test_a_group_of_zeros_is_named_by_its_label() -> None:
    m = pw.Model("groups")
    g, row = m.plate("g"), m.plate("row")
    m.c = pw.Input(plates=row, levels=g)
    m.u = pw.Flat(plates=g)
    m.y = pw.Poisson(pw.exp(m.u[m.c]), plates=row)
    with pytest.raises(NoMaximum, match=r"`u\[north\]` down, which meets `c`, `y`"):
        m.learn({"c": ["south", "south", "north", "north"], "y": [2, 1, 0, 0]}, goal="map")


def schools(tau: Callable[[], Any]) -> pw.Model:
    m = pw.Model("schools")
    s = m.plate("s", 8)
    m.se = pw.Input(plates=s)
    m.mu, m.tau = pw.Normal(0, sd=10), tau()
    m.th = pw.Normal(m.mu, sd=m.tau, plates=s)
    m.y = pw.Normal(m.th, sd=m.se, plates=s)
    return m


def test_a_scale_that_goes_to_nought_is_refused() -> None:
    data = {"y": [28, 8, -3, 7, -1, 1, 18, 12], "se": [15, 10, 16, 11, 9, 11, 10, 18]}
    with pytest.raises(NoMaximum, match="`tau` down"):
        schools(lambda: pw.HalfNormal(sd=5)).learn(data, goal="map")
    inside = schools(lambda: pw.Gamma(2, rate=0.1)).learn(data, goal="map")
    assert 4.0 < float(np.asarray(inside["tau"].value)) < 5.0


def test_equal_values_leave_no_scale() -> None:
    m = pw.Model("equal")
    row = m.plate("row")
    m.mu, m.s = pw.Flat(), pw.HalfNormal(sd=1)
    m.y = pw.Normal(m.mu, sd=m.s, plates=row)
    with pytest.raises(pw.errors.Unbounded, match="`s`"):
        m.learn({"y": [2.0, 2.0, 2.0]}, goal="map")


def test_counts_that_vary_less_than_by_chance_have_no_largest_spread() -> None:
    m = pw.Model("even")
    g = m.plate("g")
    m.k = pw.Flat(0)
    m.p = pw.Beta(m.k, m.k, plates=g)
    m.y = pw.Binomial(5, m.p, plates=g)
    with pytest.raises(NoMaximum, match="`k` up"):
        m.learn({"y": [2, 3, 2, 3]}, goal="map")


def counted() -> tuple[pw.Model, dict[str, Any]]:
    m = pw.Model("counted")
    g = m.plate("g")
    m.b = pw.Gamma(2, rate=0.5)
    m.u = pw.Gamma(m.b, rate=m.b, plates=g)
    m.y = pw.Poisson(m.u, plates=g)
    return m, {"y": np.array([0, 5, 2, 1, 3, 0, 0, 4])}


def test_the_posterior_by_laplace_is_a_gaussian_about_the_mode_of_the_logarithm(tmp_path: Any) -> None:
    m, data = counted()

    def height(u: float) -> float:
        b = np.exp(u)
        return float(stats.gamma.logpdf(b, 2, scale=2) + u + stats.nbinom.logpmf(data["y"], b, b / (b + 1)).sum())

    grid = np.linspace(-2, 3, 500_001)[1:-1]
    b = np.exp(grid)
    known = stats.gamma.logpdf(b, 2, scale=2) + grid
    top = float(grid[np.argmax(known + sum(stats.nbinom.logpmf(y, b, b / (b + 1)) for y in data["y"]))])
    bend = (height(top + 1e-3) - 2 * height(top) + height(top - 1e-3)) / 1e-6
    fit = m.learn(data, by="laplace")
    found = fit["b"]
    np.testing.assert_allclose(np.log(found.quantile(0.5)), top, atol=2e-5)
    spread = np.log(found.quantile(stats.norm.cdf(1))) - np.log(found.quantile(0.5))
    np.testing.assert_allclose(spread, (-bend) ** -0.5, rtol=1e-3)
    drawn = np.log(fit.draws(20_000, seed=1)["b"])
    assert drawn.mean() == pytest.approx(top, abs=5 * drawn.std() / np.sqrt(20_000))
    fit.save(tmp_path / "laplace.fit")
    again = pw.load(tmp_path / "laplace.fit")
    np.testing.assert_allclose(np.asarray(again["b"].mean), np.asarray(found.mean))


def test_laplace_is_near_the_posterior_where_that_is_known() -> None:
    data = {"y": [28, 8, -3, 7, -1, 1, 18, 12], "se": [15, 10, 16, 11, 9, 11, 10, 18]}
    m = schools(lambda: pw.HalfNormal(sd=5))  # the mode of the scale itself is at nought, that of its logarithm is not
    about, known = m.learn(data, by="laplace"), m.learn(data, by="quadrature")
    assert abs(float(np.asarray(about["mu"].mean)) - float(np.asarray(known["mu"].mean))) < 0.1 * 4
    assert 0.5 < float(np.asarray(about["mu"].sd)) / float(np.asarray(known["mu"].sd)) < 1.2


def test_a_joint_mode_at_an_infinite_density_is_refused() -> None:
    m, data = counted()
    with pytest.raises(NoMaximum, match=r"`u\[0\]` down"):
        m.learn(data, goal="map", integrate=[])


def test_a_mode_at_nought_of_a_finite_density_is_found() -> None:
    m = pw.Model("nought")
    g = m.plate("g")
    m.u = pw.Exponential(rate=1.0, plates=g)
    m.s = pw.HalfNormal(sd=1)
    m.y = pw.Poisson(m.u, plates=g)
    m.x = pw.Normal(0, sd=m.s, plates=g)
    fit = m.learn({"y": [0, 3], "x": [0.5, -0.7]}, goal="map", integrate=[])
    np.testing.assert_allclose(np.asarray(fit["u"].value), [0, 1.5], atol=1e-9)


@pytest.mark.parametrize("name", ["values", "logarithms"])
def test_derived_curvature_is_that_of_differences(name: str) -> None:
    m, data = (logistic(), {"x": X, "y": OUTCOMES}) if name == "values" else counted()
    peak = m.learn(data, goal="map").peak
    apart = replace(peak, known=lambda: None)
    assert peak.known() is not None
    np.testing.assert_allclose(peak.covariance, apart.covariance, rtol=1e-5, atol=1e-9)


def test_the_draws_of_laplace_have_the_correlation_of_the_posterior() -> None:
    m = logistic(lambda j: pw.Normal(0, sd=2, plates=j))
    fit = m.learn({"x": X + 1.0, "y": OUTCOMES}, by="laplace")
    design = np.column_stack([np.ones(60), X + 1.0])
    places, prior = np.zeros(4), np.diag([0, 0.25, 0.25, 0.25])
    for _ in range(20):
        p = special.expit(design @ places)
        bend = design.T @ (design * (p * (1 - p))[:, None]) + prior
        places = places + np.linalg.solve(bend, design.T @ (OUTCOMES - p) - prior @ places)
    known = np.linalg.inv(bend)
    drawn = fit.draws(40_000, seed=2)
    both = np.column_stack([drawn["a"], drawn["b"]])
    spread = np.sqrt(np.diag(known))
    assert np.abs(both.mean(axis=0) - places).max() < 5 * spread.max() / 200
    assert np.abs(np.corrcoef(both.T) - known / np.outer(spread, spread)).max() < 0.02
    np.testing.assert_allclose(both.std(axis=0), spread, rtol=0.02)
    np.testing.assert_allclose(np.asarray(fit["b"].mean), places[1:], atol=1e-5)
    np.testing.assert_allclose(np.asarray(fit["b"].sd), spread[1:], rtol=1e-5)


ENDS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "from one on": (lambda: pw.Flat(1.0), lambda u: 1 + np.exp(u)),
    "from two to seven": (lambda: pw.Uniform(2.0, 7.0), lambda u: 2 + 5 * special.expit(u)),
    "from nought to one": (lambda: pw.Beta(1, 1), special.expit),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_number_with_ends_of_its_own_is_gaussian_between_them(name: str) -> None:
    prior, value = ENDS[name]
    m = pw.Model("ends")
    n = m.plate("n")
    m.r = prior()
    m.y = pw.Poisson(m.r, plates=n)
    y = np.array([1, 0, 1, 0]) if "nought" in name else np.array([3, 2, 5, 4, 2, 4])
    u = np.linspace(-4, 4, 8001)
    heights = y.sum() * np.log(value(u)) - len(y) * value(u) + np.log(np.gradient(value(u), u))
    at = int(np.argmax(heights[1:-1])) + 1
    bend = np.polyfit(u[at - 100 : at + 101] - u[at], heights[at - 100 : at + 101], 4)
    top, sd = u[at] - bend[3] / (2 * bend[2]), (-2 * bend[2]) ** -0.5
    found = m.learn({"y": y}, by="laplace")["r"]
    for q in (0.1, 0.5, 0.9):
        wanted = value(np.array([top + sd * stats.norm.ppf(q)]))[0]
        assert float(np.asarray(found.quantile(q))) == pytest.approx(wanted, rel=2e-2)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e4])
def test_the_top_of_laplace_is_found_in_any_unit(unit: float) -> None:
    m = pw.Model("level")
    n = m.plate("n")
    m.b = pw.Normal(0, sd=3 * unit)
    m.y = pw.StudentT(4, m.b, scale=unit, plates=n)
    y = np.array([1.2, 2.9, -0.3, 4.0])
    grid = np.linspace(0, 4, 400_001)
    heights = stats.norm.logpdf(grid, scale=3) + stats.t.logpdf(y[:, None], 4, loc=grid).sum(axis=0)
    found = m.learn({"y": y * unit}, by="laplace")["b"]
    assert float(np.asarray(found.mean)) / unit == pytest.approx(grid[np.argmax(heights)], abs=2e-5)


def test_the_slope_beside_a_top_is_that_of_the_density() -> None:
    m = pw.Model("slope")
    n = m.plate("n")
    m.a, m.b = pw.Normal(0, sd=3), pw.Normal(0, sd=3)
    m.x = pw.Input(plates=n)
    m.y = pw.StudentT(4, m.a + m.b * m.x, scale=1, plates=n)
    x, y = np.array([-1.0, 0.0, 0.5, 2.0]), np.array([1.2, 2.9, -0.3, 4.0])
    top = m.learn({"x": x, "y": y}, by="laplace").peak
    a, b = beside = top.top + [0.2, -0.3]
    away = y - a - b * x
    pull = 5 * away / (4 + away**2)
    wanted = [pull.sum() - a / 9, (pull * x).sum() - b / 9]
    np.testing.assert_allclose(replace(top, top=beside).slope, wanted, rtol=1e-5)


def test_the_top_of_logarithms_is_found_to_the_last_step() -> None:
    m = pw.Model("rates")
    n, k = m.plate("n"), m.plate("k", 4)
    m.g = pw.Input(plates=n, levels=k)
    m.r = pw.LogNormal(0, sd=1, plates=k)
    m.y = pw.Poisson(m.r[m.g], plates=n)
    y, g = np.array([0, 3, 40, 55, 7, 200]), np.array([0, 1, 2, 2, 1, 3])
    found = m.learn({"y": y, "g": g}, by="laplace")["r"]
    count = np.bincount(g, y)
    wanted = np.exp(count - special.lambertw(np.bincount(g) * np.exp(count)).real)  # u + n exp(u) = count
    np.testing.assert_allclose(np.asarray(found.quantile(0.5)), wanted, rtol=1e-6)
