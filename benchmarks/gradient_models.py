"""Models without closed conditionals, with data drawn from them; used by `gradients.py`.

Each function gives a model, its data and the unknowns to watch. `gradient_peers.py` has the same models, by the same
names, for NumPyro.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import platewright as pw


@dataclass(frozen=True)
class Case:
    """A model with data and the unknowns whose effective size is watched."""

    model: pw.Model
    data: Mapping[str, np.ndarray]
    watched: Sequence[str]


def expit(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _design(generator: np.random.Generator, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    return generator.normal(size=(rows, columns)), np.linspace(-1, 1, columns)


def logistic(rows: int = 10_000) -> Case:
    g = np.random.default_rng(0)
    x, b = _design(g, rows, 10)
    m = pw.Model("logistic regression")
    n, d = m.plate("n"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    m.a = pw.Normal(0, sd=2.5)
    m.b = pw.Normal(0, sd=2.5, plates=d)
    m.y = pw.Bernoulli(logit=m.a + pw.dot(m.x, m.b, over=d), plates=n)
    return Case(m, {"x": x, "y": (g.random(rows) < expit(0.3 + x @ b)).astype(int)}, ["a", "b"])


def logistic_few() -> Case:
    return logistic(1_000)


def poisson() -> Case:
    g = np.random.default_rng(1)
    x, b = _design(g, 2_000, 5)
    exposure = g.uniform(0.5, 3, 2_000)
    m = pw.Model("Poisson regression")
    n, d = m.plate("n"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    m.e = pw.Input(plates=n)
    m.a = pw.Normal(0, sd=2.5)
    m.b = pw.Normal(0, sd=2.5, plates=d)
    m.y = pw.Poisson(m.e * pw.exp(m.a + pw.dot(m.x, m.b, over=d)), plates=n)
    return Case(m, {"x": x, "e": exposure, "y": g.poisson(exposure * np.exp(0.2 + 0.5 * x @ b))}, ["a", "b"])


def hierarchical_logistic() -> Case:
    g = np.random.default_rng(2)
    group = np.repeat(np.arange(50), 100)
    x = g.normal(size=5_000)
    eta = 0.5 + g.normal(size=50)[group] + (1 + 0.5 * g.normal(size=50))[group] * x
    m = pw.Model("hierarchical logistic regression")
    n, k = m.plate("n"), m.plate("k", 50)
    m.x = pw.Input(plates=n)
    m.group = pw.Input(plates=n, levels=k)
    m.mu = pw.Normal(0, sd=2.0)
    m.nu = pw.Normal(0, sd=2.0)
    m.s = pw.HalfNormal(sd=1.0)
    m.t = pw.HalfNormal(sd=1.0)
    m.a = pw.Normal(m.mu, sd=m.s, plates=k)
    m.b = pw.Normal(m.nu, sd=m.t, plates=k)
    m.y = pw.Bernoulli(logit=m.a[m.group] + m.b[m.group] * m.x, plates=n)
    data = {"x": x, "group": group, "y": (g.random(5_000) < expit(eta)).astype(int)}
    return Case(m, data, ["mu", "nu", "s", "t", "a", "b"])


def mixed() -> Case:
    g = np.random.default_rng(3)
    group = np.repeat(np.arange(1_000), 100)
    x = g.normal(size=100_000)
    y = 1 + 0.7 * g.normal(size=1_000)[group] + 0.5 * x + 1.5 * g.normal(size=100_000)
    m = pw.Model("linear mixed model")
    n, k = m.plate("n"), m.plate("k", 1_000)
    m.x = pw.Input(plates=n)
    m.group = pw.Input(plates=n, levels=k)
    m.mu = pw.Normal(0, sd=5.0)
    m.b = pw.Normal(0, sd=5.0)
    m.s = pw.HalfNormal(sd=2.0)
    m.t = pw.HalfNormal(sd=2.0)
    m.a = pw.Normal(m.mu, sd=m.s, plates=k)
    m.y = pw.Normal(m.a[m.group] + m.b * m.x, sd=m.t, plates=n)
    return Case(m, {"x": x, "group": group, "y": y}, ["mu", "b", "s", "t", "a"])


def negative_binomial() -> Case:
    g = np.random.default_rng(4)
    x, b = _design(g, 2_000, 5)
    mean = np.exp(1 + 0.5 * x @ b)
    m = pw.Model("negative binomial regression")
    n, d = m.plate("n"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    m.a = pw.Normal(0, sd=2.5)
    m.b = pw.Normal(0, sd=2.5, plates=d)
    m.r = pw.Gamma(2, rate=0.5)
    m.y = pw.NegativeBinomial(m.r, pw.logistic(pw.log(m.r) - m.a - pw.dot(m.x, m.b, over=d)), plates=n)
    return Case(m, {"x": x, "y": g.poisson(mean * g.gamma(3, 1 / 3, 2_000))}, ["a", "b", "r"])


def robust() -> Case:
    g = np.random.default_rng(5)
    x, b = _design(g, 1_000, 5)
    m = pw.Model("robust regression")
    n, d = m.plate("n"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    m.a = pw.Normal(0, sd=5.0)
    m.b = pw.Normal(0, sd=5.0, plates=d)
    m.s = pw.HalfNormal(sd=5.0)
    m.nu = pw.Gamma(2, rate=0.1)
    m.y = pw.StudentT(m.nu, m.a + pw.dot(m.x, m.b, over=d), scale=m.s, plates=n)
    return Case(m, {"x": x, "y": 0.5 + x @ b + 0.8 * g.standard_t(4, 1_000)}, ["a", "b", "s", "nu"])


def item_response() -> Case:
    g = np.random.default_rng(6)
    slope, hard = np.exp(0.3 * g.normal(size=20)), g.normal(size=20)
    y = (g.random((100, 20)) < expit(slope * (g.normal(size=(100, 1)) - hard))).astype(int)
    m = pw.Model("item response")
    p, k = m.plate("p"), m.plate("k")
    m.theta = pw.Normal(0, sd=1.0, plates=p)
    m.slope = pw.LogNormal(0, sd=0.5, plates=k)
    m.hard = pw.Normal(0, sd=1.5, plates=k)
    m.y = pw.Bernoulli(logit=m.slope * (m.theta - m.hard), plates=(p, k))
    return Case(m, {"y": y}, ["theta", "slope", "hard"])


def probit() -> Case:
    g = np.random.default_rng(7)
    x, b = _design(g, 2_000, 5)
    m = pw.Model("probit regression")
    n, d = m.plate("n"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    m.a = pw.Normal(0, sd=2.5)
    m.b = pw.Normal(0, sd=2.5, plates=d)
    m.y = pw.Bernoulli(pw.probit(m.a + pw.dot(m.x, m.b, over=d)), plates=n)
    return Case(m, {"x": x, "y": (g.normal(size=2_000) < 0.3 + x @ b).astype(int)}, ["a", "b"])


def ordered() -> Case:
    g = np.random.default_rng(8)
    x, b = _design(g, 1_000, 3)
    noise = g.logistic(size=1_000)
    y = np.searchsorted([-1.0, 0.5, 2.0], x @ b + noise)
    m = pw.Model("ordered logistic regression")
    n, d, k = m.plate("n"), m.plate("d"), m.plate("k", 4)
    m.x = pw.Input(plates=(n, d))
    m.b = pw.Normal(0, sd=2.5, plates=d)
    m.first = pw.Normal(0, sd=3.0)
    m.second = pw.Gamma(2, rate=1.0)
    m.third = pw.Gamma(2, rate=1.0)
    level = pw.array([0.0, 1.0, 2.0, 3.0], over=k)
    eta = pw.dot(m.x, m.b, over=d)
    one, two = pw.logistic(m.first - eta), pw.logistic(m.first + m.second - eta)
    three = pw.logistic(m.first + m.second + m.third - eta)
    top = pw.where(pw.equal(level, 2.0), three - two, 1 - three)
    m.y = pw.Categorical(
        pw.where(pw.equal(level, 0.0), one, pw.where(pw.equal(level, 1.0), two - one, top)), over=k, plates=n
    )
    return Case(m, {"x": x, "y": y}, ["b", "first", "second", "third"])


def process() -> Case:
    g = np.random.default_rng(9)
    x = np.sort(g.uniform(0, 10, 50))
    m = pw.Model("Gaussian process")
    point = m.plate("point", 50)
    other = m.plate("other", like=point)
    m.x = pw.Input(plates=point)
    m.length = pw.LogNormal(0, sd=1.0)
    m.height = pw.LogNormal(0, sd=1.0)
    m.noise = pw.LogNormal(-1, sd=1.0)
    kernel = m.height**2 * pw.exp(-0.5 * ((m.x - m.x[other]) / m.length) ** 2)
    m.y = pw.MultivariateNormal(0.0, covariance=kernel + m.noise**2 * pw.identity(point), over=point)
    return Case(m, {"x": x, "y": np.sin(x) + 0.3 * g.normal(size=50)}, ["length", "height", "noise"])


def survival() -> Case:
    g = np.random.default_rng(10)
    x, b = _design(g, 1_000, 3)
    time = g.weibull(1.5, 1_000) * np.exp(-(0.5 * x @ b) / 1.5)
    gone = time < 1.5
    m = pw.Model("Weibull survival")
    n, alive, d = m.plate("n"), m.plate("alive"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    m.z = pw.Input(plates=(alive, d))
    m.end = pw.Input(plates=alive)
    m.shape = pw.Gamma(2, rate=1.0)
    m.a = pw.Normal(0, sd=2.5)
    m.b = pw.Normal(0, sd=2.5, plates=d)
    m.t = pw.Weibull(m.shape, rate=pw.exp(m.a + pw.dot(m.x, m.b, over=d)), plates=n)
    m.potential("alive", -pw.exp(m.a + pw.dot(m.z, m.b, over=d)) * m.end**m.shape)
    data = {"x": x[gone], "t": time[gone], "z": x[~gone], "end": np.full(int((~gone).sum()), 1.5)}
    return Case(m, data, ["shape", "a", "b"])


def softmax() -> Case:
    g = np.random.default_rng(11)
    x = g.normal(size=(2_000, 5))
    w = g.normal(size=(5, 3))
    y = np.argmax(x @ w + g.gumbel(size=(2_000, 3)), axis=1)
    m = pw.Model("softmax regression")
    n, d, k = m.plate("n"), m.plate("d"), m.plate("k", 3)
    m.x = pw.Input(plates=(n, d))
    m.a = pw.Normal(0, sd=1.0, plates=k)
    m.w = pw.Normal(0, sd=1.0, plates=(d, k))
    m.y = pw.Categorical(logits=m.a + pw.dot(m.x, m.w, over=d), over=k, plates=n)
    return Case(m, {"x": x, "y": y}, ["a", "w"])


def eight_schools() -> Case:
    m = pw.Model("eight schools, centred")
    group = m.plate("group")
    m.se = pw.Input(plates=group)
    m.mu = pw.Normal(0, sd=5.0)
    m.tau = pw.HalfCauchy(5.0)
    m.theta = pw.Normal(m.mu, sd=m.tau, plates=group)
    m.y = pw.Normal(m.theta, sd=m.se, plates=group)
    data = {"y": np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), "se": np.array([15.0, 10, 16, 11, 9, 11, 10, 18])}
    return Case(m, data, ["mu", "tau", "theta"])


CASES: tuple[Callable[[], Case], ...] = (
    logistic,
    logistic_few,
    poisson,
    hierarchical_logistic,
    mixed,
    negative_binomial,
    robust,
    item_response,
    probit,
    ordered,
    process,
    survival,
    softmax,
    eight_schools,
)
