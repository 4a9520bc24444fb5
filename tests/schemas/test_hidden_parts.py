"""The objective of EM where hidden parts are several: written out by hand, at the estimate that was found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw

Y = np.array([0.3, 2.2, -0.5, 1.8, 2.9, 0.1, 3.1, -1.0, 0.6, 2.4])
W = np.array([1, 0, 1, 1, 0, 0, 1, 1, 1, 0])


def chain_model(names: str) -> pw.Model:
    """Hidden chains on the same steps that do not meet, each with a column of its own."""
    m = pw.Model("chains")
    t, k = m.plate("t", ordered=True), m.plate("k", 2)
    before = m.plate("before", like=k)
    for name in names:
        setattr(m, f"move_{name}", pw.Dirichlet(1.5, over=k, plates=before))
        move = getattr(m, f"move_{name}")
        start = pw.array([0.3, 0.7], over=k)
        setattr(m, f"z_{name}", pw.Categorical(move[m.lag(f"z_{name}")], start=start, plates=t))
        z = getattr(m, f"z_{name}")
        if name == "a":
            m.mu = pw.Normal(0, sd=3, plates=k)
            m.y_a = pw.Normal(m.mu[z], sd=0.7, plates=t)
        else:
            m.q = pw.Beta(1.5, 2.0, plates=k)
            m.y_b = pw.Bernoulli(m.q[z], plates=t)
    return m


def mode(m: pw.Model, data: dict[str, Any], **options: Any) -> Any:
    return m.learn(data, goal="map", by="em", seed=1, restarts=6, tolerance=1e-12, iterations=3000, **options)


def test_chains_that_do_not_meet_are_learned_as_if_apart() -> None:
    both = mode(chain_model("ab"), {"y_a": Y, "y_b": W})
    apart = [mode(chain_model("a"), {"y_a": Y}), mode(chain_model("b"), {"y_b": W})]
    assert both.log_joint == pytest.approx(sum(fit.log_joint for fit in apart), abs=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_rows_with_weights_of_their_own_are_not_taken_together(backend: str) -> None:
    """`y = b + a z + noise / sqrt(w)`: given b, a and v it is normal with variance a^2 + v / w."""
    m = pw.Model("weights")
    n = m.plate("n")
    m.w = pw.Input(plates=n)
    m.a, m.b = pw.Normal(0, sd=2), pw.Normal(0, sd=2)
    m.v = pw.InverseGamma(3.0, scale=1.0)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.y = pw.Normal(m.b + m.a * m.z, variance=m.v / m.w, plates=n)
    y, w = np.tile(Y, 12), np.repeat([0.25, 1.0, 9.0, 30.0], 30)
    fit = mode(m, {"y": y, "w": w}, backend=backend)
    a, b, v = (float(fit.estimate.values[name]) for name in "abv")
    wanted = stats.norm.logpdf(y, b, np.sqrt(a**2 + v / w)).sum()
    wanted += stats.norm.logpdf([a, b], 0, 2).sum() + stats.invgamma.logpdf(v, 3.0)
    assert fit.log_joint == pytest.approx(wanted, abs=1e-6)


def test_a_hidden_number_may_look_at_two_hidden_classes() -> None:
    m = pw.Model("two classes")
    n, k, j = m.plate("n"), m.plate("k", 2), m.plate("j", 2)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.z = pw.Categorical(pw.array([0.3, 0.7], over=k), plates=n)
    m.u = pw.Categorical(pw.array([0.6, 0.4], over=j), plates=n)
    m.x = pw.Normal(m.mu[m.z] + pw.array([0.0, 1.5], over=j)[m.u], sd=0.5, plates=n)
    m.y = pw.Normal(m.x, sd=0.4, plates=n)
    fit = mode(m, {"y": Y})
    mu = np.asarray(fit.estimate.values["mu"], dtype=float)
    centres = mu[:, None] + np.array([0.0, 1.5])
    logs = stats.norm.logpdf(Y[:, None, None], centres, np.hypot(0.5, 0.4))
    wanted = special.logsumexp(logs, b=np.outer([0.3, 0.7], [0.6, 0.4]), axis=(1, 2)).sum()
    assert fit.log_joint == pytest.approx(wanted + stats.norm.logpdf(mu, 0, 2).sum(), abs=1e-6)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_known_effect_of_groups_counts_by_its_prior_though_no_statistic_holds_its_plate(backend: str) -> None:
    m = pw.Model("known effects")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.rate = pw.LogNormal(0.2, sd=1.5)
    m.y = pw.Poisson(m.rate, plates=n)
    m.a = pw.Uniform(-2.0, 3.0, plates=g)
    data = {"y": np.array([1, 1, 2]), "a": np.array([-0.97, -0.02]), "g": np.array([0, 1, 0])}
    fit = mode(m, data, backend=backend)
    rate = float(fit.estimate.values["rate"])
    wanted = stats.poisson.logpmf(data["y"], rate).sum() + stats.lognorm.logpdf(rate, 1.5, scale=np.exp(0.2))
    assert fit.log_joint == pytest.approx(wanted - 2 * np.log(5.0), abs=1e-9)
