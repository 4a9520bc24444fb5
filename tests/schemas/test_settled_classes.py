"""Where a column settles every hidden class, nothing is approximate: the bound is the evidence of known classes.

    log p(y, w) = log p(y, z) + log p(w | z)          z the classes that w allows

Expected factors under every kind of block enter the bound: scales of their own, shared ones, matrices, none. Classes
that no column settles are weighed by expected log densities, which draws of the parameters give too.
"""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw

Z = np.array([0, 1, 1, 0, 1, 0, 0, 1])
RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=8), np.round(RNG.normal(size=8) + 2 * Z, 2)
ROWS = np.round(RNG.normal(size=(8, 2)) + Z[:, None], 2)
SURE = 1e-12


def model(kind: str) -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model(kind)
    n, k = m.plate("n"), m.plate("k", 2)
    m.z = pw.Categorical(pw.array([0.4, 0.6], over=k), plates=n)
    m.w = pw.Bernoulli(pw.array([SURE, 1 - SURE], over=k)[m.z], plates=n)
    data: dict[str, np.ndarray] = {"w": Z, "y": Y}
    if kind in ("own scales", "shared scale", "line"):
        m.tau = pw.Gamma(2.0, rate=1.5, plates=() if kind == "shared scale" else k)
        tau = m.tau if kind == "shared scale" else m.tau[m.z]
        m.mu = pw.Normal(0.5, precision=0.3 * m.tau, plates=k)
        mean = m.mu[m.z]
        if kind == "line":
            m.x = pw.Input(plates=n)
            m.b = pw.Normal(0.0, precision=0.8 * m.tau, plates=k)
            mean = mean + m.b[m.z] * m.x
            data["x"] = X
        m.y = pw.Normal(mean, precision=tau, plates=n)
    elif kind == "known scale":
        m.mu = pw.Normal(0.5, sd=2.0, plates=k)
        m.y = pw.Normal(m.mu[m.z], sd=0.8, plates=n)
    elif kind == "rates":
        m.rate = pw.Gamma(2.0, rate=0.5, plates=k)
        m.y = pw.Poisson(m.rate[m.z], plates=n)
        data["y"] = np.abs(np.rint(Y)).astype(int)
    else:
        d = m.plate("d", 2)
        scale = pw.array([[0.5, 0.1], [0.1, 0.4]], over=(d, m.plate("e", like=d)))
        m.precision = pw.Wishart(4.0, scale=scale, over=d, plates=k)
        if kind == "matrices":
            m.mu = pw.MultivariateNormal(pw.array([0.2, -0.1], over=d), precision=0.5 * m.precision, over=d, plates=k)
            m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.precision[m.z], over=d, plates=n)
        else:
            m.y = pw.MultivariateNormal(pw.array([0.2, -0.1], over=d), precision=m.precision[m.z], over=d, plates=n)
        data["y"] = ROWS
    return m, data


KINDS = ("own scales", "shared scale", "line", "known scale", "rates", "matrices", "matrices about a known mean")


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_the_evidence_where_a_column_settles_the_classes(kind: str) -> None:
    m, data = model(kind)
    known = m.learn({**data, "z": Z}, by="exact").log_evidence
    bound = m.learn(data, by="mean-field", tolerance=1e-12).evidence.value
    assert bound == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize("kind", ["own scales", "shared scale", "known scale", "line"])
def test_open_classes_are_weighed_by_expected_log_densities(kind: str) -> None:
    m, data = model(kind)
    del data["w"]
    fit = m.learn(data, by="mean-field", tolerance=1e-13, iterations=3000, restarts=1)
    drawn = {name: np.asarray(values) for name, values in fit.draws(40_000, seed=2).items()}
    mean = drawn["mu"][:, None, :] + (drawn["b"][:, None, :] * X[:, None] if kind == "line" else 0.0)
    tau = drawn["tau"].reshape(len(mean), 1, -1) if "tau" in drawn else np.array(0.8**-2)
    logs = (0.5 * np.log(tau) - 0.5 * tau * (Y[:, None] - mean) ** 2).mean(axis=0)
    wanted = np.array([0.4, 0.6]) * np.exp(logs - logs.max(axis=1, keepdims=True))
    wanted /= wanted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fit.probabilities("z"), wanted, atol=0.01)
    assert wanted.min(axis=1).max() > 0.02  # some class is open
