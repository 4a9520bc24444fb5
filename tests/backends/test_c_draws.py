"""Every draw of the emitted C against the distribution that it should have: Kolmogorov-Smirnov and chi-square tests."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats

from laws.test_family_laws import Half
from platewright.backends.c.compile import compiled as compiled_library
from platewright.backends.c.compile import find_compiler
from platewright.backends.c_gibbs.draws import DRAWS
from platewright.backends.c_gibbs.support import shared_text

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")

COUNT = 20_000
MANY = 1_500_000
"""Draws of a count: enough that a mean wrong by a hundredth of the standard deviation is noticed."""
MORE = 200_000
LEAST = 1e-4
"""Below this chance a test fails; seeds are fixed, so it either always does or never."""

HEADER = """
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define MOST_STEPS 60
struct chain { double *work; int64_t room; };
"""

DOORS = """
void bits(int64_t count, uint64_t *random, uint64_t *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = next_bits(random);
}
void uniforms(int64_t count, uint64_t *random, double *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = i % 2 ? uniform(random) : above_zero(random);
}
void log_gammas(int64_t count, uint64_t *random, double shape, double *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = log_gamma_draw(random, shape);
}
void dirichlets(int64_t count, uint64_t *random, int64_t wide, const double *p, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        memcpy(out + i * wide, p, sizeof(double) * wide);
        dirichlet_draw(random, wide, out + i * wide);
    }
}
int wisharts(int64_t count, uint64_t *random, int64_t wide, double degrees, const double *p, int inverted, double *out)
{
    int good = 1;
    double work[2 * wide * wide];
    for (int64_t i = 0; i < count; i++) {
        memcpy(out + i * wide * wide, p, sizeof(double) * wide * wide);
        good &= wishart_draw(random, wide, degrees, out + i * wide * wide, inverted, work);
    }
    return good;
}
static double gamma_density(const struct chain *chain, const int64_t *at, const double *kept, double x)
{
    return x <= 0.0 ? -INFINITY : 1.5 * log(x) - x + 0.0 * kept[0] + (chain ? 1.0 : 0.0) + (double)at[0];
}
void slices(int64_t count, uint64_t *random, double width, double *values)
{
    const int64_t at[1] = {0};
    const double kept[1] = {0.0};
    for (int64_t i = 0; i < count; i++)
        values[i] = slice_draw(gamma_density, NULL, random, at, kept, values[i], width);
}
"""


@lru_cache(maxsize=8)
def compiled(changes: tuple[tuple[str, str], ...] = ()) -> ctypes.CDLL:
    """All draws behind doors; `changes` are planted in the text."""
    doors = [DOORS]
    for name, form in DRAWS.items():
        keys = sorted({part.split("}")[0] for part in form.split("{")[1:]})
        value = form.format(**{key: f"p[{k}]" for k, key in enumerate(keys)})
        head = f"void draw_{name}(int64_t count, uint64_t *random, const double *p, double *out)"
        doors.append(f"{head}\n{{\n    for (int64_t i = 0; i < count; i++)\n        out[i] = {value};\n}}")
    body = "\n".join(doors)
    text = "\n".join([HEADER, *shared_text(body), body])
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    compiler = find_compiler()
    assert compiler is not None
    return compiled_library(text, compiler)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def words(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 2**64, 4, dtype=np.uint64)


def drawn(
    name: str, parameters: Mapping[str, float], seed: int = 0, changes: tuple = (), count: int = COUNT
) -> np.ndarray:
    """Draws of a scalar family."""
    values = np.array([parameters[key] for key in sorted(parameters)], float)
    out = np.empty(count)
    getattr(compiled(changes), f"draw_{name}")(
        ctypes.c_int64(count), pointer(words(seed)), pointer(values), pointer(out)
    )
    return out


CONTINUOUS = [
    ("VonMises", {"concentration": 1e-9, "mean": 0.0}, stats.uniform(-np.pi, 2 * np.pi)),
    ("VonMises", {"concentration": 3e-6, "mean": 0.0}, stats.vonmises(3e-6)),
    ("VonMises", {"concentration": 0.4, "mean": 0.0}, stats.vonmises(0.4)),
    ("VonMises", {"concentration": 6.0, "mean": 0.0}, stats.vonmises(6)),
    ("VonMises", {"concentration": 1e10, "mean": 0.0}, stats.norm(0, 1e-5)),
    ("Beta", {"a": 3.0, "b": 1.5}, stats.beta(3, 1.5)),
    ("Beta", {"a": 0.3, "b": 0.2}, stats.beta(0.3, 0.2)),
    ("Beta", {"a": 0.4, "b": 40.0}, stats.beta(0.4, 40)),
    ("ChiSquare", {"degrees": 5.0}, stats.chi2(5)),
    ("Exponential", {"rate": 3.0}, stats.expon(scale=1 / 3)),
    ("Gamma", {"shape": 0.2, "rate": 2.0}, stats.gamma(0.2, scale=0.5)),
    ("Gamma", {"shape": 1.0, "rate": 2.0}, stats.gamma(1, scale=0.5)),
    ("Gamma", {"shape": 7.5, "rate": 0.1}, stats.gamma(7.5, scale=10)),
    ("Gamma", {"shape": 1e6, "rate": 1.0}, stats.gamma(1e6)),
    ("AsymmetricLaplace", {"location": 1.0, "p": 0.2, "rate": 2.0}, stats.laplace_asymmetric(0.5, 1, 1.25)),
    ("GeneralisedNormal", {"mean": 1.0, "power": 0.6, "rate": 2.0}, stats.gennorm(0.6, 1, 0.5)),
    ("GeneralisedNormal", {"mean": 1.0, "power": 5.0, "rate": 2.0}, stats.gennorm(5.0, 1, 0.5)),
    ("HalfCauchy", {"scale": 2.0}, stats.halfcauchy(scale=2)),
    ("HalfNormal", {"precision": 4.0}, stats.halfnorm(scale=0.5)),
    ("HalfStudentT", {"degrees": 3.0, "scale": 2.0}, Half(stats.t(3, 0, 2))),
    ("InverseGamma", {"shape": 3.0, "scale": 2.0}, stats.invgamma(3, scale=2)),
    ("InverseGaussian", {"mean": 2.0, "shape": 3.0}, stats.invgauss(2 / 3, scale=3)),
    ("Laplace", {"mean": 1.0, "rate": 2.0}, stats.laplace(1, 0.5)),
    ("LogNormal", {"mean": 0.5, "precision": 4.0}, stats.lognorm(0.5, scale=np.exp(0.5))),
    ("Normal", {"mean": -3.0, "precision": 0.25}, stats.norm(-3, 2)),
    ("Pareto", {"shape": 2.0, "scale": 3.0}, stats.pareto(2, scale=3)),
    ("SkewNormal", {"location": 1.0, "scale": 2.0, "shape": -3.0}, stats.skewnorm(-3, 1, 2)),
    ("StudentT", {"degrees": 3.0, "mean": 1.0, "precision": 4.0}, stats.t(3, 1, 0.5)),
    ("Uniform", {"lower": -1.0, "upper": 3.0}, stats.uniform(-1, 4)),
    ("Weibull", {"rate": 2.0, "shape": 1.5}, stats.weibull_min(1.5, scale=2 ** (-1 / 1.5))),
]

DISCRETE = [
    ("Bernoulli", {"p": 0.3}, stats.bernoulli(0.3)),
    ("BetaBinomial", {"a": 0.7, "b": 1.9, "count": 12.0}, stats.betabinom(12, 0.7, 1.9)),
    ("Binomial", {"count": 12.0, "p": 0.3}, stats.binom(12, 0.3)),
    ("Binomial", {"count": 12.0, "p": 0.9}, stats.binom(12, 0.9)),
    ("Binomial", {"count": 40.0, "p": 0.3}, stats.binom(40, 0.3)),
    ("Binomial", {"count": 200.0, "p": 0.4}, stats.binom(200, 0.4)),
    ("Binomial", {"count": 200.0, "p": 0.93}, stats.binom(200, 0.93)),
    ("Geometric", {"p": 0.2}, stats.geom(0.2)),
    ("NegativeBinomial", {"p": 0.3, "successes": 2.5}, stats.nbinom(2.5, 0.3)),
    ("Poisson", {"rate": 0.7}, stats.poisson(0.7)),
    ("Poisson", {"rate": 9.0}, stats.poisson(9)),
    ("Poisson", {"rate": 10.0}, stats.poisson(10)),
    ("Poisson", {"rate": 11.0}, stats.poisson(11)),
    ("Poisson", {"rate": 20.0}, stats.poisson(20)),
    ("Poisson", {"rate": 45.0}, stats.poisson(45)),
    ("Poisson", {"rate": 250.0}, stats.poisson(250)),
]


def chance_of_counts(values: np.ndarray, distribution: object) -> float:
    """Chi-square over values that are expected often enough; the rest in two tails."""
    tail = 40 / len(values)
    low, high = (int(distribution.ppf(q)) for q in (tail, 1 - tail))  # type: ignore[attr-defined]
    edges = np.arange(low, high + 2) - 0.5
    observed = np.histogram(values, [-np.inf, *edges[1:-1], np.inf])[0]
    expected = len(values) * np.diff([0.0, *distribution.cdf(edges[1:-1]), 1.0])  # type: ignore[attr-defined]
    return float(stats.chisquare(observed, expected).pvalue)


def told(case: tuple[str, Mapping[str, float], object]) -> str:
    """A name for a case that stays when others are put before it: planted defects are noticed by it."""
    return f"{case[0]}({', '.join(f'{name} {value:g}' for name, value in case[1].items())})"


def continuous_chance(name: str, parameters: Mapping[str, float], distribution: object, changes: tuple = ()) -> float:
    found = drawn(name, parameters, 3, changes, MORE)
    return float(stats.kstest(found, distribution.cdf, method="asymp").pvalue)  # type: ignore[attr-defined]


@needs_compiler
@pytest.mark.parametrize(("name", "parameters", "distribution"), CONTINUOUS, ids=map(told, CONTINUOUS))
def test_continuous_draws_have_their_distribution(
    name: str, parameters: dict[str, float], distribution: object
) -> None:
    assert continuous_chance(name, parameters, distribution) > LEAST


@needs_compiler
@pytest.mark.parametrize(("name", "parameters", "distribution"), DISCRETE, ids=map(told, DISCRETE))
def test_counts_have_their_distribution(name: str, parameters: dict[str, float], distribution: object) -> None:
    values = drawn(name, parameters, 4, count=MANY)
    assert (values == np.floor(values)).all()
    assert chance_of_counts(values, distribution) > LEAST


@needs_compiler
def test_logistic_normal_draws_are_normal_on_the_logit_scale() -> None:
    values = drawn("LogisticNormal", {"mean": 0.5, "precision": 4.0}, 5)
    assert stats.kstest(np.log(values / (1 - values)), stats.norm(0.5, 0.5).cdf).pvalue > LEAST


@needs_compiler
def test_every_draw_that_is_printed_is_tested() -> None:
    assert {name for name, _, _ in (*CONTINUOUS, *DISCRETE)} | {"LogisticNormal"} == set(DRAWS)


@needs_compiler
def test_directions_go_round() -> None:
    found = drawn("VonMises", {"concentration": 2.0, "mean": 3.0})
    assert np.all(np.abs(found) <= np.pi)
    about = np.angle(np.exp(1j * (found - 3.0)))
    assert stats.kstest(about, stats.vonmises(2.0).cdf).pvalue > LEAST


@needs_compiler
def test_the_bits_are_those_of_xoshiro256_plus_plus() -> None:
    state, out = np.array([1, 2, 3, 4], np.uint64), np.empty(5, np.uint64)
    compiled().bits(ctypes.c_int64(5), pointer(state), pointer(out))
    assert out.tolist() == [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205]


@needs_compiler
def test_uniforms_are_uniform_and_independent() -> None:
    out = np.empty(COUNT)
    compiled().uniforms(ctypes.c_int64(COUNT), pointer(words(1)), pointer(out))
    assert out.min() >= 0 and out.max() <= 1
    assert stats.kstest(out, "uniform").pvalue > LEAST
    assert abs(np.corrcoef(out[1:], out[:-1])[0, 1]) < 4 / np.sqrt(COUNT)


@needs_compiler
def test_logs_of_gammas_of_tiny_shape_do_not_underflow() -> None:
    out = np.empty(COUNT)
    compiled().log_gammas(ctypes.c_int64(COUNT), pointer(words(2)), ctypes.c_double(1e-3), pointer(out))
    assert np.isfinite(out).all() and out.min() < -1000  # far below the log of the smallest double
    assert stats.kstest(out, stats.loggamma(1e-3).cdf).pvalue > LEAST


@needs_compiler
@pytest.mark.parametrize("concentration", [(2.0, 1.0, 4.5), (0.2, 0.5, 3.0), (1e-3, 1e-3, 1e-3)])
def test_dirichlet_draws_have_beta_margins(concentration: tuple[float, ...]) -> None:
    p, out = np.array(concentration), np.empty((COUNT, 3))
    compiled().dirichlets(ctypes.c_int64(COUNT), pointer(words(6)), ctypes.c_int64(3), pointer(p), pointer(out))
    assert np.allclose(out.sum(axis=1), 1.0)
    for k in range(3):
        if min(concentration) > 0.1:
            assert stats.kstest(out[:, k], stats.beta(p[k], p.sum() - p[k]).cdf).pvalue > LEAST
        else:  # all the weight on one entry: each as often
            assert abs((out[:, k] > 0.5).mean() - 1 / 3) < 0.02


def wishart_chance(inverted: bool, changes: tuple = ()) -> float:
    """Quadratic forms of a Wishart matrix, over those of its scale, are chi-square."""
    scale = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
    given = np.array(scale if inverted else np.linalg.inv(scale))
    out = np.empty((COUNT, 3, 3))
    count, wide, degrees = ctypes.c_int64(COUNT), ctypes.c_int64(3), ctypes.c_double(5.5)
    door = compiled(changes).wisharts
    assert door(count, pointer(words(7)), wide, degrees, pointer(given), int(inverted), pointer(out))
    matrices = np.linalg.inv(out) if inverted else out
    centre = np.linalg.inv(scale) if inverted else scale
    chances = []
    for vector in ([1.0, 0, 0], [0, 0, 1.0], [0.3, -1.0, 2.0]):
        a = np.array(vector)
        chances.append(stats.kstest((a @ matrices @ a) / (a @ centre @ a), stats.chi2(5.5).cdf).pvalue)
    sizes = np.linalg.det(matrices) / np.linalg.det(centre)  # a product of independent chi-squares
    bartlett = np.prod([stats.chi2(5.5 - k).rvs(COUNT, random_state=k) for k in range(3)], axis=0)
    return float(min(*chances, stats.ks_2samp(sizes, bartlett).pvalue))


@needs_compiler
@pytest.mark.parametrize("inverted", [False, True])
def test_wishart_draws_have_chi_square_forms(inverted: bool) -> None:
    assert wishart_chance(inverted) > LEAST


def slice_chance(width: float, changes: tuple = ()) -> float:
    """Values that have the distribution keep it through one update, and are moved."""
    values = np.array(stats.gamma(2.5).rvs(COUNT, random_state=8))
    before = values.copy()
    compiled(changes).slices(ctypes.c_int64(COUNT), pointer(words(8)), ctypes.c_double(width), pointer(values))
    assert (values != before).mean() > 0.99
    return float(stats.kstest(values, stats.gamma(2.5).cdf).pvalue)


@needs_compiler
@pytest.mark.parametrize("width", [0.1, 1.0, 30.0])
def test_a_slice_update_keeps_its_distribution(width: float) -> None:
    assert slice_chance(width) > LEAST
