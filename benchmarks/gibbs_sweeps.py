"""Sweeps of Gibbs sampling beside their peers: a vectorised NumPy sampler of the same mixture, and JAGS.

    y[n] ~ Normal(mu[z[n]], precision tau[z[n]]),  z[n] ~ p,  mu[k] ~ Normal(0, sd 10),  tau[k] ~ Gamma(2, rate 1)

Used by `latent.py --only gibbs`. JAGS runs its own text of the model by its command line; seconds of a sweep are the
slope between a short and a long run, so neither its start nor its compilation counts.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from side_by_side import Line

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.run.samplers.native_gibbs import NativeChain, compiled_gibbs
from platewright.run.samplers.starting import starting_values
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs

LEVELS = 5
STARTS = np.linspace(-7, 7, LEVELS)
"""Means from which both samplers start."""

BUGS = """
model {
  for (i in 1:N) {
    z[i] ~ dcat(p[1:K])
    y[i] ~ dnorm(mu[z[i]], tau[z[i]])
  }
  for (k in 1:K) {
    mu[k] ~ dnorm(0, 0.01)
    tau[k] ~ dgamma(2, 1)
    alpha[k] <- 1
  }
  p[1:K] ~ ddirch(alpha[1:K])
}
"""


def mixture() -> pw.Model:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", LEVELS)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(0, sd=10, plates=k)
    m.tau = pw.Gamma(2, rate=1, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def drawn(rows: int) -> np.ndarray:
    generator = np.random.default_rng(0)
    centres = np.linspace(-8, 8, LEVELS)
    return centres[generator.integers(0, LEVELS, rows)] + generator.standard_normal(rows)


def ours(y: np.ndarray) -> NativeChain:
    plan = plan_gibbs(read_graph(mixture(), ("y",)), "posterior")
    assert isinstance(plan, GibbsPlan), plan
    sizes = {"n": len(y), "k": LEVELS}
    native = compiled_gibbs(plan, {"y": y}, sizes)
    generator = np.random.default_rng(1)
    start = starting_values(plan.graph, native.source.unknown, sizes, generator)
    start["z"] = np.argmin(np.abs(y[:, None] - STARTS), axis=1)
    return native.chain(start, generator)


class Vectorised:
    """The same sampler as one writes it in NumPy: inverse of running sums, and weighted counts."""

    def __init__(self, y: np.ndarray) -> None:
        self.y = y
        self.generator = np.random.default_rng(1)
        self.p, self.tau = np.full(LEVELS, 1 / LEVELS), np.ones(LEVELS)
        self.mu = STARTS

    def run(self, sweeps: int, thin: int = 1) -> None:
        y, generator = self.y, self.generator
        for _ in range(sweeps * thin):
            weight = y[:, None] - self.mu
            weight *= weight
            weight *= -0.5 * self.tau
            weight += np.log(self.p) + 0.5 * np.log(self.tau)
            weight -= weight.max(axis=1, keepdims=True)
            np.exp(weight, out=weight)
            np.cumsum(weight, axis=1, out=weight)
            z = (weight <= (generator.random(len(y)) * weight[:, -1])[:, None]).sum(axis=1)
            count = np.bincount(z, minlength=LEVELS)
            self.p = generator.dirichlet(1 + count)
            precision = 0.01 + self.tau * count
            mean = self.tau * np.bincount(z, y, minlength=LEVELS) / precision
            self.mu = mean + generator.standard_normal(LEVELS) / np.sqrt(precision)
            squares = np.bincount(z, (y - self.mu[z]) ** 2, minlength=LEVELS)
            self.tau = generator.standard_gamma(2 + count / 2) / (1 + squares / 2)


def seconds(repeats: int, sweeps: int, *runs: Callable[[int, int], object]) -> list[float]:
    """Processor time of a sweep of each run, the best of several, in turns."""
    best = [float("inf")] * len(runs)
    for _ in range(repeats):
        for number, run in enumerate(runs):
            start = time.thread_time()
            run(sweeps, 1)
            best[number] = min(best[number], (time.thread_time() - start) / sweeps)
    return best


def beside_numpy(quick: bool, repeats: int) -> list[Line]:
    """Many rows: both are bound by arithmetic."""
    rows = 20_000 if quick else 100_000
    y = drawn(rows)
    chain, peer = ours(y), Vectorised(y)
    seconds(1, 20, chain.run, peer.run)
    own, other = seconds(4 * repeats, 10, chain.run, peer.run)
    found = [np.sort(chain.values["mu"]), np.sort(peer.mu)]
    note = f"ours {1e3 * own:.2f} ms ({1e9 * own / rows:.1f} ns a row), NumPy {1e3 * other:.2f} ms a sweep; means "
    note += f"{np.round(found[0], 1).tolist()} and {np.round(found[1], 1).tolist()}"
    return [Line(f"mixture Gibbs sweep, N={rows:.0e}, K={LEVELS}", other / own, 8.0, "x", at_least=True, note=note)]


def beside_jags(repeats: int) -> list[Line]:
    """Few rows: what counts is the work around the arithmetic."""
    if shutil.which("jags") is None:
        print("JAGS is not installed here (Debian: apt-get install jags); its line is left out")
        return []
    y = drawn(500)
    chain = ours(y)
    (own,) = seconds(4 * repeats, 2000, chain.run)
    other = min(jags_sweep(y) for _ in range(repeats))
    note = f"ours {1e6 * own:.1f} us, JAGS {1e6 * other:.0f} us a sweep"
    return [
        Line(f"mixture Gibbs sweep beside JAGS, N=500, K={LEVELS}", other / own, 50.0, "x", at_least=True, note=note)
    ]


def jags_sweep(y: np.ndarray, few: int = 500, many: int = 3500) -> float:
    """Seconds of a sweep of JAGS: the slope of its processor time."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.bug").write_text(BUGS)
        listed = ", ".join(repr(float(value)) for value in y)
        Path(folder, "data.R").write_text(f"y <- c({listed})\nN <- {len(y)}\nK <- {LEVELS}\n")
        took = {}
        for sweeps in (few, many):
            lines = ["model in model.bug", "data in data.R", "compile, nchains(1)", "initialize", f"update {sweeps}"]
            Path(folder, "run.cmd").write_text("\n".join([*lines, "exit"]) + "\n")
            took[sweeps] = child_seconds(folder)
    return (took[many] - took[few]) / (many - few)


def child_seconds(folder: str) -> float:
    """Processor time of one run of JAGS."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["jags", "run.cmd"], cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode != 0 or "Error" in done.stdout:
        raise RuntimeError(f"JAGS failed: {done.stdout[-300:]} {done.stderr[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
