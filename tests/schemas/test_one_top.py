"""Log-concavity proved from second derivatives in predictors, and near misses that must not be."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.schemas.em import EMPlan


def plan(model: pw.Model) -> EMPlan:
    found = model.derive(known=["y"], goal="map").plan
    assert isinstance(found, EMPlan)
    return found


def regression(kind: str, prior: str = "normal") -> pw.Model:
    m = pw.Model("regression")
    n, d = m.plate("n"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    if prior == "normal":
        m.a = pw.Normal(0, sd=2.5)
    elif prior == "student":
        m.a = pw.StudentT(4.0, 0.0, scale=2.0)
    else:
        m.a = pw.Flat()
    m.b = pw.Normal(0, sd=2.5, plates=d)
    eta = m.a + pw.dot(m.x, m.b, over=d)
    if kind == "logit":
        m.y = pw.Bernoulli(logit=eta, plates=n)
    elif kind == "log":
        m.y = pw.Poisson(pw.exp(eta), plates=n)
    elif kind == "robust":
        m.y = pw.StudentT(4.0, eta, scale=1.0, plates=n)
    else:
        m.y = pw.Bernoulli(logit=eta * eta, plates=n)
    return m


@pytest.mark.parametrize("kind", ["logit", "log"])
def test_generalised_linear_models_with_normal_priors_have_one_mode(kind: str) -> None:
    found = plan(regression(kind))
    assert found.has_one_mode
    assert "log-concave" in regression(kind).derive(known=["y"], goal="map").explain()


@pytest.mark.parametrize(
    ("kind", "prior"),
    [("robust", "normal"), ("squared", "normal"), ("logit", "student"), ("logit", "flat"), ("log", "flat")],
)
def test_what_may_have_two_modes_or_none_is_not_called_concave(kind: str, prior: str) -> None:
    assert not plan(regression(kind, prior)).has_one_mode


def test_a_scale_that_is_unknown_too_is_not_called_concave() -> None:
    m = pw.Model("scale")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.s = pw.HalfNormal(sd=1.0)
    m.b = pw.Normal(0, sd=m.s)
    m.y = pw.Bernoulli(logit=m.b * m.x, plates=n)
    assert not plan(m).has_one_mode


@pytest.mark.parametrize("kind", ["logit", "log"])
@pytest.mark.parametrize("size", [1.0, 1e3])
def test_one_start_reaches_the_mode_that_many_reach(kind: str, size: float) -> None:
    g = np.random.default_rng(0)
    x = size * g.normal(size=(400, 3))
    eta = 0.3 + x @ np.array([0.5, -0.4, 0.0]) / size
    y = (g.random(400) < 1 / (1 + np.exp(-eta))).astype(int) if kind == "logit" else g.poisson(np.exp(eta))
    model = regression(kind)
    one, many = (model.learn({"x": x, "y": y}, goal="map", **told) for told in ({}, {"restarts": 5}))
    np.testing.assert_allclose(one["b"].value, many["b"].value, rtol=1e-6, atol=1e-6 / size)
    assert "restarts=1" in one.source()
