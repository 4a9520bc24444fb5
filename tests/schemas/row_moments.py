"""Models whose rows enter by counts, means and scatter, with data for them; and models that come close but do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import platewright as pw

Data = dict[str, object]


@dataclass(frozen=True)
class Gathering:
    """A model, data for it, and how many rows should be left."""

    name: str
    build: Callable[[], pw.Model]
    data: Callable[[np.random.Generator], Data]
    most: int
    """Rows that may be left."""

    def __str__(self) -> str:
        return self.name


def factor_data(generator: np.random.Generator, rows: int = 300, columns: int = 5) -> Data:
    loadings = generator.normal(size=(columns, 2))
    noise = generator.uniform(0.3, 1.0, columns) * generator.normal(size=(rows, columns))
    return {"x": generator.normal(size=(rows, 2)) @ loadings.T + noise + generator.normal(size=columns)}


def factor_analysis() -> pw.Model:
    m = pw.Model("factors")
    n, d, k = m.plate("n"), m.plate("d", 5), m.plate("k", 2)
    m.mu = pw.Normal(0, sd=10, plates=d)
    m.w = pw.Normal(0, sd=1, plates=(d, k))
    m.psi = pw.InverseGamma(2, scale=1, plates=d)
    m.z = pw.Normal(0, sd=1, plates=(n, k))
    m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), variance=m.psi, plates=(n, d))
    return m


def by_likelihood_alone() -> pw.Model:
    m = pw.Model("factors without priors")
    n, d, k = m.plate("n"), m.plate("d", 5), m.plate("k", 2)
    m.mu = pw.Flat(plates=d)
    m.w = pw.Flat(plates=(d, k))
    m.psi = pw.Flat(lower=0, plates=d)
    m.z = pw.Normal(0, sd=1, plates=(n, k))
    m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), variance=m.psi, plates=(n, d))
    return m


def principal_components() -> pw.Model:
    m = pw.Model("components with one noise")
    n, d, k = m.plate("n"), m.plate("d", 5), m.plate("k", 2)
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(1, precision=0.1 * m.tau, plates=d)
    m.w = pw.Normal(0, precision=m.tau, plates=(d, k))
    m.z = pw.Normal(0, sd=1, plates=(n, k))
    m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), precision=m.tau, plates=(n, d))
    return m


def full_noise() -> pw.Model:
    m = pw.Model("hidden vectors with a covariance")
    n, d = m.plate("n"), m.plate("d", 2)
    m.S = pw.Wishart(4, scale=pw.identity(d), over=d)
    m.mu = pw.Normal(0, sd=10, plates=d)
    m.tau = pw.Gamma(2, rate=1)
    m.z = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=n)
    m.x = pw.Normal(m.z, precision=m.tau, plates=(n, d))
    m.y = pw.Normal(m.z, precision=4, plates=(n, d))
    return m


def full_noise_data(generator: np.random.Generator) -> Data:
    z = generator.normal(size=(200, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    return {"x": z + generator.normal(size=(200, 2)), "y": z + 0.5 * generator.normal(size=(200, 2))}


def with_holes(generator: np.random.Generator) -> Data:
    x = np.asarray(factor_data(generator, 600)["x"])
    holes = generator.random((600, 5)) < np.array([0.3, 0.0, 0.2, 0.0, 0.1])
    return {"x": np.where(holes, np.nan, x)}


def measured_twice() -> pw.Model:
    m = pw.Model("two instruments")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=10)
    m.between = pw.InverseGamma(3, scale=2)
    m.bias = pw.Normal(0, sd=1)
    m.one = pw.InverseGamma(3, scale=1)
    m.two = pw.InverseGamma(3, scale=1)
    m.t = pw.Normal(m.mu, variance=m.between, plates=n)
    m.a = pw.Normal(m.t, variance=m.one, plates=n)
    m.b = pw.Normal(m.bias + m.t, variance=m.two, plates=n)
    return m


def two_readings(generator: np.random.Generator) -> Data:
    t = generator.normal(2, 1.5, 200)
    return {"a": t + 0.4 * generator.normal(size=200), "b": t + 0.5 + 0.7 * generator.normal(size=200)}


def latent_regression() -> pw.Model:
    m = pw.Model("a hidden response with causes")
    n, d, j = m.plate("n"), m.plate("d", 3), m.plate("j", 2)
    m.u = pw.Input(plates=(n, j))
    m.beta = pw.Normal(0, sd=2, plates=j)
    m.mu = pw.Normal(0, sd=5, plates=d)
    m.w = pw.Normal(0, sd=1, plates=d)
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.z = pw.Normal(pw.dot(m.beta, m.u, over=j), sd=1, plates=n)
    m.x = pw.Normal(m.mu + m.w * m.z, variance=m.psi, plates=(n, d))
    return m


def caused(generator: np.random.Generator) -> Data:
    u = generator.normal(size=(250, 2))
    z = u @ [1.0, -0.5] + generator.normal(size=250)
    return {"u": u, "x": z[:, None] * [1.0, 0.5, -1.0] + 0.5 * generator.normal(size=(250, 3)) + 3}


def errors_in_causes() -> pw.Model:
    m = pw.Model("errors in the causes")
    n = m.plate("n")
    m.a = pw.Normal(0, sd=2)
    m.b = pw.Normal(0, sd=2)
    m.v = pw.InverseGamma(3, scale=1)
    m.x = pw.Normal(1, sd=2, plates=n)
    m.seen = pw.Normal(m.x, sd=0.5, plates=n)
    m.y = pw.Normal(m.a + m.b * m.x, variance=m.v, plates=n)
    return m


def noisy_causes(generator: np.random.Generator) -> Data:
    x = generator.normal(1, 2, 200)
    return {"seen": x + 0.5 * generator.normal(size=200), "y": 1 - x + generator.normal(size=200)}


def two_kinds_of_factors() -> pw.Model:
    m = pw.Model("two hidden blocks that do not meet")
    n, d, e = m.plate("n"), m.plate("d", 3), m.plate("e", 2)
    m.w = pw.Normal(0, sd=1, plates=d)
    m.v = pw.Normal(0, sd=1, plates=e)
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.chi = pw.InverseGamma(3, scale=2, plates=e)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.s = pw.Normal(0, sd=1, plates=n)
    m.x = pw.Normal(m.w * m.z, variance=m.psi, plates=(n, d))
    m.y = pw.Normal(m.v * m.s, variance=m.chi, plates=(n, e))
    return m


def two_tables(generator: np.random.Generator) -> Data:
    z, s = generator.normal(size=(2, 200, 1))
    x = z * [1.0, 2.0, -1.0] + generator.normal(size=(200, 3))
    return {"x": x, "y": s * [1.0, -1.0] + generator.normal(size=(200, 2))}


def chosen_by_level() -> pw.Model:
    m = pw.Model("loadings of each country")
    n, c, d = m.plate("n"), m.plate("c", 3), m.plate("d", 3)
    m.p = pw.Dirichlet(1, over=c)
    m.g = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(0, sd=5, plates=(c, d))
    m.w = pw.Normal(0, sd=1, plates=(c, d))
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.x = pw.Normal(m.mu[m.g] + m.w[m.g] * m.z, variance=m.psi, plates=(n, d))
    return m


def of_countries(generator: np.random.Generator) -> Data:
    g = generator.integers(0, 3, 300)
    w = generator.normal(size=(3, 3))
    x = w[g] * generator.normal(size=(300, 1)) + generator.normal(size=(300, 3)) + g[:, None]
    return {"g": g, "x": x}


def random_effects() -> pw.Model:
    m = pw.Model("random effects")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.mu = pw.Normal(0, sd=3)
    m.between = pw.InverseGamma(3, scale=2)
    m.inside = pw.InverseGamma(3, scale=1)
    m.b = pw.Normal(m.mu, variance=m.between, plates=g)
    m.y = pw.Normal(m.b, variance=m.inside, plates=n)
    return m


def grouped(generator: np.random.Generator) -> Data:
    g = generator.integers(0, 12, 400)
    return {"g": g, "y": generator.normal(size=12)[g] + generator.normal(size=400)}


def random_slopes() -> pw.Model:
    m = pw.Model("random slopes")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.x = pw.Input(plates=n)
    m.mu = pw.Normal(0, sd=3)
    m.slope = pw.Normal(0, sd=3)
    m.between = pw.InverseGamma(3, scale=2)
    m.steep = pw.InverseGamma(3, scale=2)
    m.inside = pw.InverseGamma(3, scale=1)
    m.a = pw.Normal(m.mu, variance=m.between, plates=g)
    m.b = pw.Normal(m.slope, variance=m.steep, plates=g)
    m.y = pw.Normal(m.a + m.b * m.x, variance=m.inside, plates=n)
    return m


def sloped(generator: np.random.Generator) -> Data:
    g, x = generator.integers(0, 12, 400), generator.normal(1, 1, 400)
    a, b = generator.normal(size=(2, 12))
    return {"g": g, "x": x, "y": a[g] + b[g] * x + generator.normal(size=400)}


def few_doses() -> pw.Model:
    """The precision of z depends on the dose of its row; doses are few."""
    m = pw.Model("a hidden response that doses enlarge")
    n = m.plate("n")
    m.dose = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=2)
    m.v = pw.InverseGamma(3, scale=2)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.y = pw.Normal(m.b + m.dose * m.z, variance=m.v, plates=n)
    m.s = pw.Normal(m.z, sd=0.5, plates=n)
    return m


def dosed(generator: np.random.Generator, doses: int = 4) -> Data:
    dose = generator.integers(1, doses + 1, 200) / doses
    z = generator.normal(size=200)
    y = 1 + dose * z + generator.normal(size=200)
    return {"dose": dose, "y": y, "s": z + 0.5 * generator.normal(size=200)}


def vectors() -> pw.Model:
    """What is hidden are the missing cells themselves."""
    m = pw.Model("vectors with holes")
    n, d = m.plate("n"), m.plate("d", 3)
    m.S = pw.Wishart(5, inverse_scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0.0, precision=0.01 * m.S, over=d)
    m.x = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=n)
    return m


def holed_vectors(generator: np.random.Generator) -> Data:
    x = generator.multivariate_normal([1, 2, 3], [[1, 0.8, 0.4], [0.8, 1, 0.4], [0.4, 0.4, 1]], 200)
    return {"x": np.where(generator.random(x.shape) < 0.1, np.nan, x)}


def raised_scale() -> pw.Model:
    """The log of a scale has no closed mode: it is raised along the slope of expected statistics."""
    m = pw.Model("a log scale")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=10)
    m.s = pw.Normal(0, sd=1)
    m.t = pw.Normal(m.mu, sd=pw.exp(m.s), plates=n)
    m.a = pw.Normal(m.t, sd=0.5, plates=n)
    m.b = pw.Normal(m.t, sd=0.7, plates=n)
    return m


GATHERED = (
    Gathering("factor_analysis", factor_analysis, factor_data, 7),
    Gathering("by_likelihood_alone", by_likelihood_alone, factor_data, 7),
    Gathering("principal_components", principal_components, factor_data, 7),
    Gathering("full_noise", full_noise, full_noise_data, 6),
    Gathering("missing_cells", factor_analysis, with_holes, 8 * 7),
    Gathering("vectors", vectors, holed_vectors, 8 * 5),
    Gathering("measured_twice", measured_twice, two_readings, 4),
    Gathering("latent_regression", latent_regression, caused, 7),
    Gathering("errors_in_causes", errors_in_causes, noisy_causes, 4),
    Gathering("two_kinds_of_factors", two_kinds_of_factors, two_tables, 7),
    Gathering("chosen_by_level", chosen_by_level, of_countries, 15),
    Gathering("random_effects", random_effects, grouped, 36),
    Gathering("random_slopes", random_slopes, sloped, 48),
    Gathering("few_doses", few_doses, dosed, 16),
)


def classes_of_rows() -> pw.Model:
    m = pw.Model("mixture of factor analysers")
    n, c, d = m.plate("n"), m.plate("c", 2), m.plate("d", 5)
    m.p = pw.Dirichlet(2, over=c)
    m.mu = pw.Normal(0, sd=3, plates=(c, d))
    m.w = pw.Normal(0, sd=1, plates=(c, d))
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.u = pw.Categorical(m.p, plates=n)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.x = pw.Normal(m.mu[m.u] + m.w[m.u] * m.z, variance=m.psi, plates=(n, d))
    return m


def chain_of_rows() -> pw.Model:
    m = pw.Model("hidden states")
    n, d = m.plate("n", ordered=True), m.plate("d", 5)
    m.a = pw.Normal(0.5, sd=1)
    m.c = pw.Normal(1, sd=1, plates=d)
    m.r = pw.InverseGamma(3, scale=1, plates=d)
    m.h = pw.Normal(m.a * m.lag("h"), variance=1, start=0.3, plates=n)
    m.x = pw.Normal(m.c * m.h, variance=m.r, plates=(n, d))
    return m


def curved_cause() -> pw.Model:
    """What is hidden adds to an exponential of the cause, which the data hold with many values."""
    m = pw.Model("an exponential of the cause")
    n = m.plate("n")
    m.dose = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=2)
    m.v = pw.InverseGamma(3, scale=2)
    m.z = pw.Normal(m.b * pw.exp(m.dose), sd=1, plates=n)
    m.y = pw.Normal(m.z, variance=m.v, plates=n)
    m.s = pw.Normal(m.z, sd=0.5, plates=n)
    return m


def own_precisions() -> pw.Model:
    """The precision of each reading is known, and another one in every row."""
    m = pw.Model("readings of known precision")
    n = m.plate("n")
    m.dose = pw.Input(plates=n)
    m.mu = pw.Normal(0, sd=2)
    m.v = pw.InverseGamma(3, scale=2)
    m.z = pw.Normal(m.mu, variance=m.v, plates=n)
    m.y = pw.Normal(m.z, precision=pw.exp(m.dose), plates=n)
    m.s = pw.Normal(m.z, sd=0.5, plates=n)
    return m


def many_doses(generator: np.random.Generator) -> Data:
    return dosed(generator, 10**9)


FIELDS = tuple(case for case in GATHERED if case.name in ("principal_components", "random_effects", "random_slopes"))
"""Those whose rows mean field gathers too: elsewhere it takes what is hidden in each row as a parameter of it."""

NEAR_MISSES = (
    (Gathering("classes_of_rows", classes_of_rows, factor_data, 0), "the probabilities of u are other ones"),
    (Gathering("chain_of_rows", chain_of_rows, factor_data, 0), "h is a chain"),
    (Gathering("raised_scale", raised_scale, two_readings, 0), "the slopes of s, mu need every row at each look"),
    (Gathering("many_doses", few_doses, many_doses, 0), "too many differ in dose"),
    (Gathering("curved_cause", curved_cause, many_doses, 0), "too many differ in dose"),
    (Gathering("own_precisions", own_precisions, many_doses, 0), "too many differ in dose"),
)
