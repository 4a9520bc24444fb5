"""Local scores of networks other than table evidence: likelihoods at the mode, and the evidence of normal columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import platewright as pw


def log_likelihood(
    codes: Mapping[str, np.ndarray], sizes: Mapping[str, int], child: str, parents: Sequence[str]
) -> float:
    """The greatest log likelihood of a column given others: the log joint at the mode under a flat prior.

    Combinations that occur in no row have no mode and no part in the likelihood, so only those that occur are levels.
    """
    keys = np.zeros(len(codes[child]), dtype=np.int64)
    for parent in parents:
        keys = keys * sizes[parent] + codes[parent]
    seen, group = np.unique(keys, return_inverse=True)
    m = pw.Model("likelihood")
    row, level, by = m.plate("row"), m.plate("level", sizes[child]), m.plate("by", len(seen))
    m.p = pw.Dirichlet(1.0, over=level, plates=by)
    m.group = pw.Input(plates=row, levels=by)
    m.child = pw.Categorical(m.p[m.group], plates=row)
    fit = m.learn({"child": codes[child], "group": group}, goal="map")
    return float(fit.log_joint) - len(seen) * math.lgamma(sizes[child])


def jeffreys_gap(count: int, levels: int) -> float:
    """What the reference's Jeffreys score of a node without parents lacks to be an evidence.

    It has the normaliser of a Dirichlet of total `levels`, while its cells have 1/2 each, a total of `levels` / 2.
    """
    half = math.lgamma(levels / 2) - math.lgamma(levels / 2 + count)
    return math.lgamma(levels) - math.lgamma(levels + count) - half


def gaussian_score(table: Mapping[str, np.ndarray], child: str, parents: Sequence[str], prior: bool = False) -> float:
    """Log likelihood of a regression on the parents at its estimates, or evidence under a normal-Wishart prior."""
    if prior:
        return _vectors(table, [child, *parents], len(table)) - _vectors(table, list(parents), len(table))
    y = table[child]
    m = pw.Model("likelihood")
    row = m.plate("row")
    m.tau = pw.Flat(lower=0)
    m.a = pw.Flat()
    mean: Any = m.a
    data = {"y": y}
    if parents:
        column = m.plate("column", len(parents))
        m.x = pw.Input(plates=(row, column))
        m.w = pw.Flat(plates=column)
        mean = m.a + pw.dot(m.x, m.w, over=column)
        data["x"] = np.column_stack([table[parent] for parent in parents])
    m.y = pw.Normal(mean, precision=m.tau, plates=row)
    fit = m.learn(data)
    # the residual variance of the reference divides by n - p: the mode of tau after the coefficients are integrated out
    shape, rate = float(fit.values["tau.shape"]), float(fit.values["tau.rate"])
    point = {name: np.asarray(fit[name].mean) for name in ("a", "w") if name in m.variables}
    return float(fit.log_joint_at({**point, "tau": np.asarray((shape - 1) / rate)}))


def vector_scores(table: Mapping[str, np.ndarray]) -> Callable[[str, Sequence[str]], float]:
    """Evidence of a column given others under a normal-Wishart prior; each set of columns is gone over once."""
    known: dict[frozenset[str], float] = {}

    def evidence(names: frozenset[str]) -> float:
        if names not in known:
            known[names] = _vectors(table, sorted(names), len(table))
        return known[names]

    return lambda child, parents: evidence(frozenset({child, *parents})) - evidence(frozenset(parents))


def _vectors(table: Mapping[str, np.ndarray], names: Sequence[str], total: int) -> float:
    """Log evidence of some columns as normal vectors: W ~ Wishart, mu ~ N(sample mean, 1 / (a W)), a = 1.

    The prior of the columns is the margin of the prior of all `total` columns, of total + 2 degrees.
    """
    if not names:
        return 0.0
    size = len(names)
    strength, degrees = 1.0, total + 2
    scale = strength * (degrees - total - 1) / (strength + 1)
    rows = np.column_stack([table[name] for name in names])
    m = pw.Model("normal vectors")
    row, d = m.plate("row"), m.plate("d", size)
    m.S = pw.Wishart(degrees - total + size, inverse_scale=scale * pw.identity(d), over=d)
    centre = pw.array(rows.mean(axis=0).tolist(), over=d)
    m.mu = pw.MultivariateNormal(centre, precision=strength * m.S, over=d)
    m.y = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=row)
    return float(m.learn({"y": rows}).log_evidence)
