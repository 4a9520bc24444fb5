"""Draws of small models with several modes against the sum over all assignments of their hidden classes.

    E[theta_k]  =  sum over z of  p(z | y) E[theta_k | z, y]

Priors tell the classes apart, rows do not, so that every numbering of the classes is a mode of some weight.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import platewright as pw
from platewright.errors import ConvergenceWarning
from platewright.run.samplers.effective_size import effective_size
from platewright.schemas.blocks import JumpBlock
from platewright.schemas.gibbs import GibbsPlan

Array = np.ndarray


@dataclass(frozen=True)
class Sum:
    """One model with its data, and what enumeration says of its classes."""

    model: pw.Model
    y: Array
    weights: Callable[[Array], float]
    """log p(z)."""
    given: Callable[[Array, int], tuple[float, float, float]]
    """Of the rows of a class: log p(rows), mean and mean square of its parameter."""
    size: int

    def moments(self) -> tuple[Array, Array]:
        """Mean and spread of the parameter of each class."""
        logs, means, squares = [], [], []
        for z in map(np.array, product(range(self.size), repeat=len(self.y))):
            each = [self.given(self.y[z == k], k) for k in range(self.size)]
            logs.append(self.weights(z) + sum(one[0] for one in each))
            means.append([one[1] for one in each])
            squares.append([one[2] for one in each])
        share = np.exp(np.array(logs) - logsumexp(logs))
        mean = share @ np.array(means)
        return mean, np.sqrt(share @ np.array(squares) - mean**2)


def random_sum(seed: int) -> Sum:
    """Classes of normals or counts with weights known or not, in rows or along a chain."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 4))
    rows = 8 if size == 2 else 6
    m = pw.Model("classes")
    k = m.plate("k", size)
    chained = seed % 3 == 2
    n = m.plate("n", ordered=chained)
    weights = _weights(m, k, n, chained, seed % 2 == 0, generator)
    if seed % 4 < 2:
        centre, spread = generator.normal(0, 2, size), 2.0
        m.theta = pw.Normal(pw.array(centre, over=k), sd=spread, plates=k)
        m.y = pw.Normal(m.theta[m.z], sd=0.7, plates=n)
        y = generator.choice([-2.5, 0.0, 2.5], rows) + 0.5 * generator.normal(size=rows)

        def given(own: Array, j: int) -> tuple[float, float, float]:
            precision = 1 / spread**2 + len(own) / 0.7**2
            mean = (centre[j] / spread**2 + own.sum() / 0.7**2) / precision
            log = 0.5 * (np.log(1 / spread**2 / precision) + precision * mean**2 - centre[j] ** 2 / spread**2)
            return log - 0.5 * float((own**2).sum()) / 0.7**2, mean, mean**2 + 1 / precision
    else:
        shape, rate = generator.uniform(1, 12, size), 1.0
        m.theta = pw.Gamma(pw.array(shape, over=k), rate=rate, plates=k)
        m.y = pw.Poisson(m.theta[m.z], plates=n)
        y = generator.poisson(generator.choice([1.0, 6.0, 14.0], rows))

        def given(own: Array, j: int) -> tuple[float, float, float]:
            a, b = shape[j] + own.sum(), rate + len(own)
            log = gammaln(a) - a * np.log(b) - gammaln(shape[j]) + shape[j] * np.log(rate)
            return float(log), a / b, a * (a + 1) / b**2

    return Sum(m, y, weights, given, size)


def _weights(
    m: pw.Model, k: pw.Plate, n: pw.Plate, chained: bool, learned: bool, generator: np.random.Generator
) -> Callable[[Array], float]:
    size = int(k.size or 0)
    if chained:
        begin, table = generator.dirichlet(np.ones(size)), generator.dirichlet(np.full(size, 2.0), size)
        origin = m.plate("origin", like=k)
        m.move = pw.array(table, over=(origin, k))
        m.z = pw.Categorical(m.move[m.lag("z")], start=pw.array(begin, over=k), plates=n)
        return lambda z: float(np.log(begin[z[0]]) + np.log(table[z[:-1], z[1:]]).sum())
    alpha = generator.uniform(0.5, 3, size)
    if learned:
        m.p = pw.Dirichlet(pw.array(alpha, over=k), over=k)
        m.z = pw.Categorical(m.p, plates=n)
        return lambda z: float(gammaln(alpha + np.bincount(z, minlength=size)).sum())
    known = alpha / alpha.sum()
    m.z = pw.Categorical(pw.array(known, over=k), plates=n)
    return lambda z: float(np.log(known[z]).sum())


def silent(sample: Sum, seeds: range) -> Iterator[str]:
    """Seeds whose draws are off by more than five Monte Carlo errors and 0.15 spreads, without a word about it."""
    mean, spread = sample.moments()
    for seed in seeds:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", ConvergenceWarning)
            fit = sample.model.learn({"y": sample.y}, by="gibbs", seed=seed)
        for j in range(sample.size):
            draws = fit.chains["theta"][:, :, j]
            error = draws.std() / np.sqrt(effective_size(draws))
            off = abs(draws.mean() - mean[j])
            if off > 5 * error and off > 0.15 * spread[j] and not told:
                yield f"seed {seed}: theta[{j}] is {draws.mean():.3f}, and not {mean[j]:.3f}"


def test_the_priors_alone_decide_about_an_exchange() -> None:
    for seed in range(12):
        plan = random_sum(seed).model.derive(known=["y"], by="gibbs").plan
        assert isinstance(plan, GibbsPlan)
        (jump,) = [block for block in plan.blocks if isinstance(block, JumpBlock)]
        assert {"theta"} <= {factor.owner for factor in jump.factors} <= {"theta", "p", "z"}


@pytest.mark.parametrize("model", range(12))
def test_no_seed_is_wrong_in_silence(model: int) -> None:
    assert not list(silent(random_sum(model), range(4)))


@pytest.mark.slow
@pytest.mark.parametrize("model", range(24))
def test_none_of_forty_seeds_is_wrong_in_silence(model: int) -> None:
    assert not list(silent(random_sum(model), range(40)))
