"""A hidden class above an undirected component: the normaliser of the component tells of it, in every schema."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw

A = np.array([1, 0, 1, 1, 0])
Y = np.array([1.0, 0.2, 2.0, 1.5, -0.3])


def under_a_cause() -> pw.Model:
    m = pw.Model("under a cause")
    row = m.plate("row")
    m.p = pw.Beta(2, 2)
    m.mu = pw.Normal(0, sd=2)
    m.cause = pw.Bernoulli(m.p, plates=row)
    m.a = pw.Undirected(levels=2, plates=row)
    m.b = pw.Undirected(levels=2, plates=row)
    m.potential("tie", m.a * m.b * (1 + m.cause) - 0.5 * m.a)
    m.y = pw.Normal(m.mu * m.b, sd=1, plates=row)
    return m


def log_joint(p: np.ndarray | float, mu: np.ndarray | float) -> np.ndarray:
    """With the cause and b summed out, row by row."""
    p, mu = np.asarray(p, dtype=float), np.asarray(mu, dtype=float)
    found = stats.beta(2, 2).logpdf(p) + stats.norm(0, 2).logpdf(mu)
    for a, y in zip(A, Y, strict=True):
        logs = []
        for cause in (0, 1):
            height = np.array([[x * b * (1 + cause) - 0.5 * x for b in (0, 1)] for x in (0, 1)])
            of_cause = np.log(p if cause else 1 - p) - special.logsumexp(height)
            logs += [of_cause + height[a, b] + stats.norm(mu * b, 1).logpdf(y) for b in (0, 1)]
        found = found + special.logsumexp(np.array(np.broadcast_arrays(*logs)), axis=0)
    return np.asarray(found)


def test_em_climbs_to_a_mode_of_the_normalised_joint() -> None:
    fit = under_a_cause().learn({"a": A, "y": Y}, goal="map")
    p, mu = float(fit["p"].value), float(fit["mu"].value)
    assert fit.log_joint == pytest.approx(log_joint(p, mu), abs=1e-9)
    steps = np.array([-1e-3, 0.0, 1e-3])
    assert log_joint(p, mu) >= log_joint(p + steps[:, None], mu + steps).max() - 1e-12


def test_the_bound_of_mean_field_lies_below_the_evidence() -> None:
    fit = under_a_cause().learn({"a": A, "y": Y}, by="mean-field")
    chances, means = (np.arange(200) + 0.5) / 200, np.linspace(-5, 7, 241)
    evidence = (
        special.logsumexp(log_joint(chances[:, None], means)) + np.log(means[1] - means[0]) - np.log(len(chances))
    )
    assert evidence - 1.5 < fit.lower_bound < evidence


def test_probabilities_of_the_cause_are_those_of_the_normalised_joint() -> None:
    fit = under_a_cause().learn({"a": A, "y": Y}, goal="map")
    p, mu = float(fit["p"].value), float(fit["mu"].value)
    weights = []
    for cause in (0, 1):
        height = np.array([[x * b * (1 + cause) - 0.5 * x for b in (0, 1)] for x in (0, 1)])
        seen = np.exp(height[A[0]]) @ stats.norm(mu * np.arange(2), 1).pdf(Y[0])
        weights.append((p if cause else 1 - p) * seen / np.exp(height).sum())
    np.testing.assert_allclose(fit.probabilities("cause")[0], np.array(weights) / sum(weights), atol=1e-9)
