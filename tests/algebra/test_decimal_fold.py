"""Numbers fold as they are written, and stay as near to the truth as binary ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.build import add, call, multiply
from platewright.algebra.decimal_fold import added, multiplied
from platewright.algebra.evaluate import FUNCTIONS
from platewright.algebra.expression import ZERO, Constant, Reference

WRITTEN = [0.1, 0.2, -0.3, 0.7, 1.1, 3.0, -1.0, 1e-7, 2.5e10, 0.3333333333333333, np.pi, -np.e]


@pytest.mark.parametrize("left", WRITTEN)
@pytest.mark.parametrize("right", WRITTEN)
def test_a_folded_number_is_as_near_as_rounding_allows(left: float, right: float) -> None:
    for found, exact, size in (
        (added(left, right), Fraction(left) + Fraction(right), max(abs(left), abs(right))),
        (multiplied(left, right), Fraction(left) * Fraction(right), abs(left * right)),
    ):
        assert abs(Fraction(found) - exact) <= 4 * Fraction(float(np.spacing(size)))


def test_what_cancels_on_paper_cancels_here() -> None:
    x = Reference("x")
    assert add(multiply(0.1, x), multiply(0.2, x), multiply(-0.3, x)) == ZERO
    assert add(0.1, -1, 1) == Constant(0.1)
    assert multiply(0.1, 3) == Constant(0.3)


@pytest.mark.parametrize("function", ["less", "maximum", "minimum"])
def test_numbers_are_compared_where_they_are_written(function: str) -> None:
    for left in WRITTEN:
        for right in WRITTEN:
            assert call(function, left, right) == Constant(float(FUNCTIONS[function](left, right)))


def test_a_function_of_two_hidden_values_leaves_numbers_in_each_case() -> None:
    m = pw.Model("either")
    n = m.plate("n")
    m.q, m.pen = pw.Beta(2, 5), pw.Beta(9, 1)
    m.a = pw.Bernoulli(m.q, plates=n)
    m.b = pw.Bernoulli(m.q, plates=n)
    m.c = pw.maximum(m.a, m.b)
    m.y = pw.Bernoulli(m.pen * m.c + 0.02 * (1 - m.c), plates=n)
    assert "{q, pen} exact" in m.derive(["y"], by="gibbs").how


def test_a_prior_is_printed_as_it_was_written() -> None:
    m = pw.Model("sparse")
    k = m.plate("k", 3)
    m.p = pw.Dirichlet(0.1, over=k)
    m.x = pw.Categorical(m.p, plates=m.plate("n"))
    told = m.derive(["x"])
    assert "concentration = 0.1 + " in told.explain()
    assert "0.0999" not in told.source()
