"""Logarithms of products fall apart where every factor is above zero, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.build import add, multiply
from platewright.algebra.domain import POSITIVE, UNIT
from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import Reference
from platewright.algebra.facts import Facts

FACTS = Facts({}, {"p": UNIT, "q": UNIT, "x": POSITIVE})


def test_what_is_said_to_be_positive_is_positive() -> None:
    r = np.random.default_rng(0)
    values = {"p": r.random(2000), "q": r.random(2000), "x": r.exponential(3.0, 2000)}
    found = 0
    for _ in range(300):
        numbers = r.choice([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0], 4)
        form = add(numbers[0], *(multiply(n, Reference(name)) for n, name in zip(numbers[1:], "pqx", strict=True)))
        if FACTS.is_positive(form):
            found += 1
            assert (elementwise(form, values) > 0).all(), str(form)
    assert found > 30


def test_a_complement_is_positive_and_less_than_it_is_not() -> None:
    p, q = Reference("p"), Reference("q")
    assert FACTS.is_positive(1 - p) and FACTS.is_positive(2 - p - q) and FACTS.is_positive(1 - 0.5 * p)
    assert not FACTS.is_positive(1 - 2 * p) and not FACTS.is_positive(1 - p - q) and not FACTS.is_positive(p - 1)
    assert not FACTS.is_positive(1 - Reference("x")) and not FACTS.is_positive(1 - Reference("unknown"))


def test_genotypes_in_their_proportions_are_pairs_of_alleles() -> None:
    x = [0, 1, 1, 2, 0, 2, 1]
    m = pw.Model("genotypes")
    n, k = m.plate("n"), m.plate("k", 3)
    copies = pw.array([0.0, 1.0, 2.0], over=k)
    m.p = pw.Beta(1.5, 1.0)
    m.shares = pw.array([1.0, 2.0, 1.0], over=k) * m.p**copies * (1 - m.p) ** (2 - copies)
    m.x = pw.Categorical(m.shares, plates=n)
    pairs = pw.Model("pairs")
    row = pairs.plate("n")
    pairs.p = pw.Beta(1.5, 1.0)
    pairs.x = pw.Binomial(2, p=pairs.p, plates=row)
    found, wanted = m.learn({"x": x}, by="exact"), pairs.learn({"x": x})
    assert found.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-12)
    assert found["p"].mean == pytest.approx(wanted["p"].mean, rel=1e-12)


def test_a_factor_that_may_be_negative_is_left_in_its_logarithm() -> None:
    m = pw.Model("too much")
    n = m.plate("n")
    m.p = pw.Beta(2.0, 2.0)
    m.y = pw.Exponential(rate=m.p * (1 - 2 * m.p) ** 3, plates=n)
    assert "exact" not in m.derive(["y"]).how
