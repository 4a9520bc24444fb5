"""Quadrature over a few numbers does not mind where the data lie or in which unit they are written."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

import platewright as pw
from platewright.backends.kernels import modes
from platewright.backends.kernels.held_density import Density_of
from platewright.backends.kernels.lattice import over_modes
from platewright.errors import ImproperPosterior, PlatewrightError
from platewright.run.points.fit import QuadratureFit

PLACES = [(scale, shift) for scale in (1e-6, 1e-3, 1.0, 150.0, 1e6) for shift in (0.0, 17.0, -1e6)]
"""Scales, and shifts in units of them."""
OPEN = (-np.inf, np.inf)
Y = np.array([0.4, 1.2, -0.3])


def located(scale: float, shift: float) -> QuadratureFit:
    """A location with heavy tails of the prior, in any unit."""
    m = pw.Model("location")
    row = m.plate("row")
    m.b = pw.StudentT(5, shift * scale + 0.5 * scale, scale=1.5 * scale)
    m.y = pw.Normal(m.b, sd=scale, plates=row)
    fit = m.learn({"y": (Y + shift) * scale}, by="quadrature")
    assert isinstance(fit, QuadratureFit)
    return fit


def integrated() -> tuple[float, float, float]:
    """Mean, standard deviation and log evidence of the location in units of the scale."""

    def height(b: float) -> float:
        return float(np.exp(stats.t.logpdf(b, 5, 0.5, 1.5) + stats.norm.logpdf(Y, b, 1.0).sum()))

    whole, first, second = (
        integrate.quad(lambda b, k=k: b**k * height(b), -10, 10, epsabs=0, epsrel=1e-10)[0] for k in range(3)
    )
    return first / whole, np.sqrt(second / whole - (first / whole) ** 2), np.log(whole)


@pytest.mark.parametrize(("scale", "shift"), PLACES)
def test_a_location_in_another_unit_is_the_same_location(scale: float, shift: float) -> None:
    mean, sd, log_evidence = integrated()
    fit = located(scale, shift)
    assert fit["b"].mean / scale - shift == pytest.approx(mean, abs=1e-6)
    assert fit["b"].sd / scale == pytest.approx(sd, rel=1e-6)
    assert fit.log_evidence + len(Y) * np.log(scale) == pytest.approx(log_evidence, abs=1e-6)
    drawn = fit.draws(500, 1)["b"] / scale - shift
    assert abs(drawn.mean() - mean) < 5 * sd / np.sqrt(500)


@pytest.mark.parametrize(("scale", "shift"), PLACES)
def test_a_conjugate_model_has_its_closed_form_in_every_unit(scale: float, shift: float) -> None:
    """The precision is held; given the data it has a gamma distribution."""
    m = pw.Model("conjugate")
    row = m.plate("row")
    m.tau = pw.Gamma(2.0, rate=3.0 * scale**2)
    m.mu = pw.Normal(shift * scale, precision=0.5 * m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=row)
    y = (Y + shift) * scale
    fit = m.learn({"y": y}, by="quadrature")
    assert isinstance(fit, QuadratureFit) and fit.derivation.held == ("tau",)
    count, away = len(Y), Y.mean()
    rate = 3.0 + 0.5 * ((Y - away) ** 2).sum() + 0.5 * count * 0.5 / (count + 0.5) * away**2
    shape = 2.0 + 0.5 * count
    assert fit["tau"].mean * scale**2 == pytest.approx(shape / rate, rel=1e-4)
    assert fit["tau"].sd * scale**2 == pytest.approx(np.sqrt(shape) / rate, rel=1e-3)
    assert fit["mu"].mean / scale - shift == pytest.approx(count * away / (count + 0.5), abs=1e-6)
    exact = m.learn({"y": y}, goal="evidence", by="exact").log_evidence
    assert fit.log_evidence == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_correlated_numbers_of_any_scales_have_their_integral(seed: int) -> None:
    generator = np.random.default_rng(seed)
    scales = 10.0 ** generator.uniform(-6, 6, 2)
    centre = scales * generator.choice([0.0, 3.0, -1e4], 2)
    root = scales[:, None] * np.array([[1.0, 0.0], [generator.uniform(-0.9, 0.9), 0.4]])

    def log_density(u: np.ndarray) -> np.ndarray:
        return 0.7 - 0.5 * (np.linalg.solve(root, (u - centre).T) ** 2).sum(axis=0)

    found = over_modes(Density_of(log_density, [OPEN, OPEN]), 1e-6, 60_000)
    truth = 0.7 + np.log(2 * np.pi) + np.linalg.slogdet(root)[1]
    assert found["log_evidence"] == pytest.approx(truth, abs=1e-6)
    np.testing.assert_allclose((found["share"] @ found["u"] - centre) / scales, 0.0, atol=1e-6)
    spread = np.sqrt(found["share"] @ (found["u"] - centre) ** 2)
    np.testing.assert_allclose(spread, np.linalg.norm(root, axis=1), rtol=1e-5)


@pytest.mark.parametrize("unit", [1e-9, 1e-8, 1.0, 1e9])
def test_a_positive_number_may_be_tiny_or_huge(unit: float) -> None:
    m = pw.Model("scale")
    row = m.plate("row")
    m.s = pw.HalfNormal(sd=3.0 * unit)
    m.y = pw.Normal(0.0, sd=m.s, plates=row)
    fit = m.learn({"y": Y * unit}, by="quadrature")

    def height(s: float) -> float:
        return float(np.exp(stats.halfnorm.logpdf(s, scale=3.0) + stats.norm.logpdf(Y, 0, s).sum()))

    whole, first = (integrate.quad(lambda s, k=k: s**k * height(s), 0, 40, epsrel=1e-10)[0] for k in range(2))
    assert fit["s"].mean / unit == pytest.approx(first / whole, rel=1e-3)
    assert fit.log_evidence + len(Y) * np.log(unit) == pytest.approx(np.log(whole), abs=1e-4)


def test_sizes_that_stay_at_one_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modes, "high_place", lambda density: (np.zeros(len(density.ends)), np.ones(len(density.ends))))
    monkeypatch.setattr(modes, "reframed", lambda density, curvature, sizes: sizes)
    mean, sd, _ = integrated()
    with pytest.raises((PlatewrightError, AssertionError)):
        fit = located(1e6, 17.0)
        assert abs(fit["b"].mean / 1e6 - 17.0 - mean) < 1e-3 * sd


def test_a_file_of_the_program_finds_the_place_as_well(tmp_path: Path) -> None:
    fit = located(1e6, -1e6)
    path = tmp_path / "far.py"
    path.write_text(fit.source())
    found = runpy.run_path(str(path))["learn"](dict(fit.columns), dict(fit.sizes))
    assert found["log_evidence"] == pytest.approx(fit.log_evidence, rel=1e-13)
    assert found["b.mean"] == pytest.approx(float(fit["b"].mean), rel=1e-12)


def test_a_proper_prior_is_never_called_improper() -> None:
    m, data = located_far_out(pw.StudentT(1, 0, scale=1.0))
    with pytest.raises(PlatewrightError, match=r"too heavy|more than") as said:
        m.learn(data, by="quadrature")
    assert not isinstance(said.value, ImproperPosterior) and "improper" not in str(said.value)
    m, data = located_far_out(pw.Flat())
    with pytest.raises(ImproperPosterior, match="the posterior is improper, or its tails heavy"):
        m.learn(data, by="quadrature")


def located_far_out(prior: object) -> tuple[pw.Model, dict[str, object]]:
    """A number of which the data say nothing from some value on."""
    m = pw.Model("heavy")
    row = m.plate("row")
    m.b = prior
    m.level = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.level + pw.logistic(m.b), sd=1.0, plates=row)
    return m, {"y": Y}


def test_a_place_where_a_matrix_is_not_positive_is_improbable_and_no_more() -> None:
    """Far from the data a precision may lose its digits: that point alone counts nothing."""

    def log_density(values: np.ndarray) -> np.ndarray:
        if (values > 100).any():
            raise np.linalg.LinAlgError
        return -0.5 * (values[:, 0] - 3) ** 2

    density = Density_of(log_density, [(-np.inf, np.inf)])
    heights = density(np.array([[1.0], [200.0], [3.0], [150.0], [4.0]]))
    np.testing.assert_array_equal(heights, [-2.0, -np.inf, 0.0, -np.inf, -0.5])
    assert float(over_modes(density, 1e-4, 60_000)["log_evidence"]) == pytest.approx(0.5 * np.log(2 * np.pi), abs=1e-6)
