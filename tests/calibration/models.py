"""Models with closed forms and proper priors, for calibration."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def coin() -> pw.Model:
    m = pw.Model("coin")
    n = m.plate("n")
    m.p = pw.Beta(2, 3)
    m.y = pw.Bernoulli(m.p, plates=n)
    return m


def rate() -> pw.Model:
    m = pw.Model("rate")
    n = m.plate("n")
    m.r = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.r, plates=n)
    return m


def mean_and_precision() -> pw.Model:
    m = pw.Model("mean and precision")
    n = m.plate("n")
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, precision=0.5 * m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    return m


def regression() -> pw.Model:
    m = pw.Model("regression")
    n, k = m.plate("n"), m.plate("k", 2)
    m.x = pw.Input(plates=(n, k))
    m.tau = pw.Gamma(3, rate=2)
    m.w = pw.Normal(0, precision=m.tau, plates=k)
    m.y = pw.Normal(pw.dot(m.x, m.w, over=k), precision=m.tau, plates=n)
    return m


def vectors() -> pw.Model:
    m = pw.Model("vectors")
    n, d = m.plate("n"), m.plate("d", 2)
    m.S = pw.Wishart(4, inverse_scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(pw.array([0.0, 1.0], over=d), precision=0.5 * m.S, over=d)
    m.y = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=n)
    return m


def table() -> pw.Model:
    m = pw.Model("table")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(1.5, over=k)
    m.y = pw.Categorical(m.p, plates=n)
    return m


def known_scales() -> pw.Model:
    m = pw.Model("known scales")
    n = m.plate("n")
    m.centre = pw.Normal(1, sd=2)
    m.mu = pw.Normal(m.centre, sd=1, plates=n)
    m.y = pw.Normal(m.mu, sd=0.5, plates=n)
    return m


CLOSED_FORMS: tuple[Case, ...] = tuple(
    Case(build.__name__, build, ("y",), {"n": 5})
    for build in (coin, rate, mean_and_precision, regression, vectors, table, known_scales)
)
