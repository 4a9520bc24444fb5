"""Grades between cut points: their probabilities against SciPy, their tails, their slopes, and calls that do not fit.

P(grade k) = F(c[k] - score) - F(c[k - 1] - score)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import Reference
from platewright.errors import ParameterError, PlateError
from platewright.language.distribution import Distribution
from platewright.language.serial import model_from_json, model_json

Grading = Callable[..., Distribution]
CUTS = np.array([-1.0, 0.4, 2.0])
KINDS = [(pw.OrderedLogistic, stats.logistic), (pw.OrderedProbit, stats.norm)]
every_kind = pytest.mark.parametrize(("grading", "noise"), KINDS, ids=["logistic", "probit"])


def graded(grading: Grading) -> pw.Model:
    m = pw.Model("grades")
    cut, grade = m.plate("cut", 3), m.plate("grade", 4)
    m.score = pw.Normal(0.0, sd=3.0)
    m.y = grading(m.score, pw.array(CUTS, over=cut), along=cut, over=grade)
    return m


def log_probability(grading: Grading, score: float, grade: int) -> float:
    with np.errstate(all="ignore"):
        return float(elementwise(graded(grading).variables["y"].log_density, {"score": score, "y": grade}))


@every_kind
@pytest.mark.parametrize("score", [-3.0, 0.0, 0.7, 4.0])
def test_probabilities_are_those_between_the_cut_points(grading: Grading, noise: Any, score: float) -> None:
    below = np.concatenate([[0.0], noise.cdf(CUTS - score), [1.0]])
    found = [log_probability(grading, score, grade) for grade in range(4)]
    np.testing.assert_allclose(found, np.log(np.diff(below)), rtol=1e-9)


@every_kind
def test_far_from_all_cut_points_no_digit_is_lost(grading: Grading, noise: Any) -> None:
    for sign, score in ((1, 36.0), (-1, -36.0)):  # the tail in which the nearer end is the more probable
        ends = sign * (CUTS - score) if sign > 0 else (sign * (CUTS - score))[::-1]
        near, far = noise.logcdf(ends[1:]), noise.logcdf(ends[:-1])
        between = near + np.log1p(-np.exp(far - near))
        theirs = [noise.logcdf(ends[0]), *between]
        grades = range(3) if sign > 0 else (3, 2, 1)
        found = [log_probability(grading, score, grade) for grade in grades]
        np.testing.assert_allclose(found, theirs, rtol=1e-12)


@every_kind
@pytest.mark.parametrize("score", [-30.0, -0.8, 0.3, 1.2, 30.0])
def test_slopes_are_those_of_differences(grading: Grading, noise: Any, score: float) -> None:
    slope = differentiate(graded(grading).variables["y"].log_density, Reference("score"))
    for grade in range(4):
        h = 1e-3
        moved = [log_probability(grading, score + k * h, grade) for k in (-2, -1, 1, 2)]
        expected = (moved[0] - 8 * moved[1] + 8 * moved[2] - moved[3]) / (12 * h)
        found = float(elementwise(slope, {"score": score, "y": grade}))
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


@every_kind
def test_the_text_form_reads_back(grading: Grading, noise: Any) -> None:
    m = graded(grading)
    again = model_from_json(model_json(m))
    assert model_json(again) == model_json(m)
    assert again.variables["y"].log_density == m.variables["y"].log_density


def test_two_grades_are_a_coin() -> None:
    m = pw.Model("coin")
    cut, grade = m.plate("cut", 1), m.plate("grade", 2)
    m.score = pw.Normal(0.0, sd=3.0)
    m.y = pw.OrderedLogistic(m.score, pw.array([0.5], over=cut), along=cut, over=grade)
    found = elementwise(m.variables["y"].log_density, {"score": 1.2, "y": 1})
    assert float(found) == pytest.approx(stats.logistic.logcdf(0.7), rel=1e-12)


def test_calls_that_do_not_fit_say_what_is_wanted() -> None:
    m = pw.Model("grades")
    cut, grade, loose = m.plate("cut", 3), m.plate("grade", 5), m.plate("loose")
    m.c = pw.Normal(0.0, sd=1.0, plates=cut)
    m.g = pw.Normal(0.0, sd=1.0, plates=grade)
    with pytest.raises(PlateError, match="3 cut points for 5 grades"):
        pw.OrderedLogistic(0.0, m.c, along=cut, over=grade)
    with pytest.raises(PlateError, match="with a size"):
        pw.OrderedProbit(0.0, m.c, along=cut, over=loose)
    four = m.plate("four", 4)
    with pytest.raises(ParameterError, match="do not depend on plate `cut`"):
        pw.OrderedLogistic(0.0, 1.5, along=cut, over=four)
    with pytest.raises(ParameterError, match="differ from grade to grade"):
        pw.OrderedLogistic(m.c, m.c, along=cut, over=four)
