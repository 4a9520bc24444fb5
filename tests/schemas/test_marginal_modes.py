"""A mode is that of the integral over what is hidden: held to integrals by quadrature, element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import xlogy

import platewright as pw
from platewright.errors import NotSolvable, UnknownName

Point = dict[str, Any]


@dataclass(frozen=True)
class Hidden:
    """A model with hidden unknowns, its data, and the log density of its parameters with a number for each element."""

    name: str
    model: Callable[[], pw.Model]
    data: dict[str, Any]
    parameters: tuple[str, ...]
    hidden: str
    prior: Callable[[Point], float]
    element: Callable[[Point, int, float], float]
    """The log joint of an element and the hidden value in it."""
    count: int
    ends: tuple[float, float]

    def __str__(self) -> str:
        return self.name

    def log_density(self, at: Point) -> float:
        return self.prior(at) + sum(np.log(self.integral(at, g, lambda _: 1.0)) for g in range(self.count))

    def integral(self, at: Point, g: int, weight: Callable[[float], float]) -> float:
        found, _ = quad(
            lambda u: weight(u) * np.exp(self.element(at, g, u)), *self.ends, epsabs=0, epsrel=1e-11, limit=400
        )
        return float(found)


def frailty() -> Hidden:
    def model() -> pw.Model:
        m = pw.Model("frailty")
        g = m.plate("g")
        m.b = pw.Gamma(2, rate=0.5)
        m.x = pw.Input(plates=g)
        m.u = pw.Gamma(m.b, rate=m.b, plates=g)
        m.y = pw.Poisson(m.u * m.x, plates=g)
        return m

    x, y = np.array([1.0, 2.5, 0.7, 3.0, 1.2]), np.array([0, 5, 2, 1, 3])
    return Hidden(
        "gamma and poisson", model, {"x": x, "y": y}, ("b",), "u",
        lambda p: stats.gamma.logpdf(p["b"], 2, scale=2),
        lambda p, g, u: stats.gamma.logpdf(u, p["b"], scale=1 / p["b"]) + xlogy(y[g], u * x[g]) - u * x[g]
        - stats.poisson.logpmf(0, 0) - float(np.sum(np.log(np.arange(1, y[g] + 1)))),
        5, (0, np.inf),
    )  # fmt: skip


def overdispersed() -> Hidden:
    def model() -> pw.Model:
        m = pw.Model("overdispersed")
        g = m.plate("g", 4)
        m.k = pw.Gamma(2, rate=0.5)
        m.n = pw.Input(plates=g)
        m.p = pw.Beta(m.k, m.k, plates=g)
        m.y = pw.Binomial(m.n, m.p, plates=g)
        return m

    n, y = np.array([5, 8, 6, 9]), np.array([1, 8, 3, 6])
    return Hidden(
        "beta and binomial, on a plate of known size", model, {"n": n, "y": y}, ("k",), "p",
        lambda p: stats.gamma.logpdf(p["k"], 2, scale=2),
        lambda p, g, u: stats.beta.logpdf(u, p["k"], p["k"]) + stats.binom.logpmf(y[g], n[g], u),
        4, (0, 1),
    )  # fmt: skip


def scale_mixture() -> Hidden:
    def model() -> pw.Model:
        m = pw.Model("scale mixture")
        row = m.plate("row")
        m.x = pw.Input(plates=row)
        m.tau = pw.Gamma(2, rate=1)
        m.a, m.b = pw.Normal(0, sd=5), pw.Normal(0, sd=5)
        m.w = pw.Gamma(2, rate=2, plates=row)
        m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau * m.w, plates=row)
        return m

    x, y = np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 4.0]), np.array([-0.8, 1.2, 2.9, 12.0, 6.8, 9.3])
    return Hidden(
        "student by scale mixture", model, {"x": x, "y": y}, ("tau", "a", "b"), "w",
        lambda p: stats.gamma.logpdf(p["tau"], 2) + stats.norm.logpdf([p["a"], p["b"]], 0, 5).sum(),
        lambda p, g, w: stats.gamma.logpdf(w, 2, scale=0.5)
        + stats.norm.logpdf(y[g], p["a"] + p["b"] * x[g], 1 / np.sqrt(p["tau"] * w)),
        6, (0, np.inf),
    )  # fmt: skip


def effects() -> Hidden:
    def model() -> pw.Model:
        m = pw.Model("effects")
        s, row = m.plate("s", 4), m.plate("row")
        m.c = pw.Input(plates=row, levels=s)
        m.mu, m.tau, m.sd = pw.Normal(0, sd=5), pw.HalfNormal(sd=3), pw.HalfNormal(sd=3)
        m.th = pw.Normal(m.mu, sd=m.tau, plates=s)
        m.y = pw.Normal(m.th[m.c], sd=m.sd, plates=row)
        return m

    c = np.array([0, 0, 1, 1, 1, 2, 2, 3, 3, 3])
    y = np.array([1.0, 1.7, 3.9, 4.2, 3.1, -0.5, -1.1, 1.0, 2.2, 1.4])
    return Hidden(
        "gaussian effects of levels", model, {"c": c, "y": y}, ("mu", "tau", "sd"), "th",
        lambda p: stats.norm.logpdf(p["mu"], 0, 5) + stats.halfnorm.logpdf([p["tau"], p["sd"]], 0, 3).sum(),
        lambda p, g, t: stats.norm.logpdf(t, p["mu"], p["tau"]) + stats.norm.logpdf(y[c == g], t, p["sd"]).sum(),
        4, (-30, 30),
    )  # fmt: skip


CASES = [frailty(), overdispersed(), scale_mixture(), effects()]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_mode_is_that_of_the_integral(case: Hidden) -> None:
    fit = case.model().learn(case.data, goal="map")
    at = {name: float(np.asarray(fit[name].value)) for name in case.parameters}
    best = case.log_density(at)
    assert fit.log_joint == pytest.approx(best, abs=1e-7)
    for name in case.parameters:
        step = 1e-3 * max(abs(at[name]), 1.0)
        up, down = (case.log_density({**at, name: at[name] + way}) for way in (step, -step))
        curvature = (up - 2 * best + down) / step**2
        assert curvature < 0
        assert abs((up - down) / (2 * step)) < 1e-3 * np.sqrt(-curvature)  # as close as a thousandth of its spread


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_was_integrated_out_has_its_mean_at_the_mode(case: Hidden) -> None:
    fit = case.model().learn(case.data, goal="map")
    at = {name: float(np.asarray(fit[name].value)) for name in case.parameters}
    expected = np.asarray(fit.expected(case.hidden))
    for g in range(case.count):
        ratio = case.integral(at, g, lambda u: u) / case.integral(at, g, lambda _: 1.0)
        assert expected[g] == pytest.approx(ratio, rel=1e-7)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_how_names_what_was_integrated_out(case: Hidden) -> None:
    fit = case.model().learn(case.data, goal="map")
    assert case.hidden in fit.how
    if "integrated out" in fit.how:
        assert f"eliminate {case.hidden}" in fit.explain()
    assert case.hidden not in fit


def test_a_plate_of_known_size_or_of_labels_changes_no_mode() -> None:
    case = effects()
    sized = case.model().learn(case.data, goal="map")
    m = pw.Model("labels")
    s, row = m.plate("s"), m.plate("row")
    m.c = pw.Input(plates=row, levels=s)
    m.mu, m.tau, m.sd = pw.Normal(0, sd=5), pw.HalfNormal(sd=3), pw.HalfNormal(sd=3)
    m.th = pw.Normal(m.mu, sd=m.tau, plates=s)
    m.y = pw.Normal(m.th[m.c], sd=m.sd, plates=row)
    labelled = m.learn({**case.data, "c": [f"group {code}" for code in case.data["c"]]}, goal="map")
    for name in case.parameters:
        assert float(np.asarray(labelled[name].value)) == pytest.approx(float(np.asarray(sized[name].value)), rel=1e-6)


def test_a_scale_mixture_is_the_student_it_makes() -> None:
    case = scale_mixture()
    fit = case.model().learn(case.data, goal="map")
    m = pw.Model("student")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.tau = pw.Gamma(2, rate=1)
    m.a, m.b = pw.Normal(0, sd=5), pw.Normal(0, sd=5)
    m.y = pw.StudentT(4, m.a + m.b * m.x, precision=m.tau, plates=row)
    direct = m.learn(case.data, goal="map")
    assert fit.log_joint == pytest.approx(direct.log_joint, abs=1e-9)
    for name in case.parameters:
        assert float(np.asarray(fit[name].value)) == pytest.approx(float(np.asarray(direct[name].value)), rel=1e-6)


def test_far_from_zero_a_scale_mixture_keeps_its_digits() -> None:
    case = scale_mixture()
    near = case.model().learn(case.data, goal="map", integrate=["w"])
    m = pw.Model("far")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.tau = pw.Gamma(2, rate=1)
    m.a, m.b = pw.Normal(1e6, sd=5), pw.Normal(0, sd=5)
    m.w = pw.Gamma(2, rate=2, plates=row)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau * m.w, plates=row)
    far = m.learn({**case.data, "y": case.data["y"] + 1e6}, goal="map")
    assert float(np.asarray(far["tau"].value)) == pytest.approx(float(np.asarray(near["tau"].value)), rel=1e-6)


def test_the_joint_mode_is_there_for_those_who_ask() -> None:
    case = scale_mixture()
    both = case.model().learn(case.data, goal="map", integrate=[])
    assert "w" in both
    assert float(np.asarray(both["tau"].value)) > 1.2 * float(
        np.asarray(case.model().learn(case.data, goal="map")["tau"].value)
    )


def test_if_nothing_else_is_unknown_the_unknowns_of_the_rows_are_asked_for() -> None:
    m = pw.Model("rates")
    g = m.plate("g")
    m.u = pw.Gamma(2, rate=1, plates=g)
    m.y = pw.Poisson(m.u, plates=g)
    fit = m.learn({"y": [0, 3, 5]}, goal="map")
    np.testing.assert_allclose(np.asarray(fit["u"].value), (1 + np.array([0, 3, 5])) / 2)


def test_what_classes_look_up_is_asked_for() -> None:
    m = pw.Model("classes")
    row, k = m.plate("row"), m.plate("k", 2)
    m.share = pw.Dirichlet(2.0, over=k)
    m.centre, m.tau = pw.Normal(0, sd=5), pw.Gamma(4, rate=1)
    m.mu = pw.Normal(m.centre, sd=2, plates=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau, plates=row)
    fit = m.learn({"y": [-3.0, -2.5, -2.8, 2.0, 2.5, 2.9]}, goal="map")
    assert {"mu", "centre", "tau", "share"} <= set(fit)


def test_a_hidden_unknown_of_no_family_is_declined_by_name() -> None:
    m = pw.Model("log rates of groups")
    g = m.plate("g", 3)
    m.s = pw.HalfNormal(sd=1)
    m.u = pw.LogNormal(0, sd=m.s, plates=g)
    m.y = pw.Poisson(m.u, plates=g)
    with pytest.raises(NotSolvable, match="`u` is hidden and cannot be integrated out") as refused:
        m.learn({"y": [0, 3, 5]}, goal="map")
    assert "integrate=" in str(refused.value)


def test_integrate_is_checked() -> None:
    m = frailty().model()
    data = frailty().data
    with pytest.raises(UnknownName, match="no `v` here"):
        m.learn(data, goal="map", integrate=["v"])
    with pytest.raises(pw.errors.ModelError, match="integrate= with goal='posterior'"):
        m.learn(data, integrate=["u"])


def test_a_saved_mode_remembers_what_was_integrated_out(tmp_path: Any) -> None:
    case = scale_mixture()
    for integrate in (None, []):
        fit = case.model().learn(case.data, goal="map", integrate=integrate)
        fit.save(tmp_path / "mode.fit")
        again = pw.load(tmp_path / "mode.fit")
        assert set(again) == set(fit)
        np.testing.assert_allclose(np.asarray(again["tau"].value), np.asarray(fit["tau"].value))
        np.testing.assert_allclose(np.asarray(again.expected("w")), np.asarray(fit.expected("w")))
