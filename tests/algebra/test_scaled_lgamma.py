"""Log gammas taken together say the same, and keep their digits where each alone is large."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import platewright as pw
from platewright.algebra.build import add, call, lgamma, log, multiply, total
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Call, Expression, Index, Reference, walk
from platewright.algebra.scaled_lgamma import coefficients_gathered, gathered, scaled_lgamma

BERNOULLI = [Fraction(1)]
for order in range(1, 33):
    BERNOULLI.append(-sum((math.comb(order + 1, k) * BERNOULLI[k] for k in range(order)), Fraction(0)) / (order + 1))


def decimal_lgamma(x: float) -> Decimal:
    """Stirling's series of 16 terms in 60 digits, after a shift to 60 and above."""
    with localcontext() as context:
        context.prec = 60
        at, shift = Decimal(x), Decimal(0)
        while at < 60:
            shift -= at.ln()
            at += 1
        series = sum(
            Decimal(b.numerator) / Decimal(b.denominator) / (2 * k * (2 * k - 1) * at ** (2 * k - 1))
            for k in range(1, 17)
            for b in [BERNOULLI[2 * k]]
        )
        turn = Decimal("6.28318530717958647692528676655900576839433879875021164194989")
        return (at - Decimal("0.5")) * at.ln() - at + turn.ln() / 2 + series + shift


@given(exponent=st.floats(-3, 11), ratio=st.floats(-3, 3) | st.floats(-1e-6, 1e-6))
def test_a_scaled_log_gamma_is_right_to_its_own_last_digits(exponent: float, ratio: float) -> None:
    x = 10.0**exponent
    scale = x * 10.0**ratio
    wanted = decimal_lgamma(x) - Decimal(x) * Decimal(scale).ln() + Decimal(x)
    found = float(scaled_lgamma(np.array(x), np.array(scale)))
    assert abs(found - float(wanted)) <= 4e-15 * max(1.0, abs(float(wanted)), abs(math.log(scale)))


K = Index("k", "k")
A, B, R = Reference("a"), Reference("b"), Reference("r")
C = Reference("c", (K,))


@pytest.mark.parametrize(
    "expression",
    [
        add(lgamma(A), lgamma(B), multiply(-1.0, lgamma(add(A, B))), 0.25),
        add(lgamma(A), multiply(-1.0, A, log(R)), multiply(-0.5, log(B))),
        add(total(lgamma(C), K), multiply(-1.0, lgamma(total(C, K))), lgamma(A)),
        total(add(lgamma(C), lgamma(B), multiply(-1.0, lgamma(add(B, C)))), K),
        add(lgamma(A), total(lgamma(C), K), multiply(-1.0, lgamma(add(A, total(C, K))))),
    ],
    ids=str,
)
def test_log_gammas_that_belong_together_are_found_and_say_the_same(expression: Expression) -> None:
    together = gathered(expression)
    assert any(isinstance(part, Call) and part.function in ("scaled_lgamma", "log_beta") for part in walk(together))
    environment = Environment({"a": 3.5, "b": 40.0, "r": 7.0, "c": np.array([0.5, 12.0, 300.0])}, {"k": 3})
    assert float(evaluate(together, environment)) == pytest.approx(float(evaluate(expression, environment)), rel=1e-13)


@pytest.mark.parametrize(
    "expression",
    [
        add(lgamma(A), multiply(-1.0, lgamma(add(A, B)))),
        add(lgamma(A), lgamma(B), lgamma(add(A, B))),
        add(lgamma(A), multiply(-1.0, B, log(R))),
        add(lgamma(A), multiply(-2.0, A, log(R))),
        add(lgamma(A), multiply(-1.0, call("digamma", A))),
    ],
    ids=str,
)
def test_log_gammas_that_do_not_belong_together_stay(expression: Expression) -> None:
    assert gathered(expression) == expression


@pytest.mark.parametrize("heads", [0, 3, 10**6, 400_000_000, 10**9 - 2])
def test_the_evidence_of_a_billion_tosses_has_all_its_digits(heads: int) -> None:
    m = pw.Model("coin")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=m.plate("toss"))
    small = m.learn({"heads": [1, 0, 1]})
    yes, no = small.statistics
    fit = replace(small, statistics={yes: heads, no: 10**9 - heads}, sizes={"toss": 10**9})
    beta = decimal_lgamma(heads + 1.5) + decimal_lgamma(10**9 - heads + 1.5) - decimal_lgamma(10**9 + 3.0)
    wanted = float(beta - 2 * decimal_lgamma(1.5) + decimal_lgamma(3.0))
    assert fit.log_evidence == pytest.approx(wanted, rel=4e-16, abs=1e-13)


@pytest.mark.parametrize("counts", [(10**9, 5, 0), (3 * 10**8, 10**9, 7 * 10**8)])
def test_the_evidence_of_a_billion_categories_has_all_its_digits(counts: tuple[int, ...]) -> None:
    m = pw.Model("shares")
    m.share = pw.Dirichlet(0.5, over=m.plate("kind", 3))
    m.z = pw.Categorical(m.share, plates=m.plate("row"))
    small = m.learn({"z": [0, 1, 2]})
    (name,) = small.statistics
    fit = replace(small, statistics={name: np.array(counts)}, sizes={"kind": 3, "row": sum(counts)})
    parts = sum(decimal_lgamma(count + 0.5) for count in counts) - decimal_lgamma(sum(counts) + 1.5)
    wanted = float(parts - 3 * decimal_lgamma(0.5) + decimal_lgamma(1.5))
    assert fit.log_evidence == pytest.approx(wanted, rel=4e-16, abs=1e-13)


D = Reference("d", (K,))


def coefficient(above: Expression, *below: Expression) -> Expression:
    """Log gammas of rows, each summed on its own."""
    return add(0.25, total(lgamma(above), K), *(multiply(-1.0, total(lgamma(part), K)) for part in below))


def test_log_binomial_coefficients_of_rows_are_found_and_say_the_same() -> None:
    expression = coefficient(add(C, 1.0), add(D, 1.0), add(C, multiply(-1.0, D), 1.0))
    together = coefficients_gathered(expression)
    assert not any(isinstance(part, Call) and part.function == "lgamma" for part in walk(together))
    environment = Environment({"c": np.array([4.0, 12.0, 300.0]), "d": np.array([0.0, 12.0, 77.0])}, {"k": 3})
    assert float(evaluate(together, environment)) == pytest.approx(float(evaluate(expression, environment)), rel=1e-13)


@pytest.mark.parametrize(
    "expression",
    [
        coefficient(add(C, 2.0), add(D, 1.0), add(C, multiply(-1.0, D), 1.0)),
        coefficient(add(C, 1.0), add(D, 1.0), add(C, multiply(-2.0, D), 1.0)),
        coefficient(add(C, 1.0), add(D, 1.0)),
        add(
            lgamma(add(A, 1.0)),
            multiply(-1.0, lgamma(add(B, 1.0))),
            multiply(-1.0, lgamma(add(A, multiply(-1.0, B), 1.0))),
        ),
    ],
    ids=str,
)
def test_other_log_gammas_of_rows_stay(expression: Expression) -> None:
    assert coefficients_gathered(expression) == expression


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize(
    "trials, heads",
    [([10**9], [500_000_000]), ([10**9], [7]), ([10**9, 12, 3 * 10**8], [10**6, 12, 0]), ([5, 9, 40], [0, 9, 17])],
)
def test_the_evidence_of_many_trials_is_right_to_the_digits_of_its_coefficients(
    backend: str, trials: list[int], heads: list[int]
) -> None:
    m = pw.Model("trials")
    row = m.plate("row")
    m.p = pw.Beta(1.5, 2.5)
    m.n = pw.Input(plates=row)
    m.k = pw.Binomial(m.n, m.p, plates=row)
    found = m.learn({"n": np.array(trials), "k": np.array(heads)}, backend=backend).log_evidence
    pairs = list(zip(trials, heads, strict=True))
    coefficients = sum(decimal_lgamma(n + 1) - decimal_lgamma(k + 1) - decimal_lgamma(n - k + 1) for n, k in pairs)
    yes, no = sum(heads) + 1.5, sum(trials) - sum(heads) + 2.5
    after = decimal_lgamma(yes) + decimal_lgamma(no) - decimal_lgamma(yes + no)
    wanted = coefficients + after - decimal_lgamma(1.5) - decimal_lgamma(2.5) + decimal_lgamma(4.0)
    assert abs(found - float(wanted)) <= 1e-13 + 4e-16 * float(coefficients)
