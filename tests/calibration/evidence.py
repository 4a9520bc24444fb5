"""Calibration of Bayes factors: a coin chooses a model, the model draws data, the evidence guesses the coin.

PYTHONPATH=src:tests python -m calibration.evidence [--pair NAME] [--replications R]

    P(second model | data) = e2 / (e1 + e2):  among data with this probability q, a share q came from the second model

Two sums are standard normal when the evidence is right: of (came from second - q), and of that weighted by q - 1/2,
which sees evidence that is too bold or too timid.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

import platewright as pw
from schemas.small_instance import Case, instance

LEVEL = 1e-5
REPLICATIONS = 2000

Build = Callable[[], pw.Model]


@dataclass(frozen=True)
class Pair:
    """Two models of the same data."""

    name: str
    first: Case
    second: Case


def _pair(name: str, first: Build, second: Build, **sizes: int) -> Pair:
    return Pair(name, Case(f"{name} 1", first, ("y",), sizes), Case(f"{name} 2", second, ("y",), sizes))


def fair_coin() -> pw.Model:
    m = pw.Model("fair")
    m.y = pw.Bernoulli(0.5, plates=m.plate("n"))
    return m


def any_coin() -> pw.Model:
    m = pw.Model("any")
    m.p = pw.Beta(1, 1)
    m.y = pw.Bernoulli(m.p, plates=m.plate("n"))
    return m


def any_odds() -> pw.Model:
    """No closed form: its evidence is an integral over one number."""
    m = pw.Model("any odds")
    m.z = pw.Normal(0, sd=1.5)
    m.y = pw.Bernoulli(pw.logistic(m.z), plates=m.plate("n"))
    return m


def no_mean() -> pw.Model:
    m = pw.Model("no mean")
    m.tau = pw.Gamma(3, rate=2)
    m.y = pw.Normal(0, precision=m.tau, plates=m.plate("n"))
    return m


def some_mean() -> pw.Model:
    m = pw.Model("some mean")
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=m.plate("n"))
    return m


def flat_line() -> pw.Model:
    m = pw.Model("flat line")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.a = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.a, precision=m.tau, plates=n)
    return m


def line_with_slope() -> pw.Model:
    m = pw.Model("line")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.a = pw.Normal(0, precision=m.tau)
    m.b = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=n)
    return m


def one_rate() -> pw.Model:
    m = pw.Model("one rate")
    m.r = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.r, plates=m.plate("n"))
    return m


def own_rates() -> pw.Model:
    m = pw.Model("own rates")
    n = m.plate("n")
    m.r = pw.Gamma(2, rate=1, plates=n)
    m.y = pw.Poisson(m.r, plates=n)
    return m


def one_table() -> pw.Model:
    m = pw.Model("one table")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(1, over=k)
    m.y = pw.Categorical(m.p, plates=n)
    return m


def known_table() -> pw.Model:
    m = pw.Model("known table")
    n, k = m.plate("n"), m.plate("k", 3)
    m.y = pw.Categorical(pw.array([0.2, 0.3, 0.5], over=k), plates=n, over=k)
    return m


def vectors_apart() -> pw.Model:
    m = pw.Model("vectors, known precision")
    n, d = m.plate("n"), m.plate("d", 2)
    m.mu = pw.Normal(0, sd=1, plates=d)
    m.y = pw.Normal(m.mu, sd=1, plates=(n, d))
    return m


def vectors_together() -> pw.Model:
    m = pw.Model("vectors, unknown precision")
    n, d = m.plate("n"), m.plate("d", 2)
    m.tau = pw.Gamma(2, rate=2)
    m.mu = pw.Normal(0, precision=m.tau, plates=d)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=(n, d))
    return m


PAIRS: tuple[Pair, ...] = (
    _pair("coin", fair_coin, any_coin, n=12),
    _pair("odds", fair_coin, any_odds, n=12),
    _pair("mean", no_mean, some_mean, n=6),
    _pair("slope", flat_line, line_with_slope, n=6),
    _pair("rates", one_rate, own_rates, n=5),
    _pair("table", known_table, one_table, n=10),
    _pair("scale", vectors_apart, vectors_together, n=4),
)


@dataclass(frozen=True)
class Verdict:
    """Both sums of a pair, as chances."""

    pair: str
    replications: int
    level: float
    slope: float

    @property
    def passed(self) -> bool:
        """Neither is unusual."""
        return min(self.level, self.slope) > LEVEL / 2

    def __str__(self) -> str:
        word = "pass" if self.passed else "FAIL"
        found = f"chance of the level {self.level:.2g}, of the slope {self.slope:.2g}"
        return f"{self.pair:12} {word}  {self.replications} data sets, {found}"


Evidence = Callable[[pw.Model, dict[str, np.ndarray]], float]


def exact(model: pw.Model, data: dict[str, np.ndarray]) -> float:
    """Our log evidence."""
    return float(model.learn(data, goal="evidence").log_evidence)


def check(pair: Pair, replications: int = REPLICATIONS, seed: int = 0, evidence: Evidence = exact) -> Verdict:
    """Draw models, data and probabilities."""
    generator = np.random.default_rng(seed)
    models = (pair.first.build(), pair.second.build())
    came, said = np.empty(replications), np.empty(replications)
    for number in range(replications):
        which = int(generator.integers(2))
        small = instance((pair.first, pair.second)[which], int(generator.integers(2**31)))
        data = {name: values for name, values in small.columns.items() if "@" not in name}
        first, second = (evidence(model, data) for model in models)
        came[number], said[number] = which, special.expit(second - first)
    spread = said * (1 - said)
    weight = said - 0.5
    level = (came - said).sum() / np.sqrt(spread.sum())
    slope = (weight * (came - said)).sum() / np.sqrt((weight**2 * spread).sum())
    return Verdict(pair.name, replications, *(float(2 * stats.norm.sf(abs(z))) for z in (level, slope)))


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each pair; the exit status says whether any failed."""
    parser = argparse.ArgumentParser(prog="calibrate-evidence")
    parser.add_argument("--pair", action="append")
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    given = parser.parse_args(argv)
    failed = 0
    for pair in PAIRS:
        if not given.pair or pair.name in given.pair:
            verdict = check(pair, given.replications)
            print(verdict, flush=True)
            failed += not verdict.passed
    print(f"{failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
