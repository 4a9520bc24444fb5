"""Censored and truncated data: latent values between their bounds, against the integral over them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.family import Array
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.schemas.gibbs import BoundedBlock


def survival(family: str) -> pw.Model:
    """Times of which some are known only to lie beyond the end of the study."""
    m = pw.Model(f"censored {family}")
    n = m.plate("n")
    m.end = pw.Input(plates=n)
    if family == "normal":
        m.tau = pw.Gamma(2, rate=1)
        m.mu = pw.Normal(0, sd=5)
        m.t = pw.Censored(pw.Normal(m.mu, precision=m.tau, plates=n), lower=m.end)
    else:
        m.rate = pw.Gamma(2, rate=2)
        m.t = pw.Censored(pw.Weibull(1.7, rate=m.rate, plates=n), lower=m.end)
    return m


def times(seed: int, low: float) -> tuple[Array, Array]:
    full = np.random.default_rng(seed).normal(2, 0.7, 25) ** 2 / 2
    seen = full < 2.3
    return np.where(seen, full, np.nan), np.where(seen, low, 2.3)


def test_censored_normals_give_the_posterior_of_the_integral() -> None:
    t, end = times(0, -100.0)
    fit = survival("normal").learn({"t": t, "end": end}, chains=2, draws=500, warm_up=50, seed=1)
    assert "{t.missing} exact within bounds" in fit.how
    mu, tau = np.linspace(0, 5, 201)[:, None], np.linspace(0.02, 5, 250)[None]
    logs = stats.norm.logpdf(mu, 0, 5) + stats.gamma.logpdf(tau, 2)
    for value, low in zip(t, end, strict=True):
        sd = tau**-0.5
        logs = logs + (stats.norm.logpdf(value, mu, sd) if np.isfinite(value) else stats.norm.logsf(low, mu, sd))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for name, grid in (("mu", mu), ("tau", tau)):
        mean = float((weights * grid).sum())
        sd = float(np.sqrt((weights * grid**2).sum() - mean**2))
        assert abs(float(fit[name].mean) - mean) < 0.25 * sd, name
        assert float(fit[name].sd) == pytest.approx(sd, rel=0.15), name


def test_censored_waiting_times_give_the_posterior_of_the_integral() -> None:
    """For a known shape the rate is Gamma with the sum of t^shape over all, censored or not."""
    t, end = times(1, 0.0)
    fit = survival("weibull").learn({"t": t, "end": end}, chains=2, draws=500, warm_up=50, seed=1)
    reached = np.where(np.isfinite(t), t, end)
    exact = stats.gamma(2 + np.isfinite(t).sum(), scale=1 / (2 + (reached**1.7).sum()))
    assert abs(float(fit["rate"].mean) - exact.mean()) < 0.25 * exact.std()
    assert float(fit["rate"].sd) == pytest.approx(exact.std(), rel=0.15)


def test_every_draw_lies_between_its_bounds() -> None:
    t, end = times(2, -100.0)
    fit = survival("normal").learn({"t": t, "end": end}, chains=1, draws=50, warm_up=10)
    hidden = fit.chains["t.missing"][0][:, np.isnan(t)]
    assert (hidden >= 2.3).all()


def test_a_bounded_value_with_children_is_drawn_exactly_too() -> None:
    m = pw.Model("truncated cause")
    m.x = pw.Truncated(pw.Normal(0, sd=1), lower=-0.5, upper=0.8)
    m.y = pw.Normal(m.x, sd=0.5)
    fit = m.learn({"y": 1.4}, by="gibbs", chains=1, draws=1500, warm_up=1)
    assert "{x} exact within bounds" in fit.how
    mean, sd = 1.4 * 4 / 5, 5**-0.5
    exact = stats.truncnorm((-0.5 - mean) / sd, (0.8 - mean) / sd, loc=mean, scale=sd)
    assert stats.kstest(fit["x"].values, exact.cdf).pvalue > 1e-5


def far_tail() -> pw.Model:
    m = pw.Model("far beyond")
    n = m.plate("n")
    m.end = pw.Input(plates=n)
    m.rate = pw.Gamma(200, rate=100)
    m.t = pw.Censored(pw.Exponential(rate=m.rate, plates=n), lower=m.end)
    return m


def test_where_inversion_loses_its_digits_a_slice_keeps_the_tail() -> None:
    """Beyond 60 an Exponential(2) has lost all digits of F: t - 60 is again Exponential."""
    fit = far_tail().learn({"t": [np.nan, 0.5], "end": [60.0, 0.0]}, chains=1, draws=800, warm_up=20)
    beyond = fit.chains["t.missing"][0][:, 0] - 60
    assert (beyond >= 0).all()
    # the rate is Gamma(201, 160.5), of which E 1/rate = 160.5 / 200; five standard errors of 800 correlated draws
    assert float(beyond.mean()) == pytest.approx(160.5 / 200, rel=0.25)


def test_the_plan_names_the_bounds_and_what_is_inverted() -> None:
    m = survival("normal")
    plan = m.derive(("mu", "tau"), by="gibbs")
    block = plan.plan.blocks[0]
    assert isinstance(block, BoundedBlock)
    assert "between its bounds (below end[n]; above none) by inverting Normal" in plan.explain()
    values = {"t": np.ones(2), "end": np.array([1.0, -3.0]), "mu": np.array(0.0), "tau": np.array(1.0)}
    moved = Moved(sampler_at(plan.plan, values, {"n": 2}), 0)
    lower, upper = moved.mover.bounds(moved.everything({}))
    assert lower.tolist() == [1.0, -3.0] and np.isinf(upper).all()
