"""Small models of every kind with data, for tests of what is shown, saved and drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

import platewright as pw

ROWS = 40
Case = tuple[pw.Model, dict[str, object]]


def coin(rng: np.random.Generator) -> Case:
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    return m, {"heads": rng.integers(0, 2, ROWS)}


def normal(rng: np.random.Generator) -> Case:
    m = pw.Model("normal")
    row = m.plate("row")
    m.variance = pw.InverseGamma(2, scale=3)
    m.mu = pw.Normal(1, variance=m.variance / 2)
    m.x = pw.Normal(m.mu, variance=m.variance, plates=row)
    return m, {"x": rng.normal(size=ROWS)}


def regression(rng: np.random.Generator) -> Case:
    m = pw.Model("regression")
    row = m.plate("row")
    column = m.plate("column", labels=["age", "size", "height"])
    m.tau = pw.Gamma(2, rate=3)
    m.w = pw.Normal(0, precision=m.tau, plates=column)
    m.X = pw.Input(plates=(row, column))
    m.mean = pw.dot(m.X, m.w, over=column)
    m.y = pw.Normal(m.mean, precision=m.tau, plates=row)
    return m, {"y": rng.normal(size=ROWS), "X": rng.normal(size=(ROWS, 3))}


def vectors(rng: np.random.Generator) -> Case:
    m = pw.Model("vectors")
    row, d = m.plate("row"), m.plate("d")
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, precision=2 * m.S, over=d)
    m.x = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=row)
    return m, {"x": rng.normal(size=(ROWS, 3))}


def groups(rng: np.random.Generator) -> Case:
    m = pw.Model("groups")
    group = m.plate("group")
    row = m.plate("row", within=group)
    m.tau = pw.Gamma(1, rate=1)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.th = pw.Normal(m.mu, precision=m.tau * 2, plates=group)
    m.y = pw.Normal(m.th, precision=m.tau, plates=row)
    return m, {"y": rng.normal(size=ROWS), "group": rng.choice(["a", "b", "c"], ROWS)}


def table(rng: np.random.Generator) -> Case:
    m = pw.Model("table")
    row = m.plate("row")
    cause, effect = m.plate("cause", 2), m.plate("effect", labels=["low", "mid", "high"])
    m.theta = pw.Dirichlet([1.0, 2.0, 3.0], over=effect, plates=cause)
    m.c = pw.Input(plates=row, levels=cause)
    m.x = pw.Categorical(m.theta[m.c], plates=row)
    return m, {"x": rng.choice(["low", "mid", "high"], ROWS), "c": rng.integers(0, 2, ROWS)}


def crossed(rng: np.random.Generator) -> Case:
    m = pw.Model("crossed")
    user, item = m.plate("user"), m.plate("item")
    m.tau = pw.Gamma(1, rate=1)
    m.a = pw.Normal(0, precision=m.tau, plates=user)
    m.b = pw.Normal(0, precision=m.tau * 3, plates=item)
    m.y = pw.Normal(m.a + m.b, precision=m.tau, plates=(user, item))
    return m, {"y": rng.normal(size=(4, 5))}


def chain(rng: np.random.Generator) -> Case:
    m = pw.Model("chain")
    state = m.plate("state", 3)
    origin = m.plate("origin", like=state)
    series = m.plate("series")
    step = m.plate("step", within=series, ordered=True)
    m.begin = pw.Dirichlet(1, over=state)
    m.move = pw.Dirichlet(1, over=state, plates=origin)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    return m, {"z": rng.integers(0, 3, ROWS), "series": np.repeat(np.arange(4), ROWS // 4)}


def network(rng: np.random.Generator) -> Case:
    m = pw.Model("network")
    m.a = pw.Bernoulli(0.3)
    m.b = pw.Bernoulli(pw.where(m.a, 0.9, 0.2))
    m.c = pw.Bernoulli(pw.where(m.b, 0.7, 0.1))
    m.later = pw.Bernoulli(pw.where(m.b, 0.6, 0.5))
    return m, {"c": 1}


def bound(rng: np.random.Generator) -> Case:
    m = pw.Model("bound")
    row = m.plate("row")
    m.top = pw.Pareto(2, scale=3)
    m.x = pw.Uniform(0, m.top, plates=row)
    return m, {"x": rng.uniform(0, 5, ROWS)}


def schools(rng: np.random.Generator) -> Case:
    m = pw.Model("eight schools")
    school = m.plate("school")
    m.sd = pw.Input(plates=school)
    m.mu = pw.Normal(0, sd=5)
    m.effect = pw.Normal(m.mu, sd=3, plates=school)
    m.y = pw.Normal(m.effect, sd=m.sd, plates=school)
    return m, {"y": [28, 8, -3, 7, -1, 1, 18, 12.0], "sd": [15, 10, 16, 11, 9, 11, 10, 18.0]}


def pieces(rng: np.random.Generator) -> Case:
    m = pw.Model("figure 11")
    case = m.plate("case")
    one, two = m.plate("one", 2), m.plate("two", 3)
    m.theta1 = pw.Dirichlet(1.0, over=one)
    m.theta2 = pw.Dirichlet(1.0, over=two, plates=one)
    m.var1 = pw.Categorical(m.theta1, plates=case)
    m.var2 = pw.Categorical(m.theta2[m.var1], plates=case, over=two)
    m.sigma1 = pw.Gamma(2, rate=1, plates=one)
    m.mu1 = pw.Normal(0, precision=m.sigma1, plates=one)
    m.x1 = pw.Normal(m.mu1[m.var1], precision=m.sigma1[m.var1], plates=case, optional=[m.var1])
    return m, {
        "var1": rng.integers(0, 2, ROWS),
        "var2": rng.integers(0, 3, ROWS),
        "x1": rng.normal(size=ROWS),
    }


MAKERS: tuple[Callable[[np.random.Generator], Case], ...] = (
    *(coin, normal, regression, vectors, groups, table, crossed, chain, network, bound, schools, pieces),
)
NAMES = [maker.__name__ for maker in MAKERS]


def made(maker: Callable[[np.random.Generator], Case]) -> Case:
    """A model and its data, the same each time."""
    return maker(np.random.default_rng(7))


def known_in(model: pw.Model, data: Iterable[str]) -> list[str]:
    """The random variables among the columns of the data."""
    return [name for name in data if name in model.variables and model.variables[name].kind == "random"]


def field() -> pw.Model:
    """A chain graph: two undirected nodes under a random one, with a random child."""
    m = pw.Model("field")
    m.h = pw.Normal(0, sd=1)
    m.a = pw.Undirected(levels=2)
    m.b = pw.Undirected(levels=2)
    m.potential("smooth", m.h * pw.equal(m.a, m.b))
    m.c = pw.Bernoulli(pw.where(m.b, 0.7, 0.2))
    return m
