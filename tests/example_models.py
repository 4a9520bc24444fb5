"""Exactly solvable models with small data, by name: each backend must give the same numbers on all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import platewright as pw
from platewright.data.bind import bind
from platewright.pipeline import signature
from platewright.program.program import Program
from platewright.run.execute import arguments, columns_of, loaded

Example = tuple[pw.Model, dict[str, Any]]
Maker = Callable[[np.random.Generator, int], Example]


def coin(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("coin")
    n = m.plate("n")
    m.p = pw.Beta(1.5, 1.5)
    m.x = pw.Bernoulli(m.p, plates=n)
    return m, {"x": rng.integers(0, 2, rows)}


def normal_gamma(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("normal gamma")
    n = m.plate("n")
    m.tau = pw.Gamma(2, rate=3)
    m.mu = pw.Normal(1, precision=2 * m.tau)
    m.x = pw.Normal(m.mu, precision=m.tau, plates=n)
    return m, {"x": rng.normal(size=rows)}


def normal_inverse_gamma(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("normal inverse gamma")
    n = m.plate("n")
    m.s2 = pw.InverseGamma(2, scale=3)
    m.mu = pw.Normal(1, variance=m.s2 / 2)
    m.x = pw.Normal(m.mu, variance=m.s2, plates=n)
    return m, {"x": rng.normal(size=rows)}


def regression(rng: np.random.Generator, rows: int, columns: int = 3) -> Example:
    m = pw.Model("regression")
    n, c = m.plate("n"), m.plate("c")
    m.tau = pw.Gamma(2, rate=3)
    m.w = pw.Normal(0, precision=m.tau, plates=c)
    m.X = pw.Input(plates=(n, c))
    m.a = pw.Normal(0, precision=0.1 * m.tau)
    m.y = pw.Normal(m.a + pw.dot(m.X, m.w, over=c), precision=m.tau, plates=n)
    return m, {"y": rng.normal(size=rows), "X": rng.normal(size=(rows, columns))}


def groups(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("groups")
    n, k = m.plate("n"), m.plate("k", 3)
    m.tau = pw.Gamma(2, rate=1, plates=k)
    m.mu = pw.Normal(0, precision=m.tau, plates=k)
    m.z = pw.Input(plates=n, levels=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m, {"y": rng.normal(size=rows), "z": rng.integers(0, 3, rows)}


def normal_wishart(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("normal Wishart")
    n, d = m.plate("n"), m.plate("d")
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, precision=2 * m.S, over=d)
    m.x = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=n)
    return m, {"x": rng.normal(size=(rows, 3))}


def normal_inverse_wishart(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("normal inverse Wishart")
    n, d = m.plate("n"), m.plate("d")
    m.S = pw.InverseWishart(5, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, covariance=m.S / 2, over=d)
    m.x = pw.MultivariateNormal(m.mu, covariance=m.S, over=d, plates=n)
    return m, {"x": rng.normal(size=(rows, 3))}


def many_outputs(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("many outputs")
    n, d, c = m.plate("n"), m.plate("d"), m.plate("c")
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.B = pw.MultivariateNormal(0, precision=2 * m.S, over=d, plates=c)
    m.X = pw.Input(plates=(n, c))
    m.x = pw.MultivariateNormal(pw.dot(m.X, m.B, over=c), precision=m.S, over=d, plates=n)
    return m, {"x": rng.normal(size=(rows, 2)), "X": rng.normal(size=(rows, 3))}


def hierarchy(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("hierarchy")
    g = m.plate("g", 4)
    n = m.plate("n", within=g)
    m.mu = pw.Normal(0, sd=10)
    m.th = pw.Normal(m.mu, sd=2, plates=g)
    m.y = pw.Normal(m.th, sd=1, plates=n)
    return m, {"y": rng.normal(size=rows), "g": rng.integers(0, 4, rows)}


def hierarchy_of_scale(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("hierarchy of scale")
    g = m.plate("g", 4)
    n = m.plate("n", within=g)
    m.tau = pw.Gamma(1, rate=1)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.th = pw.Normal(m.mu, precision=m.tau * 2, plates=g)
    m.y = pw.Normal(m.th, precision=m.tau, plates=n)
    return m, {"y": rng.normal(size=rows), "g": rng.integers(0, 4, rows)}


def bound(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("bound")
    n = m.plate("n")
    m.t = pw.Pareto(2, scale=3)
    m.x = pw.Uniform(0, m.t, plates=n)
    return m, {"x": rng.uniform(0, 5, rows)}


def direction(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("direction")
    n = m.plate("n")
    m.t = pw.VonMises(0.3, 2.0)
    m.x = pw.VonMises(m.t, 1.5, plates=n)
    return m, {"x": rng.uniform(-3, 3, rows)}


def exposure(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("exposure")
    n = m.plate("n")
    m.p = pw.Gamma(2, rate=3)
    m.e = pw.Input(plates=n)
    m.x = pw.Poisson(m.p * m.e, plates=n)
    return m, {"x": rng.poisson(2, rows), "e": rng.uniform(1, 2, rows)}


def table(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("table")
    n, k, a = m.plate("n"), m.plate("k", 3), m.plate("a", 2)
    m.t = pw.Dirichlet(1, over=k, plates=a)
    m.c = pw.Input(plates=n, levels=a)
    m.x = pw.Categorical(m.t[m.c], plates=n)
    return m, {"x": rng.integers(0, 3, rows), "c": rng.integers(0, 2, rows)}


def crossed(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("crossed")
    u, i = m.plate("u"), m.plate("i", 5)
    m.tau = pw.Gamma(1, rate=1)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.a = pw.Normal(0, precision=m.tau, plates=u)
    m.b = pw.Normal(0, precision=m.tau * 3, plates=i)
    m.y = pw.Normal(m.mu + m.a + m.b, precision=m.tau, plates=(u, i))
    return m, {"y": rng.normal(size=(max(rows // 5, 1), 5))}


def one_mean_on_crossed_plates(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("one mean on crossed plates")
    u, i, k = m.plate("u"), m.plate("i", 5), m.plate("k", 2)
    m.mu = pw.Normal(0, sd=3)
    m.y = pw.Normal(m.mu, sd=2, plates=(u, i))
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=(u, i))
    many = max(rows // 5, 1)
    return m, {"y": rng.normal(size=(many, 5)), "z": rng.integers(0, 2, (many, 5))}


def crossed_in_a_long_table(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("crossed in a long table")
    u, i, n = m.plate("u", 4), m.plate("i", 5), m.plate("n")
    m.U = pw.Input(plates=n, levels=u)
    m.I = pw.Input(plates=n, levels=i)
    m.tau = pw.Gamma(1, rate=1)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.a = pw.Normal(0, precision=m.tau, plates=u)
    m.b = pw.Normal(0, precision=m.tau * 3, plates=i)
    m.y = pw.Normal(m.mu + m.a[m.U] + m.b[m.I], precision=m.tau, plates=n)
    return m, {"y": rng.normal(size=rows), "U": rng.integers(0, 4, rows), "I": rng.integers(0, 5, rows)}


def markov_chain(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("Markov chain")
    k = m.plate("k", 3)
    o, s = m.plate("o", like=k), m.plate("s", ordered=True)
    m.b = pw.Dirichlet(1, over=k)
    m.A = pw.Dirichlet(1, over=k, plates=o)
    m.z = pw.Categorical(m.A[m.lag("z")], start=m.b, plates=s)
    return m, {"z": rng.integers(0, 3, rows)}


def autoregression(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("autoregression")
    s = m.plate("s", ordered=True)
    m.tau = pw.Gamma(1, rate=1)
    m.c = pw.Normal(0, precision=m.tau)
    m.phi = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.c + m.phi * m.lag("y"), precision=m.tau, start=0.0, plates=s)
    return m, {"y": rng.normal(size=rows)}


def two_row_plates(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("two row plates")
    n, s = m.plate("n"), m.plate("s")
    m.p = pw.Beta(1, 2)
    m.mu = pw.Normal(0, sd=3)
    m.x = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Normal(m.mu, sd=2, plates=s)
    return m, {"x": rng.integers(0, 2, rows), "y": rng.normal(size=rows // 2)}


def known_scales(rng: np.random.Generator, rows: int) -> Example:
    m = pw.Model("known scales")
    n = m.plate("n")
    m.s = pw.Input(plates=n)
    m.mu = pw.Normal(0, sd=5)
    m.y = pw.Normal(m.mu, sd=m.s, plates=n)
    return m, {"y": rng.normal(size=rows), "s": rng.uniform(1, 2, rows)}


MAKERS: Mapping[str, Maker] = {
    maker.__name__: maker
    for maker in (
        coin,
        normal_gamma,
        normal_inverse_gamma,
        regression,
        groups,
        normal_wishart,
        normal_inverse_wishart,
        many_outputs,
        hierarchy,
        hierarchy_of_scale,
        bound,
        direction,
        exposure,
        table,
        crossed,
        one_mean_on_crossed_plates,
        crossed_in_a_long_table,
        markov_chain,
        autoregression,
        two_row_plates,
        known_scales,
    )
}


def examples(rows: int = 50, seed: int = 1) -> dict[str, Example]:
    """All examples with so many rows."""
    return {name: maker(np.random.default_rng(seed), rows) for name, maker in MAKERS.items()}


def bound_program(model: pw.Model, data: Mapping[str, Any]) -> tuple[Program, tuple[Any, Any]]:
    """The program of a model for its data, and the arguments of the emitted `statistics`."""
    dataset = bind(signature(model), data)
    inputs = {name for name, variable in model.variables.items() if variable.kind == "input"}
    plan = model.derive(dataset.known - inputs).plan
    sizes = {**plan.program.sizes, **dataset.sizes}
    return plan.program, arguments(plan.program, loaded(plan.program), columns_of(plan.graph, dataset), sizes)
