"""Counts of finitely many values are summed over, wherever these begin: probabilities, evidence, mode by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw
from platewright.language.distribution import Distribution

SEEN = np.array([2, 4])

LISTED: dict[str, tuple[Callable[[], Distribution], np.ndarray]] = {
    "binomial": (lambda: pw.Binomial(5, 0.4), stats.binom.pmf(np.arange(6), 5, 0.4)),
    "binomial without nought": (
        lambda: pw.Truncated(pw.Binomial(5, 0.4), lower=1),
        stats.binom.pmf(np.arange(6), 5, 0.4) * (np.arange(6) >= 1),
    ),
    "poisson between two and five": (
        lambda: pw.Truncated(pw.Poisson(3.0), lower=2, upper=5),
        stats.poisson.pmf(np.arange(6), 3.0) * (np.arange(6) >= 2),
    ),
    "at most five trials": (
        lambda: pw.Truncated(pw.Geometric(0.3), upper=5),
        np.append(0.0, stats.geom.pmf(np.arange(1, 6), 0.3)),
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_one_count_is_summed_over_its_own_values(name: str) -> None:
    made, prior = LISTED[name]
    m = pw.Model("count")
    row = m.plate("row")
    m.k = made()
    m.y = pw.Poisson(m.k + 0.5, plates=row)
    joint = prior / prior.sum() * np.prod(stats.poisson.pmf(SEEN[:, None], np.arange(6) + 0.5), axis=0)
    fit = m.learn({"y": SEEN}, by="exact")
    assert fit.log_evidence == pytest.approx(np.log(joint.sum()), abs=1e-12)
    np.testing.assert_allclose(fit.probabilities("k"), joint / joint.sum(), atol=1e-12)
    mean, spread = fit["k"].mean, fit["k"].mcse
    assert abs(mean - (np.arange(6) * joint).sum() / joint.sum()) < 5 * spread
    assert m.learn({"y": SEEN}, goal="map")["k"].value == joint.argmax()


@pytest.mark.parametrize("name", LISTED)
def test_hidden_counts_on_rows_are_summed_over_their_own_values(name: str) -> None:
    made, prior = LISTED[name]
    m = pw.Model("counts")
    row = m.plate("row")
    m.rate = pw.Gamma(2, rate=2)
    m.k = replace(made(), plates=(row,))
    m.y = pw.Poisson(m.rate * (m.k + 0.5), plates=row)

    def log_joint(rate: float) -> float:
        rows = (prior / prior.sum()) @ stats.poisson.pmf(SEEN, rate * (np.arange(6)[:, None] + 0.5))
        return float(stats.gamma(2, scale=0.5).logpdf(rate) + np.log(rows).sum())

    best = m.learn({"y": SEEN}, goal="map")
    at = float(best["rate"].value)
    assert best.log_joint == pytest.approx(log_joint(at), abs=1e-9)
    assert log_joint(at) >= max(log_joint(at * 0.999), log_joint(at * 1.001))
    grid = np.linspace(1e-3, 12, 4001)
    heights = np.array([log_joint(rate) for rate in grid])
    evidence = special.logsumexp(heights) + np.log(grid[1] - grid[0])
    found = m.learn({"y": SEEN}, goal="evidence", by="enumeration").evidence.value
    assert found == pytest.approx(evidence, abs=1e-5)
    bound = m.learn({"y": SEEN}, by="mean-field")
    assert evidence - 1.0 < bound.lower_bound < evidence


def test_a_parameter_of_a_truncated_hidden_count_reaches_its_mode() -> None:
    """The bound of a hidden count is minus infinity where its probability is nought: no step along the slope was seen
    to rise, and EM stood where it began."""
    m = pw.Model("chance of a truncated count")
    row = m.plate("row")
    m.q = pw.Beta(2, 2)
    m.k = pw.Truncated(pw.Binomial(5, m.q), lower=1, plates=row)
    m.y = pw.Poisson(m.k * 1.0, plates=row)
    seen, k = np.array([2, 4, 0, 1]), np.arange(1, 6)

    def log_joint(q: float) -> float:
        prior = stats.binom.pmf(k, 5, q) / (1 - (1 - q) ** 5)
        return float(stats.beta(2, 2).logpdf(q) + np.log(prior @ stats.poisson.pmf(seen, k[:, None])).sum())

    best = m.learn({"y": seen}, goal="map")
    q = float(best["q"].value)
    assert best.log_joint == pytest.approx(log_joint(q), abs=1e-9)
    assert log_joint(q) >= max(log_joint(q - 1e-3), log_joint(q + 1e-3))


def test_impossible_assignments_weigh_nothing() -> None:
    """More successes than trials: the Beta of such an assignment has a negative parameter, and no normaliser."""
    m = pw.Model("trials unknown")
    row = m.plate("row")
    m.k = pw.Binomial(5, 0.3, plates=row)
    m.s = pw.Beta(2, 2)
    m.y = pw.Binomial(m.k, m.s, plates=row)
    seen = np.array([2, 4, 0])

    def density(s: float) -> float:
        counts = np.arange(6)[:, None]
        rows = stats.binom.pmf(np.arange(6), 5, 0.3) @ stats.binom.pmf(seen, counts, s)
        return float(stats.beta.pdf(s, 2, 2) * rows.prod())

    grid = (np.arange(4000) + 0.5) / 4000
    evidence = np.log(np.mean([density(s) for s in grid]))
    fit = m.learn({"y": seen}, goal="evidence")
    assert fit.evidence.method == "enumeration"
    assert fit.evidence.value == pytest.approx(evidence, abs=1e-6)
    assert m.learn({"y": seen}, by="mean-field").lower_bound < evidence
