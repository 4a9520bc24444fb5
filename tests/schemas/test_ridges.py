"""Modes of densities with edges: absolute residuals meet at ridges, where no slope leads up and the top is ahead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import platewright as pw
from platewright.backends.kernels import newton
from platewright.backends.kernels.ridges import along_ridges, shortest

RNG = np.random.default_rng(2)
X = RNG.normal(size=40)
Y = 1 + 0.5 * X + 0.4 * RNG.laplace(size=40)


def line(share: float = 0.5) -> pw.Model:
    m = pw.Model("line")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.a = pw.Normal(0, sd=5)
    m.b = pw.Normal(0, sd=5)
    m.s = pw.Gamma(2, rate=1)
    m.y = pw.AsymmetricLaplace(m.a + m.b * m.x, scale=m.s, p=share, plates=row)
    return m


def found_by_a_simplex(share: float) -> np.ndarray:
    def below(p: np.ndarray) -> float:
        a, b, log_s = p
        s = np.exp(log_s)
        away = Y - a - b * X
        told = np.log(share * (1 - share) / s) - away / s * (share - (away < 0))
        return -float(told.sum() + stats.norm.logpdf([a, b], 0, 5).sum() + stats.gamma.logpdf(s, 2))

    starts = [[1.0, 0.5, -1.0], [0.5, 0.0, 0.0], [1.5, 1.0, -2.0]]
    tight = {"xatol": 1e-11, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000}
    ends = [optimize.minimize(below, start, method="Nelder-Mead", options=tight) for start in starts]
    best = min(ends, key=lambda end: float(end.fun)).x
    return np.array([best[0], best[1], np.exp(best[2])])


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_the_mode_of_a_quantile_regression_with_unknown_scale(share: float) -> None:
    fit = line(share).learn({"x": X, "y": Y}, goal="map", restarts=1)
    found = np.array([float(fit[name].value) for name in ("a", "b", "s")])
    np.testing.assert_allclose(found, found_by_a_simplex(share), rtol=1e-5)


def test_an_ascent_that_stops_at_a_ridge_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "beside_ridges", lambda density, here: here)
    fit = line().learn({"x": X, "y": Y}, goal="map", restarts=1, iterations=2)
    found = np.array([float(fit[name].value) for name in ("a", "b", "s")])
    assert np.abs(found - found_by_a_simplex(0.5)).max() > 1e-3


def test_the_file_finds_the_mode_alone(tmp_path: Path) -> None:
    fit = line().learn({"x": X, "y": Y}, goal="map", restarts=1)
    (tmp_path / "learned.py").write_text(fit.source())
    rows = "\n".join(f"{x!r},{y!r}" for x, y in zip(X.tolist(), Y.tolist(), strict=True))
    (tmp_path / "data.csv").write_text(f"x,y\n{rows}\n")
    command = [sys.executable, "-I", str(tmp_path / "learned.py"), str(tmp_path / "data.csv")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert f"{float(fit['s'].value):.6g}" in said, said


def test_a_sum_of_absolute_values_is_climbed_to_its_corner() -> None:
    """-sum_k c_k |(R u)_k|, whose top is at nought, from places in one of its valleys."""
    turn = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    sizes = np.array([1.0, 10.0, 100.0, 0.1])

    def look(u: np.ndarray) -> tuple[float, np.ndarray]:
        turned = turn @ u
        return -float(sizes @ np.abs(turned)), -turn.T @ (sizes * np.sign(turned))

    start = RNG.normal(size=4)
    assert np.abs(along_ridges(look, start, *look(start))).max() < 1e-6


def test_the_shortest_mixture() -> None:
    np.testing.assert_allclose(shortest(np.array([[1.0, 2.0], [-1.0, 2.0], [5.0, 9.0]])), [0.0, 2.0], atol=1e-6)
    np.testing.assert_allclose(shortest(np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])), [0.0, 0.0], atol=1e-6)
