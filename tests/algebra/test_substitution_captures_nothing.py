"""Substitution under binders: new names never meet old ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from platewright.algebra.build import substitute, total
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference

I, J, K, L = (Index(name, "p") for name in ("i", "i'", "i''", "j"))
INDICES = (I, J, K, L)
SIZE = 3
VALUES = {"a": np.array([0.5, -1.0, 2.0]), "b": np.arange(9.0).reshape(3, 3) / 7.0}
HERE = Environment(VALUES, {"p": SIZE})


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> Expression:
    if depth == 0 or draw(st.booleans()):
        one, two = draw(st.sampled_from(INDICES)), draw(st.sampled_from(INDICES))
        return draw(st.sampled_from([Reference("a", (one,)), Reference("b", (one, two))]))
    left, right = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    index = draw(st.sampled_from(INDICES))
    return draw(st.sampled_from([left + right, left * right, total(left, index), total(left * right, index)]))


@given(expressions(), st.permutations(INDICES))
def test_renaming_indices_only_permutes_axes(expression: Expression, order: list[Index]) -> None:
    changes = dict(zip(INDICES, order, strict=True))
    renamed = substitute(expression, changes)
    before = evaluate(expression, HERE, INDICES)
    after = evaluate(renamed, HERE, tuple(changes[index] for index in INDICES))
    np.testing.assert_allclose(after, before, rtol=1e-12)


@given(expressions())
def test_derivatives_agree_with_finite_differences(expression: Expression) -> None:
    place = Index("at", "p")
    slope = evaluate(differentiate(expression, Reference("a", (place,))), HERE, (*INDICES, place))
    step = 1e-5
    for position in range(SIZE):
        up, down = VALUES["a"].copy(), VALUES["a"].copy()
        up[position] += step
        down[position] -= step
        higher = evaluate(expression, HERE.with_values({"a": up}), INDICES)
        lower = evaluate(expression, HERE.with_values({"a": down}), INDICES)
        np.testing.assert_allclose(slope[..., position], (higher - lower) / (2 * step), rtol=1e-6, atol=1e-6)
