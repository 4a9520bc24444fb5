"""Linear Gaussian and conditional Gaussian networks against the joint covariance written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from platewright import Bernoulli, Categorical, Gamma, Normal, Undirected, array, exp, logistic
from platewright.errors import NotSolvable, SizeError
from platewright.inference.infer import infer
from platewright.language.model import Model


def chain() -> Model:
    """a -> b -> c, and a -> c."""
    m = Model("chain")
    m.a = Normal(1.0, sd=2.0)
    m.b = Normal(0.5 * m.a - 1, sd=0.1)
    m.c = Normal(3 * m.b + m.a, sd=1.0)
    return m


def chain_moments() -> tuple[np.ndarray, np.ndarray]:
    weights = np.array([[0, 0, 0], [0.5, 0, 0], [1, 3, 0]])
    offset, noise = np.array([1, -1, 0.0]), np.diag([4, 0.01, 1.0])
    total = np.linalg.inv(np.eye(3) - weights)
    return total @ offset, total @ noise @ total.T


def test_a_gaussian_network_without_evidence_has_its_prior_moments() -> None:
    mean, covariance = chain_moments()
    found = infer(chain())
    joint = found.joint(["a", "b", "c"])
    np.testing.assert_allclose(joint.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(joint.covariance, covariance, rtol=1e-12)
    assert np.isclose(found["c"].sd, np.sqrt(covariance[2, 2]))
    assert found.log_evidence == 0.0


def test_gaussian_evidence_conditions_the_others() -> None:
    mean, covariance = chain_moments()
    found = infer(chain(), {"c": 2.5})
    gain = covariance[:2, 2] / covariance[2, 2]
    joint = found.joint(["b", "a"])
    np.testing.assert_allclose(joint.mean, (mean[:2] + gain * (2.5 - mean[2]))[::-1], rtol=1e-12)
    wanted = covariance[:2, :2] - np.outer(gain, covariance[2, :2])
    np.testing.assert_allclose(joint.covariance, wanted[::-1, ::-1], rtol=1e-9)
    assert np.isclose(found.log_evidence, norm.logpdf(2.5, mean[2], np.sqrt(covariance[2, 2])))
    best = found.most_probable()
    np.testing.assert_allclose([best["b"], best["a"]], joint.mean)
    assert np.isclose(best.log_probability, multivariate_normal(joint.mean, joint.covariance).logpdf(joint.mean))


def mixed() -> Model:
    """s -> z -> x -> y <- z, and a switch t on the noise of y."""
    m = Model("mixed")
    kind = m.plate("kind", labels=("low", "mid", "high"))
    m.s = Bernoulli(0.3)
    m.z = Categorical(array([[0.2, 0.5, 0.3], [0.6, 0.0, 0.4]], over=(m.plate("two", 2), kind))[m.s], over=kind)
    m.t = Bernoulli(0.4)
    m.x = Normal(array([-2.0, 0.0, 3.0], over=kind)[m.z], sd=1.5)
    m.y = Normal(array([1.0, -1.0, 0.5], over=kind)[m.z] * m.x + m.t, sd=0.5 + m.t)
    return m


def mixed_states() -> list[tuple[tuple[int, int, int], float, np.ndarray, np.ndarray]]:
    """Every combination of levels with its probability and the moments of (x, y)."""
    result = []
    rows = [[0.2, 0.5, 0.3], [0.6, 0.0, 0.4]]
    for s in range(2):
        for z in range(3):
            for t in range(2):
                p = (0.3 if s else 0.7) * rows[s][z] * (0.4 if t else 0.6)
                mu, slope, sd = [-2.0, 0.0, 3.0][z], [1.0, -1.0, 0.5][z], 0.5 + t
                mean = np.array([mu, slope * mu + t])
                covariance = np.array([[2.25, slope * 2.25], [slope * 2.25, slope**2 * 2.25 + sd**2]])
                result.append(((s, z, t), p, mean, covariance))
    return result


def test_a_conditional_gaussian_network_without_evidence_is_a_mixture() -> None:
    found = infer(mixed())
    states = mixed_states()
    mean = sum(p * m for _, p, m, _ in states)
    second = sum(p * (c + np.outer(m, m)) for _, p, m, c in states)
    joint = found.joint(["x", "y"])
    np.testing.assert_allclose(joint.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(joint.covariance, second - np.outer(mean, mean), rtol=1e-10)
    assert np.isclose(found["z"]["mid"], 0.35)
    assert np.isclose(found.log_evidence, 0.0)


def test_real_evidence_weighs_the_levels() -> None:
    found = infer(mixed(), {"y": 0.7})
    states = mixed_states()
    weights = np.array([p * norm.pdf(0.7, m[1], np.sqrt(c[1, 1])) for _, p, m, c in states])
    assert np.isclose(found.log_evidence, np.log(weights.sum()))
    share = weights / weights.sum()
    for level, label in enumerate(("low", "mid", "high")):
        assert np.isclose(found["z"][label], sum(w for (k, *_), w in zip(states, share) if k[1] == level))
    given = np.array([m[0] + c[0, 1] / c[1, 1] * (0.7 - m[1]) for _, _, m, c in states])
    spread = np.array([c[0, 0] - c[0, 1] ** 2 / c[1, 1] for *_, c in states])
    assert np.isclose(found["x"].mean, share @ given)
    assert np.isclose(found["x"].variance, share @ (spread + given**2) - (share @ given) ** 2)
    draws = found.draws(40_000, seed=5)
    assert abs(draws["x"].mean() - found["x"].mean) < 5 * found["x"].sd / 200
    assert abs((draws["z"] == "high").mean() - found["z"]["high"]) < 0.015
    best = found.most_probable()
    peaks = {k: np.log(w) - 0.5 * np.log(2 * np.pi * v) for (k, *_), w, v in zip(states, share, spread) if w > 0}
    assert np.isclose(best.log_probability, max(peaks.values()))


def test_a_discrete_child_of_a_real_variable_is_declined() -> None:
    m = Model("logit")
    m.x = Normal(0.0, sd=1.0)
    m.y = Bernoulli(logistic(m.x))
    with pytest.raises(NotSolvable, match="`y` is discrete and depends on the unknown real variable `x`"):
        infer(m)
    assert np.isclose(infer(m, {"x": 0.3})["y"][1], 1 / (1 + np.exp(-0.3)))


def test_a_mean_that_is_not_linear_is_declined() -> None:
    m = Model("bent")
    m.x = Normal(0.0, sd=1.0)
    m.y = Normal(exp(m.x), sd=1.0)
    with pytest.raises(NotSolvable, match="not linear"):
        infer(m)


def test_an_unknown_that_is_neither_finite_nor_gaussian_is_declined() -> None:
    m = Model("rate")
    m.r = Gamma(2.0, rate=1.0)
    m.x = Normal(0.0, precision=m.r)
    with pytest.raises(NotSolvable, match="`r` is Gamma"):
        infer(m, {"x": 1.0})


def test_real_undirected_variables_are_declined() -> None:
    m = Model("field")
    m.u = Undirected()
    m.potential("tie", -(m.u**2))
    with pytest.raises(NotSolvable, match="`u` is undirected and real"):
        infer(m)


def test_too_many_combinations_of_levels_are_refused() -> None:
    m = Model("many")
    total: object = 0.0
    for at in range(20):
        setattr(m, f"b{at}", Bernoulli(0.5))
        total = total + getattr(m, f"b{at}")
    m.x = Normal(total, sd=1.0)
    with pytest.raises(SizeError, match="20 discrete ones"):
        infer(m, most_bytes=1 << 20)["x"]
