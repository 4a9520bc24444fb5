"""A law of links: log probabilities and their slopes against decimals of 450 digits, far into both tails.

The judge knows nothing of the algebra: probabilities are computed as they are defined, at a precision that leaves a
hundred digits of `1 - Phi(40)`, and slopes are differences of them.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, getcontext, localcontext
from functools import cache
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference
from platewright.backends.c.compile import find_compiler
from platewright.program.program import Program
from platewright.program.statements import Statistic
from platewright.run.exact.native import native_statistics
from platewright.run.execute import arguments, loaded

DIGITS = 450
STEP = Decimal(10) ** -60
N = Index("n", "n")
A = Reference("a", (N,))
POINTS = [-40.0, -37.3, -21.0, -9.1, -6.2, -3.0, -0.4, 0.0, 0.7, 2.9, 3.6, 5.0, 6.7, 8.4, 12.0, 20.5, 36.9, 40.0]


def logistic(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


@cache
def turn() -> Decimal:
    """Pi, by Machin's formula."""

    def arctan_of_inverse(n: int) -> Decimal:
        power, total, k = Decimal(1) / n, Decimal(0), 0
        while abs(power) > Decimal(10) ** -(DIGITS + 5):
            total += power / (2 * k + 1)
            power, k = -power / (n * n), k + 1
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


def normal(x: Decimal) -> Decimal:
    """Phi by its series of positive terms."""
    term = total = abs(x)
    k = 1
    while term > total * Decimal(10) ** -DIGITS:
        term *= x * x / (2 * k + 1)
        total, k = total + term, k + 1
    half = total * (-x * x / 2).exp() / (2 * turn()).sqrt()
    return Decimal("0.5") + (half if x > 0 else -half)


def gompertz(x: Decimal) -> Decimal:
    return 1 - (-(x.exp())).exp()


def survival(x: Decimal) -> Decimal:
    return (-((Decimal("0.125") * x).exp())).exp()


Judge = Callable[[Decimal], Decimal]
LINKS: dict[str, tuple[Callable[[Expression], Expression], Judge]] = {
    "logistic": (pw.logistic, logistic),
    "odds": (lambda a: pw.exp(a) / (1 + pw.exp(a)), logistic),
    "inverse odds": (lambda a: 1 / (1 + pw.exp(-a)), logistic),
    "turned": (lambda a: 1 - pw.logistic(-a), logistic),
    "probit": (pw.probit, normal),
    "probit turned": (lambda a: 1 - pw.probit(-a), normal),
    "complementary log-log": (lambda a: 1 - pw.exp(-pw.exp(a)), gompertz),
    "between logistic": (
        lambda a: pw.logistic(a + 0.5) - pw.logistic(a),
        lambda x: logistic(x + Decimal("0.5")) - logistic(x),
    ),
    "between probit": (lambda a: pw.probit(a) - pw.probit(a - 0.5), lambda x: normal(x) - normal(x - Decimal("0.5"))),
    "survival": (
        lambda a: pw.exp(-pw.exp(0.125 * a)) - pw.exp(-2 * pw.exp(0.125 * a)),
        lambda x: survival(x) - survival(x) ** 2,
    ),
    "wide probit": (lambda a: pw.probit(a + 25) - pw.probit(a), lambda x: normal(x + 25) - normal(x)),
    "wide logistic": (lambda a: pw.logistic(a + 50) - pw.logistic(a), lambda x: logistic(x + 50) - logistic(x)),
}


def densities(link: str) -> tuple[Expression, Expression]:
    """The log probabilities of one and of zero, as a model writes them."""
    m = pw.Model("link")
    row = m.plate("n")
    m.a = pw.Normal(0, sd=1, plates=row)
    m.one = pw.Bernoulli(LINKS[link][0](m.a), plates=row)
    density = m.variables["one"].log_density
    found = [evaluated_at(density, value) for value in (1.0, 0.0)]
    return found[0], found[1]


def evaluated_at(density: Expression, value: float) -> Expression:
    from platewright.algebra.build import substitute
    from platewright.algebra.expression import Constant

    return substitute(density, {Reference("one", (N,)): Constant(value)})


@cache
def judged(link: str, x: float, is_one: bool) -> tuple[float, float] | None:
    """Value and slope; None where the probability is below all that floating point can hold."""
    with localcontext() as context:
        context.prec = DIGITS
        context.Emin = -(10**9)
        context.Emax = 10**9
        at = Decimal(x)

        def log_probability(place: Decimal) -> Decimal:
            p = LINKS[link][1](place)
            return (p if is_one else 1 - p).ln()

        assert getcontext().prec == DIGITS
        p = LINKS[link][1](at)
        if min(p, 1 - p) < Decimal(10) ** -(DIGITS - 80):
            return None
        return float(log_probability(at)), float((log_probability(at + STEP) - log_probability(at - STEP)) / (2 * STEP))


def by_evaluation(expression: Expression, x: float) -> float:
    return float(evaluate(expression, Environment({"a": np.array([x])}, {"n": 1}), (N,))[0])


def check(link: str, is_one: bool, value_at: Callable[[Expression, float], float]) -> None:
    density = densities(link)[0 if is_one else 1]
    slope = differentiate(density, A)
    looked_at = 0
    for x in POINTS:
        judge = judged(link, x, is_one)
        if judge is None:
            continue
        looked_at += 1
        # What is close to nothing is held to the last digit of one: it is added to other log probabilities.
        assert value_at(density, x) == pytest.approx(judge[0], rel=1e-12, abs=2e-15), (link, x)
        assert value_at(slope, x) == pytest.approx(judge[1], rel=1e-11, abs=2e-15), (link, x)
    assert looked_at > 8


@pytest.mark.parametrize("is_one", [True, False])
@pytest.mark.parametrize("link", LINKS)
def test_a_link_keeps_its_digits_in_both_tails(link: str, is_one: bool) -> None:
    check(link, is_one, by_evaluation)


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("link", LINKS)
def test_emitted_code_keeps_the_digits_too(link: str, backend: str) -> None:
    one, zero = densities(link)
    wanted = {"one": one, "zero": zero, "slope of one": differentiate(one, A), "slope of zero": differentiate(zero, A)}
    program = Program("tails", {"a": (N,)}, tuple(Statistic(k, (), (N,), v) for k, v in wanted.items()), ())
    names = {v: k for k, v in wanted.items()}
    run: Any = native_statistics(program) if backend == "c" else loaded(program).statistics

    def value_at(expression: Expression, x: float) -> float:
        found = run(*arguments(program, loaded(program), {"a": np.array([x])}, {"n": 1}))
        return float(dict(zip(wanted, found.values(), strict=True))[names[expression]])

    check(link, True, value_at)
    check(link, False, value_at)
