"""Models without conjugacy whose rows find their unknown by a code: of the data, or a hidden class."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def coded_rates() -> pw.Model:
    m = pw.Model("log rates of groups")
    n, g = m.plate("n"), m.plate("g", 3)
    m.group = pw.Input(plates=n, levels=g)
    m.b = pw.Normal(0, sd=1, plates=g)
    m.y = pw.Poisson(pw.exp(m.b[m.group]), plates=n)
    return m


def coded_by_column() -> pw.Model:
    m = pw.Model("log rates of groups and columns")
    n, j, g = m.plate("n"), m.plate("j", 2), m.plate("g", 3)
    m.group = pw.Input(plates=n, levels=g)
    m.b = pw.Normal(0, sd=1, plates=(g, j))
    m.y = pw.Poisson(pw.exp(m.b[m.group]), plates=(n, j))
    return m


def hidden_rates() -> pw.Model:
    m = pw.Model("log rates of hidden classes")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.b = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Poisson(pw.exp(m.b[m.z]), plates=n)
    return m


CODED: tuple[Case, ...] = tuple(
    Case(build.__name__, build, ("y",), {"n": 5}) for build in (coded_rates, coded_by_column, hidden_rates)
)
