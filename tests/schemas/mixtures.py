"""Mixtures and other models with a hidden class for each row, small enough to enumerate."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def _classes(title: str, count: int = 2) -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model(title)
    n, k = m.plate("n"), m.plate("k", count)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    return m, n, k


def shared_precision() -> pw.Model:
    m, n, k = _classes("mixture, one precision")
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau, plates=n)
    return m


def own_precisions() -> pw.Model:
    m, n, k = _classes("mixture, own precisions", 3)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def conjugate_precisions() -> pw.Model:
    m, n, k = _classes("mixture, conjugate")
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0.5, precision=0.3 * m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def variances() -> pw.Model:
    m, n, k = _classes("mixture, variances")
    m.v = pw.InverseGamma(3, scale=2, plates=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], variance=m.v[m.z], plates=n)
    return m


def known_variance() -> pw.Model:
    m, n, k = _classes("mixture, known variance", 3)
    m.mu = pw.Normal(1, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=0.7, plates=n)
    return m


def unknown_centre() -> pw.Model:
    m, n, k = _classes("mixture, unknown centre")
    m.centre = pw.Normal(0, sd=3)
    m.mu = pw.Normal(m.centre, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    return m


def diagonal() -> pw.Model:
    m, n, k = _classes("diagonal mixture")
    j = m.plate("j")
    m.tau = pw.Gamma(3, rate=2, plates=(k, j))
    m.mu = pw.Normal(0, sd=2, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, j))
    return m


def spherical() -> pw.Model:
    m, n, k = _classes("spherical mixture")
    j = m.plate("j")
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, sd=2, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, j))
    return m


def tied_diagonal() -> pw.Model:
    m, n, k = _classes("tied diagonal mixture")
    j = m.plate("j")
    m.tau = pw.Gamma(3, rate=2, plates=j)
    m.mu = pw.Normal(0, sd=2, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau, plates=(n, j))
    return m


def full_wishart() -> pw.Model:
    m, n, k = _classes("full mixture, Wishart")
    d = m.plate("d", 2)
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d, plates=k)
    m.mu = pw.MultivariateNormal(0, precision=0.5 * m.S, over=d, plates=k)
    m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S[m.z], over=d, plates=n)
    return m


def full_inverse_wishart() -> pw.Model:
    m, n, k = _classes("full mixture, inverse Wishart")
    d = m.plate("d", 2)
    m.S = pw.InverseWishart(5, scale=pw.identity(d), over=d, plates=k)
    m.mu = pw.MultivariateNormal(0, covariance=m.S / 0.5, over=d, plates=k)
    m.y = pw.MultivariateNormal(m.mu[m.z], covariance=m.S[m.z], over=d, plates=n)
    return m


def full_free_means() -> pw.Model:
    m, n, k = _classes("full mixture, means apart from precisions")
    d = m.plate("d", 2)
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d, plates=k)
    m.mu = pw.MultivariateNormal(0, precision=pw.identity(d), over=d, plates=k)
    m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S[m.z], over=d, plates=n)
    return m


def tied_full() -> pw.Model:
    m, n, k = _classes("tied full mixture")
    d = m.plate("d", 2)
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, precision=0.5 * m.S, over=d, plates=k)
    m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S, over=d, plates=n)
    return m


def latent_class() -> pw.Model:
    m, n, k = _classes("latent class")
    j, level = m.plate("j", 3), m.plate("level", 3)
    m.theta = pw.Dirichlet(1.5, over=level, plates=(k, j))
    m.x = pw.Categorical(m.theta[m.z], plates=(n, j))
    return m


def latent_class_by_column() -> pw.Model:
    m, n, k = _classes("latent class, columns of different kinds", 3)
    a, b = m.plate("a", 2), m.plate("b", 4)
    m.theta1 = pw.Dirichlet(1.2, over=a, plates=k)
    m.theta2 = pw.Dirichlet(2.0, over=b, plates=k)
    m.x1 = pw.Categorical(m.theta1[m.z], plates=n)
    m.x2 = pw.Categorical(m.theta2[m.z], plates=n)
    return m


def mixed_columns() -> pw.Model:
    m, n, k = _classes("naive Bayes, mixed columns")
    a = m.plate("a", 3)
    m.theta = pw.Dirichlet(1.5, over=a, plates=k)
    m.q = pw.Beta(2, 3, plates=k)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.x = pw.Categorical(m.theta[m.z], plates=n)
    m.b = pw.Bernoulli(m.q[m.z], plates=n)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    m.c = pw.Poisson(m.rate[m.z], plates=n)
    return m


def bernoulli_items() -> pw.Model:
    m, n, k = _classes("mixture of Bernoulli items")
    j = m.plate("j")
    m.q = pw.Beta(1.5, 2, plates=(k, j))
    m.x = pw.Bernoulli(m.q[m.z], plates=(n, j))
    return m


def poissons() -> pw.Model:
    m, n, k = _classes("mixture of Poissons")
    m.rate = pw.Gamma(2, rate=0.5, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def exposed_poissons() -> pw.Model:
    m, n, k = _classes("mixture of Poissons with exposure")
    m.t = pw.Input(plates=n)
    m.rate = pw.Gamma(2, rate=0.5, plates=k)
    m.y = pw.Poisson(m.rate[m.z] * m.t, plates=n)
    return m


def exponentials() -> pw.Model:
    m, n, k = _classes("mixture of exponentials")
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.y = pw.Exponential(rate=m.rate[m.z], plates=n)
    return m


def geometrics() -> pw.Model:
    m, n, k = _classes("mixture of geometrics")
    m.q = pw.Beta(2, 2, plates=k)
    m.y = pw.Geometric(m.q[m.z], plates=n)
    return m


def regressions() -> pw.Model:
    m, n, k = _classes("mixture of regressions")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.a = pw.Normal(0, precision=0.5 * m.tau, plates=k)
    m.b = pw.Normal(0, precision=0.5 * m.tau, plates=k)
    m.y = pw.Normal(m.a[m.z] + m.b[m.z] * m.x, precision=m.tau[m.z], plates=n)
    return m


def regressions_shared_noise() -> pw.Model:
    m, n, k = _classes("mixture of regressions, one noise")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.a = pw.Normal(0, sd=2, plates=k)
    m.b = pw.Normal(0, sd=2)
    m.y = pw.Normal(m.a[m.z] + m.b * m.x, precision=m.tau, plates=n)
    return m


def zero_inflated() -> pw.Model:
    m = pw.Model("zero-inflated Poisson")
    n = m.plate("n")
    m.p = pw.Beta(2, 2)
    m.rate = pw.Gamma(3, rate=1)
    m.z = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Poisson(pw.where(m.z, m.rate, 1e-3), plates=n)
    return m


def misclassified() -> pw.Model:
    m = pw.Model("misclassified answers")
    n, j = m.plate("n"), m.plate("j", 3)
    m.p = pw.Beta(2, 2)
    m.hit = pw.Beta(8, 2, plates=j)
    m.miss = pw.Beta(2, 8, plates=j)
    m.truth = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Bernoulli(pw.where(m.truth, m.hit, m.miss), plates=(n, j))
    return m


def contaminated() -> pw.Model:
    m = pw.Model("contaminated normal")
    n = m.plate("n")
    m.p = pw.Beta(1, 4)
    m.mu = pw.Normal(0, sd=2)
    m.out = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Normal(m.mu, sd=pw.where(m.out, 5.0, 1.0), plates=n)
    return m


def classes_of_groups() -> pw.Model:
    m = pw.Model("classes of groups")
    g, k = m.plate("g"), m.plate("k", 2)
    n = m.plate("n", within=g)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=g)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    return m


def topics() -> pw.Model:
    m = pw.Model("topics")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    topic, term = m.plate("topic", 2), m.plate("term", 3)
    m.theta = pw.Dirichlet(1.5, over=topic, plates=doc)
    m.phi = pw.Dirichlet(1.2, over=term, plates=topic)
    m.z = pw.Categorical(m.theta, plates=word)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def two_causes() -> pw.Model:
    m = pw.Model("two hidden causes that meet")
    n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 2)
    m.pa = pw.Dirichlet(1.5, over=a)
    m.pb = pw.Dirichlet(1.5, over=b)
    m.u = pw.Categorical(m.pa, plates=n)
    m.v = pw.Categorical(m.pb, plates=n)
    m.mu = pw.Normal(0, sd=2, plates=(a, b))
    m.y = pw.Normal(m.mu[m.u, m.v], sd=1, plates=n)
    return m


def two_apart() -> pw.Model:
    m = pw.Model("two hidden classes that do not meet")
    n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 3)
    m.pa = pw.Dirichlet(1.5, over=a)
    m.pb = pw.Dirichlet(1.5, over=b)
    m.u = pw.Categorical(m.pa, plates=n)
    m.v = pw.Categorical(m.pb, plates=n)
    m.mu = pw.Normal(0, sd=2, plates=a)
    m.rate = pw.Gamma(2, rate=0.5, plates=b)
    m.x = pw.Normal(m.mu[m.u], sd=1, plates=n)
    m.y = pw.Poisson(m.rate[m.v], plates=n)
    return m


def blocks() -> pw.Model:
    m = pw.Model("blocks of rows and columns")
    n, j, a, b = m.plate("n"), m.plate("j"), m.plate("a", 2), m.plate("b", 2)
    m.pa = pw.Dirichlet(1.5, over=a)
    m.pb = pw.Dirichlet(1.5, over=b)
    m.u = pw.Categorical(m.pa, plates=n)
    m.v = pw.Categorical(m.pb, plates=j)
    m.q = pw.Beta(1.5, 2, plates=(a, b))
    m.y = pw.Bernoulli(m.q[m.u, m.v], plates=(n, j))
    return m


ROWS = {"n": 4}
TABLE = {"n": 3, "j": 2}

MIXTURES: tuple[Case, ...] = (
    *(
        Case(build.__name__, build, ("y",), ROWS)
        for build in (
            shared_precision, own_precisions, conjugate_precisions, variances, known_variance, unknown_centre,
            full_wishart, full_inverse_wishart, full_free_means, tied_full, poissons, exposed_poissons, exponentials,
            geometrics, regressions, regressions_shared_noise, zero_inflated, misclassified, contaminated, two_causes,
        )
    ),
    *(Case(build.__name__, build, ("y",), TABLE) for build in (diagonal, spherical, tied_diagonal, blocks)),
    Case("bernoulli_items", bernoulli_items, ("x",), TABLE),
    Case("latent_class", latent_class, ("x",), ROWS),
    Case("latent_class_by_column", latent_class_by_column, ("x1", "x2"), ROWS),
    Case("mixed_columns", mixed_columns, ("x", "b", "y", "c"), ROWS),
    Case("two_apart", two_apart, ("x", "y"), {"n": 3}),
    Case("topics", topics, ("w",), {"doc": 2, "word": 5}, {"word": (0, 0, 0, 1, 1)}),
)  # fmt: skip

CLASSES_OF_GROUPS = Case("classes_of_groups", classes_of_groups, ("y",), {"g": 2, "n": 5}, {"n": (0, 0, 1, 1, 1)})
"""A hidden class of an outer plate, seen through the rows inside it; more of them in `grouped_classes.py`."""
