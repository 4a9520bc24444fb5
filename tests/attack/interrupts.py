"""Ctrl-C at any moment, under every schema and backend: heard within a second, and what is left says what it is."""

from __future__ import annotations

import os
import random
import signal
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw
from attack.forked import Child
from run.test_long_samplers import COINS, mixture, sliced
from shown_models import made, network, regression

LIMIT = 1.0
"""Seconds; where more processes want to run than there are processors, as many times more."""
RNG = np.random.default_rng(5)
COUNTS = {"y": RNG.poisson(np.where(np.arange(300) < 150, 1.0, 6.0))}
MANY = {"y": RNG.poisson(np.where(np.arange(200_000) < 100_000, 1.0, 6.0))}
TABLE = {"y": RNG.normal(size=2_000_000), "X": RNG.normal(size=(2_000_000, 3))}
LONG: dict[str, Any] = {"chains": 2, "draws": 1_000_000, "warm_up": 200}
SLOW: dict[str, Any] = {"chains": 2, "draws": 500, "warm_up": 10, "thin": 200_000}


def close() -> pw.Model:
    """Classes that lie close together, so that EM takes long."""
    m = pw.Model("close classes")
    n, k = m.plate("n"), m.plate("k", 8)
    m.p = pw.Dirichlet(2, over=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def repeated(work: Callable[[], Any]) -> Any:
    """Short work, again and again."""
    while True:
        work()


def scaled() -> pw.Model:
    """Groups whose scale is left for quadrature."""
    m = pw.Model("groups under a scale")
    g = m.plate("g")
    m.s = pw.HalfCauchy(1.0)
    m.a = pw.Normal(0, sd=m.s, plates=g)
    m.y = pw.Normal(m.a, sd=1.0, plates=g)
    return m


EM: dict[str, Any] = {"restarts": 3, "iterations": 100_000, "tolerance": 0.0}
SCHEMAS: dict[str, Callable[[Path], Any]] = {
    "exact": lambda path: repeated(lambda: made(regression)[0].learn(TABLE, backend="numpy")),
    "exact in C": lambda path: repeated(lambda: made(regression)[0].learn(TABLE, backend="c")),
    "network": lambda path: repeated(lambda: made(network)[0].infer({"c": 1})),
    "gibbs": lambda path: mixture().learn(COUNTS, by="gibbs", backend="numpy", checkpoint=path, **LONG),
    "gibbs in C": lambda path: mixture().learn(COUNTS, by="gibbs", backend="c", checkpoint=path, **SLOW),
    "long sweeps": lambda path: mixture().learn(MANY, by="gibbs", backend="c", chains=2, draws=30, warm_up=2, thin=99),
    "paths": lambda path: sliced().learn(COINS, by="gibbs", backend="numpy", checkpoint=path, **LONG),
    "paths in C": lambda path: sliced().learn(COINS, by="gibbs", backend="c", checkpoint=path, **SLOW),
    "collapsed": lambda path: mixture().learn(
        COUNTS, by="collapsed-gibbs", backend="numpy", checkpoint=path, **{**LONG, "draws": 10_000}
    ),
    "collapsed in C": lambda path: mixture().learn(
        COUNTS, by="collapsed-gibbs", backend="c", checkpoint=path, **{**SLOW, "thin": 20_000}
    ),
    "em": lambda path: close().learn(MANY, goal="map", backend="numpy", checkpoint=path, **EM),
    "em in C": lambda path: close().learn(MANY, goal="map", backend="c", checkpoint=path, **EM),
    "mean field": lambda path: close().learn(MANY, by="mean-field", backend="numpy", checkpoint=path, **EM),
    "mean field in C": lambda path: close().learn(MANY, by="mean-field", backend="c", checkpoint=path, **EM),
    "chib": lambda path: mixture().learn(COUNTS, goal="evidence", by="chib", draws=20_000, checkpoint=path),
    "annealed": lambda path: mixture().learn(COUNTS, goal="evidence", by="annealed", particles=5_000),
    "enumeration": lambda path: mixture().learn({"y": COUNTS["y"][:22]}, goal="evidence", by="enumeration", most=2**40),
    "quadrature": lambda path: repeated(lambda: scaled().learn({"y": [1.0, 2, 3]}, goal="evidence", by="quadrature")),
    "laplace": lambda path: repeated(lambda: sliced().learn(COINS, goal="evidence", by="laplace")),
}


def prepare(folder: Path) -> None:
    """All C compiled, and all modules loaded, before the clock runs."""
    few: dict[str, Any] = {"chains": 1, "draws": 2, "warm_up": 1}
    made(regression)[0].learn(TABLE, backend="c")
    for by in ("gibbs", "collapsed-gibbs"):
        mixture().learn(COUNTS, by=by, backend="c", **few)
    mixture().learn(MANY, by="gibbs", backend="c", **few)
    sliced().learn(COINS, by="gibbs", backend="c", **few)
    for backend in ("numpy", "c"):
        close().learn(MANY, goal="map", backend=backend, restarts=1, iterations=2)
        close().learn(MANY, by="mean-field", backend=backend, restarts=1, iterations=2)
    scaled().learn({"y": [1.0, 2, 3]}, goal="evidence", by="quadrature")
    sliced().learn(COINS, goal="evidence", by="laplace")


def heard_by(work: Callable[[Path], Any], path: Path) -> dict[str, Any]:
    """Do the work; tell whether Ctrl-C came, when it was heard, and what came back."""
    came: list[float] = []

    def interrupt(number: int, frame: object) -> None:
        came.append(time.monotonic())
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        fit = work(path)
    except KeyboardInterrupt:
        return {"kind": "KeyboardInterrupt", "at": time.monotonic()}
    except BaseException as error:
        return {"kind": "foreign", "error": repr(error)[:300], "at": time.monotonic()}
    now = time.monotonic()
    return {"kind": "returned", "at": now, "how": fit.how[-200:], "came": bool(came)}


def attempt(number: int, folder: Path) -> str:
    """Interrupt one run."""
    rng = random.Random(number)
    name = list(SCHEMAS)[number % len(SCHEMAS)]
    path = folder / f"state{number}"
    child = Child(lambda: heard_by(SCHEMAS[name], path), folder / "told")
    if child.ended(rng.uniform(0.05, 2.5)) is not None:
        return f"HIT: {name} ended by itself: {child.outcome()}"[:300]
    sent = time.monotonic()
    child.send(signal.SIGINT)
    limit = LIMIT * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    status = child.ended(60)
    if status is None:
        child.send(signal.SIGKILL)
        child.ended(10)
        return f"HIT: {name} was deaf for a minute"
    found = child.outcome()
    took = found.get("at", np.inf) - sent
    if found["kind"] not in ("KeyboardInterrupt", "returned"):
        return f"HIT: {name} came to {found}, status {status}"
    if took > limit:
        return f"HIT: {name} heard it after {took:.2f} s"
    if found["kind"] == "returned" and "interrupted" not in found["how"]:
        return f"HIT: {name} came back unmarked: {found['how']}"
    if list(folder.glob("*.part")):
        return f"HIT: {name} left a .part"
    if path.exists():
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is not None:
                return f"HIT: {name} left a damaged checkpoint"
        path.unlink()
    return f"{'marked' if found['kind'] == 'returned' else 'KeyboardInterrupt'}: heard after {took:.2f} s"
