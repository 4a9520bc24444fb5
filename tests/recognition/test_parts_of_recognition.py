"""The small questions of recognition, each by itself: what is a multiple, a power, a symmetry, a number of 0 or 1."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.build import add, multiply
from platewright.algebra.expression import ONE, Constant, Index, Reference
from platewright.graph.graph import read_graph
from platewright.recognition.exchangeable import Symmetry, _Classes, find_symmetries
from platewright.recognition.powers import _powers
from platewright.recognition.recognise import _as_weighted
from platewright.schemas.collapsed_change import Shift

X, Y, N = Reference("x"), Reference("y"), Index("n", "n")


def test_a_number_is_taken_out_of_a_product_and_nothing_else_is_lost() -> None:
    assert _as_weighted(multiply(2.0, X, Y)) == (Constant(2.0), multiply(X, Y))
    assert _as_weighted(multiply(X, Y)) == (ONE, multiply(X, Y))
    assert _as_weighted(X) == (ONE, X)


def test_an_element_of_a_vector_has_power_one_and_one_looked_up_by_itself_none() -> None:
    assert _powers(Reference("x", (N,)), "x") == {1}
    assert _powers(add(multiply(Reference("x", (N,)), Reference("x", (N,))), Y), "x") == {0, 2}
    assert _powers(Reference("x", (Reference("x", (N,)),)), "x") is None


def test_what_is_one_or_zero_is_proved() -> None:
    shift = Shift(lambda part: None, frozenset({"z"}))
    z = Reference("z", (N,))
    assert shift.is_binary(z)
    assert shift.is_binary(add(1.0, multiply(-1.0, z)))
    assert shift.is_binary(Constant(1.0))
    assert not shift.is_binary(Constant(2.0))
    assert not shift.is_binary(add(1.0, multiply(-1.0, X)))


@pytest.mark.parametrize(
    "classes, size, said",
    [
        (((0, 1, 2),), 3, "the labels of `k` are exchangeable: 3! = 6 relabellings"),
        (((0, 2),), 3, "the labels {0, 2} of `k` are exchangeable: 2 relabellings"),
        (((0, 1), (2, 3)), 4, "the labels {0, 1} and {2, 3} of `k` are exchangeable: 4 relabellings"),
    ],
)
def test_a_symmetry_says_which_labels_may_change_places(
    classes: tuple[tuple[int, ...], ...], size: int, said: str
) -> None:
    found = Symmetry(("k",), classes, size, (), {})
    assert found.sentence.startswith(said)
    assert len(set(found.relabellings())) == found.order


def chain(table: list[list[float]]) -> pw.Model:
    """A hidden chain whose moves are known."""
    m = pw.Model("chain")
    t = m.plate("t", 5, ordered=True)
    k = m.plate("k", len(table))
    before = m.plate("before", like=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    even = [1 / len(table)] * len(table)
    moves = pw.array(table, over=(before, k))
    m.z = pw.Categorical(moves[m.lag("z")], start=pw.array(even, over=k), plates=t)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=t)
    return m


@pytest.mark.parametrize(
    "table, orders",
    [
        ([[0.8, 0.2], [0.2, 0.8]], [2]),
        ([[0.8, 0.2], [0.3, 0.7]], []),
        ([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]], [6]),
        ([[0.6, 0.3, 0.1], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]], []),
    ],
)
def test_states_are_told_apart_by_how_they_move(table: list[list[float]], orders: list[int]) -> None:
    graph = read_graph(chain(table), ["y"])
    sizes = {"t": 5, "k": len(table), "before": len(table)}
    assert [found.order for found in find_symmetries(graph, graph.factors, sizes)] == orders


def test_a_table_of_one_number_tells_nothing_apart() -> None:
    graph = read_graph(chain([[0.5, 0.5], [0.5, 0.5]]), ["y"])
    for values, same in ((np.ones((2, 2, 2)), True), (np.arange(8.0).reshape(2, 2, 2), False)):
        classes = _Classes(graph, frozenset({"k"}), 2)
        classes._table(values, ("k", "k", "k"))
        assert (classes.marks[0] == classes.marks[1]) is same
