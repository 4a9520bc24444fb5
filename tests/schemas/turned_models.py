"""Models with separate modes: signs that priors alone tell, and classes told apart by nothing else."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def square() -> pw.Model:
    m = pw.Model("square")
    m.a = pw.Normal(0.3, sd=1.0)
    m.y = pw.Normal(m.a**2, sd=1.0, plates=m.plate("row"))
    return m


def product() -> pw.Model:
    m = pw.Model("product")
    m.a = pw.Normal(0.4, sd=1.0)
    m.b = pw.Normal(0.2, sd=1.0)
    m.y = pw.Normal(m.a * m.b, sd=1.0, plates=m.plate("row"))
    return m


def loadings() -> pw.Model:
    m = pw.Model("loadings")
    n, j, k = m.plate("n"), m.plate("j", 4), m.plate("k", 2)
    m.w = pw.Normal(0.0, sd=1.0, plates=(j, k))
    m.z = pw.Normal(0.0, sd=1.0, plates=(n, k))
    m.s = pw.Gamma(2.0, rate=1.0)
    m.y = pw.Normal(pw.dot(m.w, m.z, over=k), precision=m.s, plates=(n, j))
    return m


def items() -> pw.Model:
    m = pw.Model("items")
    n, j = m.plate("n"), m.plate("j", 4)
    m.w = pw.Normal(0.5, sd=1.0, plates=j)
    m.z = pw.Normal(0.0, sd=1.0, plates=n)
    m.b = pw.Normal(0.0, sd=1.0, plates=j)
    m.y = pw.Bernoulli(pw.logistic(m.w * (m.z - m.b)), plates=(n, j))
    return m


def sides(intercept: float = 0.0) -> pw.Model:
    """Two classes on both sides of zero, by a logit that has a side as well."""
    m = pw.Model("sides")
    row = m.plate("row")
    m.w = pw.Normal(0.3, sd=1.0)
    m.mu = pw.Normal(0.5, sd=2.0)
    m.z = pw.Bernoulli(logit=m.w + intercept, plates=row)
    m.y = pw.Normal(m.mu * (2 * m.z - 1), sd=1.0, plates=row)
    return m


def counts_of_states() -> pw.Model:
    """A hidden Markov chain whose states differ by the priors of their rates."""
    m = pw.Model("counts_of_states")
    k, t = m.plate("k", 3), m.plate("t", ordered=True)
    origin = m.plate("origin", like=k)
    m.begin = pw.Dirichlet(1.0, over=k)
    m.move = pw.Dirichlet(1.0, over=k, plates=origin)
    m.rate = pw.Gamma(pw.array([2.0, 5.0, 9.0], over=k), rate=1.0, plates=k)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=t)
    m.y = pw.Poisson(m.rate[m.z], plates=t)
    return m


def two_columns() -> pw.Model:
    """The mixture of Figure 29, with a centre for each class."""
    m = pw.Model("two_columns")
    k, n = m.plate("k", 2), m.plate("n")
    m.phi = pw.Dirichlet(1.0, over=k)
    m.mu1 = pw.Normal(pw.array([-1.0, 1.0], over=k), sd=2.0, plates=k)
    m.mu2 = pw.Normal(pw.array([1.0, -1.0], over=k), sd=2.0, plates=k)
    m.c = pw.Categorical(m.phi, plates=n)
    m.v1 = pw.Normal(m.mu1[m.c], sd=1.0, plates=n)
    m.v2 = pw.Normal(m.mu2[m.c], sd=1.0, plates=n)
    return m


def known_shares() -> pw.Model:
    """Classes of known shares, told apart by these alone."""
    m = pw.Model("known_shares")
    k, n = m.plate("k", 3), m.plate("n")
    m.mu = pw.Normal(0.0, sd=4.0, plates=k)
    m.z = pw.Categorical(pw.array([0.5, 0.3, 0.2], over=k), plates=n)
    m.y = pw.Normal(m.mu[m.z], sd=1.0, plates=n)
    return m


TURNED = (
    Case("square", square, ("y",), {"row": 12}),
    Case("product", product, ("y",), {"row": 12}),
    Case("loadings", loadings, ("y",), {"n": 20}),
    Case("items", items, ("y",), {"n": 15}),
    Case("sides", sides, ("y",), {"row": 12}),
    Case("counts_of_states", counts_of_states, ("y",), {"t": 40}),
    Case("two_columns", two_columns, ("v1", "v2"), {"n": 10}),
    Case("known_shares", known_shares, ("y",), {"n": 15}),
)
