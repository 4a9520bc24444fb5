"""How many observations an improper posterior lacks, from what each of them adds to its parameters.

shape = 0.5 #n - 0.5 #c - 1        with 3 columns and 2 rows: -1.5, so at least 4 more rows
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Add, Constant, Expression, Multiply, Size, Sum, names
from platewright.elimination.state import FamilyConditional
from platewright.family import Array
from platewright.schema import Plan

COUNTED = ("shape", "degrees")
"""Parameters that grow with the number of rows, whatever the rows say."""


def missing_for_scales(plan: Plan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> str:
    """What the scales of Gaussian blocks need besides, where their parameters can be counted before the blocks."""
    needed = []
    for conditional in plan.conditionals:
        if not isinstance(conditional, FamilyConditional):
            continue
        for name in COUNTED:
            form = conditional.recognised.parameters.get(name)
            if form is None or not names(form) <= set(columns):
                continue
            least = sizes[conditional.recognised.events[0].plate] - 1 if conditional.recognised.events else 0
            target = conditional.recognised.target
            value = float(np.min(evaluate(form, Environment(columns, sizes), target.plates), initial=np.inf)) - least
            if value <= 0:
                needed.append(f"{_counted(value, form)} for `{conditional.variable}`")
    return "; ".join(needed)


def missing_rows(worst: float, name: str, form: Expression) -> str:
    """How many observations would do; a rate needs values that differ."""
    if name in COUNTED:
        return f"{_counted(worst, form)} needed, or a proper prior"
    return "at least 1 more observation that differs from the others is needed, or a proper prior"


def _counted(worst: float, form: Expression) -> str:
    count = int(np.floor(-worst / _each_adds(form))) + 1
    return f"at least {count} more observation{'s' if count > 1 else ''}"


def _each_adds(form: Expression) -> float:
    """The coefficient of the number of rows in a sum such as `2 + 0.5 #n`."""
    found = []
    for term in form.terms if isinstance(form, Add) else (form,):
        match term:
            case Multiply((Constant(number), Size() | Sum())):
                found.append(number)
            case Size() | Sum():
                found.append(1.0)
    return max((number for number in found if number > 0), default=0.5)
