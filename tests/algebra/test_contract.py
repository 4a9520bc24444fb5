"""Sums in another order have the same value, and quadratic forms in an inverse are never summed over four loops."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.build import exp, multiply
from platewright.algebra.contract import contracted
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference, Sum, children, free_indices

I, J, K, L = (Index(name, name) for name in "ijkl")
SIZES = {"i": 2, "j": 3, "k": 4, "l": 5}


def at(name: str, *indices: Index) -> Reference:
    return Reference(name, indices)


def depth(expression: Expression) -> int:
    """The most indices that a part of the expression is summed for, each time anew."""
    own = len(free_indices(expression)) + 1 if isinstance(expression, Sum) else 0
    return max([own, *map(depth, children(expression))])


QUADRATIC = Sum(
    I,
    multiply(
        at("y", I),
        Sum(J, multiply(at("z", J), Sum(K, multiply(at("a", K, I), Sum(L, multiply(at("b", J, L), at("c", L, K))))))),
    ),
)
APART = Sum(I, Sum(J, Sum(K, multiply(at("y", I), at("z", J), at("w", K)))))
TIED = Sum(I, Sum(J, Sum(K, Sum(L, multiply(at("a", K, I), at("b", J, L), exp(at("y", I) * at("z", J)))))))
ALONE = Sum(I, Sum(J, Sum(K, at("y", I))))


@pytest.mark.parametrize("expression", [QUADRATIC, APART, TIED, ALONE], ids=["quadratic", "apart", "tied", "alone"])
def test_the_value_stays_the_same(expression: Expression) -> None:
    generator = np.random.default_rng(0)
    shapes = {"y": "i", "z": "j", "w": "k", "a": "ki", "b": "jl", "c": "lk"}
    values = {name: generator.normal(size=[SIZES[axis] for axis in axes]) for name, axes in shapes.items()}
    environment = Environment(values, SIZES)
    expected = evaluate(expression, environment, ())
    np.testing.assert_allclose(evaluate(contracted(expression), environment, ()), expected, rtol=1e-12)


def test_a_quadratic_form_is_summed_over_two_indices_at_a_time() -> None:
    assert depth(QUADRATIC) == 4 - 1
    assert depth(contracted(QUADRATIC)) == 2


def test_sums_over_two_indices_stay_as_they_are() -> None:
    written = Sum(I, multiply(at("y", I), Sum(K, multiply(at("a", K, I), at("w", K)))))
    assert contracted(written) == written
