"""Elements that rows name by a code: the evidence is that of the groups, whatever plates are called."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw

CODES = np.array([2, 0, 1, 2, 2, 0])


def counts(other: bool) -> float:
    """Rates on a plate of their own, or on that of the rows."""
    m = pw.Model("codes")
    n = m.plate("n", 6)
    k = m.plate("k", 6) if other else n
    m.c = pw.Input(plates=n, levels=k)
    m.rate = pw.Gamma(2.0, rate=0.5, plates=k)
    m.y = pw.Poisson(m.rate[m.c], plates=n)
    return m.learn({"c": CODES, "y": np.array([3, 1, 0, 4, 2, 2])}, by="exact").log_evidence


def test_rows_may_name_elements_of_their_own_plate() -> None:
    wanted = 0.0
    for k in range(3):
        y = np.array([3, 1, 0, 4, 2, 2])[k == CODES]
        wanted += special.gammaln(2 + y.sum()) - (2 + y.sum()) * np.log(0.5 + len(y))
        wanted += 2 * np.log(0.5) - special.gammaln(2) - special.gammaln(y + 1).sum()
    assert counts(True) == pytest.approx(wanted)
    assert counts(False) == pytest.approx(wanted)


def test_rows_may_name_switches_of_their_own_plate() -> None:
    m = pw.Model("codes")
    n = m.plate("n", 6)
    m.c = pw.Input(plates=n, levels=n)
    m.z = pw.Bernoulli(0.3, plates=n)
    m.y = pw.Poisson(2.0 * pw.where(m.z[m.c], 3.0, 1.0), plates=n)
    y = np.array([3, 1, 0, 4, 2, 2])
    wanted = 0.0
    for element in range(6):
        own = y[element == CODES]
        wanted += float(np.log(0.7 * stats.poisson.pmf(own, 2.0).prod() + 0.3 * stats.poisson.pmf(own, 6.0).prod()))
    assert m.learn({"c": CODES, "y": y}, by="exact").log_evidence == pytest.approx(wanted)


def test_two_unknowns_of_an_element_are_looked_up_by_the_same_code() -> None:
    """`y ~ Poisson(2 * 3^z[c] * 1.5^u[c])`: one switch is summed out while the other is unknown too."""
    m = pw.Model("codes")
    n, k = m.plate("n"), m.plate("k", 3)
    m.c = pw.Input(plates=n, levels=k)
    m.z, m.u = pw.Bernoulli(0.3, plates=k), pw.Bernoulli(0.6, plates=k)
    m.y = pw.Poisson(2.0 * pw.where(m.z[m.c], 3.0, 1.0) * pw.where(m.u[m.c], 1.5, 1.0), plates=n)
    y = np.array([3, 1, 0, 4, 2, 2])
    wanted = 0.0
    for element in range(3):
        likely = [
            p * q * stats.poisson.pmf(y[element == CODES], 2.0 * 3.0**z * 1.5**u).prod()
            for z, p in ((0, 0.7), (1, 0.3))
            for u, q in ((0, 0.4), (1, 0.6))
        ]
        wanted += float(np.log(sum(likely)))
    assert m.learn({"c": CODES, "y": y}, by="exact").log_evidence == pytest.approx(wanted)
