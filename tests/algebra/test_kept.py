"""Answers that stay with a node: asked once for each thing given, never shared by nodes that differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from platewright.algebra.build import add, multiply, substitute, total
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Constant, Expression, Index, Reference, all_indices, bound_inside, rebuild
from platewright.algebra.kept import kept_for

I, J = Index("i", "i"), Index("j", "j")
X, Y = Reference("x", (I, J)), Reference("y", (J,))


def test_an_answer_is_kept_for_each_thing_given() -> None:
    asked = []

    @kept_for
    def named(node: Any, word: str) -> str:
        asked.append(word)
        return f"{node} {word}"

    first, second = Reference("a"), Reference("b")
    assert [named(first, "one"), named(first, "two"), named(first, "one"), named(second, "one")] == [
        "a one",
        "a two",
        "a one",
        "b one",
    ]
    assert asked == ["one", "two", "one"]


def test_nodes_of_one_value_are_equal_and_others_are_not() -> None:
    assert add(X, 1.0) == add(X, 1.0)
    assert add(X, 1.0) != add(X, 2.0)
    assert Reference("i") != Index("i", "i")
    assert Constant(0.0) == Constant(-0.0)
    assert hash(Constant(0.0)) == hash(Constant(-0.0))
    assert Reference("a") != "a"


def test_a_node_none_of_whose_parts_change_is_itself() -> None:
    whole = total(multiply(X, add(Y, 1.0)), J)
    assert rebuild(whole, lambda part: part) is whole
    assert substitute(whole, {Reference("z"): Reference("w")}) is whole
    assert substitute(multiply(X, Y), {Index("k", "k"): I}) == multiply(X, Y)


def test_bound_indices_are_found_however_deep() -> None:
    inner = total(X, J)
    whole = total(multiply(inner, Reference("w", (I,))), I)
    assert bound_inside(whole) == {I, J}
    assert bound_inside(add(X, Y)) == frozenset()
    assert all_indices(whole) == {I, J}


AXES = {"along the scope": (I, J), "across it": (J, I), "with one more": (Index("k", "k"), I, J), "twice": (J, I, J)}


@pytest.mark.parametrize("axes", AXES.values(), ids=AXES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_table_is_looked_up_alike_along_and_across_the_scope(axes: tuple[Index, ...], order: Any) -> None:
    sizes = {"i": 3, "j": 4, "k": 2}
    values = {"x": np.array(np.arange(12.0).reshape(3, 4), order=order), "y": np.arange(4.0)}
    found = evaluate(add(X, Y), Environment(values, sizes), axes)
    last = {index: place for place, index in enumerate(axes)}
    for at in np.ndindex(found.shape):
        i, j = at[last[I]], at[last[J]]
        assert found[at] == values["x"][i, j] + values["y"][j]


@pytest.mark.parametrize("expression", [X, add(X, 0.0)])
def test_what_was_looked_up_does_not_change_with_the_table(expression: Expression) -> None:
    values = {"x": np.arange(12.0).reshape(3, 4)}
    found = evaluate(expression, Environment(values, {"i": 3, "j": 4}), (I, J))
    values["x"][0, 0] = 7.0
    assert found[0, 0] == 0.0


def test_a_table_longer_than_its_plate_is_cut() -> None:
    found = evaluate(Y, Environment({"y": np.arange(6.0)}, {"j": 4}), (J,))
    np.testing.assert_array_equal(found, np.arange(4.0))
