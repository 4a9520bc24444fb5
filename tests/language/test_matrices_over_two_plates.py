"""A matrix may be written over a plate and another like it: kernels, as a Gaussian process has them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import platewright as pw
from platewright.errors import PlateError

X = np.array([0.1, 0.7, 1.1, 2.3, 2.9])
Y = np.array([0.2, 0.5, 0.9, 0.6, 0.1])
KERNEL = np.exp(-0.5 * (X[:, None] - X) ** 2) + 0.1 * np.eye(5)


def process(write: str) -> pw.Model:
    """A hidden curve with a known kernel, written in three ways."""
    m = pw.Model("process")
    point = m.plate("point", 5)
    other = m.plate("other", like=point)
    m.x = pw.Input(plates=point)
    covariance = {
        "numbers": lambda: KERNEL,
        "table": lambda: pw.array(KERNEL, over=(point, other)),
        "turned": lambda: pw.array(KERNEL, over=(other, point)),
        "formula": lambda: pw.exp(-0.5 * (m.x - m.x[other]) ** 2) + 0.1 * pw.identity(point),
    }[write]()
    m.f = pw.MultivariateNormal(0.0, covariance=covariance, over=point)
    m.y = pw.Normal(m.f, sd=0.3, plates=point)
    return m


@pytest.mark.parametrize("write", ["numbers", "table", "turned", "formula"])
def test_every_way_of_writing_a_kernel_gives_the_same_curve(write: str) -> None:
    fit = process(write).learn({"x": X, "y": Y}, by="exact")
    noise = 0.09 * np.eye(5)
    assert fit["f"].mean == pytest.approx(KERNEL @ np.linalg.solve(KERNEL + noise, Y), rel=1e-9)
    assert fit.log_evidence == pytest.approx(stats.multivariate_normal.logpdf(Y, np.zeros(5), KERNEL + noise), rel=1e-9)


def test_the_length_of_a_kernel_is_integrated_over() -> None:
    m = pw.Model("length")
    point = m.plate("point", 5)
    other = m.plate("other", like=point)
    m.x = pw.Input(plates=point)
    m.length = pw.Gamma(3, rate=2)
    m.kernel = pw.exp(-0.5 * (m.x - m.x[other]) ** 2 / m.length**2)
    m.y = pw.MultivariateNormal(0.0, covariance=m.kernel + 0.1 * pw.identity(point), over=point)

    def density(length: float) -> float:
        kernel = np.exp(-0.5 * ((X[:, None] - X) / length) ** 2) + 0.1 * np.eye(5)
        return stats.gamma.pdf(length, 3, scale=0.5) * stats.multivariate_normal.pdf(Y, np.zeros(5), kernel)

    wanted = np.log(integrate.quad(density, 0, 30, points=[1.0], epsrel=1e-10)[0])
    assert m.learn({"x": X, "y": Y}, goal="evidence").log_evidence == pytest.approx(wanted, abs=1e-6)


def test_a_matrix_over_two_further_plates_is_refused() -> None:
    m = pw.Model("three")
    point = m.plate("point", 5)
    one, two = m.plate("one", like=point), m.plate("two", like=point)
    with pytest.raises(PlateError, match="lives on plate"):
        m.f = pw.MultivariateNormal(0.0, covariance=pw.array(KERNEL, over=(one, two)), over=point)
