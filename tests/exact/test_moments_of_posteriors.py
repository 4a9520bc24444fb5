"""Expected sufficient statistics of posteriors are exact: against quadrature and formulas, not draws (Lemma 4.2)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma, multigammaln

import platewright as pw
from platewright.errors import PlatewrightError


def test_probabilities_have_expected_logarithms() -> None:
    m = pw.Model("die")
    row, face = m.plate("row"), m.plate("face", 3)
    m.p = pw.Dirichlet(1.5, over=face)
    m.x = pw.Categorical(m.p, plates=row)
    found = m.learn({"x": np.array([0, 1, 1, 2])})["p"].moments
    assert list(found) == ["log(p[face])"]
    np.testing.assert_allclose(found["log(p[face])"], digamma([2.5, 3.5, 2.5]) - digamma(8.5), rtol=1e-13)


def test_a_variance_has_the_moments_of_its_density() -> None:
    m = pw.Model("variance")
    row = m.plate("row")
    m.v = pw.InverseGamma(2, scale=3)
    m.x = pw.Normal(1, variance=m.v, plates=row)
    posterior = m.learn({"x": np.array([0.0, 1.0, 1.5, 2.0])})["v"]
    at = {"log(v^(-1))": lambda v: -np.log(v), "v^(-1)": lambda v: 1 / v}
    assert list(posterior.moments) == list(at)
    for name, function in at.items():
        expected = quad(lambda v, f=function: f(v) * np.exp(posterior.log_density(v)), 0, np.inf, limit=200)[0]
        assert posterior.moments[name] == pytest.approx(expected, rel=1e-7)


def test_elements_of_a_plate_have_each_their_own() -> None:
    m = pw.Model("rates")
    group = m.plate("group", 2)
    row = m.plate("row", within=group)
    m.rate = pw.Gamma(2, rate=1, plates=group)
    m.n = pw.Poisson(m.rate, plates=row)
    found = m.learn({"n": [3, 0, 4], "group": [0, 0, 1]})["rate"].moments
    np.testing.assert_allclose(found["log(rate)"], digamma([5.0, 6.0]) - np.log([3.0, 2.0]), rtol=1e-13)


def test_a_matrix_has_its_expected_log_determinant() -> None:
    m = pw.Model("precision")
    row, d = m.plate("row"), m.plate("d")
    m.s = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.x = pw.MultivariateNormal(0, precision=m.s, over=d, plates=row)
    x = np.random.default_rng(0).normal(size=(6, 2))
    found = m.learn({"x": x})["s"].moments
    scale = np.linalg.inv(np.eye(2) + x.T @ x)
    slope = (multigammaln(5.5 + 1e-5, 2) - multigammaln(5.5 - 1e-5, 2)) / 2e-5
    (log_det, whole) = found.values()
    assert log_det == pytest.approx(slope + 2 * np.log(2) + np.linalg.slogdet(scale)[1], rel=1e-8)
    np.testing.assert_allclose(whole, 11 * scale, rtol=1e-12)


def test_a_marginal_that_is_no_exponential_family_says_so() -> None:
    m = pw.Model("mean")
    row = m.plate("row")
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, precision=m.tau)
    m.x = pw.Normal(m.mu, precision=m.tau, plates=row)
    fit = m.learn({"x": np.array([0.0, 1.0])})
    with pytest.raises(PlatewrightError, match="StudentT, which is no exponential family"):
        _ = fit["mu"].moments
