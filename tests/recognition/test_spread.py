"""Rows that look an unknown up by a bound index are rows over the whole of it; judged by a dense normal by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import platewright as pw
from laws.identity import check_identity

ROWS, GROUPS, PARTS = 7, 4, 3
TABLE = np.random.default_rng(0).integers(0, GROUPS, (ROWS, PARTS))
Y = np.random.default_rng(1).normal(size=ROWS)
W = np.array([0.5, -0.3, 2.0])


WAYS = {
    "a table": "w[k] * b[table[i, k]]",
    "one further": "w[k] * b[k + 1]",
    "both": "w[k] * b[table[i, k]] + b[k] - b[3] / 3",
}


def looked_up(way: str) -> pw.Model:
    text = f"""model {{ for (i in 1:{ROWS}) {{ y[i] ~ dnorm(sum(c[i, ]), pow(0.7, -2))
      for (k in 1:{PARTS}) {{ c[i, k] <- {WAYS[way]} }} }}
      for (j in 1:{GROUPS}) {{ b[j] ~ dnorm(0.4, pow(1.3, -2)) }} }}"""
    return pw.read_bugs(text, {"table": TABLE + 1, "w": W, "y": Y})


def design(way: str) -> np.ndarray:
    """The matrix of coefficients, element by element."""
    found = np.zeros((ROWS, GROUPS))
    for n in range(ROWS):
        for k in range(PARTS):
            if way == "one further":
                found[n, k + 1] += W[k]
                continue
            found[n, TABLE[n, k]] += W[k]
            if way != "a table":
                found[n, k] += 1.0
        if way == "both":
            found[n, 2] -= 1.0
    return found


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("way", ["a table", "one further", "both"])
def test_an_unknown_looked_up_by_a_bound_index_has_its_evidence(way: str, backend: str) -> None:
    model = looked_up(way)
    fit = model.learn(model.read_from.data(), by="exact", backend=backend)
    x = design(way)
    covariance = 1.3**2 * x @ x.T + 0.7**2 * np.eye(ROWS)
    judged = multivariate_normal(0.4 * x.sum(axis=1), covariance).logpdf(Y)
    assert fit.log_evidence == pytest.approx(judged, rel=1e-10)
    check_identity(fit)
