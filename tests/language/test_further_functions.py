"""`pw.erf`, `pw.lgamma` and `pw.cumulative_sum` against SciPy and NumPy, with their slopes, in NumPy and in C."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import platewright as pw
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference
from platewright.errors import PlateError

N = Index("n", "n")
A = Reference("a", (N,))
X = np.array([-2.5, -0.3, 0.0, 0.8, 3.0])


def at(value: Expression, a: np.ndarray) -> np.ndarray:
    return evaluate(value, Environment({"a": a}, {"n": len(a)}), (N,))


def test_erf_is_that_of_scipy_with_its_slope() -> None:
    np.testing.assert_allclose(at(pw.erf(A), X), special.erf(X), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(at(differentiate(pw.erf(A), A), X), 2 / np.sqrt(np.pi) * np.exp(-(X**2)), rtol=1e-13)


def test_lgamma_is_that_of_scipy_with_its_slope() -> None:
    x = np.array([0.1, 1.0, 2.5, 40.0, 1e6])
    np.testing.assert_allclose(at(pw.lgamma(A), x), special.gammaln(x), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(at(differentiate(pw.lgamma(A), A), x), special.digamma(x), rtol=1e-12)


def test_a_cumulative_sum_is_that_of_numpy() -> None:
    m = pw.Model("steps")
    n = m.plate("n", 5)
    m.a = pw.Input(plates=n)
    value = pw.cumulative_sum(m.a**2, over=n)
    found = evaluate(value, Environment({"a": X}, {"n": 5}), (n.index,))
    np.testing.assert_allclose(found, np.cumsum(X**2), rtol=1e-14)


def test_a_cumulative_sum_needs_something_on_its_plate() -> None:
    m = pw.Model("steps")
    n = m.plate("n", 5)
    m.a = pw.Normal(0, sd=1)
    with pytest.raises(PlateError, match="does not depend on plate `n`"):
        pw.cumulative_sum(m.a, over=n)


def isotonic() -> pw.Model:
    """Levels that rise along a plate: their steps have Gaussian priors, so that all are known in closed form."""
    m = pw.Model("isotonic")
    k, row = m.plate("k", 4), m.plate("row")
    m.z = pw.Input(plates=row, levels=k)
    m.step = pw.Normal(1.0, sd=2.0, plates=k)
    m.level = pw.cumulative_sum(m.step, over=k)
    m.y = pw.Normal(m.level[m.z], sd=0.5, plates=row)
    return m


def test_steps_under_a_cumulative_sum_have_the_posterior_of_least_squares() -> None:
    generator = np.random.default_rng(4)
    z = generator.integers(0, 4, 30)
    y = np.cumsum([0.5, 1.0, 2.0, 0.1])[z] + generator.normal(0, 0.5, 30)
    fit = isotonic().learn({"z": z, "y": y})
    design = (np.arange(4) <= z[:, None]).astype(float)
    precision = design.T @ design / 0.25 + np.eye(4) / 4
    mean = np.linalg.solve(precision, design.T @ y / 0.25 + 0.25)
    np.testing.assert_allclose(fit["step"].mean, mean, rtol=1e-9)
    np.testing.assert_allclose(fit["step"].sd, np.sqrt(np.diag(np.linalg.inv(precision))), rtol=1e-9)
