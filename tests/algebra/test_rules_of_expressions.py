"""Rules that every derivation leans on, each by itself: folding, degrees, sums, zeros, bounds, tapes and texts.

The values are those of NumPy on the same numbers.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from platewright.algebra.build import add, equal, exp, log, multiply, power, where
from platewright.algebra.contract import contracted
from platewright.algebra.degree import degree
from platewright.algebra.domain import POSITIVE, REAL
from platewright.algebra.evaluate import Environment, _along_scope, evaluate
from platewright.algebra.expand import expand
from platewright.algebra.expression import (
    ONE,
    AtMost,
    Call,
    Constant,
    Expression,
    Index,
    Lag,
    Power,
    Quadratic,
    Reference,
    Sum,
)
from platewright.algebra.facts import Facts
from platewright.algebra.indexing import indexed
from platewright.algebra.latex import latex
from platewright.algebra.span import span
from platewright.algebra.tape import Tape
from platewright.algebra.text import text
from platewright.algebra.zero_times_log import can_be_zero, safe_product

N, K, ROW, COLUMN = Index("n", "n"), Index("k", "k"), Index("row", "row"), Index("column", "row")
X, Y, Z = Reference("x", (N,)), Reference("y", (N,)), Reference("z")
VALUES = {"x": np.array([0.5, -1.5, 2.0]), "y": np.array([2.0, 0.25, 1.0]), "z": np.array(1.0), "u": np.array(0.3)}
SIZES = {"n": 3, "k": 2}
ENVIRONMENT = Environment(VALUES, SIZES)


def value(expression: Expression) -> float:
    return float(evaluate(expression, ENVIRONMENT, ()))


def test_an_expression_is_itself() -> None:
    one = multiply(X, Y)
    assert one == one
    assert ONE == ONE


def test_a_root_of_a_number_below_one_is_a_number() -> None:
    assert power(0.25, 0.5) == Constant(0.5)


def test_a_quadratic_form_has_twice_the_degree_of_its_residual() -> None:
    residual = add(Reference("x", (ROW,)), multiply(-1.0, Reference("mu", (ROW,))))
    form = Quadratic(residual, Reference("w", (ROW, COLUMN)), ROW, COLUMN)
    assert degree(form, {"mu"}) == 2
    assert degree(form, {"w"}) > 2


def test_a_sum_that_does_not_use_its_index_counts_its_elements() -> None:
    product = multiply(Sum(N, Z), Sum(N, X))
    assert value(product) == pytest.approx(3 * VALUES["x"].sum())
    assert value(contracted(Sum(K, product))) == pytest.approx(2 * 3 * VALUES["x"].sum())


def test_a_column_along_its_own_axis_is_not_copied() -> None:
    found = _along_scope(VALUES["x"], (N,), ENVIRONMENT, (N,))
    assert found is not None and np.shares_memory(found, VALUES["x"])


def test_sums_by_group_take_no_table_of_rows_by_groups() -> None:
    count = 2_000
    rng = np.random.default_rng(0)
    codes, values = rng.integers(0, count, count), rng.normal(size=count)
    environment = Environment({"c": codes, "v": values}, {"n": count, "k": count})
    tracemalloc.start()
    found = evaluate(
        Sum(N, multiply(equal(Reference("c", (N,)), K), Reference("v", (N,)))), environment, (K,)
    )  # a table would take 32 MB
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    np.testing.assert_allclose(found, np.bincount(codes, values, count), atol=1e-12)
    assert most < 4e6


@pytest.mark.parametrize("z", [0.0, 1.0])
def test_a_choice_inside_a_function_is_expanded_whole(z: float) -> None:
    a, b, of = Reference("a"), Reference("b"), Reference("z")
    facts = Facts({"a": (), "b": (), "z": ()}, {"a": REAL, "b": REAL, "z": POSITIVE})
    environment = Environment({"a": np.array(0.7), "b": np.array(-1.2), "z": np.array(z)}, {})
    whole = exp(where(of, a, b))
    terms = expand(whole, {"a", "b"}, facts)
    parts = [evaluate(multiply(term.weight, *term.atoms), environment, ()) for term in terms]
    assert sum(float(part) for part in parts) == pytest.approx(np.exp(0.7 if z else -1.2))


def test_a_sum_in_a_sum_over_the_same_plate_is_expanded_apart() -> None:
    facts = Facts({"x": (N,)}, {"x": REAL})
    (term,) = expand(Sum(N, Sum(N, X)), {"x"}, facts)
    assert len(set(term.indices)) == 2
    whole: Expression = multiply(term.weight, *term.atoms)
    for index in term.indices[::-1]:
        whole = Sum(index, whole)
    assert value(whole) == pytest.approx(3 * VALUES["x"].sum())


def test_a_position_after_a_lag_is_that_of_the_next_axis() -> None:
    assert indexed(Reference("x", (Lag(N),)), K) == Reference("x", (Lag(N), K))
    assert indexed(Reference("x", (Lag(N), K)), 1) == Reference("x", (Lag(N), ONE))


def test_numbers_are_bracketed_only_where_they_are_products() -> None:
    assert latex(Power(Constant(2.5), Reference("x"))) == "2.5^{x}"
    assert latex(Power(Constant(-2.0), Reference("x"))) == r"\left(-2\right)^{x}"


def test_a_product_says_its_sign_once() -> None:
    assert text(multiply(-1.0, Reference("x"))) == "-x"
    assert text(multiply(-2.0, Reference("x"))) == "-2 x"
    assert text(multiply(0.5, Reference("x"))) == "0.5 x"


def test_the_span_of_a_sum_is_the_sum_of_spans() -> None:
    spans = {"a": (np.array(1.0), np.array(2.0)), "b": (np.array(-3.0), np.array(5.0))}
    low, high = span(add(Reference("a"), Reference("b")), spans, {})
    assert (float(low), float(high)) == (-2.0, 7.0)


@pytest.mark.parametrize(
    "expression",
    [
        Sum(N, power(X, 4.0)),
        Sum(N, power(X, 2.0)),
        Sum(N, power(Y, -2.0)),
        Sum(N, Sum(N, X)),
        Sum(N, multiply(X, Sum(N, Y))),
        AtMost(Z, Reference("u")),
        AtMost(Reference("u"), Z),
    ],
    ids=str,
)
def test_a_tape_gives_what_direct_evaluation_gives(expression: Expression) -> None:
    tape = Tape(SIZES, {"x", "z"})
    slot = tape.add(expression)
    tape.fix(VALUES)
    tape.run(VALUES)
    np.testing.assert_allclose(tape[slot], value(expression), rtol=1e-13)


def test_nothing_is_said_where_zero_meets_the_logarithm_of_zero() -> None:
    assert can_be_zero(Constant(0.0), lambda part: False)
    assert not can_be_zero(Constant(1.0), lambda part: False)
    count, rate = Reference("count"), Reference("rate")
    safe = safe_product(multiply(count, log(rate)), lambda part: True)  # type: ignore[arg-type]
    assert safe == Call("xlogy", (count, rate))
    plain = multiply(2.0, log(rate))
    assert safe_product(plain, lambda part: True) == plain  # type: ignore[arg-type]
    zero = Environment({"count": np.array(0.0), "rate": np.array(0.0)}, {})
    assert float(evaluate(safe, zero, ())) == 0.0
