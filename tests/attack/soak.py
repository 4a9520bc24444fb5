"""Many different fits in one process: memory, open files, threads and maps stay flat.

A try is a hundred fits of models that nobody has fitted before, by every schema and backend; from the second on the
process must not have grown beyond what caches of a fixed size hold.
"""

from __future__ import annotations

import gc
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw

FITS = 100
MOST_GROWN = 40.0
"""Megabytes that a hundred more fits may add once caches are filled."""
HELD: dict[str, float] = {}


def regression(k: int, rng: np.random.Generator) -> Any:
    """A closed form whose text differs from fit to fit."""
    m = pw.Model(f"regression {k}")
    row = m.plate("row")
    m.tau = pw.Gamma(2 + k / 1000, rate=3)
    m.b = pw.Normal(0, precision=m.tau * (1 + k))
    m.x = pw.Input(plates=row)
    m.y = pw.Normal(m.b * m.x, precision=m.tau, plates=row)
    return m, {"x": rng.normal(size=50), "y": rng.normal(size=50)}


def mixture(k: int, rng: np.random.Generator) -> Any:
    """Hidden classes with a prior of their own."""
    m = pw.Model(f"mixture {k}")
    n, c = m.plate("n"), m.plate("c", 2 + k % 3)
    m.p = pw.Dirichlet(1 + k / 1000, over=c)
    m.rate = pw.Gamma(2, rate=1 + k / 1000, plates=c)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m, {"y": rng.poisson(3, 60)}


FEW: dict[str, Any] = {"chains": 2, "draws": 10, "warm_up": 5}
WAYS: list[tuple[Callable[[int, np.random.Generator], Any], dict[str, Any]]] = [
    (regression, {"backend": "numpy"}),
    (regression, {"backend": "c"}),
    (mixture, {"by": "gibbs", "backend": "numpy", **FEW}),
    (mixture, {"by": "gibbs", "backend": "c", **FEW}),
    (mixture, {"by": "collapsed-gibbs", "backend": "numpy", "chains": 1, "draws": 2, "warm_up": 1}),
    (mixture, {"goal": "map", "restarts": 1, "iterations": 30}),
    (mixture, {"by": "mean-field", "restarts": 1, "iterations": 30}),
]


def held() -> dict[str, float]:
    """What the process holds: megabytes, open files, threads, maps of files."""
    gc.collect()
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    resident = next(float(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    return {
        "megabytes": resident / 1024,
        "files": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "maps of libraries": sum(".cache/platewright" in line or "PLATEWRIGHT" in line for line in maps),
    }


def attempt(number: int, folder: Path) -> str:
    """A hundred fits more."""
    rng, choice = np.random.default_rng(number), random.Random(number)
    for k in range(number * FITS, (number + 1) * FITS):
        build, options = WAYS[k % len(WAYS)]
        model, data = build(k, rng)
        fit = model.learn(data, seed=choice.randrange(10), **options)
        str(fit.summary())
    now = held()
    if number < 3:  # caches of compiled modules are still being filled
        HELD.update(now)
        return "filling"
    grown = {word: now[word] - HELD[word] for word in now}
    each = grown["megabytes"] / (number - 2)
    if each > MOST_GROWN or grown["files"] > 5 or grown["threads"] > 2:
        return f"HIT: after {(number + 1) * FITS} fits: {grown}"
    told = ", ".join(f"{word} {value:+.0f}" for word, value in grown.items())
    Path(folder, "told").write_text(told, encoding="utf-8")
    return f"flat ({told} since fit 300)" if number == 9 else "flat"
