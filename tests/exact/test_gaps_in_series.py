"""Series that depend on their own past and have gaps: missing cells are a chain, checked against the whole Gaussian."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw


def autoregression() -> pw.Model:
    m = pw.Model("autoregression with gaps")
    s = m.plate("s")
    t = m.plate("t", within=s, ordered=True)
    m.c = pw.Normal(0.3, sd=1)
    m.y = pw.Normal(m.c + 0.8 * m.lag("y"), sd=0.5, start=0.2, plates=t)
    return m


def whole(lengths: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of all cells, with c integrated out."""
    count = sum(lengths)
    step, shift, start = np.eye(count), np.zeros(count), np.zeros(count)
    place = 0
    for length in lengths:
        start[place] = 0.2
        for t in range(place + 1, place + length):
            step[t, t - 1], shift[t] = -0.8, 1.0
        place += length
    inverse = np.linalg.inv(step)
    mean = inverse @ (start + 0.3 * shift)
    along = inverse @ shift
    return mean, inverse @ (0.25 * np.eye(count)) @ inverse.T + np.outer(along, along)


@pytest.mark.parametrize("gaps", [(1,), (0, 1, 2), (3, 4, 5, 9), (8, 9, 10, 11)])
def test_missing_cells_are_those_of_the_whole_gaussian(gaps: tuple[int, ...]) -> None:
    lengths = [7, 5]
    y = np.random.default_rng(len(gaps)).normal(size=12)
    seen = np.setdiff1d(np.arange(12), gaps)
    mean, covariance = whole(lengths)
    own = covariance[np.ix_(seen, seen)]
    data = {"s": np.repeat([0, 1], lengths), "y": np.where(np.isin(np.arange(12), gaps), np.nan, y)}
    fit = autoregression().learn(data)
    expected = stats.multivariate_normal(mean[seen], own).logpdf(y[seen])
    assert fit.log_evidence == pytest.approx(expected, rel=1e-9)
    gain = covariance[np.ix_(gaps, seen)] @ np.linalg.inv(own)
    found = fit["y.missing"]
    np.testing.assert_allclose(found.mean[list(gaps)], mean[list(gaps)] + gain @ (y[seen] - mean[seen]), rtol=1e-8)
    spread = covariance[np.ix_(gaps, gaps)] - gain @ covariance[np.ix_(seen, gaps)]
    np.testing.assert_allclose(found.sd[list(gaps)] ** 2, np.diag(spread), rtol=1e-8)


def test_a_long_series_takes_time_and_memory_in_proportion_to_its_steps() -> None:
    m = pw.Model("level")
    t = m.plate("t", ordered=True)
    m.z = pw.Normal(0.9 * m.lag("z"), variance=0.3, start=0.0, plates=t)
    m.y = pw.Normal(m.z, variance=0.5, plates=t)
    y = np.random.default_rng(1).normal(size=60_000)  # as one matrix it would be refused: 54 GiB
    fit = m.learn({"y": y})
    mean, variance, total = 0.0, 0.0, 0.0
    for value in y:
        mean, variance = 0.9 * mean, 0.81 * variance + 0.3
        spread = variance + 0.5
        total -= 0.5 * (np.log(2 * np.pi * spread) + (value - mean) ** 2 / spread)
        mean, variance = mean + variance / spread * (value - mean), variance * 0.5 / spread
    assert fit.log_evidence == pytest.approx(total, rel=1e-10)
    assert fit["z"].mean[-1] == pytest.approx(mean, rel=1e-9)
    assert fit["z"].sd[-1] == pytest.approx(np.sqrt(variance), rel=1e-9)
