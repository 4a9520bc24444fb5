"""Which powers of an unknown a log density holds is told without multiplying out; judged by polynomials of NumPy."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import platewright as pw
from platewright.algebra.build import add, multiply, power
from platewright.algebra.expression import Constant, Expression, Reference
from platewright.recognition.powers import MOST, _powers, part_with_too_many_powers

X, Y = Reference("x"), Reference("y")
Y_VALUE = 0.737


def random_polynomial(rng: np.random.Generator, depth: int) -> tuple[Expression, Polynomial]:
    """An expression in x and y, and the polynomial in x that it is at a value of y; all coefficients positive."""
    if depth == 0:
        kind = rng.integers(3)
        number = float(rng.uniform(0.5, 2))
        return ((X, Polynomial([0, 1])), (Y, Polynomial([Y_VALUE])), (Constant(number), Polynomial([number])))[kind]
    one, two = random_polynomial(rng, depth - 1), random_polynomial(rng, rng.integers(depth))
    kind = rng.integers(3)
    if kind == 0:
        return add(one[0], two[0]), one[1] + two[1]
    if kind == 1:
        return multiply(one[0], two[0]), one[1] * two[1]
    return power(one[0], 2.0), one[1] ** 2


@pytest.mark.parametrize("seed", range(60))
def test_the_powers_are_those_of_the_polynomial(seed: int) -> None:
    expression, polynomial = random_polynomial(np.random.default_rng(seed), 4)
    truth = {k for k, weight in enumerate(polynomial.coef) if weight > 1e-12}
    part = part_with_too_many_powers(expression, "x")
    if part is None:
        found = _powers(expression, "x")
        assert found is None or found - {0} == truth - {0}
    else:
        assert len(truth - {0}) > MOST


@pytest.mark.parametrize(
    "near",
    [
        power(X, 12.0),  # one power, however high
        add(multiply(Y, X), power(X, 2.0), power(Y, 9.0)),
        multiply(power(add(X, Y), 2.0), power(add(Y, 1.0), 2.0)),
        power(add(Constant(1.0), power(X, 2.0)), 4.0),
        add(*(multiply(pw.exp(X), power(X, float(k))) for k in range(2, 12))),  # no polynomial: nothing is sure
    ],
    ids=str,
)
def test_few_powers_are_no_reason_to_decline(near: Expression) -> None:
    assert part_with_too_many_powers(near, "x") is None


def moving_average(steps: int) -> pw.Model:
    text = """model { mu[1] <- a; eps[1] <- y[1] - mu[1]; for (t in 2:T) { y[t] ~ dnorm(mu[t], tau)
      mu[t] <- a + theta * eps[t-1]; eps[t] <- y[t] - mu[t] }
      a ~ dnorm(0, 1); theta ~ dunif(-1, 1); tau ~ dgamma(2, 1) }"""
    return pw.read_bugs(text, {"T": steps, "y": np.random.default_rng(0).normal(size=steps)})


def seconds(steps: int) -> float:
    model = moving_average(steps)
    known = set(model.read_from.data()) & {name for name, node in model.variables.items() if node.family is not None}
    start = time.process_time()
    model.derive(known)
    return time.process_time() - start


def test_a_nested_series_is_declined_before_it_is_multiplied_out() -> None:
    seconds(8)  # what is loaded once
    assert seconds(40) < 20 * seconds(20) + 1, "deriving grows with a high power of the steps"
    model = moving_average(12)
    reasons = str(
        model.derive(set(model.read_from.data()) - {"y"} | {f"y_{t}" for t in range(2, 13)}, by="gibbs").explain()
    )
    assert "holds more powers of it than any family" in reasons
