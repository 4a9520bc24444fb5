"""Hidden variables of one row that depend on each other: paths, colliders, diamonds and mixed tables."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def path() -> pw.Model:
    m = pw.Model("path of hidden classes")
    n, a, b, c = m.plate("n"), m.plate("a", 2), m.plate("b", 3), m.plate("c", 2)
    m.pu = pw.Dirichlet(1.5, over=a)
    m.pv = pw.Dirichlet(1.2, over=b, plates=a)
    m.px = pw.Dirichlet(2.0, over=c, plates=b)
    m.u = pw.Categorical(m.pu, plates=n)
    m.v = pw.Categorical(m.pv[m.u], plates=n)
    m.x = pw.Categorical(m.px[m.v], plates=n)
    return m


def collider() -> pw.Model:
    m = pw.Model("collider with a hidden middle")
    n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 2)
    m.pu = pw.Dirichlet(1.5, over=a)
    m.pv = pw.Dirichlet(1.5, over=b)
    m.pw = pw.Beta(2, 2, plates=(a, b))
    m.mu = pw.Normal(0, sd=3, plates=m.plate("side", 2))
    m.u = pw.Categorical(m.pu, plates=n)
    m.v = pw.Categorical(m.pv, plates=n)
    m.w = pw.Bernoulli(m.pw[m.u, m.v], plates=n)
    m.y = pw.Normal(m.mu[m.w], sd=1, plates=n)
    return m


def diamond() -> pw.Model:
    m = pw.Model("diamond")
    n, a = m.plate("n"), m.plate("a", 2)
    m.pu = pw.Beta(2, 1)
    m.pv = pw.Beta(2, 2, plates=a)
    m.pr = pw.Beta(1, 2, plates=a)
    m.rate = pw.Gamma(2, rate=1, plates=(a, m.plate("b", 2)))
    m.u = pw.Bernoulli(m.pu, plates=n)
    m.v = pw.Bernoulli(m.pv[m.u], plates=n)
    m.r = pw.Bernoulli(m.pr[m.u], plates=n)
    m.y = pw.Poisson(m.rate[m.v, m.r], plates=n)
    return m


def class_and_report() -> pw.Model:
    m = pw.Model("misclassified labels")
    n, k = m.plate("n"), m.plate("k", 2)
    told = m.plate("told", like=k)
    m.p = pw.Dirichlet(2, over=k)
    m.error = pw.Dirichlet(pw.where(pw.equal(k.index, told.index), 4.0, 1.0), over=told, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.report = pw.Categorical(m.error[m.z], plates=n)
    m.mu = pw.Normal(0, sd=3, plates=told)
    m.y = pw.Normal(m.mu[m.report], sd=1, plates=n)
    return m


def two_groups() -> pw.Model:
    m = pw.Model("two groups apart")
    n, a = m.plate("n"), m.plate("a", 2)
    m.p = pw.Dirichlet(2, over=a)
    m.q = pw.Beta(2, 2, plates=a)
    m.s = pw.Beta(1, 3)
    m.u = pw.Categorical(m.p, plates=n)
    m.v = pw.Bernoulli(m.q[m.u], plates=n)
    m.t = pw.Bernoulli(m.s, plates=n)
    m.mu = pw.Normal(0, sd=2, plates=m.plate("b", 2))
    m.rate = pw.Gamma(2, rate=1, plates=m.plate("c", 2))
    m.y = pw.Normal(m.mu[m.v], sd=1, plates=n)
    m.k = pw.Poisson(m.rate[m.t], plates=n)
    return m


ROWS = {"n": 3}

TIED: tuple[Case, ...] = (
    Case("path", path, ("x",), ROWS),
    Case("collider", collider, ("y",), {"n": 2}),
    Case("diamond", diamond, ("y",), {"n": 2}),
    Case("class_and_report", class_and_report, ("y",), ROWS),
    Case("two_groups", two_groups, ("y", "k"), {"n": 2}),
)
