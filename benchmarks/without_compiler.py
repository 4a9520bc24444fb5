"""Whole calls with the machine's C compiler and without one: derive, bind, compile and run, in processes of their own.

    python benchmarks/without_compiler.py [--repeats 3] [--only gibbs]

`with` has a C compiler on the PATH and a cache that is empty in the first call of a model (`first`) and filled in the
next (`again`); `without` has neither on the PATH, and libtcc; `numpy` has not even that. Seconds of `m.learn(...)`
alone, the smallest of the repeats; imports and the derivation of another model are done before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw

Job = tuple[pw.Model, Mapping[str, Any], Mapping[str, Any]]
"""A model, its data, and the options of `learn`."""


def hierarchy(groups: int = 8, rows: int = 20) -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("hierarchy")
    g = m.plate("group")
    n = m.plate("n", within=g)
    m.mu, m.between = pw.Normal(0, sd=10), pw.Gamma(2, rate=1)
    m.tau = pw.Gamma(2, rate=1)
    m.theta = pw.Normal(m.mu, precision=m.between, plates=g)
    m.y = pw.Normal(m.theta, precision=m.tau, plates=n)
    generator = np.random.default_rng(0)
    codes = np.repeat(np.arange(groups), rows)
    centres = generator.normal(1, 2, groups)
    return m, {"group": codes, "y": centres[codes] + generator.normal(size=codes.size)}


def mixture(rows: int, columns: int = 1, levels: int = 3) -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", levels)
    m.p = pw.Dirichlet(2, over=k)
    m.mu, m.tau = pw.Normal(0, sd=5, plates=k), pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    generator = np.random.default_rng(1)
    return m, {"y": np.linspace(-4, 4, levels)[generator.integers(0, levels, rows)] + generator.normal(size=rows)}


def chain(steps: int, levels: int = 3) -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("hidden Markov chain")
    t, k = m.plate("t", ordered=True), m.plate("k", levels)
    before = m.plate("before", like=k)
    m.start = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(2, over=k, plates=before)
    m.mu, m.tau = pw.Normal(0, sd=5, plates=k), pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.start, plates=t)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=t)
    generator = np.random.default_rng(2)
    states = np.cumsum(generator.random(steps) < 0.1) % levels
    return m, {"y": np.linspace(-4, 4, levels)[states] + generator.normal(size=steps)}


GIBBS = {"chains": 4, "draws": 1000, "warm_up": 500}
JOBS: dict[str, Callable[[], Job]] = {
    "gibbs: hierarchy of 8 groups, 160 rows": lambda: (*hierarchy(), {"by": "gibbs", **GIBBS}),
    "gibbs: mixture of 150 rows": lambda: (*mixture(150), {"by": "gibbs", **GIBBS}),
    "collapsed: mixture of 150 rows": lambda: (*conjugate(150), {"by": "collapsed-gibbs", **GIBBS}),
    "em: mixture of 2,000 rows": lambda: (*mixture(2_000), {"goal": "map"}),
    "em: mixture of 20,000 rows": lambda: (*mixture(20_000), {"goal": "map"}),
    "em: mixture of 100,000 rows": lambda: (*mixture(100_000), {"goal": "map"}),
    "em: chain of 2,000 steps": lambda: (*chain(2_000), {"goal": "map"}),
    "em: chain of 20,000 steps": lambda: (*chain(20_000), {"goal": "map"}),
}


def conjugate(rows: int, levels: int = 3) -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("conjugate mixture")
    n, k = m.plate("n"), m.plate("k", levels)
    m.p = pw.Dirichlet(2, over=k)
    m.tau = pw.Gamma(2, rate=1, plates=k)
    m.mu = pw.Normal(0, precision=0.1 * m.tau, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m, mixture(rows)[1]


def timed(name: str, memory: bool) -> dict[str, Any]:
    """One call in this process."""
    if not memory:
        from platewright.backends.c import in_memory
        from platewright.run.samplers import native_choice

        in_memory._tcc = lambda: None  # type: ignore[assignment]
        native_choice.has_memory_compiler = lambda: False
    warnings.simplefilter("ignore")
    model, data, _ = JOBS["em: mixture of 2,000 rows"]()
    model.learn({"y": np.linspace(-1, 1, 40)}, goal="map", backend="numpy")
    model, data, options = JOBS[name]()
    begun = time.perf_counter()
    fit = model.learn(data, seed=1, **options)
    return {"seconds": time.perf_counter() - begun, "how": fit.how}


def in_a_process(name: str, path: str, cache: Path, memory: bool) -> dict[str, Any]:
    """One call in a process of its own."""
    environment = {**os.environ, "PATH": path, "PLATEWRIGHT_CACHE": str(cache)}
    environment.pop("CC", None)
    command = [sys.executable, __file__, "--job", name, *([] if memory else ["--no-memory"])]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=600)
    return dict(json.loads(said.stdout.splitlines()[-1]))


def compared(name: str, repeats: int, nowhere: str, numpy: bool) -> dict[str, dict[str, Any]]:
    """The ways side by side, the repeats in turn."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            ways = [("first", os.environ["PATH"], True), ("again", os.environ["PATH"], True)]
            ways += [("without", nowhere, True), *([("numpy", nowhere, False)] if numpy else [])]
            for way, path, memory in ways:
                one = in_a_process(name, path, Path(cache), memory)
                if way not in found or one["seconds"] < found[way]["seconds"]:
                    found[way] = one
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--numpy", action="store_true", help="also without libtcc")
    parser.add_argument("--job")
    parser.add_argument("--no-memory", action="store_true")
    given = parser.parse_args()
    if given.job:
        print(json.dumps(timed(given.job, not given.no_memory)))
        return
    ways = ("first", "again", "without", *(("numpy",) if given.numpy else ()))
    print(f"{'':40s} {' '.join(f'{way:>8s}' for way in ways)}  without/again")
    with tempfile.TemporaryDirectory() as nowhere:
        for name in JOBS:
            if given.only not in name:
                continue
            found = compared(name, given.repeats, nowhere, given.numpy)
            shown = " ".join(f"{found[way]['seconds']:8.3f}" for way in ways)
            print(f"{name:40s} {shown}  {found['without']['seconds'] / found['again']['seconds']:.2f}")
            told = [found[way]["how"].partition(": ")[2].rpartition("(")[2] for way in ("again", "without")]
            print(f"{'':40s} {' | '.join(told)}")


if __name__ == "__main__":
    main()
