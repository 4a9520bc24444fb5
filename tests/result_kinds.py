"""A result of every kind on small data, each learned once: exact, estimates, mean field, samplers, evidence."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

import platewright as pw
from platewright.run.results.result import Result

Y = np.random.default_rng(3).normal(2, 1.5, 25)
X = np.random.default_rng(5).normal(size=25)
TWO = np.random.default_rng(4).normal(0, 1, 24) + np.where(np.arange(24) % 2, -2.5, 2.5)
FEW = {"chains": 2, "draws": 150, "warm_up": 100}
NAMES = ["a", "b"]


def normal() -> pw.Model:
    m = pw.Model("normal")
    row = m.plate("row")
    m.tau = pw.Gamma(2, rate=3)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.sd = m.tau**-0.5
    m.y = pw.Normal(m.mu, precision=m.tau, plates=row)
    return m


def regression() -> pw.Model:
    m = pw.Model("regression")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.twice = 2 * m.x
    m.tau = pw.Gamma(2, rate=3)
    m.b = pw.Normal(0, precision=m.tau)
    m.mean = m.b * m.twice
    m.y = pw.Normal(m.mean, precision=m.tau, plates=row)
    return m


def mixture() -> pw.Model:
    m = pw.Model("mixture")
    row, kind = m.plate("row"), m.plate("kind", labels=NAMES)
    m.share = pw.Dirichlet(1.5, over=kind)
    m.tau = pw.Gamma(3, rate=2, plates=kind)
    m.mu = pw.Normal(0, precision=0.1 * m.tau, plates=kind)
    m.z = pw.Categorical(m.share, plates=row)
    m.sd = m.tau**-0.5
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=row)
    return m


def funnel() -> pw.Model:
    """Without a closed form, and with one scale that quadrature can take."""
    m = pw.Model("funnel")
    row = m.plate("row")
    m.t = pw.HalfNormal(sd=2)
    m.mu = pw.Normal(0, sd=3)
    m.y = pw.Normal(m.mu, sd=m.t, plates=row)
    return m


def crowd() -> pw.Model:
    """Counts with a mean each: one rate is left, and the others are no Gaussians, so each point runs a program."""
    m = pw.Model("crowd")
    row = m.plate("row")
    m.rate = pw.Gamma(2, rate=1)
    m.each = pw.Gamma(2, rate=m.rate, plates=row)
    m.y = pw.Poisson(m.each, plates=row)
    return m


MAKERS: dict[str, Callable[[], Result]] = {
    "exact": lambda: normal().learn({"y": Y}),
    "exact with inputs": lambda: regression().learn({"x": X, "y": 2 * X + Y}),
    "mode": lambda: normal().learn({"y": Y}, goal="map"),
    "points": lambda: funnel().learn({"y": Y}, chains=2, draws=300),
    "points for the evidence": lambda: funnel().learn({"y": Y}, goal="evidence"),
    "points of programs": lambda: crowd().learn({"y": np.arange(25) % 4}, by="quadrature"),
    "gibbs": lambda: normal().learn({"y": Y}, by="gibbs", **FEW),
    "em": lambda: mixture().learn({"y": TWO}, by="em"),
    "mean-field": lambda: mixture().learn({"y": TWO}, by="mean-field"),
    "gibbs of classes": lambda: mixture().learn({"y": TWO}, by="gibbs", **FEW),
    "collapsed-gibbs": lambda: mixture().learn({"y": TWO}, by="collapsed-gibbs", **FEW),
    "enumeration": lambda: mixture().learn({"y": TWO[:6]}, goal="evidence", by="enumeration"),
    "quadrature": lambda: crowd().learn({"y": np.arange(25) % 4}, goal="evidence", by="quadrature"),
    "chib": lambda: mixture().learn({"y": TWO[:10]}, goal="evidence", by="chib", **FEW),
    "annealed": lambda: mixture().learn({"y": TWO[:8]}, goal="evidence", by="annealed", particles=8, powers=12),
    "laplace": lambda: mixture().learn({"y": TWO[:10]}, goal="evidence", by="laplace", restarts=2),
}
KINDS = list(MAKERS)
WITHOUT_POSTERIOR = ("enumeration", "quadrature", "annealed")
WITH_POSTERIOR = [kind for kind in KINDS if kind not in WITHOUT_POSTERIOR]


@cache
def result(kind: str) -> Result:
    """The result of a kind, learned once."""
    return MAKERS[kind]()


def same(one: Result, other: Result) -> bool:
    """Whether two results say the same of everything, to the last bit."""
    told = [(type(fit), list(fit), fit.how, fit.explain(), str(fit.summary()), dict(fit.sizes)) for fit in (one, other)]
    return told[0] == told[1] and all(np.array_equal(one[n].value, other[n].value) for n in one.learned)
