"""Learning problems with plates from the paper's figures, shared by several tests."""

from __future__ import annotations

from collections.abc import Iterable

from platewright.families.bernoulli import BERNOULLI
from platewright.families.categorical import CATEGORICAL
from platewright.families.dirichlet import DIRICHLET
from platewright.families.gamma import GAMMA
from platewright.families.normal import NORMAL
from platewright.graph.graph import Graph, read_graph
from platewright.language.distribution import Constructor
from platewright.language.model import Model

Bernoulli, Categorical, Dirichlet = Constructor(BERNOULLI), Constructor(CATEGORICAL), Constructor(DIRICHLET)
Gamma, Normal = Constructor(GAMMA), Constructor(NORMAL)


def figure_15(known: Iterable[str] = ("var1", "var2", "var3")) -> Graph:
    """Simple unsupervised learning, with a plate."""
    m = Model("unsupervised")
    case = m.plate("case")
    classes = m.plate("classes", 2)
    values = [m.plate(f"value{j}", 2) for j in (1, 2, 3)]
    m.phi = Dirichlet(1.0, over=classes)
    m.theta1 = Dirichlet(1.0, over=values[0], plates=classes)
    m.theta2 = Dirichlet(1.0, over=values[1], plates=classes)
    m.theta3 = Dirichlet(1.0, over=values[2], plates=classes)
    setattr(m, "class_", Categorical(m.phi, plates=case))  # noqa: B010 - like the other nodes
    m.var1 = Categorical(m.theta1[m.class_], plates=case, over=values[0])
    m.var2 = Categorical(m.theta2[m.class_], plates=case, over=values[1])
    m.var3 = Categorical(m.theta3[m.class_], plates=case, over=values[2])
    return read_graph(m, known)


def figure_10(cases: int) -> Graph:
    """The same, every case written out."""
    m = Model("unsupervised, written out")
    classes = m.plate("classes", 2)
    values = [m.plate(f"value{j}", 2) for j in (1, 2, 3)]
    m.phi = Dirichlet(1.0, over=classes)
    for j, value in enumerate(values, 1):
        setattr(m, f"theta{j}", Dirichlet(1.0, over=value, plates=classes))
    known = []
    for i in range(cases):
        setattr(m, f"class_{i}", Categorical(m.phi))
        for j, value in enumerate(values, 1):
            table = getattr(m, f"theta{j}")[getattr(m, f"class_{i}")]
            setattr(m, f"var{j}_{i}", Categorical(table, over=value))
            known.append(f"var{j}_{i}")
    return read_graph(m, known)


def figure_11(known: Iterable[str] = ("var1", "var2", "x1", "x2"), second: bool = False) -> Graph:
    """Model M1 over two multinomial and two Gaussian variables; `second` gives M2 with its arc from var2 to x1."""
    m = Model("M2" if second else "M1")
    case = m.plate("case")
    one, two = m.plate("one", 2), m.plate("two", 3)
    m.theta1 = Dirichlet(1.0, over=one)
    m.theta2 = Dirichlet(1.0, over=two, plates=one)
    m.var1 = Categorical(m.theta1, plates=case)
    m.var2 = Categorical(m.theta2[m.var1], plates=case, over=two)
    places = (one, two) if second else one
    at = (m.var1, m.var2) if second else m.var1
    m.sigma1 = Gamma(2, rate=1, plates=places)
    m.mu1 = Normal(0, precision=m.sigma1, plates=places)
    m.x1 = Normal(m.mu1[at], precision=m.sigma1[at], plates=case)
    m.sigma2 = Gamma(2, rate=1, plates=one)
    m.mu2 = Normal(0, precision=m.sigma2, plates=one)
    m.x2 = Normal(m.mu2[m.var1] * m.x1, precision=m.sigma2[m.var1], plates=case)
    return read_graph(m, known)
