"""Families that have no closed form, put to use: posteriors of two unknowns against sums over a grid.

    p(u, v | y)  is proportional to  p(u) p(v) prod_i p(y_i | u, v)

The grid has SciPy's densities and knows nothing of Platewright. Quadrature is held to it closely, chains within their
error, modes to its top.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw
from platewright.language.distribution import Distribution

Array = np.ndarray
ROWS = 24
INPUT = np.linspace(-1.5, 1.5, ROWS)


@dataclass(frozen=True)
class Use:
    """A model of `u`, on the line, and `v`, positive; its rows, and the log likelihood of all rows at points."""

    family: str
    values: Callable[[Any, Any], Distribution]
    y: Array
    log_likelihood: Callable[[Array, Array, Array, Array], Array]
    has_a_kink: bool = False


NOISE = np.random.default_rng(11).normal(size=ROWS)
LINE = 0.4 + 1.3 * INPUT
HEADS = np.random.default_rng(12).binomial(9, np.random.default_rng(13).beta(1.5, 2.5, ROWS)).astype(float)


def _sharp(u: Array, v: Array, x: Array, y: Array) -> Array:
    lean, scale = 0.5, v / 0.4  # SciPy's: kappa = sqrt(p / (1 - p)) at p = 1 / 5, and scale / sqrt(p (1 - p))
    return stats.laplace_asymmetric.logpdf(y, lean, u * x, scale)


def _heads(u: Array, v: Array, x: Array, y: Array) -> Array:
    share = special.expit(u + 0.3 * x)
    return stats.betabinom.logpmf(y, 9, v * share, v * (1 - share))


CUTS = np.array([-1.2, 0.1, 0.9])
GRADES = ((0.7 * INPUT + NOISE)[:, None] > CUTS).sum(axis=1)


def _graded(noise: Callable[..., Distribution]) -> Callable[[Any, Any], Distribution]:
    def values(m: Any, row: Any) -> Distribution:
        cut, grade = m.plate("cut", 3), m.plate("grade", 4)
        return noise(m.u * m.x, m.v * pw.array(CUTS, over=cut), along=cut, over=grade, plates=row)

    return values


def _between(noise: Any) -> Callable[[Array, Array, Array, Array], Array]:
    def log_likelihood(u: Array, v: Array, x: Array, y: Array) -> Array:
        ends = np.concatenate([[-np.inf], CUTS, [np.inf]])
        low, high = (np.where(np.isinf(end), end, v * end) - u * x for end in (ends[y], ends[y + 1]))
        with np.errstate(divide="ignore"):
            return np.log(np.where(low > 0, noise.sf(low) - noise.sf(high), noise.cdf(high) - noise.cdf(low)))

    return log_likelihood


USES = (
    Use(
        "AsymmetricLaplace",
        lambda m, row: pw.AsymmetricLaplace(m.u * m.x, scale=m.v, p=0.2, plates=row),
        LINE + NOISE,
        _sharp,
        has_a_kink=True,
    ),
    Use(
        "BetaBinomial",
        lambda m, row: pw.BetaBinomial(
            9, m.v * pw.logistic(m.u + 0.3 * m.x), m.v * (1 - pw.logistic(m.u + 0.3 * m.x)), plates=row
        ),
        HEADS,
        _heads,
    ),
    Use(
        "GeneralisedNormal",
        lambda m, row: pw.GeneralisedNormal(m.u * m.x, scale=m.v, power=3.0, plates=row),
        LINE + NOISE,
        lambda u, v, x, y: stats.gennorm.logpdf(y, 3.0, u * x, v),
    ),
    Use("OrderedLogistic", _graded(pw.OrderedLogistic), GRADES, _between(stats.logistic)),
    Use("OrderedProbit", _graded(pw.OrderedProbit), GRADES, _between(stats.norm)),
    Use(
        "SkewNormal",
        lambda m, row: pw.SkewNormal(m.u * m.x, m.v, 1.5, plates=row),
        LINE + NOISE,
        lambda u, v, x, y: stats.skewnorm.logpdf(y, 1.5, u * x, v),
    ),
)


def model(use: Use) -> pw.Model:
    m = pw.Model("use")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.u = pw.Normal(0.0, sd=2.0)
    m.v = pw.HalfStudentT(4.0, 1.5)
    m.y = use.values(m, row)
    return m


def log_posterior(use: Use, u: Array, v: Array) -> Array:
    prior = stats.norm.logpdf(u, 0, 2) + np.log(2) + stats.t.logpdf(v, 4, 0, 1.5)
    return prior + use.log_likelihood(u[..., None], v[..., None], INPUT, use.y).sum(axis=-1)


def grid(use: Use) -> tuple[Array, Array, Array]:
    """`u` and `v`, the latter even in its logarithm, and their weights: log(v) has a slope of its own."""
    u, log_v = np.meshgrid(np.linspace(-2.5, 4.5, 351), np.linspace(-2.5, 5.5, 201), indexing="ij")
    height = log_posterior(use, u, np.exp(log_v)) + log_v
    weight = np.exp(height - height.max())
    return u, np.exp(log_v), weight / weight.sum()


def moments(use: Use) -> dict[str, tuple[float, float]]:
    u, v, weight = grid(use)
    found = {}
    for name, at in (("u", u), ("v", v)):
        mean = float((weight * at).sum())
        found[name] = mean, float(np.sqrt((weight * (at - mean) ** 2).sum()))
    return found


every_use = pytest.mark.parametrize("use", USES, ids=lambda use: use.family)


@every_use
def test_quadrature_gives_the_moments_of_the_grid(use: Use) -> None:
    fit = model(use).learn({"x": INPUT, "y": use.y}, by="quadrature")
    near = 2e-3 if use.has_a_kink else 2e-4
    for name, (mean, sd) in moments(use).items():
        assert float(fit[name].mean) == pytest.approx(mean, abs=near * sd), name
        assert float(fit[name].sd) == pytest.approx(sd, rel=2 * near), name


@pytest.mark.slow
@every_use
def test_chains_have_the_moments_of_the_grid(use: Use) -> None:
    fit = model(use).learn({"x": INPUT, "y": use.y}, by="gibbs", draws=2000, chains=2, seed=4)
    for name, (mean, sd) in moments(use).items():
        assert float(fit[name].mean) == pytest.approx(mean, abs=0.15 * sd), name
        assert float(fit[name].sd) == pytest.approx(sd, rel=0.15), name


@pytest.mark.parametrize("use", [use for use in USES if not use.has_a_kink], ids=lambda use: use.family)
def test_the_mode_is_the_top_of_the_posterior(use: Use) -> None:
    fit = model(use).learn({"x": INPUT, "y": use.y}, goal="map")
    u, v = (np.asarray(float(fit[name].mean)) for name in ("u", "v"))
    top = log_posterior(use, u, v)
    steps = [(s, t) for s in (-1e-3, 0.0, 1e-3) for t in (-1e-3, 0.0, 1e-3) if s or t]
    assert all(log_posterior(use, u + s, v + t) < top for s, t in steps)
    every_u, every_v, _ = grid(use)
    assert log_posterior(use, every_u, every_v).max() <= top
