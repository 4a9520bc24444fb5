"""Models with hidden values that nobody listed, each with its prior and likelihood written down a second time.

The second writing is plain NumPy and SciPy: `prior(generator, count)` draws the parameters, `log_likelihood` has the
hidden values summed out by hand. Nothing of Platewright is used in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

import platewright as pw

Values = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A model, its data, and the same model by hand."""

    model: pw.Model
    data: Mapping[str, object]
    prior: Callable[[np.random.Generator, int], Values]
    log_likelihood: Callable[[Values], np.ndarray]


def summed(log_weights: np.ndarray) -> np.ndarray:
    """Over the last axis, the hidden value."""
    return np.asarray(special.logsumexp(log_weights, axis=-1))


def exponential_mixture() -> Case:
    """Rates of several classes and a weight by hand: a product beside a matrix product in the emitted text."""
    m = pw.Model("exponential mixture")
    row, k = m.plate("row"), m.plate("k", 2)
    m.share = pw.Beta(2, 1)
    m.rate = pw.Gamma(pw.array([2.0, 6.0], over=k), rate=pw.array([1.0, 3.0], over=k), plates=k)
    m.z = pw.Bernoulli(m.share, plates=row)
    m.y = pw.Exponential(rate=m.rate[m.z], plates=row)
    y = np.array([0.1, 0.5, 2.0, 0.3, 5.0])

    def likelihood(p: Values) -> np.ndarray:
        weights = np.log(np.stack([1 - p["share"], p["share"]], axis=-1))
        rate = p["rate"][:, None, :]
        return summed(weights[:, None, :] + np.log(rate) - rate * y[None, :, None]).sum(axis=1)

    def prior(g: np.random.Generator, n: int) -> Values:
        return {"share": g.beta(2, 1, n), "rate": g.gamma([2.0, 6.0], 1.0, (n, 2)) / np.array([1.0, 3.0])}

    return Case(m, {"y": y}, prior, likelihood)


def zero_inflated() -> Case:
    """A rate of exactly zero in one class: impossible rows have no weight there."""
    m = pw.Model("zero inflated")
    row = m.plate("row")
    m.p = pw.Beta(1, 1)
    m.rate = pw.Gamma(2, rate=1)
    m.on = pw.Bernoulli(m.p, plates=row)
    m.y = pw.Poisson(m.rate * m.on, plates=row)
    y = np.array([0, 0, 0, 3, 2, 0])

    def likelihood(p: Values) -> np.ndarray:
        on, rate = p["p"][:, None], p["rate"][:, None]
        return np.log((1 - on) * (y == 0) + on * stats.poisson.pmf(y, rate)).sum(axis=1)

    return Case(m, {"y": y}, lambda g, n: {"p": g.beta(1, 1, n), "rate": g.gamma(2, 1, n)}, likelihood)


def table_with_zeros() -> Case:
    """Known chances of zero, given as data."""
    m = pw.Model("table with zeros")
    row, k, v = m.plate("row"), m.plate("k", 2), m.plate("v", 3)
    m.share = pw.Dirichlet(1.0, over=k)
    m.table = pw.Input(plates=(k, v))
    m.z = pw.Categorical(m.share, plates=row)
    m.y = pw.Categorical(m.table[m.z], over=v, plates=row)
    table, y = np.array([[0.5, 0.5, 0.0], [0.0, 0.3, 0.7]]), np.array([0, 0, 1, 2, 1])
    return Case(
        m,
        {"y": y, "table": table},
        lambda g, n: {"share": g.dirichlet([1, 1], n)},
        lambda p: np.log(p["share"] @ table)[:, y].sum(axis=1),
    )


def mixed_columns() -> Case:
    m = pw.Model("mixed columns")
    row, k, v = m.plate("row"), m.plate("k", 2), m.plate("v", 3)
    m.share = pw.Dirichlet(pw.array([2.0, 1.0], over=k), over=k)
    m.phi = pw.Dirichlet(1.0, over=v, plates=k)
    m.rate = pw.Gamma(pw.array([1.0, 5.0], over=k), rate=1, plates=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.a = pw.Categorical(m.phi[m.z], plates=row)
    m.b = pw.Poisson(m.rate[m.z], plates=row)
    a, b = np.array([0, 1, 2, 2]), np.array([1, 0, 6, 4])

    def likelihood(p: Values) -> np.ndarray:
        kinds = np.log(p["phi"])[:, :, a].transpose(0, 2, 1)
        counts = stats.poisson.logpmf(b[None, :, None], p["rate"][:, None, :])
        return summed(np.log(p["share"])[:, None, :] + kinds + counts).sum(axis=1)

    def prior(g: np.random.Generator, n: int) -> Values:
        return {
            "share": g.dirichlet([2, 1], n),
            "phi": g.dirichlet([1, 1, 1], (n, 2)),
            "rate": g.gamma([1.0, 5.0], 1.0, (n, 2)),
        }

    return Case(m, {"a": a, "b": b}, prior, likelihood)


def two_hidden_causes() -> Case:
    m = pw.Model("two hidden causes")
    row, a, b = m.plate("row"), m.plate("a", 2), m.plate("b", 2)
    m.pa = pw.Dirichlet(pw.array([3.0, 1.0], over=a), over=a)
    m.pb = pw.Dirichlet(pw.array([1.0, 2.0], over=b), over=b)
    centre = np.array([[0.0, 1.0], [2.0, 5.0]])
    m.mu = pw.Normal(pw.array(centre, over=(a, b)), sd=1.0, plates=(a, b))
    m.u = pw.Categorical(m.pa, plates=row)
    m.v = pw.Categorical(m.pb, plates=row)
    m.y = pw.Normal(m.mu[m.u, m.v], sd=1.0, plates=row)
    y = np.array([0.0, 2.0, 5.0, 1.0])

    def likelihood(p: Values) -> np.ndarray:
        weights = np.log(p["pa"])[:, None, :, None] + np.log(p["pb"])[:, None, None, :]
        found = weights + stats.norm.logpdf(y[None, :, None, None], p["mu"][:, None], 1)
        return summed(found.reshape(len(found), len(y), 4)).sum(axis=1)

    def prior(g: np.random.Generator, n: int) -> Values:
        return {"pa": g.dirichlet([3, 1], n), "pb": g.dirichlet([1, 2], n), "mu": g.normal(centre, 1, (n, 2, 2))}

    return Case(m, {"y": y}, prior, likelihood)


def annotators() -> Case:
    """Every annotator has a table of confusion."""
    m = pw.Model("annotators")
    item, who, k = m.plate("item"), m.plate("who"), m.plate("k", 2)
    said = m.plate("said", like=k)
    m.share = pw.Dirichlet(2.0, over=k)
    m.confusion = pw.Dirichlet(pw.array([[4.0, 1.0], [1.0, 4.0]], over=(k, said)), over=said, plates=(who, k))
    m.z = pw.Categorical(m.share, plates=item)
    m.y = pw.Categorical(m.confusion[:, m.z], plates=(item, who))
    y = np.array([[0, 0], [1, 1], [0, 1], [1, 1]])

    def likelihood(p: Values) -> np.ndarray:
        found = np.log(p["share"])[:, None, :] + np.zeros((1, len(y), 1))
        for number in range(2):
            found = found + np.log(p["confusion"][:, number])[:, :, y[:, number]].transpose(0, 2, 1)
        return summed(found).sum(axis=1)

    def prior(g: np.random.Generator, n: int) -> Values:
        return {
            "share": g.dirichlet([2, 2], n),
            "confusion": np.stack([g.dirichlet([4, 1], (n, 2)), g.dirichlet([1, 4], (n, 2))], axis=2),
        }

    return Case(m, {"y": y}, prior, likelihood)


def unknown_trials() -> Case:
    """The number of trials is unknown: a start below the data has density zero."""
    m = pw.Model("unknown trials")
    m.p = pw.Beta(1, 1)
    m.count = pw.Poisson(20.0)
    m.c = pw.Binomial(m.count, m.p, plates=m.plate("occasion"))
    c = np.array([7, 9, 5])
    return Case(
        m,
        {"c": c},
        lambda g, n: {"p": g.beta(1, 1, n), "count": g.poisson(20, n).astype(float)},
        lambda p: stats.binom.logpmf(c, p["count"][:, None], p["p"][:, None]).sum(axis=1),
    )


CASES = (
    exponential_mixture,
    zero_inflated,
    table_with_zeros,
    mixed_columns,
    two_hidden_causes,
    annotators,
    unknown_trials,
)
