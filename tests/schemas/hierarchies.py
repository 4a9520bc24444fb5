"""Models without hidden classes that have no closed form: several scales, links, scale mixtures, hyperparameters."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def mean_and_scale() -> pw.Model:
    m = pw.Model("mean apart from precision")
    n = m.plate("n")
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(1, sd=2)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    return m


def mean_and_variance() -> pw.Model:
    m = pw.Model("mean apart from variance")
    n = m.plate("n")
    m.v = pw.InverseGamma(3, scale=2)
    m.mu = pw.Normal(1, sd=2)
    m.y = pw.Normal(m.mu, variance=m.v, plates=n)
    return m


def groups() -> pw.Model:
    m = pw.Model("groups with two scales")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.between = pw.Gamma(3, rate=2)
    m.within = pw.Gamma(3, rate=2)
    m.centre = pw.Normal(0, sd=2)
    m.mu = pw.Normal(m.centre, precision=m.between, plates=g)
    m.y = pw.Normal(m.mu, precision=m.within, plates=n)
    return m


def few_groups() -> pw.Model:
    m = pw.Model("few groups with two scales, moved along their funnel too")
    g, n = m.plate("g", size=3), m.plate("n")
    m.between, m.within = pw.Gamma(3, rate=2), pw.Gamma(3, rate=2)
    m.centre = pw.Normal(0, sd=2)
    m.mu = pw.Normal(m.centre, precision=m.between, plates=g)
    m.y = pw.Normal(m.mu, precision=m.within, plates=(g, n))
    return m


def schools() -> pw.Model:
    m = pw.Model("schools, half-Cauchy scale")
    n = m.plate("n")
    m.se = pw.Input(plates=n)
    m.centre = pw.Normal(0, sd=2)
    m.spread = pw.HalfCauchy(1.0)
    m.effect = pw.Normal(m.centre, sd=m.spread, plates=n)
    m.y = pw.Normal(m.effect, sd=m.se, plates=n)
    return m


def random_slopes() -> pw.Model:
    m = pw.Model("random slopes")
    i, j = m.plate("i"), m.plate("j")
    m.x = pw.Input(plates=j)
    m.tc, m.ta, m.tb = pw.Gamma(3, rate=2), pw.Gamma(3, rate=2), pw.Gamma(3, rate=2)
    m.ac, m.bc = pw.Normal(0, sd=2), pw.Normal(0, sd=2)
    m.a = pw.Normal(m.ac, precision=m.ta, plates=i)
    m.b = pw.Normal(m.bc, precision=m.tb, plates=i)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tc, plates=(i, j))
    return m


def growth() -> pw.Model:
    m = pw.Model("a line through vectors of unknown precision")
    n, j = m.plate("n"), m.plate("j", size=2)
    m.age = pw.Input(plates=j)
    m.a, m.b = pw.Normal(0, sd=2), pw.Normal(0, sd=2)
    m.omega = pw.Wishart(4, inverse_scale=[[2.0, 0.5], [0.5, 1.0]], over=j)
    m.y = pw.MultivariateNormal(m.a + m.b * m.age, precision=m.omega, over=j, plates=n)
    return m


def crossed() -> pw.Model:
    m = pw.Model("crossed effects")
    a, b = m.plate("a"), m.plate("b")
    m.ta, m.tb, m.tc = pw.Gamma(3, rate=2), pw.Gamma(3, rate=2), pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, sd=2)
    m.u = pw.Normal(0, precision=m.ta, plates=a)
    m.v = pw.Normal(0, precision=m.tb, plates=b)
    m.y = pw.Normal(m.mu + m.u + m.v, precision=m.tc, plates=(a, b))
    return m


def logistic() -> pw.Model:
    m = pw.Model("logistic regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.y = pw.Bernoulli(logit=m.a + m.b * m.x, plates=n)
    return m


def log_linear() -> pw.Model:
    m = pw.Model("log-linear counts")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Normal(0, sd=0.7), pw.Normal(0, sd=0.7)
    m.y = pw.Poisson(pw.exp(m.a + m.b * m.x), plates=n)
    return m


def overdispersed() -> pw.Model:
    m = pw.Model("counts with random effects")
    n = m.plate("n")
    m.tau = pw.Gamma(4, rate=2)
    m.a = pw.Normal(0, sd=1)
    m.e = pw.Normal(m.a, precision=m.tau, plates=n)
    m.y = pw.Poisson(pw.exp(m.e), plates=n)
    return m


def robust_regression() -> pw.Model:
    m = pw.Model("Student-t regression as a scale mixture")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.a = pw.Normal(0, sd=2)
    m.b = pw.Normal(0, sd=2)
    m.w = pw.Gamma(2, rate=2, plates=n)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau * m.w, plates=n)
    return m


def pumps() -> pw.Model:
    m = pw.Model("Poisson-Gamma with unknown hyperparameters")
    n = m.plate("n")
    m.t = pw.Input(plates=n)
    m.shape = pw.Exponential(rate=1.0)
    m.rate = pw.Gamma(2, rate=2)
    m.theta = pw.Gamma(m.shape, rate=m.rate, plates=n)
    m.y = pw.Poisson(m.theta * m.t, plates=n)
    return m


def rates_of_coins() -> pw.Model:
    m = pw.Model("Beta-binomial with unknown hyperparameters")
    n = m.plate("n")
    m.a, m.b = pw.Gamma(3, rate=1), pw.Gamma(3, rate=1)
    m.q = pw.Beta(m.a, m.b, plates=n)
    m.y = pw.Binomial(7, m.q, plates=n)
    return m


def rates_of_groups() -> pw.Model:
    m = pw.Model("rates of groups, several counts each")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.shape, m.rate = pw.HalfNormal(sd=2), pw.Gamma(2, rate=2)
    m.theta = pw.Gamma(m.shape, rate=m.rate, plates=g)
    m.y = pw.Poisson(m.theta, plates=n)
    return m


def shares_of_groups() -> pw.Model:
    m = pw.Model("Dirichlet-multinomial with an unknown concentration")
    n, k = m.plate("n"), m.plate("k", 3)
    m.c = pw.Gamma(3, rate=1)
    m.p = pw.Dirichlet(m.c, over=k, plates=n)
    m.y = pw.Multinomial(4, m.p, over=k, plates=n)
    return m


def two_exponents() -> pw.Model:
    m = pw.Model("rates of rates")
    n = m.plate("n")
    m.r = pw.Gamma(3, rate=2)
    m.s = pw.Gamma(2, rate=m.r, plates=n)
    m.y = pw.Exponential(rate=m.s, plates=n)
    return m


def normal_wishart_apart() -> pw.Model:
    m = pw.Model("mean vector apart from precision matrix")
    n, d = m.plate("n"), m.plate("d", 2)
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, precision=pw.identity(d), over=d)
    m.y = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=n)
    return m


def shrinkage() -> pw.Model:
    m = pw.Model("weights with scales of their own")
    n, j = m.plate("n"), m.plate("j")
    m.x = pw.Input(plates=(n, j))
    m.tau = pw.Gamma(3, rate=2)
    m.s = pw.Gamma(2, rate=1, plates=j)
    m.b = pw.Normal(0, precision=m.s, plates=j)
    m.y = pw.Normal(pw.dot(m.x, m.b, over=j), precision=m.tau, plates=n)
    return m


def log_normal_scale() -> pw.Model:
    m = pw.Model("log-normal scale")
    n = m.plate("n")
    m.s = pw.LogNormal(0, sd=0.5)
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mu, sd=m.s, plates=n)
    return m


ROWS = {"n": 4}

HIERARCHIES: tuple[Case, ...] = (
    *(
        Case(build.__name__, build, ("y",), ROWS)
        for build in (
            mean_and_scale, mean_and_variance, schools, logistic, log_linear, overdispersed, robust_regression, pumps,
            rates_of_coins, two_exponents, normal_wishart_apart, log_normal_scale,
        )
    ),
    Case("groups", groups, ("y",), {"g": 2, "n": 5}, {"n": (0, 0, 1, 1, 1)}),
    Case("few_groups", few_groups, ("y",), {"n": 2}),
    Case("rates_of_groups", rates_of_groups, ("y",), {"g": 2, "n": 5}, {"n": (0, 0, 1, 1, 1)}),
    Case("shares_of_groups", shares_of_groups, ("y",), {"n": 3}),
    Case("random_slopes", random_slopes, ("y",), {"i": 2, "j": 3}),
    Case("growth", growth, ("y",), {"n": 4}),
    Case("crossed", crossed, ("y",), {"a": 2, "b": 3}),
    Case("shrinkage", shrinkage, ("y",), {"n": 4, "j": 2}),
)  # fmt: skip
