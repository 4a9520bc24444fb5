"""Printed NumPy has the value that the expression has, however its parts bind."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.build import add, equal, multiply, power, total
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference
from platewright.backends.naming import Names
from platewright.backends.numpy.expression import NumpyPrinter

ROW, LEVEL, INNER = Index("n", "n"), Index("t", "t"), Index("c", "c")
INNER_SUM = total(multiply(Reference("table", (LEVEL, INNER)), Reference("weight", (INNER,))), INNER)
COUNT = Reference("count", (ROW,))

WRITTEN: dict[str, Expression] = {
    "a factor before": multiply(COUNT, INNER_SUM),
    "a factor behind": multiply(INNER_SUM, Reference("scale", (LEVEL,))),
    "a divisor": multiply(COUNT, power(INNER_SUM, -1.0)),
    "a square": multiply(COUNT, power(INNER_SUM, 2.0)),
    "a sum": add(COUNT, multiply(-1.0, INNER_SUM)),
    "less a product": add(COUNT, multiply(-1.0, COUNT, INNER_SUM)),
    "a comparison": multiply(COUNT, equal(INNER_SUM, Reference("scale", (LEVEL,)))),
}


@pytest.mark.parametrize("rows", [2, 3, 5])
@pytest.mark.parametrize("name", WRITTEN)
def test_a_sum_over_products_keeps_its_place_among_other_operations(name: str, rows: int) -> None:
    generator = np.random.default_rng(rows)
    sizes = {"n": rows, "t": 2, "c": 3}
    values = {
        "count": generator.normal(size=rows),
        "table": generator.normal(size=(2, 3)),
        "weight": generator.normal(size=3),
        "scale": generator.normal(size=2),
    }
    names = Names()
    text = NumpyPrinter(names).printed(WRITTEN[name], (ROW, LEVEL), full=True)
    space = {names(key): value for key, value in values.items()} | {names(f"size {key}"): s for key, s in sizes.items()}
    found = eval(text, {"np": np}, space)
    np.testing.assert_allclose(found, evaluate(WRITTEN[name], Environment(values, sizes), (ROW, LEVEL)), rtol=1e-13)
