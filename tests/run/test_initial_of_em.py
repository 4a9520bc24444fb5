"""EM starts from the values it is given: of a curve with many peaks, that of the start is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from platewright.errors import PlatewrightError

X = np.linspace(0.0, 3.0, 60)
Y = np.sin(4.0 * X) + 0.05 * np.random.default_rng(3).normal(size=60)


def wave() -> pw.Model:
    """The likelihood of a frequency has many peaks."""
    m = pw.Model("wave")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.w = pw.Flat()
    m.y = pw.Normal(pw.sin(m.w * m.x), sd=0.05, plates=row)
    return m


def log_likelihood(w: float) -> float:
    residual = (Y - np.sin(w * X)) / 0.05
    return float(-0.5 * residual @ residual - len(Y) * np.log(0.05 * np.sqrt(2 * np.pi)))


def mixture() -> pw.Model:
    m = pw.Model("two humps")
    row, k = m.plate("row"), m.plate("k", 2)
    m.p = pw.Dirichlet(2.0, over=k)
    m.mu = pw.Normal(0.0, sd=10.0, plates=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1.0, plates=row)
    return m


def humps() -> np.ndarray:
    generator = np.random.default_rng(1)
    return np.concatenate([generator.normal(-2, 1, 40), generator.normal(3, 1, 60)])


@pytest.mark.parametrize("start", [0.5, 3.8, 4.3, 8.0])
def test_the_peak_of_the_start_is_found(start: float) -> None:
    fit = wave().learn({"x": X, "y": Y}, goal="map", initial={"w": start})
    found = float(fit["w"].value)
    grid = start + np.arange(-2000, 2001) * 1e-3
    heights = np.array([log_likelihood(w) for w in grid])
    at = 2000  # uphill from the start, step by step
    while 0 < at < 4000 and max(heights[at - 1], heights[at + 1]) > heights[at]:
        at += 1 if heights[at + 1] > heights[at - 1] else -1
    assert log_likelihood(found) >= heights[at] - 1e-6
    assert abs(log_likelihood(found + 1e-5) - log_likelihood(found - 1e-5)) < 1e-3


def test_the_first_objective_is_that_of_the_initial_values() -> None:
    y = humps()
    fit = mixture().learn({"y": y}, by="em", goal="map", initial={"p": [0.3, 0.7], "mu": [5.0, -5.0]}, iterations=1)
    humps_at_start = [np.log(share) - 0.5 * (y - mean) ** 2 for share, mean in ((0.3, 5.0), (0.7, -5.0))]
    each = np.logaddexp(*humps_at_start).sum() - 0.5 * len(y) * np.log(2 * np.pi)
    prior = np.log(6 * 0.3 * 0.7) + 2 * (-0.5 * 0.25 - np.log(10 * np.sqrt(2 * np.pi)))
    assert fit.estimate.objective[0] == pytest.approx(each + prior, rel=1e-12)


def test_labels_stay_where_they_were_started() -> None:
    for means in ([-1.0, 1.0], [1.0, -1.0]):
        fit = mixture().learn({"y": humps()}, goal="map", initial={"mu": means, "p": [0.5, 0.5]})
        assert (np.diff(fit["mu"].value)[0] > 0) == (means[1] > means[0])


def test_some_may_be_given_and_files_start_there_too(tmp_path: Path) -> None:
    y = humps()
    fit = mixture().learn({"y": y}, goal="map", initial={"mu": [3.0, -2.0]})
    assert fit["mu"].value == pytest.approx([3, -2], abs=0.5)
    np.savetxt(tmp_path / "rows.csv", y, header="y", comments="", fmt="%.17g")
    again = mixture().learn(tmp_path / "rows.csv", goal="map", initial={"mu": [3.0, -2.0]})
    assert again["mu"].value == pytest.approx(fit["mu"].value, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"q": 1.0}, "no `q`"),
        ({"w": [1.0, 2.0]}, "2 numbers"),
        ({"w": np.nan}, "missing or infinite"),
        ({"x": 1.0}, ""),
    ],
)
def test_bad_initial_values_are_refused(given: dict[str, object], said: str) -> None:
    if not said:  # of what is known there is nothing to start
        wave().learn({"x": X, "y": Y}, goal="map", initial=given)
        return
    with pytest.raises(PlatewrightError, match=said):
        wave().learn({"x": X, "y": Y}, goal="map", initial=given)


@pytest.mark.parametrize(
    ("initial", "found"),
    [
        ({"mu": [1.0, 2.0, 3.0]}, r"^3 numbers\n.*initial value of `mu`\n.*2 numbers along k"),
        ({"mu": 1.0}, r"^one number\n.*`mu`\n.*2 numbers along k"),
        ({"mu": [1.0, float("nan")]}, "missing or infinite"),
        ({"mu": [1.0, "high"]}, "no number"),
        ({"z": np.zeros(100) + 0.5}, "a fraction"),
        ({"z": np.zeros(100) + 2}, r"out of range\n.*`z`\n.*a level of k, counted from 0 to 1"),
    ],
)
def test_a_start_that_does_not_fit_is_told(initial: dict[str, object], found: str) -> None:
    with pytest.raises(PlatewrightError, match=found):
        mixture().learn({"y": humps()}, by="gibbs", chains=1, draws=5, warm_up=5, initial=initial)
