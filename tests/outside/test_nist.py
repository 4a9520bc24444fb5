"""NIST StRD and problems of our own with rational answers: flat-prior fits have at least 8 correct digits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import platewright as pw
from outside import classical, nist
from outside.corpus import cases, needs_corpus
from platewright.errors import ImproperPosterior


def check(line: nist.Line) -> None:
    for quantity, found in line.certified.items():
        assert found >= 8, f"{quantity}: {found:.1f} digits"
    for quantity, found in line.rational.items():
        assert found >= 8, f"{quantity} of the rational answer: {found:.1f} digits"


@needs_corpus
@pytest.mark.parametrize("name", cases("nist", "univariate_"))
def test_a_mean_and_a_standard_deviation_have_eight_digits(name: str) -> None:
    check(nist.univariate(name))


@needs_corpus
@pytest.mark.parametrize("name", cases("nist", "anova_"))
def test_an_analysis_of_variance_has_eight_digits(name: str) -> None:
    check(nist.anova(name))


@needs_corpus
@pytest.mark.parametrize("name", cases("nist", "linear_"))
def test_a_linear_regression_has_eight_digits(name: str) -> None:
    check(nist.linear(name))


@pytest.mark.parametrize("degree", [3, 4, 5, 6])
@pytest.mark.parametrize("noise", [0.0, 1.0, 1e4, 1e8])
def test_polynomials_like_wamplers_have_eight_digits(degree: int, noise: float) -> None:
    x = np.arange(21.0)
    features = x[:, None] ** np.arange(1, degree + 1)
    y = 1 + features.sum(axis=1) + noise * np.round(np.sin(7 * x) * 8) / 8
    found = classical.regression(features, y, scale=noise > 0)
    solution, square = classical.exact_regression(features, y)
    assert classical.digits(found["estimate"], [float(value) for value in solution]) >= 8
    assert classical.digits(found["residual_sd"], math.sqrt(square / (len(y) - degree - 1))) >= 8


def test_a_polynomial_like_filip_has_seven_digits() -> None:
    """82 rows, degree 10 on [-9, -3]: the condition number of the design is about 1e15."""
    generator = np.random.default_rng(82)
    x = -9 + 6 * np.sort(generator.random(82))
    features = x[:, None] ** np.arange(1, 11)
    y = 0.8 + 0.05 * np.sin(x) + 0.003 * generator.standard_normal(82)
    found = classical.regression(features, y)
    solution, square = classical.exact_regression(features, y)
    assert classical.digits(found["estimate"], [float(value) for value in solution]) >= 7
    assert classical.digits(found["residual_sd"], math.sqrt(square / (82 - 11))) >= 7


def test_powers_written_in_the_model_do_as_well_as_powers_in_the_data() -> None:
    x = np.arange(21.0)
    y = 1 + x + x**2 + x**3 + np.round(np.sin(7 * x) * 8) / 8
    m = classical.scaled_model("cubic")
    row = m.plates["row"]
    m.x = pw.Input(plates=row)
    m.a, m.b, m.c, m.d = pw.Flat(), pw.Flat(), pw.Flat(), pw.Flat()
    m.y = pw.Normal(m.a + m.b * m.x + m.c * m.x**2 + m.d * m.x**3, precision=m.tau, plates=row)
    fit = m.learn({"x": x, "y": y})
    solution, _ = classical.exact_regression(x[:, None] ** np.arange(1, 4), y)
    found = [fit[name].mean for name in ("a", "b", "c", "d")]
    assert classical.digits(found, [float(value) for value in solution]) >= 8


def test_a_column_that_is_the_sum_of_others_is_refused_under_flat_priors() -> None:
    generator = np.random.default_rng(5)
    x = generator.standard_normal((40, 3))
    x[:, 2] = x[:, 0] + x[:, 1]
    with pytest.raises(ImproperPosterior):
        classical.regression(x, generator.standard_normal(40))


def test_a_perfect_fit_leaves_no_posterior_of_the_precision() -> None:
    x = np.arange(8.0)[:, None]
    with pytest.raises(ImproperPosterior):
        classical.regression(x, 1 + 2 * x[:, 0])


def test_a_huge_mean_keeps_the_standard_deviation() -> None:
    values = 1.7e12 + np.random.default_rng(3).standard_normal(30_000)
    exact = classical.exact_mean_and_sd(values)
    found = classical.mean_and_sd(values)
    assert classical.digits(found[0], exact[0]) >= 15
    assert classical.digits(found[1], exact[1]) >= 12


@pytest.mark.parametrize("found", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_has_no_correct_digit(found: float) -> None:
    assert classical.digits([1.0, found], [1.0, 2.0]) == 0
    assert classical.digits([1.0], [found]) == 0
    assert classical.digits([found], [found]) == 0
