"""A cap of 3 GB over every schema: sizes that do not fit are refused in words, and nothing is killed."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw
from attack.forked import Child
from run.test_long_samplers import mixture, sliced

CAP = 3 * 2**30
MANY = {"y": np.random.default_rng(0).poisson(3, 100_000)}


def classes(count: int) -> pw.Model:
    """Rows in so many hidden classes."""
    m = pw.Model("many classes")
    n, k = m.plate("n"), m.plate("k", count)
    m.p = pw.Dirichlet(1.0, over=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def wide(count: int) -> tuple[pw.Model, dict[str, Any]]:
    """A regression on so many columns."""
    m = pw.Model("wide")
    row, column = m.plate("row"), m.plate("column", count)
    m.tau = pw.Gamma(2, rate=3)
    m.w = pw.Normal(0, precision=m.tau, plates=column)
    m.X = pw.Input(plates=(row, column))
    m.y = pw.Normal(pw.dot(m.X, m.w, over=column), precision=m.tau, plates=row)
    return m, {"y": np.zeros(3), "X": np.ones((3, count))}


def crossed(count: int) -> Any:
    """Two large plates that meet."""
    m = pw.Model("crossed")
    a, b = m.plate("a", count), m.plate("b", count)
    m.t = pw.Normal(0, sd=1, plates=(a, b))
    m.u = pw.Normal(pw.sum(m.t, over=a), sd=1, plates=b)
    return m.learn({"u": np.zeros(count)})


def table(count: int) -> Any:
    """A table of so many binary causes at once."""
    m = pw.Model("clique")
    last: Any = 0.0
    for k in range(count):
        setattr(m, f"x{k}", pw.Bernoulli(0.3))
        last = last + getattr(m, f"x{k}")
    m.y = pw.Poisson(1.0 + last)
    return m.infer({"y": 3})


def exact_wide(count: int) -> Any:
    """The closed form of a wide regression."""
    model, data = wide(count)
    return model.learn(data)


DRAWS: dict[str, Any] = {"by": "gibbs", "draws": 100_000}
SCHEMAS: dict[str, Callable[[], Any]] = {
    "exact": lambda: exact_wide(30_000),
    "exact, fewer": lambda: exact_wide(800),
    "crossed": lambda: crossed(20_000),
    "network": lambda: table(40),
    "gibbs": lambda: mixture().learn(MANY, backend="numpy", **DRAWS),
    "gibbs in C": lambda: mixture().learn(MANY, backend="c", **DRAWS),
    "gibbs, just too many": lambda: mixture().learn(MANY, backend="c", by="gibbs", draws=900, chains=4, warm_up=1),
    "paths": lambda: sliced().learn({"x": MANY["y"] / 3.0, "y": MANY["y"] % 2}, by="gibbs", draws=10**9, chains=8),
    "collapsed": lambda: mixture().learn(MANY, by="collapsed-gibbs", draws=100_000),
    "em": lambda: classes(5_000).learn(MANY, goal="map", backend="numpy", restarts=1, iterations=2),
    "em in C": lambda: classes(1_000).learn(MANY, goal="map", backend="c", restarts=1, iterations=2),
    "mean field": lambda: classes(5_000).learn(MANY, by="mean-field", backend="numpy", restarts=1, iterations=2),
    "mean field in C": lambda: classes(1_000).learn(MANY, by="mean-field", backend="c", restarts=1, iterations=2),
    "chib": lambda: mixture().learn(MANY, goal="evidence", by="chib", draws=100_000),
    "annealed": lambda: classes(5_000).learn(MANY, goal="evidence", by="annealed", particles=2, powers=2),
    "enumeration": lambda: mixture().learn({"y": MANY["y"][:60]}, goal="evidence", by="enumeration"),
    "laplace": lambda: classes(20).learn({"y": MANY["y"][:20_000]}, goal="evidence", by="laplace", restarts=1),
    "prediction": lambda: (
        mixture()
        .learn({"y": MANY["y"][:50]}, by="gibbs", chains=2, draws=2_000, warm_up=5)
        .predict(1_000_000, count=4_000)
    ),
}


def starved(work: Callable[[], Any]) -> dict[str, Any]:
    """The work under the cap."""
    resource.setrlimit(resource.RLIMIT_AS, (CAP, CAP))
    try:
        work()
    except pw.errors.PlatewrightError as error:
        return {"kind": type(error).__name__, "found": error.found[:100]}
    except BaseException as error:
        return {"kind": "foreign", "error": repr(error)[:300]}
    return {"kind": "fitted"}


def attempt(number: int, folder: Path) -> str:
    """One schema."""
    name = list(SCHEMAS)[number % len(SCHEMAS)]
    child = Child(lambda: starved(SCHEMAS[name]), folder / "told")
    status = child.ended(100)
    if status is None:
        child.send(signal.SIGKILL)
        child.ended(10)
        return f"HIT: {name} had not ended after 100 s"
    found = child.outcome()
    if found["kind"] in ("nothing", "foreign"):
        return f"HIT: {name}: {found}, status {status}"
    return "fitted" if found["kind"] == "fitted" else f"ours: {found['kind']}"
