"""What emitted programs carry along: one name for one thing, and a text for every function that is printed."""

from __future__ import annotations

from collections import Counter

from platewright.algebra.functions import FUNCTIONS
from platewright.backends.carried import IMPORTS, carried, definitions, head, names_of
from platewright.backends.kernels import few_rows
from platewright.backends.numpy import (
    chained,
    collapsed,
    em,
    em_support,
    gibbs,
    hidden_steps,
    least_rows,
    mean_field,
    mean_field_support,
    reading_support,
    support,
)
from platewright.backends.numpy.shared import shared_calls

STAND_INS = {*hidden_steps.STAND_INS, "draw_parameters", "prepared", "movers"}


def test_every_printed_function_has_a_text() -> None:
    printed = {function.numpy for function in FUNCTIONS.values() if "." not in function.numpy}
    assert printed <= shared_calls().keys()


def test_no_two_carried_things_have_one_name() -> None:
    modules = {*gibbs.KERNELS, *hidden_steps.KERNELS, *collapsed.KERNELS, *em.KERNELS, *em.SEARCH, *mean_field.SEARCH}
    modules |= {em_support, mean_field_support, few_rows, reading_support}
    names = Counter(name for module in modules for name in definitions(module) if name not in STAND_INS)
    shared = (support, least_rows, chained)
    names.update(name for module in shared for name in definitions(module) if name != "SHARED")
    assert [name for name, count in names.items() if count > 1] == []


def test_names_are_those_of_the_definitions() -> None:
    for module in (*gibbs.KERNELS, *em.SEARCH, *hidden_steps.KERNELS, em_support, few_rows, reading_support):
        assert set(names_of((module,))) - {*IMPORTS, "Array"} == definitions(module).keys(), module


def test_a_definition_comes_with_what_it_mentions_and_nothing_else() -> None:
    text = "def f(x):\n    return slice_step(x, x, x, x)"
    found = carried(text, gibbs.KERNELS)
    assert [part.split("(")[0] for part in found] == ["MOST_STEPS = 60", "def slice_step", "def possible_start"]
    assert head("\n".join([*found, text])).split() == ["import", "numpy", "as", "np"]
