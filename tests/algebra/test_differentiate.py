"""Derivatives of look-ups: an element moves only itself, and a position that moves is a jump."""

from __future__ import annotations

import pytest

from platewright.algebra.build import call
from platewright.algebra.differentiate import differentiate
from platewright.algebra.expression import ONE, ZERO, Index, Reference
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
