"""Mixtures of any size, mostly for maximum likelihood: what the fused pass of EM is tried on."""

from __future__ import annotations

import platewright as pw


def classes(count: int) -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", count)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    return m, n, k


def one_column(count: int = 2) -> pw.Model:
    m, n, k = classes(count)
    m.mu = pw.Flat(plates=k)
    m.tau = pw.Flat(lower=0, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def diagonal(count: int = 3, columns: int = 4) -> pw.Model:
    m, n, k = classes(count)
    j = m.plate("j", columns)
    m.mu = pw.Flat(plates=(k, j))
    m.tau = pw.Flat(lower=0, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, j))
    return m


def full(count: int = 3, columns: int = 3) -> pw.Model:
    m, n, k = classes(count)
    d = m.plate("d", columns)
    m.S = pw.Wishart(columns + 2, scale=pw.identity(d), over=d, plates=k)
    m.mu = pw.MultivariateNormal(0, precision=1e-3 * m.S, over=d, plates=k)
    m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S[m.z], over=d, plates=n)
    return m


def mixed_columns() -> pw.Model:
    m, n, k = classes(3)
    a = m.plate("a", 4)
    m.theta = pw.Dirichlet(1.5, over=a, plates=k)
    m.q = pw.Beta(2, 3, plates=k)
    m.mu = pw.Flat(plates=k)
    m.tau = pw.Flat(lower=0, plates=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.x = pw.Categorical(m.theta[m.z], plates=n)
    m.b = pw.Bernoulli(m.q[m.z], plates=n)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    m.c = pw.Poisson(m.rate[m.z], plates=n)
    return m


def many_regressors() -> pw.Model:
    m, n, k = classes(3)
    j = m.plate("j", 3)
    m.x = pw.Input(plates=(n, j))
    m.b = pw.Flat(plates=(k, j))
    m.tau = pw.Flat(lower=0, plates=k)
    m.y = pw.Normal(pw.dot(m.b[m.z], m.x, over=j), precision=m.tau[m.z], plates=n)
    return m


def latent_class(count: int = 3, columns: int = 7, levels: int = 4) -> pw.Model:
    m, n, k = classes(count)
    j, level = m.plate("j", columns), m.plate("level", levels)
    m.theta = pw.Dirichlet(1, over=level, plates=(k, j))
    m.x = pw.Categorical(m.theta[m.z], plates=(n, j))
    return m
