"""Hidden classes of groups of rows: the rows know their group, and the group has the class."""

from __future__ import annotations

import numpy as np

import platewright as pw
from schemas.small_instance import Case


def _classes(title: str) -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model(title)
    g, k = m.plate("g"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=g)
    return m, g, k


def gaussians() -> pw.Model:
    m, g, k = _classes("groups of Gaussian rows")
    n = m.plate("n", within=g)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, precision=0.3 * m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def mixed_columns() -> pw.Model:
    m, g, k = _classes("groups with columns of rows and one of their own")
    n, a = m.plate("n", within=g), m.plate("a", 3)
    m.theta = pw.Dirichlet(1.5, over=a, plates=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.x = pw.Categorical(m.theta[m.z], plates=n)
    m.c = pw.Poisson(m.rate[m.z], plates=n)
    m.u = pw.Normal(m.mu[m.z], sd=1, plates=g)
    return m


def looked_up() -> pw.Model:
    m, g, k = _classes("rows that name their group")
    n = m.plate("n")
    m.code = pw.Input(plates=n, levels=g)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.c = pw.Poisson(m.rate[m.z[m.code]], plates=n)
    return m


def crossed() -> pw.Model:
    """The rows run over the plate of the classes too, in a role of its own: only the named group's class counts."""
    m, g, k = _classes("rows crossed with groups")
    h = m.plate("h")
    m.code = pw.Input(plates=h, levels=g)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.offset = pw.Input(plates=g)
    m.y = pw.Normal(m.mu[m.z[m.code]] + m.offset, sd=1, plates=(g, h))
    return m


def many_items() -> pw.Model:
    m, g, k = _classes("groups of rows of items")
    n, j = m.plate("n", within=g), m.plate("j", 2)
    m.q = pw.Beta(2, 2, plates=(k, j))
    m.x = pw.Bernoulli(m.q[m.z], plates=(n, j))
    return m


FIVE = {"n": (0, 0, 1, 1, 1)}
GROUPED: tuple[Case, ...] = (
    Case("grouped_gaussians", gaussians, ("y",), {"g": 2, "n": 5}, FIVE),
    Case("grouped_mixed_columns", mixed_columns, ("x", "c", "u"), {"g": 3, "n": 5}, {"n": (0, 2, 2, 0, 0)}),
    Case("grouped_looked_up", looked_up, ("c",), {"g": 3, "n": 5}, {}, {"code": np.array([2, 0, 2, 2, 0])}),
    Case("grouped_crossed", crossed, ("y",), {"g": 3, "h": 2}, {}, {"code": np.array([2, 0])}),
    Case("grouped_items", many_items, ("x",), {"g": 2, "n": 5}, FIVE),
)
