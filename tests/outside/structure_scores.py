"""Scores of networks that are no evidence: likelihoods at the mode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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


def gaussian_score(table: Mapping[str, np.ndarray], child: str, parents: Sequence[str]) -> float:
    """Log likelihood of a regression on the parents at its estimates."""
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
    shape, rate = float(fit.computed["tau.shape"]), float(fit.computed["tau.rate"])
    point = {name: np.asarray(fit[name].mean) for name in ("a", "w") if name in m.variables}
    return float(fit.log_joint_at({**point, "tau": np.asarray((shape - 1) / rate)}))
