"""Hidden classes of one element that forbid each other's values are drawn together, and only so."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import beta

import platewright as pw
from platewright.errors import NotSolvable

BLOOD = {(0, 0): 0, (0, 1): 2, (1, 0): 2, (1, 1): 1}
"""Two alleles: both of one kind, both of the other, or one of each."""


def parents(chance: float | None = None) -> pw.Model:
    m = pw.Model("parents")
    person = m.plate("person")
    allele = m.plate("allele", 2)
    other = m.plate("other", like=allele)
    kind = m.plate("kind", 3)
    table = np.zeros((2, 2, 3))
    for (one, two), blood in BLOOD.items():
        table[one, two, blood] = 1.0
    if chance is None:
        m.chance = pw.Beta(1, 1)
    m.mother = pw.Bernoulli(m.chance if chance is None else chance, plates=person)
    m.father = pw.Bernoulli(0.3, plates=person)
    m.blood = pw.Categorical(pw.array(table, over=(allele, other, kind))[m.mother, m.father], over=kind, plates=person)
    return m


SEEN = [2, 2, 0, 1, 2]


def enumerated() -> tuple[np.ndarray, float]:
    """The probability that each mother gave allele 1, and the log evidence, over all pairs."""
    total, ones = 0.0, np.zeros(len(SEEN))
    for pairs in product(BLOOD, repeat=len(SEEN)):
        if [BLOOD[pair] for pair in pairs] != SEEN:
            continue
        mothers = np.array([pair[0] for pair in pairs])
        fathers = np.array([pair[1] for pair in pairs])
        weight = beta(1 + mothers.sum(), 1 + (1 - mothers).sum()) * np.prod(np.where(fathers, 0.3, 0.7))
        total += weight
        ones += weight * mothers
    return ones / total, float(np.log(total))


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_both_allowed_pairs_are_visited_in_every_chain(backend: str) -> None:
    fit = parents().learn({"blood": SEEN}, by="gibbs", backend=backend, draws=4000, warm_up=100, seed=3)
    assert "{mother, father} exact" in fit.how
    truth, _ = enumerated()
    for chain in fit.chains["mother"]:
        np.testing.assert_allclose(chain.mean(axis=0), truth, atol=0.05)


def test_chib_sees_both_pairs() -> None:
    fit = parents().learn({"blood": SEEN}, goal="evidence", by="chib", seed=1)
    assert abs(fit.log_evidence - enumerated()[1]) < 5 * max(fit.evidence.error, 1e-3)


def test_element_by_element_with_integrals_is_declined() -> None:
    with pytest.raises(NotSolvable, match="`mother` and `father` meet in `blood`, which can forbid values"):
        parents().learn({"blood": SEEN}, by="collapsed-gibbs")


def test_classes_that_meet_nowhere_are_drawn_apart() -> None:
    m = pw.Model("apart")
    row = m.plate("row")
    m.p = pw.Beta(1, 1)
    m.a = pw.Bernoulli(m.p, plates=row)
    m.b = pw.Bernoulli(m.p, plates=row)
    m.x = pw.Normal(m.a, sd=1.0, plates=row)
    m.y = pw.Normal(m.b, sd=1.0, plates=row)
    shown = m.derive(known=["x", "y"], by="gibbs").how
    assert "{a} exact; {b} exact" in shown


def test_a_large_table_is_not_built() -> None:
    m = pw.Model("large")
    row, one, two = m.plate("row"), m.plate("one", 7), m.plate("two", 6)
    m.p = pw.Dirichlet(1.0, over=one)
    m.q = pw.Dirichlet(1.0, over=two)
    m.a = pw.Categorical(m.p, plates=row)
    m.b = pw.Categorical(m.q, plates=row)
    m.mu = pw.Normal(0, sd=1.0, plates=(one, two))
    m.y = pw.Normal(m.mu[m.a, m.b], sd=1.0, plates=row)
    assert "{a} exact; {b} exact" in m.derive(known=["y"], by="gibbs").how
