"""A variable of value 0 or 1 inside a logarithm is a choice: `log(1 - z p) = z log(1 - p)`.

Occupancy, capture and recapture, and imperfect tests are written so. Judged by Gauss-Legendre points over both
probabilities and, where the states are hidden, a sum over all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import beta

import platewright as pw
from platewright.errors import SupportError

Y = np.array([1, 0, 0, 1, 0])
W = np.array([1, 1, 0, 1, 0])
Chance = Callable[..., object]

WAYS: dict[str, Chance] = {
    "seen where present": lambda z, w, p, q: z * p,
    "not seen where present": lambda z, w, p, q: 1 - z * p,
    "two states": lambda z, w, p, q: z * w * p,
    "one of two": lambda z, w, p, q: z * p + (1 - z) * q,
    "an imperfect test": lambda z, w, p, q: z * p + (1 - z) * (1 - q),
    "a half": lambda z, w, p, q: z * (w * p + (1 - w) * q) + (1 - z) * 0.5,
}


def model(way: Chance) -> pw.Model:
    m = pw.Model("switch")
    n = m.plate("n")
    m.psi, m.p, m.q = pw.Beta(2, 2), pw.Beta(2, 3), pw.Beta(1, 2)
    m.z = pw.Bernoulli(m.psi, plates=n)
    m.w = pw.Bernoulli(0.5, plates=n)
    m.y = pw.Bernoulli(way(m.z, m.w, m.p, m.q), plates=n)
    return m


def log_evidence(way: Chance, z: np.ndarray) -> float:
    """By hand: a polynomial in three probabilities, so that sixty points each are exact."""
    points, weights = np.polynomial.legendre.leggauss(60)
    points, weights = (points + 1) / 2, weights / 2
    psi, p, q = np.meshgrid(points, points, points, indexing="ij")
    density = beta.pdf(psi, 2, 2) * beta.pdf(p, 2, 3) * beta.pdf(q, 1, 2) * 0.5 ** len(Y)
    for seen, state, other in zip(Y, z, W, strict=True):
        chance = way(state, other, p, q)
        density = density * (chance if seen else 1 - chance) * (psi if state else 1 - psi)
    with np.errstate(divide="ignore"):
        return float(np.log(np.einsum("ijk,i,j,k", density, weights, weights, weights)))


@pytest.mark.parametrize("name", WAYS)
def test_known_switches_leave_a_closed_form(name: str) -> None:
    for z in (np.array([1, 1, 1, 1, 0]), np.array([1, 0, 1, 1, 1])):
        judged = log_evidence(WAYS[name], z)
        if judged == -np.inf:
            with pytest.raises(SupportError, match="probability zero: `y`"):
                model(WAYS[name]).learn({"y": Y, "w": W, "z": z}, by="exact")
            continue
        fit = model(WAYS[name]).learn({"y": Y, "w": W, "z": z}, by="exact")
        assert fit.log_evidence == pytest.approx(judged, abs=1e-9)


@pytest.mark.parametrize("name", WAYS)
def test_hidden_switches_are_summed(name: str) -> None:
    fit = model(WAYS[name]).learn({"y": Y, "w": W}, goal="evidence", by="enumeration")
    every = [log_evidence(WAYS[name], np.array(z)) for z in product((0, 1), repeat=len(Y))]
    assert fit.log_evidence == pytest.approx(logsumexp(every), abs=1e-9)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize(("goal", "by"), [("map", "em"), ("posterior", "gibbs"), ("posterior", "mean-field")])
def test_the_probabilities_have_exact_steps(name: str, goal: str, by: str) -> None:
    plan = model(WAYS[name]).derive(known=["y", "w"], goal=goal, by=by)
    assert "slice" not in plan.how and plan.verify().passed


def test_a_switch_that_leaves_no_family_is_declined() -> None:
    m = model(lambda z, w, p, q: p * (1 + z) / 2)
    reason = m.derive(known=["y", "z", "w"]).declined[0][1]
    assert "log(1 - 0.5 p)" in reason
