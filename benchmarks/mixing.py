"""How well the default sampler mixes, class of models by class: what a worse start or a worse metric would show.

    worst R-hat         of the watched unknowns, the median and the highest over seeds
    size a draw         the smallest effective size of a watched unknown over the number of draws, the median over seeds
    astray              the share of chains in a mode of negligible probability, where a class has one

    python benchmarks/mixing.py [--seeds 10] [--only NAME ...]

Nothing is timed; same versions and seeds give the same table.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import platewright as pw
from platewright.run.samplers.diagnosing import array_stats
from platewright.run.samplers.sampling import SampledFit


@dataclass(frozen=True)
class Mixing:
    """A model with data, the unknowns to watch, and between what the means of some lie unless a chain is astray."""

    model: pw.Model
    data: Mapping[str, object]
    watched: Sequence[str]
    between: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def errors_in_variables() -> Mixing:
    generator = np.random.default_rng(4)
    truth = generator.normal(size=6)
    w = truth + 0.5 * generator.normal(size=6)
    y = 1 + 2 * truth + 0.5 * generator.normal(size=6)
    m = pw.Model("errors in variables")
    row = m.plate("row")
    m.a = pw.Normal(0, sd=2.0)
    m.b = pw.Normal(0, sd=2.0)
    m.x = pw.Normal(0, sd=1.0, plates=row)
    m.w = pw.Normal(m.x, sd=0.5, plates=row)
    m.y = pw.Normal(m.a + m.b * m.x, sd=0.5, plates=row)
    return Mixing(m, {"w": w, "y": y}, ["b"], {"b": (0, 6)})


def experts() -> Mixing:
    generator = np.random.default_rng(3)
    x = generator.normal(size=30)
    second = generator.random(30) < 1 / (1 + np.exp(-3 * x))
    y = np.where(second, 1 + 2 * x, -1 - x) + 0.4 * generator.normal(size=30)
    m = pw.Model("mixture of experts")
    row, k = m.plate("row"), m.plate("k", 2)
    m.x = pw.Input(plates=row)
    m.g0 = pw.Normal(0, sd=2.0)
    m.g1 = pw.Normal(2, sd=1.0)
    m.tau = pw.Gamma(2, rate=1.0)
    m.a = pw.Normal(0, sd=2.0, plates=k)
    m.b = pw.Normal(pw.array([-1.0, 1.0], over=k), sd=1.0, plates=k)
    m.z = pw.Bernoulli(logit=m.g0 + m.g1 * m.x, plates=row)
    m.y = pw.Normal(m.a[m.z] + m.b[m.z] * m.x, precision=m.tau, plates=row)
    return Mixing(m, {"x": x, "y": y}, ["g1", "b"], {"g1": (0, 9)})


def ones_trick() -> Mixing:
    generator = np.random.default_rng(2)
    y = np.r_[generator.normal(0, 1, 15), generator.normal(4, 1, 25)]
    text = """model {
      for (i in 1:N) {
        ones[i] ~ dbern(p[i])
        p[i] <- L[i] / 1000
        L[i] <- w * exp(-0.5 * pow(y[i] - m[1], 2)) + (1 - w) * exp(-0.5 * pow(y[i] - m[2], 2))
      }
      w ~ dunif(0, 1)
      m[1] ~ dnorm(0, 1)
      m[2] ~ dnorm(4, 1)
    }"""
    model = pw.read_bugs(text, {"N": 40, "y": y, "ones": np.ones(40)})
    return Mixing(model, model.read_from.data(), ["w", "m_1", "m_2"], {"m_1": (-2, 2)})


def growth() -> Mixing:
    generator = np.random.default_rng(1)
    age = np.array([118.0, 484, 664, 1004, 1231, 1372, 1582])
    theta = np.array([5.2, 2.0, -6.5]) + 0.1 * generator.normal(size=(5, 3)) * [1, 0.5, 0.5]
    size, lag, rate = np.exp(theta.T)[:, :, None]
    y = size / (1 + (lag - 1) * np.exp(-rate * age)) + 4 * generator.normal(size=(5, 7))
    text = """model {
      for (i in 1:K) {
        for (j in 1:n) {
          Y[i, j] ~ dnorm(eta[i, j], tauC)
          eta[i, j] <- exp(theta[i, 1]) / (1 + (exp(theta[i, 2]) - 1) * exp(-exp(theta[i, 3]) * x[j]))
        }
        for (k in 1:3) { theta[i, k] ~ dnorm(mu[k], tau[k]) }
      }
      tauC ~ dgamma(1.0E-3, 1.0E-3)
      for (k in 1:3) {
        mu[k] ~ dnorm(0, 1.0E-4)
        tau[k] ~ dgamma(1.0E-3, 1.0E-3)
      }
    }"""
    model = pw.read_bugs(text, {"K": 5, "n": 7, "Y": y, "x": age})
    return Mixing(model, model.read_from.data(), ["mu", "tauC"], {"tauC": (0.01, 1)})


def change_point() -> Mixing:
    generator = np.random.default_rng(1)
    x = np.linspace(-1.4, 1, 20)
    y = 0.5 - np.where(x < 0.1, 0.4, 1.0) * (x - 0.1) + 0.05 * generator.normal(size=20)
    text = """model {
      for (i in 1:N) {
        Y[i] ~ dnorm(mu[i], tau)
        mu[i] <- alpha + beta[J[i]] * (x[i] - x[k])
        J[i] <- 1 + step(i - k - 0.5)
        punif[i] <- 1 / N
      }
      tau ~ dgamma(0.001, 0.001)
      alpha ~ dnorm(0.0, 1.0E-6)
      for (j in 1:2) { beta[j] ~ dnorm(0.0, 1.0E-6) }
      k ~ dcat(punif[])
    }"""
    model = pw.read_bugs(text, {"N": 20, "Y": y, "x": x})
    return Mixing(model, model.read_from.data(), ["alpha", "beta", "tau"])


def mixture() -> Mixing:
    generator = np.random.default_rng(0)
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(0, sd=10, plates=k)
    m.tau = pw.Gamma(2, rate=1, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return Mixing(m, {"y": generator.normal(np.repeat([-4.0, 0.0, 5.0], 40))}, ["p", "mu"])


def hierarchy() -> Mixing:
    m = pw.Model("eight groups")
    group = m.plate("group")
    m.s = pw.Input(plates=group)
    m.mu = pw.Normal(0, sd=5.0)
    m.tau = pw.HalfCauchy(5.0)
    m.theta = pw.Normal(m.mu, sd=m.tau, plates=group)
    m.y = pw.Normal(m.theta, sd=m.s, plates=group)
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    return Mixing(m, {"y": y, "s": np.array([15.0, 10, 16, 11, 9, 11, 10, 18])}, ["mu", "tau"])


def logistic() -> Mixing:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(80, 3))
    y = (generator.random(80) < 1 / (1 + np.exp(-x @ [1.0, -1.0, 0.5]))).astype(int)
    m = pw.Model("logistic regression")
    row, column = m.plate("row"), m.plate("column", 3)
    m.x = pw.Input(plates=(row, column))
    m.a = pw.Normal(0, sd=3.0)
    m.b = pw.Normal(0, sd=3.0, plates=column)
    m.y = pw.Bernoulli(logit=m.a + pw.dot(m.x, m.b, over=column), plates=row)
    return Mixing(m, {"x": x, "y": y}, ["a", "b"])


CLASSES: tuple[Callable[[], Mixing], ...] = (
    errors_in_variables,
    experts,
    ones_trick,
    growth,
    change_point,
    mixture,
    hierarchy,
    logistic,
)


def watched(fit: SampledFit, names: Sequence[str]) -> np.ndarray:
    """Chain, draw and element of the watched unknowns."""
    found = [np.asarray(fit.matched[name], dtype=float) for name in names]
    return np.concatenate([values.reshape(*values.shape[:2], -1) for values in found], axis=2)


def astray(fit: SampledFit, between: Mapping[str, tuple[float, float]]) -> np.ndarray:
    """For each chain, whether it stays in a mode that does not matter."""
    found = np.zeros(len(next(iter(fit.chains.values()))), dtype=bool)
    for name, (low, high) in between.items():
        mean = np.mean(fit.chains[name], axis=1)
        found |= (mean < low) | (mean > high)
    return found


def line(build: Callable[[], Mixing], seeds: int) -> str:
    """One row of the table."""
    stats = array_stats()
    case = build()
    worst, sizes, wrong = [], [], []
    for seed in range(seeds):
        fit = case.model.learn(case.data, by="gibbs", seed=seed)
        draws = watched(fit, case.watched)
        worst.append(float(np.max(stats.rhat(draws, chain_axis=0, draw_axis=1))))
        sizes.append(float(np.min(stats.ess(draws, chain_axis=0, draw_axis=1))) / draws[..., 0].size)
        wrong.append(astray(fit, case.between).mean())
    shown = f"{np.median(worst):8.3f} {max(worst):8.3f} {np.median(sizes):12.3f} {np.mean(wrong):8.3f}"
    return f"{build.__name__:22s} {shown}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=[build.__name__ for build in CLASSES])
    asked = parser.parse_args()
    print(f"{'class':22s} {'R-hat':>8s} {'highest':>8s} {'size a draw':>12s} {'astray':>8s}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for build in CLASSES:
            if build.__name__ in asked.only:
                print(line(build, asked.seeds), flush=True)


if __name__ == "__main__":
    main()
