"""Hidden classes on plates inside one another: of schools and their pupils, of documents and their words."""

from __future__ import annotations

import numpy as np

import platewright as pw
from schemas.small_instance import Case


def _schools(title: str) -> tuple[pw.Model, pw.Plate, pw.Plate, pw.Plate, pw.Plate]:
    m = pw.Model(title)
    school, k, l = m.plate("school"), m.plate("k", 2), m.plate("l", 2)
    pupil = m.plate("pupil", within=school)
    m.w = pw.Dirichlet(1.5, over=k)
    m.v = pw.Dirichlet(1.5, over=l, plates=k)
    m.g = pw.Categorical(m.w, plates=school)
    m.z = pw.Categorical(m.v[m.g], plates=pupil)
    return m, school, pupil, k, l


def schools() -> pw.Model:
    m, _, pupil, _, l = _schools("classes of schools and of their pupils")
    item = m.plate("item", 2)
    m.q = pw.Beta(2, 2, plates=(l, item))
    m.y = pw.Bernoulli(m.q[m.z], plates=(pupil, item))
    return m


def both_seen() -> pw.Model:
    """The school has a column of its own, and what a pupil shows depends on both classes."""
    m, school, pupil, k, l = _schools("schools that show more than their pupils")
    m.tau = pw.Gamma(3, rate=2, plates=l)
    m.mu = pw.Normal(0, precision=0.3 * m.tau, plates=(k, l))
    m.level = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.g, m.z], precision=m.tau[m.z], plates=pupil)
    m.u = pw.Normal(m.level[m.g], sd=1, plates=school)
    return m


def two_of_pupils() -> pw.Model:
    """Two classes of a pupil that meet, one of them under the class of the school, and two columns."""
    m, _, pupil, _, l = _schools("two classes of pupils")
    h = m.plate("h", 2)
    m.x = pw.Dirichlet(1.5, over=h, plates=l)
    m.c = pw.Categorical(m.x[m.z], plates=pupil)
    m.rate = pw.Gamma(2, rate=1, plates=(l, h))
    m.mu = pw.Normal(0, sd=2, plates=h)
    m.n = pw.Poisson(m.rate[m.z, m.c], plates=pupil)
    m.y = pw.Normal(m.mu[m.c], sd=1, plates=pupil)
    return m


def two_of_schools() -> pw.Model:
    """A pupil's class depends on two classes of the school, which depend on each other."""
    m = pw.Model("two classes of schools")
    school, k, a, l = m.plate("school"), m.plate("k", 2), m.plate("a", 2), m.plate("l", 2)
    pupil = m.plate("pupil", within=school)
    m.w = pw.Dirichlet(1.5, over=k)
    m.r = pw.Dirichlet(1.5, over=a, plates=k)
    m.v = pw.Dirichlet(1.5, over=l, plates=(k, a))
    m.g = pw.Categorical(m.w, plates=school)
    m.b = pw.Categorical(m.r[m.g], plates=school)
    m.z = pw.Categorical(m.v[m.g, m.b], plates=pupil)
    m.mu = pw.Normal(0, sd=2, plates=l)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=pupil)
    return m


def siblings() -> pw.Model:
    """Two plates inside one: pupils and teachers of a school."""
    m, school, pupil, k, l = _schools("pupils and teachers")
    teacher = m.plate("teacher", within=school)
    m.f = pw.Beta(2, 2, plates=k)
    m.t = pw.Bernoulli(m.f[m.g], plates=teacher)
    m.mu = pw.Normal(0, sd=2, plates=l)
    m.rate = pw.Gamma(2, rate=1, plates=m.plate("busy", 2))
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=pupil)
    m.n = pw.Poisson(m.rate[m.t], plates=teacher)
    return m


def three_levels() -> pw.Model:
    m = pw.Model("towns, schools and pupils")
    town, k, a, l = m.plate("town"), m.plate("k", 2), m.plate("a", 2), m.plate("l", 2)
    school = m.plate("school", within=town)
    pupil = m.plate("pupil", within=school)
    m.w = pw.Dirichlet(1.5, over=k)
    m.r = pw.Dirichlet(1.5, over=a, plates=k)
    m.v = pw.Dirichlet(1.5, over=l, plates=(k, a))
    m.s = pw.Categorical(m.w, plates=town)
    m.g = pw.Categorical(m.r[m.s], plates=school)
    m.z = pw.Categorical(m.v[m.s, m.g], plates=pupil)
    m.rate = pw.Gamma(2, rate=1, plates=l)
    m.n = pw.Poisson(m.rate[m.z], plates=pupil)
    return m


def crossed() -> pw.Model:
    """A class of a row, and one of each of its cells."""
    m = pw.Model("rows and their cells")
    row, cell, k, l = m.plate("row"), m.plate("cell", 2), m.plate("k", 2), m.plate("l", 2)
    m.w = pw.Dirichlet(1.5, over=k)
    m.v = pw.Dirichlet(1.5, over=l, plates=(k, cell))
    m.g = pw.Categorical(m.w, plates=row)
    m.z = pw.Categorical(m.v[m.g], plates=(row, cell))
    m.mu = pw.Normal(0, sd=2, plates=l)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=(row, cell))
    return m


def looked_up() -> pw.Model:
    """Words name their document by a column of the data, and readings name their word."""
    m = pw.Model("documents, words and readings of words")
    document, k, l = m.plate("document"), m.plate("k", 2), m.plate("l", 2)
    word, reading = m.plate("word"), m.plate("reading")
    m.of = pw.Input(plates=word, levels=document)
    m.at = pw.Input(plates=reading, levels=word)
    m.w = pw.Dirichlet(1.5, over=k)
    m.v = pw.Dirichlet(1.5, over=l, plates=k)
    m.g = pw.Categorical(m.w, plates=document)
    m.z = pw.Categorical(m.v[m.g[m.of]], plates=word)
    m.rate = pw.Gamma(2, rate=1, plates=(k, l))
    m.n = pw.Poisson(m.rate[m.g[m.of[m.at]], m.z[m.at]], plates=reading)
    return m


def kinds_of_series() -> pw.Model:
    """Regions have a class, their series have a class, and each series is a hidden chain."""
    m = pw.Model("regions of series")
    region, kind, side, k = m.plate("region"), m.plate("kind", 2), m.plate("side", 2), m.plate("k", 2)
    series = m.plate("series", within=region)
    step, before = m.plate("step", ordered=True, within=series), m.plate("before", like=k)
    m.w = pw.Dirichlet(1.5, over=side)
    m.r = pw.Dirichlet(1.5, over=kind, plates=side)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=(kind, before))
    m.b = pw.Categorical(m.w, plates=region)
    m.c = pw.Categorical(m.r[m.b], plates=series)
    m.z = pw.Categorical(m.move[m.c, m.lag("z")], start=m.begin, plates=step)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=step)
    return m


RAGGED = {"pupil": (0, 2, 2, 0)}
THREE = {"school": (0, 1, 1), "pupil": (0, 2, 2, 0)}
WORDS = {"of": np.array([1, 0, 1]), "at": np.array([2, 0, 2, 2])}
SERIES = {"series": (1, 0, 1), "step": (0, 0, 1, 1)}
NESTED: tuple[Case, ...] = (
    Case("nested_schools", schools, ("y",), {"school": 3, "pupil": 4}, RAGGED),
    Case("nested_both_seen", both_seen, ("y", "u"), {"school": 3, "pupil": 4}, RAGGED),
    Case("nested_two_of_pupils", two_of_pupils, ("y", "n"), {"school": 2, "pupil": 3}, {"pupil": (1, 0, 1)}),
    Case("nested_two_of_schools", two_of_schools, ("y",), {"school": 2, "pupil": 3}, {"pupil": (1, 1, 0)}),
    Case(
        "nested_siblings",
        siblings,
        ("y", "n"),
        {"school": 2, "pupil": 3, "teacher": 3},
        {"pupil": (1, 1, 0), "teacher": (0, 1, 0)},
    ),
    Case("nested_three_levels", three_levels, ("n",), {"town": 2, "school": 3, "pupil": 4}, THREE),
    Case("nested_crossed", crossed, ("y",), {"row": 3}),
    Case("nested_looked_up", looked_up, ("n",), {"document": 2, "word": 3, "reading": 4}, {}, WORDS),
    Case("nested_series", kinds_of_series, ("y",), {"region": 2, "series": 3, "step": 4}, SERIES),
)
