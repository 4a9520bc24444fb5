"""Derivatives of look-ups: an element moves only itself, and a position that moves is a jump."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.build import call, log, power, where
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import ONE, ZERO, Expression, Index, Reference
from platewright.algebra.zero_times_log import zero_wins
from platewright.errors import ModelError


def test_an_element_of_another_variable_has_no_derivative_where_its_position_moves() -> None:
    at = Reference("b", (call("less", Reference("x"), Reference("c")),))
    with pytest.raises(ModelError, match="cannot be differentiated"):
        differentiate(at, Reference("c"))
    k = Index("k", "k")
    with pytest.raises(ModelError, match="cannot be differentiated"):
        differentiate(Reference("b", (Reference("c", (k,)),)), Reference("c", (k,)))


def test_an_element_moves_only_itself() -> None:
    assert differentiate(Reference("c"), Reference("c")) == ONE
    assert differentiate(Reference("b", (Reference("z"),)), Reference("c")) == ZERO


P, Y, C = Reference("p"), Reference("y"), Reference("c")


@pytest.mark.parametrize(
    "expression",
    [
        Y * log(where(C, P, 0.0)),
        Y * log(where(C, 1 - P * P, where(1 - C, 0.0, P))),
        Y * call("xlogy", Y, C * P),
        Y * where(C, 1.0, 0.0) * power(where(C, P, 0.0) + (1 - C), -0.5),
        call("lgamma", where(C, P, 1.0)),
    ],
    ids=str,
)
def test_a_slope_is_that_of_finite_differences_where_a_choice_is_an_exact_zero(expression: Expression) -> None:
    values = {"p": np.full(4, 0.3), "y": np.array([2.0, 0.0, 0.0, 3.0]), "c": np.array([1.0, 1.0, 0.0, 1.0])}
    step = 1e-6
    with np.errstate(all="ignore"):
        slope = elementwise(differentiate(expression, P), values)
        high, low = (elementwise(call_safe(expression), {**values, "p": values["p"] + h}) for h in (step, -step))
    np.testing.assert_allclose(slope, (high - low) / (2 * step), rtol=1e-6, atol=1e-8)


def call_safe(expression: Expression) -> Expression:
    """The value as the library computes it: nothing times the log of nothing is nothing."""
    return zero_wins(expression, lambda part: True)
