"""Models as lines of text, each with its data: read by Platewright, and a second time by `second_reading.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_RNG = np.random.default_rng(12)
NORMAL = np.round(_RNG.normal(size=40), 2)
POSITIVE = np.round(_RNG.uniform(0.3, 2.5, 40), 2)
COUNT = _RNG.poisson(2.0, 40)
BIT = _RNG.integers(0, 2, 40)
THREE = _RNG.integers(0, 3, 40)
UNIT = np.round(_RNG.uniform(0.1, 0.9, 40), 2)


@dataclass(frozen=True)
class Written:
    """Lines, data by name, groups by inner plate; with `declined` a word of the refusal."""

    lines: str
    data: Mapping[str, Any]
    groups: Mapping[str, Any] = field(default_factory=dict)
    declined: str = ""


def y(count: int, values: np.ndarray = NORMAL, start: int = 0) -> np.ndarray:
    """Some of the numbers."""
    return values[start : start + count]


N = 'n = m.plate("n")'
Z = 'n = m.plate("n"); g = m.plate("g", 3); m.z = pw.Input(plates=n, levels=g)'
X = 'n = m.plate("n"); m.x = pw.Input(plates=n)'
WITHIN = 'g = m.plate("g"); n = m.plate("n", within=g)'
OF = np.array([0, 1, 1, 0, 2, 2, 0])

MODELS: dict[str, Written] = {
    "an unknown that stands twice": Written(
        f"{N}; m.a = pw.Normal(1, sd=2); m.y = pw.Normal(m.a + m.a / 2, sd=1, plates=n)", {"y": y(4)}
    ),
    "an unknown that cancels": Written(
        f"{N}; m.a = pw.Normal(1, sd=2); m.b = pw.Normal(0, sd=1);"
        "m.y = pw.Normal(m.a - m.a + m.b, sd=1, plates=n); m.v = pw.Normal(m.a, sd=1)",
        {"y": y(4), "v": 0.3},
    ),
    "an unknown times zero": Written(
        f"{X}; m.a = pw.Normal(1, sd=2); m.b = pw.Normal(0, sd=1);"
        "m.y = pw.Normal(m.b + 0 * m.a * m.x, sd=1, plates=n); m.v = pw.Normal(m.a, sd=1)",
        {"x": y(4), "y": y(4, start=4), "v": 0.3},
    ),
    "known inputs in a dot product": Written(
        'n = m.plate("n"); c = m.plate("c", 3); m.X = pw.Input(plates=(n, c)); m.v = pw.Input(plates=c);'
        "m.b = pw.Normal(0, sd=1); m.y = pw.Normal(m.b * pw.dot(m.X, m.v, over=c), sd=1, plates=n)",
        {"X": NORMAL[:12].reshape(4, 3), "v": y(3), "y": y(4, start=9)},
    ),
    "an outer product of effects and inputs": Written(
        'n = m.plate("n"); k = m.plate("k", 3); m.x = pw.Input(plates=n); m.b = pw.Normal(0.5, sd=1, plates=k);'
        "m.y = pw.Normal(m.b * m.x, sd=0.8, plates=(n, k))",
        {"x": y(4), "y": NORMAL[:12].reshape(4, 3)},
    ),
    "categories of groups seen from their members": Written(
        f'{WITHIN}; k = m.plate("k", 2); m.z = pw.Input(plates=g, levels=k); m.mu = pw.Normal(0, sd=2, plates=k);'
        "m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)",
        {"z": [1, 0, 1], "y": y(7)},
        {"n": OF},
    ),
    "functions of groups seen from their members": Written(
        f"{WITHIN}; m.w = pw.Input(plates=g); m.a = pw.Normal(0, sd=2, plates=g); m.b = pw.Normal(0, sd=1);"
        "m.mean = m.a + m.b * m.w; m.x = pw.Input(plates=n); m.y = pw.Normal(m.mean - m.x, sd=1, plates=n)",
        {"w": y(3), "x": y(7, start=3), "y": y(7)},
        {"n": OF},
    ),
    "members crossed with another plate": Written(
        f'{WITHIN}; k = m.plate("k", 2); m.a = pw.Normal(0, sd=2, plates=(g, k)); m.b = pw.Normal(0, sd=1, plates=k);'
        "m.y = pw.Normal(m.a + m.b, sd=1, plates=(n, k))",
        {"y": NORMAL[:14].reshape(7, 2)},
        {"n": OF},
    ),
    "groups on two plates, rates": Written(
        f'{WITHIN}; k = m.plate("k", 2); m.e = pw.Input(plates=(k, n)); m.r = pw.Gamma(2, rate=1, plates=(k, g));'
        "m.y = pw.Poisson(m.r * m.e, plates=(n, k))",
        {"e": POSITIVE[:14].reshape(2, 7), "y": COUNT[:14].reshape(7, 2)},
        {"n": OF},
    ),
    "row weights of a precision": Written(
        f"{X}; m.t = pw.Gamma(2, rate=1); m.y = pw.Normal(1, precision=m.t * m.x ** 2, plates=n)",
        {"x": y(5, POSITIVE), "y": y(5)},
    ),
    "inverse inputs in a mean": Written(
        f"{X}; m.a = pw.Normal(0, sd=1); m.y = pw.Normal(m.a / m.x + pw.log(m.x), sd=pw.exp(m.x), plates=n)",
        {"x": y(5, POSITIVE), "y": y(5)},
    ),
    "shapes from a column": Written(
        f"{X}; m.r = pw.Gamma(2, rate=1); m.y = pw.Gamma(m.x, rate=2 * m.r, plates=n)",
        {"x": y(5, POSITIVE), "y": y(5, POSITIVE, 5)},
    ),
    "scales of waits from a column": Written(
        f"{X}; m.mean = pw.InverseGamma(3, scale=2); m.y = pw.Exponential(scale=m.mean * m.x, plates=n)",
        {"x": y(5, POSITIVE), "y": y(5, POSITIVE, 5)},
    ),
    "inverse gamma data": Written(
        f"{Z}; m.s = pw.Gamma(2, rate=1, plates=g); m.y = pw.InverseGamma(3, scale=m.s[m.z], plates=n)",
        {"z": y(5, THREE), "y": y(5, POSITIVE)},
    ),
    "half normal data in groups": Written(
        f"{Z}; m.t = pw.Gamma(2, rate=1, plates=g); m.y = pw.HalfNormal(precision=m.t[m.z] / 2, plates=n)",
        {"z": y(5, THREE), "y": y(5, POSITIVE)},
    ),
    "laplace scales in groups": Written(
        f"{Z}; m.b = pw.InverseGamma(2, scale=1, plates=g); m.y = pw.Laplace(0.5, scale=m.b[m.z], plates=n)",
        {"z": y(5, THREE), "y": y(5)},
    ),
    "pareto indices in groups": Written(
        f"{Z}; m.a = pw.Gamma(2, rate=1, plates=g); m.y = pw.Pareto(m.a[m.z], scale=0.2, plates=n)",
        {"z": y(5, THREE), "y": y(5, POSITIVE)},
    ),
    "log normal regression": Written(
        f"{X}; m.t = pw.Gamma(2, rate=1); m.a = pw.Normal(0, precision=m.t); m.b = pw.Normal(0, precision=m.t);"
        "m.y = pw.LogNormal(m.a + m.b * m.x, precision=m.t, plates=n)",
        {"x": y(5), "y": y(5, POSITIVE)},
    ),
    "vectors with row weights": Written(
        f'{X}; d = m.plate("d", 2); m.P = pw.Wishart(4, scale=pw.identity(d), over=d);'
        "m.y = pw.MultivariateNormal([0.0, 1.0], precision=m.P * m.x, over=d, plates=n)",
        {"x": y(4, POSITIVE), "y": NORMAL[:8].reshape(4, 2)},
    ),
    "vectors with a scalar precision": Written(
        f'{N}; d = m.plate("d", 2); m.t = pw.Gamma(2, rate=1);'
        "m.mu = pw.MultivariateNormal([0.0, 1.0], precision=m.t * pw.identity(d), over=d);"
        "m.y = pw.MultivariateNormal(m.mu, precision=2 * m.t * pw.identity(d), over=d, plates=n)",
        {"y": NORMAL[:8].reshape(4, 2)},
    ),
    "vectors with a matrix for each group": Written(
        f'{Z}; d = m.plate("d", 2); m.S = pw.InverseWishart(4, scale=pw.identity(d), over=d, plates=g);'
        "m.mu = pw.MultivariateNormal([0.0, 1.0], covariance=m.S * 2, over=d, plates=g);"
        "m.y = pw.MultivariateNormal(m.mu[m.z], covariance=m.S[m.z], over=d, plates=n)",
        {"z": y(5, THREE), "y": NORMAL[:10].reshape(5, 2)},
    ),
    "counts of words with their totals in a column": Written(
        f'{N}; k = m.plate("k", 3); m.total = pw.Input(plates=n); m.p = pw.Dirichlet([1.0, 0.5, 2.0], over=k);'
        "m.y = pw.Multinomial(m.total, m.p, over=k, plates=n)",
        {"y": COUNT[:12].reshape(4, 3), "total": COUNT[:12].reshape(4, 3).sum(axis=1)},
    ),
    "a table with an unseen level": Written(
        f'{Z}; k = m.plate("k", 4); m.p = pw.Dirichlet(0.5, over=k, plates=g);m.y = pw.Categorical(m.p[m.z], plates=n)',
        {"z": y(5, THREE), "y": y(5, THREE, 5)},
    ),
    "probabilities and their complements in groups": Written(
        f"{Z}; m.p = pw.Beta(2, 3, plates=g); m.a = pw.Bernoulli(m.p[m.z], plates=n);"
        "m.b = pw.Bernoulli(1 - m.p[m.z], plates=n)",
        {"z": y(6, THREE), "a": y(6, BIT), "b": y(6, BIT, 6)},
    ),
    "rates with a gate between two factors": Written(
        f"{N}; m.z = pw.Input(plates=n, levels=2); m.r = pw.Gamma(2, rate=1);"
        "m.y = pw.Poisson(m.r * pw.where(m.z, 2.0, 0.5), plates=n)",
        {"z": y(6, BIT), "y": y(6, COUNT)},
    ),
    "a known chain of logits": Written(
        f"{X}; m.p = pw.Beta(1, 1); m.a = pw.Bernoulli(m.p, plates=n);"
        "m.y = pw.Bernoulli(logit=0.3 + m.x * m.a, plates=n)",
        {"x": y(6), "a": y(6, BIT), "y": y(6, BIT, 6)},
    ),
    "a covariate with unknowns of its own": Written(
        f"{N}; m.t = pw.Gamma(2, rate=1); m.mu = pw.Normal(0, precision=m.t);"
        "m.x = pw.Normal(m.mu, precision=m.t, plates=n);"
        "m.s = pw.Gamma(3, rate=1); m.b = pw.Normal(0, precision=m.s);"
        "m.y = pw.Normal(m.b * m.x, precision=m.s, plates=n)",
        {"x": y(6), "y": y(6, start=6)},
    ),
    "one precision for two plates of rows": Written(
        'n = m.plate("n"); k = m.plate("k"); m.t = pw.Gamma(2, rate=1); m.a = pw.Normal(0, precision=m.t);'
        "m.y = pw.Normal(m.a, precision=m.t, plates=n); m.v = pw.Normal(2 * m.a, precision=3 * m.t, plates=k);"
        "m.w = pw.Exponential(rate=m.t, plates=k)",
        {"y": y(4), "v": y(3, start=4), "w": y(3, POSITIVE)},
    ),
    "an input one step back": Written(
        't = m.plate("t", ordered=True); m.x = pw.Input(plates=t); m.b = pw.Normal(0, sd=1); m.c = pw.Normal(0, sd=1);'
        "m.y = pw.Normal(m.b * m.x + m.c * m.lag('x'), sd=1, start=m.b * m.x, plates=t)",
        {"x": y(6), "y": y(6, start=6)},
    ),
    "an autoregression in groups with an unknown start": Written(
        'g = m.plate("g"); t = m.plate("t", within=g, ordered=True); m.a = pw.Normal(0, sd=1, plates=g);'
        "m.phi = pw.Normal(0, sd=1); m.m0 = pw.Normal(0, sd=2);"
        "m.y = pw.Normal(m.a + m.phi * m.lag('y'), sd=1, start=m.m0, plates=t)",
        {"y": y(7)},
        {"t": np.array([0, 0, 1, 1, 1, 2, 2])},
    ),
    "states that choose the mean, all known": Written(
        't = m.plate("t", ordered=True); k = m.plate("k", 2); o = m.plate("o", like=k);'
        "m.move = pw.Dirichlet(1.0, over=k, plates=o); m.begin = pw.Dirichlet(2.0, over=k);"
        "m.z = pw.Categorical(m.move[m.lag('z')], start=m.begin, plates=t);"
        "m.tau = pw.Gamma(2, rate=1, plates=k); m.mu = pw.Normal(0, precision=m.tau, plates=k);"
        "m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=t)",
        {"z": y(6, BIT), "y": y(6)},
    ),
    "sums of inputs as a function": Written(
        'n = m.plate("n"); c = m.plate("c", 3); m.X = pw.Input(plates=(n, c)); m.total = pw.sum(m.X, over=c);'
        "m.b = pw.Normal(0, sd=1); m.y = pw.Normal(m.b * m.total, sd=1, plates=n)",
        {"X": NORMAL[:12].reshape(4, 3), "y": y(4, start=12)},
    ),
    "a number with a name": Written(
        f"{N}; m.c = 3.0; m.a = pw.Normal(m.c, sd=m.c); m.y = pw.Normal(m.a * m.c, sd=1, plates=n)", {"y": y(4)}
    ),
    "a hierarchy of vectors": Written(
        f'{WITHIN}; d = m.plate("d", 2);'
        "m.mu = pw.MultivariateNormal([0.0, 0.0], covariance=pw.identity(d) * 4, over=d);"
        "m.a = pw.MultivariateNormal(m.mu, covariance=pw.identity(d), over=d, plates=g);"
        "m.y = pw.MultivariateNormal(m.a, covariance=pw.identity(d) * 0.5, over=d, plates=n)",
        {"y": NORMAL[:14].reshape(7, 2)},
        {"n": OF},
    ),
    "elements of a vector used one by one": Written(
        f"{Z}; m.v = pw.MultivariateNormal([0.0, 1.0, -1.0], covariance=pw.identity(g) * 2, over=g);"
        "m.y = pw.Normal(m.v[m.z], sd=1, plates=n); m.w = pw.Normal(pw.sum(m.v, over=g), sd=2)",
        {"z": y(5, THREE), "y": y(5), "w": 0.4},
    ),
    "an element by its number": Written(
        'n = m.plate("n"); k = m.plate("k", 3); m.a = pw.Normal(0, sd=1, plates=k);'
        "m.y = pw.Normal(m.a[0] - m.a[2], sd=1, plates=n); m.v = pw.Normal(m.a, sd=2, plates=k)",
        {"y": y(4), "v": y(3, start=4)},
    ),
    "rates in a hierarchy of known shapes": Written(
        f"{WITHIN}; m.b = pw.Gamma(2, rate=1); m.l = pw.Gamma(3, rate=m.b, plates=g);m.y = pw.Poisson(m.l, plates=n)",
        {"y": y(7, COUNT)},
        {"n": OF},
        declined="b",
    ),
    "a mean inside an absolute value": Written(
        f"{N}; m.a = pw.Normal(0, sd=1); m.y = pw.Laplace(m.a, scale=1, plates=n)", {"y": y(4)}, declined="a"
    ),
    "a sum of rates": Written(
        'n = m.plate("n"); c = m.plate("c", 2); m.X = pw.Input(plates=(n, c)); m.r = pw.Gamma(1, rate=1, plates=c);'
        "m.y = pw.Poisson(pw.dot(m.X, m.r, over=c), plates=n)",
        {"X": POSITIVE[:8].reshape(4, 2), "y": y(4, COUNT)},
        declined="r",
    ),
    "a uniform with an unknown lower end": Written(
        f"{N}; m.a = pw.Normal(0, sd=1); m.y = pw.Uniform(m.a, 3, plates=n)", {"y": y(4)}, declined="a"
    ),
    "two unknown scales in one mean": Written(
        f"{WITHIN}; m.s = pw.Gamma(2, rate=1); m.t = pw.Gamma(2, rate=1); m.a = pw.Normal(0, precision=m.s, plates=g);"
        "m.y = pw.Normal(m.a, precision=m.t, plates=n)",
        {"y": y(7)},
        {"n": OF},
        declined="a",
    ),
    "an unknown count": Written("m.k = pw.Poisson(3.0); m.y = pw.Binomial(m.k, 0.4)", {"y": 2}, declined="k"),
    "a logistic of an unknown": Written(
        f"{N}; m.a = pw.Normal(0, sd=1); m.y = pw.Bernoulli(logit=m.a, plates=n)", {"y": y(4, BIT)}, declined="a"
    ),
}
