"""Law of columns of few values: where they meet look-ups they are codes too, and the fused pass is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import platewright as pw
from backends.test_c_em import assert_step
from platewright.backends.c.compile import find_compiler
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.native_em import NativeEM

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

ROWS = 600


def mixture() -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(2.0, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    return m, n, k


def native(fit: Any) -> NativeEM:
    assert isinstance(fit, EstimatedFit)
    em = NativeEM(fit.derivation, fit.columns, fit.sizes)
    assert em.native, em.left
    return em


def answers() -> tuple[pw.Model, Any]:
    generator = np.random.default_rng(0)
    m, n, k = mixture()
    j, v = m.plate("j", 4), m.plate("v", 3)
    m.theta = pw.Dirichlet(2.0, over=v, plates=(k, j))
    m.x = pw.Categorical(m.theta[m.z], plates=(n, j))
    z = generator.integers(0, 3, ROWS)
    x = np.where(generator.random((ROWS, 4)) < 0.7, z[:, None], generator.integers(0, 3, (ROWS, 4)))
    return m, np.ma.masked_array(x, generator.random(x.shape) < 0.25)


def test_answers_with_holes_are_looked_up_where_they_were_given() -> None:
    m, x = answers()
    fit = m.learn({"x": x}, goal="map", iterations=30, backend="numpy")
    em = native(fit)
    values: dict[str, Any] = {name: fit[name].value for name in ("p", "theta")}
    assert_step(em, values)
    seen = ~np.ma.getmaskarray(x)
    logs = np.log(values["theta"])[:, np.arange(4), x.filled(0)]  # k, n, j
    rows = logsumexp(np.log(values["p"])[:, None] + (logs * seen).sum(axis=2), axis=0)
    assert fit.log_likelihood == pytest.approx(rows.sum(), rel=1e-10)
    assert not em.by_numpy


def test_classes_that_are_known_in_some_rows() -> None:
    generator = np.random.default_rng(1)
    m, n, k = mixture()
    m.precision = pw.Gamma(2.0, rate=1.0, plates=k)
    m.mu = pw.Normal(0, precision=0.1 * m.precision, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.precision[m.z], plates=n)
    z = generator.integers(0, 3, ROWS)
    y = generator.normal(2.0 * z, 1.0)
    given = np.ma.masked_array(z, generator.random(ROWS) < 0.7)
    fit = m.learn({"y": y, "z": given}, goal="map", iterations=30, backend="numpy")
    em = native(fit)
    values: dict[str, Any] = {name: fit[name].value for name in ("p", "mu", "precision")}
    assert_step(em, values)
    assert not em.by_numpy
    weight = np.log(values["p"]) + 0.5 * np.log(values["precision"] / (2 * np.pi))
    weight = weight - 0.5 * values["precision"] * (y[:, None] - values["mu"]) ** 2
    known = ~np.ma.getmaskarray(given)
    rows = np.where(known, weight[np.arange(ROWS), z], logsumexp(weight, axis=1))
    assert fit.log_likelihood == pytest.approx(rows.sum(), rel=1e-10)
    (shares,) = em.probabilities(values).values()
    np.testing.assert_array_equal(shares[known], np.eye(3)[z[known]])


def test_a_real_column_that_meets_a_look_up_is_left_to_numpy() -> None:
    m, n, k = mixture()
    j = m.plate("j", 2)
    m.group = pw.Input(plates=n, levels=j)
    m.x = pw.Input(plates=n)
    m.slope = pw.Normal(0, sd=3, plates=(k, j))
    m.y = pw.Normal(m.slope[m.z, m.group] * m.x, sd=1.0, plates=n)
    generator = np.random.default_rng(2)
    data = {"x": generator.normal(size=50), "y": generator.normal(size=50), "group": generator.integers(0, 2, 50)}
    fit = m.learn(data, goal="map", backend="numpy")
    assert isinstance(fit, EstimatedFit)
    em = NativeEM(fit.derivation, fit.columns, fit.sizes)
    assert not em.native
