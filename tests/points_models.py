"""Models whose posterior is a few numbers once all that is Gaussian given them is eliminated, each with small data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import platewright as pw

Data = dict[str, np.ndarray]


def crossed(generator: np.random.Generator, people: int = 12, reverse: bool = False) -> tuple[pw.Model, Data]:
    """y = mu + beta x + u[region] + v[person] + e, rows of unequal number a person; either of u and v written first."""
    m = pw.Model("crossed effects")
    region, person, row = m.plate("regions"), m.plate("persons"), m.plate("row")
    m.region = pw.Input(plates=row, levels=region)
    m.person = pw.Input(plates=row, levels=person)
    m.x = pw.Input(plates=row)
    m.mu = pw.Normal(0, sd=10)
    m.beta = pw.Normal(0, sd=10)
    m.s_u = pw.HalfNormal(sd=2.0)
    m.s_v = pw.Exponential(rate=1.0)
    m.s_e = pw.Uniform(0, 10)
    if reverse:
        m.v = pw.Normal(0, sd=m.s_v, plates=person)
        m.u = pw.Normal(0, sd=m.s_u, plates=region)
    else:
        m.u = pw.Normal(0, sd=m.s_u, plates=region)
        m.v = pw.Normal(0, sd=m.s_v, plates=person)
    m.y = pw.Normal(m.mu + m.beta * m.x + m.u[m.region] + m.v[m.person], sd=m.s_e, plates=row)
    counts = generator.integers(1, 6, people)
    data = {"person": np.repeat(np.arange(people), counts)}
    count = len(data["person"])
    data["region"] = np.concatenate([np.arange(4), generator.integers(0, 4, count - 4)])
    data["x"] = generator.normal(size=count)
    effects = 0.6 * generator.normal(size=4)[data["region"]] + 0.8 * generator.normal(size=people)[data["person"]]
    data["y"] = 1.5 + 0.7 * data["x"] + effects + 0.4 * generator.normal(size=count)
    return m, data


def slopes(generator: np.random.Generator) -> tuple[pw.Model, Data]:
    """A line of its own for each group."""
    m = pw.Model("random slopes")
    group, row = m.plate("group"), m.plate("row")
    m.g = pw.Input(plates=row, levels=group)
    m.x = pw.Input(plates=row)
    m.a = pw.Normal(0, sd=5)
    m.b = pw.Normal(0, sd=5)
    m.s_a = pw.HalfNormal(sd=2.0)
    m.s_b = pw.HalfNormal(sd=2.0)
    m.s = pw.HalfNormal(sd=2.0)
    m.level = pw.Normal(m.a, sd=m.s_a, plates=group)
    m.slope = pw.Normal(m.b, sd=m.s_b, plates=group)
    m.y = pw.Normal(m.level[m.g] + m.slope[m.g] * m.x, sd=m.s, plates=row)
    g = np.concatenate([[0], np.repeat(np.arange(1, 7), 4)])  # the first group has one row, and no line of its own
    x = generator.normal(size=len(g))
    y = generator.normal(size=7)[g] + (1 + 0.5 * generator.normal(size=7))[g] * x + 0.3 * generator.normal(size=len(g))
    return m, {"g": g, "x": x, "y": y}


def two_tables(generator: np.random.Generator) -> tuple[pw.Model, Data]:
    """Two tables that share effects, with a scale each; one has a known factor before an effect."""
    m = pw.Model("two tables")
    region, person, row, other = m.plate("regions"), m.plate("persons"), m.plate("row"), m.plate("other")
    m.region = pw.Input(plates=row, levels=region)
    m.person = pw.Input(plates=row, levels=person)
    m.source = pw.Input(plates=other, levels=region)
    m.factor = pw.Input(plates=other)
    m.level = pw.Normal(0, sd=3)
    m.s_r = pw.HalfNormal(sd=1.0)
    m.s_p = pw.HalfNormal(sd=1.0)
    m.s_y = pw.HalfNormal(sd=1.0)
    m.s_z = pw.HalfNormal(sd=1.0)
    m.r = pw.Normal(m.level, sd=m.s_r, plates=region)
    m.p = pw.Normal(0, sd=m.s_p, plates=person)
    m.y = pw.Normal(m.r[m.region] + m.p[m.person], sd=m.s_y, plates=row)
    m.z = pw.Normal(1.0 + m.r[m.source] * m.factor, sd=m.s_z, plates=other)
    r, p = 1 + 0.7 * generator.normal(size=5), 0.5 * generator.normal(size=8)
    data = {"region": np.arange(30) % 5, "person": np.repeat(np.arange(8), [6, 5, 5, 4, 4, 3, 2, 1])}
    data["y"] = r[data["region"]] + p[data["person"]] + 0.3 * generator.normal(size=30)
    data |= {"source": np.arange(12) % 5, "factor": generator.uniform(0.5, 2, 12)}
    data["z"] = 1 + r[data["source"]] * data["factor"] + 0.2 * generator.normal(size=12)
    return m, data


def schools(generator: np.random.Generator) -> tuple[pw.Model, Data]:
    """Eight schools: known standard errors, one a school."""
    m = pw.Model("eight schools")
    school = m.plate("school")
    m.se = pw.Input(plates=school)
    m.mu = pw.Normal(0, sd=20)
    m.tau = pw.HalfCauchy(scale=5.0)
    m.theta = pw.Normal(m.mu, sd=m.tau, plates=school)
    m.y = pw.Normal(m.theta, sd=m.se, plates=school)
    y, se = [28.0, 8, -3, 7, -1, 1, 18, 12], [15.0, 10, 16, 11, 9, 11, 10, 18]
    return m, {"y": np.array(y), "se": np.array(se)}


def regression(generator: np.random.Generator) -> tuple[pw.Model, Data]:
    """A plain regression whose scale has a prior that is not conjugate; rows weigh differently."""
    m = pw.Model("regression")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.w = pw.Input(plates=row)
    m.a = pw.Normal(0, sd=10)
    m.b = pw.Normal(0, sd=10)
    m.s = pw.HalfNormal(sd=1.0)
    m.y = pw.Normal(m.a + m.b * m.x, sd=m.s * m.w, plates=row)
    x, w = generator.normal(size=15), generator.uniform(0.5, 2, 15)
    return m, {"x": x, "w": w, "y": 2 + x + 0.5 * w * generator.normal(size=15)}


def product(generator: np.random.Generator) -> tuple[pw.Model, Data]:
    """y ~ N(a b, 1): modes of unequal mass, far apart."""
    m = pw.Model("product")
    row = m.plate("row")
    m.a = pw.Normal(1.0, sd=2.0)
    m.b = pw.Normal(0.3, sd=2.0)
    m.y = pw.Normal(m.a * m.b, sd=1.0, plates=row)
    return m, {"y": 3.0 + generator.normal(size=9)}


MODELS: dict[str, Callable[[np.random.Generator], tuple[pw.Model, Data]]] = {
    "crossed": crossed,
    "slopes": slopes,
    "two_tables": two_tables,
    "schools": schools,
    "regression": regression,
    "product": product,
}
