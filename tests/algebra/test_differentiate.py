"""Derivatives of look-ups: an element moves only itself, and a position that moves is a jump."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.build import call, log, power, where
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import ONE, ZERO, Expression, Index, Reference
from platewright.algebra.functions import FUNCTIONS
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


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
@pytest.mark.parametrize("place", range(3))
def test_the_slope_of_every_function_is_that_of_finite_differences(function: str, place: int) -> None:
    """In each argument, or it is said that the derivative is not known."""
    if place >= FUNCTIONS[function].arity:
        pytest.skip("it has fewer arguments")
    names = [Reference(f"a{k}") for k in range(FUNCTIONS[function].arity)]
    values = {f"a{k}": np.array([0.31, 0.47, 0.83]) + 0.07 * k for k in range(len(names))}
    if function.startswith("multivariate"):
        if place == 1:
            pytest.skip("the second argument is a dimension")
        values["a0"] = values["a0"] + 2
        values["a1"] = np.full(3, 2.0)
    if function in ("less", "floor"):
        pytest.skip("it jumps")
    expression = call(function, *names)
    try:
        slope = elementwise(differentiate(expression, names[place]), values)
    except ModelError as error:
        assert "is not known" in str(error) and function in WITHOUT_SLOPE
        return
    step = 1e-6
    moved = [{**values, f"a{place}": values[f"a{place}"] + h} for h in (step, -step)]
    high, low = (elementwise(expression, at) for at in moved)
    np.testing.assert_allclose(slope, (high - low) / (2 * step), rtol=1e-6, atol=1e-8)


WITHOUT_SLOPE = {
    "beta_cdf",
    "bessel_ratio",
    "gamma_cdf",
    "multivariate_digamma",
    "trigamma",
    "log_beta",
    "scaled_lgamma",
}
"""Not in all their arguments; or derivatives themselves; or written by printers only, after all derivatives."""
