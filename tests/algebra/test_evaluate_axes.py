"""Tables and matrices come out along the axes that are asked for, in whatever order these stand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Constant, Index, Inverse, Power, Reference, Sum

I, J, K, ROW, COLUMN = (Index(name, name) for name in ("i", "j", "k", "row", "column"))
SIZES = {"i": 3, "j": 4, "k": 2, "row": 4, "column": 4}
GENERATOR = np.random.default_rng(5)
TABLE = GENERATOR.normal(size=(3, 4, 2))
ROOTS = GENERATOR.normal(size=(3, 4, 4))
ENVIRONMENT = Environment({"x": TABLE, "m": ROOTS @ np.swapaxes(ROOTS, 1, 2) + np.eye(4)}, SIZES)


@pytest.mark.parametrize("axes", list(permutations((I, J, K))))
def test_a_table_is_turned_to_the_axes_of_the_scope(axes: tuple[Index, ...]) -> None:
    turned = TABLE.transpose(["ijk".index(axis.plate) for axis in axes])
    assert np.array_equal(evaluate(Reference("x", (I, J, K)), ENVIRONMENT, axes), turned)
    assert np.array_equal(evaluate(Power(Reference("x", (I, J, K)), Constant(2.0)), ENVIRONMENT, axes), turned * turned)


def test_sums_in_another_order_are_the_same() -> None:
    found = evaluate(Sum(K, Sum(J, Reference("x", (I, J, K)))), ENVIRONMENT, (I,))
    np.testing.assert_allclose(found, TABLE.sum(axis=(1, 2)), rtol=1e-13)


def test_an_index_that_comes_twice_takes_the_diagonal() -> None:
    square = Environment({"s": ROOTS[0]}, SIZES)
    assert np.array_equal(evaluate(Reference("s", (J, J)), square, (J,)), np.diagonal(ROOTS[0]))


@pytest.mark.parametrize("axes", list(permutations((I, ROW, COLUMN))))
def test_an_inverse_goes_along_the_axes_of_the_scope(axes: tuple[Index, ...]) -> None:
    own = (Index("a", "row"), Index("b", "column"))
    expression = Inverse(Reference("m", (I, *own)), *own, ROW, COLUMN)
    found = evaluate(expression, ENVIRONMENT, axes)
    inverses = np.linalg.inv(ENVIRONMENT.values["m"])
    np.testing.assert_allclose(found, inverses.transpose([(I, ROW, COLUMN).index(axis) for axis in axes]), rtol=1e-12)


def test_elements_of_an_inverse_are_looked_up_where_they_are_chosen() -> None:
    own = (Index("a", "row"), Index("b", "column"))
    matrix = Reference("m", (Reference("which", (ROW,)), *own))
    environment = ENVIRONMENT.with_values({"which": np.array([2, 0, 1, 2])})
    found = evaluate(Inverse(matrix, *own, ROW, COLUMN), environment, (ROW, COLUMN))
    inverses = np.linalg.inv(ENVIRONMENT.values["m"])
    expected = [[inverses[which, row, column] for column in range(4)] for row, which in enumerate((2, 0, 1, 2))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    diagonal = evaluate(Inverse(Reference("m", (I, *own)), *own, ROW, ROW), ENVIRONMENT, (I, ROW))
    np.testing.assert_allclose(diagonal, np.diagonal(inverses, axis1=1, axis2=2), rtol=1e-12)
