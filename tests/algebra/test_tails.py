"""Logarithms of probabilities keep their digits in both tails, and agree with their slopes there."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.build import add, call, log, multiply
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Reference

X = Reference("x")


def at(expression: Expression, x: float) -> float:
    return float(np.asarray(evaluate(expression, Environment({"x": np.array(x)}, {}), ())))


@pytest.mark.parametrize("link", ["logistic", "normal_cdf"])
@pytest.mark.parametrize("x", [-12.0, -7.9, -1.3, 0.2, 6.5, 7.9, 12.0])
def test_both_tails_of_a_link_have_the_slope_of_their_density(link: str, x: float) -> None:
    p = call(link, X)
    for density in (log(p), log(add(1.0, multiply(-1.0, p)))):
        step = 1e-5
        difference = (at(density, x + step) - at(density, x - step)) / (2 * step)
        assert at(differentiate(density, X), x) == pytest.approx(difference, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("link", ["logistic", "normal_cdf"])
def test_a_tail_is_the_other_tail_turned_round(link: str) -> None:
    p = call(link, X)
    for x in (-9.0, -0.4, 3.0, 9.0):
        assert at(log(add(1.0, multiply(-1.0, p))), x) == pytest.approx(at(log(p), -x), rel=1e-12)
