"""Mean field in blocks and plain mean updates, by hand: quadrature, perturbation, refusals, files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize
from scipy.special import digamma, gammaln, logsumexp

import platewright as pw
from platewright.errors import NotSolvable, ParameterError, PlatewrightError
from platewright.family import Array

Y = np.array([1.3, 0.2, 2.4, 1.9])


def semi_conjugate() -> pw.Model:
    m = pw.Model("mean apart from precision")
    n = m.plate("n")
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(1, sd=2)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    return m


def log_joint(mu: Array, tau: Array) -> Array:
    prior = 3 * np.log(2) - gammaln(3) + 2 * np.log(tau) - 2 * tau - 0.5 * np.log(2 * np.pi * 4) - (mu - 1) ** 2 / 8
    squares = sum((value - mu) ** 2 for value in Y)
    return prior + 0.5 * len(Y) * np.log(tau / (2 * np.pi)) - 0.5 * tau * squares


def bound(mean: float, sd: float, shape: float, rate: float) -> float:
    """The bound of any Normal q(mu) and Gamma q(tau), in closed form."""
    expected, log_expected = shape / rate, digamma(shape) - np.log(rate)
    squares = np.sum((Y - mean) ** 2) + len(Y) * sd**2
    joint = 3 * np.log(2) - gammaln(3) + 2 * log_expected - 2 * expected
    joint += -0.5 * np.log(2 * np.pi * 4) - ((mean - 1) ** 2 + sd**2) / 8
    joint += 0.5 * len(Y) * (log_expected - np.log(2 * np.pi)) - 0.5 * expected * squares
    entropy = 0.5 * np.log(2 * np.pi * np.e * sd**2)
    entropy += shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape)
    return float(joint + entropy)


def test_the_bound_is_that_of_brute_force_and_below_the_evidence() -> None:
    fit = semi_conjugate().learn({"y": Y}, by="mean-field", tolerance=1e-14)
    mu, tau = fit["mu"], fit["tau"]
    at = [float(mu.mean), float(mu.sd), float(tau.parameters["shape"]), float(tau.parameters["rate"])]
    assert fit.lower_bound == pytest.approx(bound(*at), abs=1e-10)
    best = optimize.minimize(lambda x: -bound(x[0], *np.exp(x[1:])), [0.0, 0.0, 1.0, 1.0], tol=1e-12)
    assert fit.lower_bound == pytest.approx(-best.fun, abs=1e-8)
    for place in range(4):
        for change in (0.98, 1.02):
            moved = [value * change if k == place else value for k, value in enumerate(at)]
            assert bound(*moved) < fit.lower_bound
    grid, logs = np.linspace(-9, 11, 1201), np.linspace(-9, 4, 1201)
    cells = log_joint(grid[:, None], np.exp(logs)) + logs
    evidence = logsumexp(cells) + np.log((grid[1] - grid[0]) * (logs[1] - logs[0]))
    assert fit.lower_bound < evidence < fit.lower_bound + 0.2


def test_plain_means_are_a_fixed_point_and_have_no_bound() -> None:
    fit = semi_conjugate().learn({"y": Y}, by="mean-field", update="plain")
    mu, tau = float(fit["mu"].mean), float(fit["tau"].mean)
    assert "plain mean updates (Equation 26)" in fit.how and "no bound" in fit.how and "converged" in fit.how
    assert mu == pytest.approx((0.25 + tau * Y.sum()) / (0.25 + len(Y) * tau), rel=1e-9)
    assert tau == pytest.approx((3 + len(Y) / 2) / (2 + 0.5 * np.sum((Y - mu) ** 2)), rel=1e-9)
    with pytest.raises(PlatewrightError, match="no lower bound"):
        fit.lower_bound  # noqa: B018
    assert "no bound" in str(fit.summary())
    honest = semi_conjugate().learn({"y": Y}, by="mean-field")
    assert tau != pytest.approx(float(honest["tau"].mean), rel=1e-4)


def test_plain_means_of_a_mixture_are_a_fixed_point_too() -> None:
    m = pw.Model("rates of two kinds")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2, over=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    y = np.random.default_rng(0).poisson(np.where(np.arange(60) < 30, 2.0, 9.0))
    fit = m.learn({"y": y}, by="mean-field", update="plain")
    p, rate = np.asarray(fit["p"].mean), np.asarray(fit["rate"].mean)
    logs = np.log(p) + y[:, None] * np.log(rate) - rate
    share = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    assert p == pytest.approx((share.sum(axis=0) + 2) / (len(y) + 4), abs=1e-8)
    assert rate == pytest.approx((2 + share.T @ y) / (1 + share.sum(axis=0)), abs=1e-7)


def test_a_parameter_without_a_family_is_declined_by_name() -> None:
    m = pw.Model("logistic")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a = pw.Normal(0, sd=1)
    m.y = pw.Bernoulli(pw.logistic(m.a * m.x), plates=n)
    with pytest.raises(NotSolvable, match="a alone, given the rest"):
        m.derive(["y"], by="mean-field")


def test_an_exact_posterior_is_left_to_exact() -> None:
    m = pw.Model("conjugate")
    n = m.plate("n")
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.rate, plates=n)
    with pytest.raises(NotSolvable, match="exact posterior together"):
        m.derive(["y"], by="mean-field")


def test_an_unknown_update_is_refused() -> None:
    with pytest.raises(ParameterError, match="plain"):
        semi_conjugate().learn({"y": Y}, by="mean-field", update="fancy")


@pytest.mark.parametrize("update", ["bound", "plain"])
def test_a_fit_in_blocks_is_saved_and_read(update: str, tmp_path: Path) -> None:
    fit = semi_conjugate().learn({"y": Y}, by="mean-field", update=update)
    fit.save(tmp_path / "fit.pw")
    again = pw.load(tmp_path / "fit.pw")
    assert again.how == fit.how
    for name in ("mu", "tau"):
        assert np.asarray(again[name].mean) == np.asarray(fit[name].mean)


def test_the_derivation_of_blocks_is_told() -> None:
    derived = semi_conjugate().derive(["y"], by="mean-field")
    assert derived.how == "mean-field: q(mu) q(tau) in turn, each exact given moments of the others"
    assert "blocks of parameters in turn" in derived.explain()
    assert derived.verify().passed
    assert derived.source()
