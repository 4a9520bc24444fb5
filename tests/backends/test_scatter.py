"""A row adds to the one entry of a table that its codes pick, whatever these look at; counts by hand are the judge."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw


def counted(y: np.ndarray, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(shape)
    for row in range(len(x)):
        for column in range(x.shape[1]):
            found[y[row], column, x[row, column]] += 1
    return found


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_codes_that_differ_along_the_table_pick_its_entries(backend: str) -> None:
    m = pw.Model("categories of columns given a class")
    row, c, f, level = m.plate("row"), m.plate("c", 3), m.plate("f", 4), m.plate("level", 5)
    m.table = pw.Dirichlet(1.0, over=level, plates=(c, f))
    m.y = pw.Input(plates=row, levels=3)
    m.x = pw.Categorical(m.table[m.y], plates=(row, f))
    generator = np.random.default_rng(0)
    y, x = generator.integers(3, size=50), generator.integers(5, size=(50, 4))
    fit = m.learn({"y": y, "x": x}, backend=backend)
    np.testing.assert_array_equal(fit["table"].parameters["concentration"], 1 + counted(y, x, (3, 4, 5)))


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_rows_of_crossed_plates_pick_entries_too(backend: str) -> None:
    """The class is of the user, the rating of user and item; an index of the table may be that of a row."""
    m = pw.Model("ratings")
    user, item, c, level = m.plate("user"), m.plate("item"), m.plate("c", 2), m.plate("level", 3)
    m.kind = pw.Input(plates=user, levels=2)
    m.table = pw.Dirichlet(1.0, over=level, plates=(c, item))
    m.rating = pw.Categorical(m.table[m.kind], plates=(user, item))
    generator = np.random.default_rng(1)
    kind, rating = generator.integers(2, size=7), generator.integers(3, size=(7, 6))
    fit = m.learn({"kind": kind, "rating": rating}, backend=backend)
    np.testing.assert_array_equal(fit["table"].parameters["concentration"], 1 + counted(kind, rating, (2, 6, 3)))


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_code_of_one_of_two_row_plates_counts_every_cell(backend: str) -> None:
    m = pw.Model("one table for all items")
    user, item, c = m.plate("user"), m.plate("item"), m.plate("c", 2)
    m.kind = pw.Input(plates=user, levels=2)
    m.p = pw.Beta(1.0, 1.0, plates=c)
    m.bought = pw.Bernoulli(m.p[m.kind], plates=(user, item))
    kind, bought = np.array([0, 1, 1]), np.array([[1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 0, 0]])
    fit = m.learn({"kind": kind, "bought": bought}, backend=backend)
    np.testing.assert_array_equal(fit["p"].parameters["a"], [4, 4])
    np.testing.assert_array_equal(fit["p"].parameters["b"], [2, 6])
