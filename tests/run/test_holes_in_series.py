"""Missing cells where a variable looks at its own earlier values, or where only slopes lead to the mode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw
from platewright.errors import MissingValue, UnknownName

SEEN = np.array([1.0, np.nan, 0.8, 0.9, np.nan, np.nan, 0.2, np.nan])


def autoregression() -> pw.Model:
    m = pw.Model("autoregression with holes")
    step = m.plate("step", ordered=True)
    m.phi = pw.Uniform(-1, 1)
    m.y = pw.Normal(m.phi * m.lag("y"), sd=1, start=pw.Normal(0, sd=2), plates=step)
    return m


def log_likelihood(phi: np.ndarray) -> np.ndarray:
    """The missing values integrated out by hand: a gap of k steps adds up k powers of phi."""
    found = stats.norm.logpdf(1.0, 0, 2) + stats.norm.logpdf(0.8, phi**2, np.sqrt(1 + phi**2))
    found = found + stats.norm.logpdf(0.9, phi * 0.8, 1)
    return np.asarray(found + stats.norm.logpdf(0.2, phi**3 * 0.9, np.sqrt(1 + phi**2 + phi**4)))


def test_a_series_with_holes_is_drawn_filtered_and_integrated(tmp_path: Path) -> None:
    m, grid = autoregression(), np.linspace(-1, 1, 4001)
    heights = log_likelihood(grid)
    weights = special.softmax(heights)
    fit = m.learn({"y": SEEN})
    assert fit["phi"].mean == pytest.approx(weights @ grid, abs=0.04)
    between = weights @ (grid * (SEEN[0] + SEEN[2]) / (1 + grid**2))
    assert fit.expected("y")[1] == pytest.approx(between, abs=0.08)
    assert m.learn({"y": SEEN}, goal="map")["phi"].value == pytest.approx(grid[heights.argmax()], abs=1e-3)
    evidence = special.logsumexp(heights) - np.log(len(grid))
    assert m.learn({"y": SEEN}, goal="evidence").evidence.value == pytest.approx(evidence, abs=1e-3)
    assert fit.plan.verify().passed
    fit.save(tmp_path / "holes.fit")
    assert pw.load(tmp_path / "holes.fit")["phi"].mean == fit["phi"].mean


def test_counts_that_lean_on_missing_counts() -> None:
    m = pw.Model("counts with holes")
    step = m.plate("step", ordered=True)
    m.a = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.a * (1 + m.lag("y")), start=m.a, plates=step)
    fit = m.learn({"y": np.array([1, np.nan, 3, 2])})
    grid, count = np.linspace(0.005, 6, 1200), np.arange(60)[:, None]
    hidden = stats.poisson.logpmf(count, 2 * grid) + stats.poisson.logpmf(3, grid * (1 + count))
    heights = stats.gamma.logpdf(grid, 2) + stats.poisson.logpmf(1, grid) + stats.poisson.logpmf(2, 4 * grid)
    assert fit["a"].mean == pytest.approx(special.softmax(heights + special.logsumexp(hidden, axis=0)) @ grid, abs=0.06)


def test_a_missing_response_tells_nothing_of_a_mode_without_closed_form() -> None:
    """Statistics over seen cells are named after two columns, `y` and `y.observed`."""
    m = pw.Model("shape")
    row = m.plate("row")
    m.shape = pw.Gamma(2, rate=1)
    m.y = pw.Gamma(m.shape, rate=2.0, plates=row)
    seen = np.array([1.0, 2.0, 0.7])
    whole, holed = (m.learn({"y": y}, goal="map") for y in (seen, np.append(seen, np.nan)))
    assert holed["shape"].value == pytest.approx(float(whole["shape"].value), rel=1e-6)


def test_a_missing_vector_of_counts_is_refused_in_words() -> None:
    m = pw.Model("votes")
    row, k = m.plate("row"), m.plate("k", 3)
    m.p = pw.Dirichlet(1.0, over=k)
    m.y = pw.Multinomial(5, m.p, over=k, plates=row)
    with pytest.raises(MissingValue, match="`y` has missing cells: y is a vector of counts"):
        m.learn({"y": np.array([[1, 2, 2], [np.nan] * 3, [3, 1, 1]])})


def test_a_summary_shows_missing_cells_where_they_are_missing() -> None:
    m = pw.Model("covariate with a hole")
    row = m.plate("row")
    m.x = pw.Normal(0, sd=1, plates=row)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Bernoulli(logit=m.b * m.x, plates=row)
    fit = m.learn({"x": [0.2, np.nan, -1.2, 0.4], "y": [1, 1, 0, 0]}, draws=50, chains=2)
    shown = [row.name for row in fit.summary().rows]
    assert [name for name in shown if name.startswith("x.missing")] == ["x.missing[1]"]
    with pytest.raises(UnknownName, match=r"`x` is known in part(?s:.*)fit\.expected\(\"x\"\)"):
        fit["x"]
