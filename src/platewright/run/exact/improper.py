"""Refuse improper posteriors, and say how many observations they lack, from what each of them adds to a parameter.

shape = 0.5 #n - 0.5 #c - 1        with 3 columns and 2 rows: -1.5, so at least 4 more rows
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Add, Constant, Expression, Multiply, Size, Sum, names
from platewright.elimination.state import FamilyConditional
from platewright.errors import ImproperPosterior
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


def check_proper(plan: Plan, found: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
    """Parameters outside their range mean that prior and data together are improper."""
    for conditional in plan.conditionals:
        if not isinstance(conditional, FamilyConditional):
            continue
        for parameter in conditional.recognised.family.parameters:
            value = found.get(f"{conditional.variable}.{parameter.name}")
            if value is None:
                continue
            if parameter.rank == 2 and not plan.proper:
                _check_matrix(conditional.variable, parameter.name, np.asarray(value))
            elif parameter.rank < 2 and parameter.domain.lower == 0.0:
                _check_positive(conditional, parameter.name, np.asarray(value), sizes)
    _check_prior_degrees(plan, sizes)


def _check_positive(conditional: FamilyConditional, name: str, value: Array, sizes: Mapping[str, int]) -> None:
    """Positive, or above d - 1 for the degrees of a d by d matrix."""
    target = conditional.recognised.target
    least = sizes[target.events[0].plate] - 1 if target.rank == 2 and name in COUNTED else 0
    if (value > least).all():
        return
    worst = float(np.min(value))
    need = "at least 1 more observation that differs from the others is"  # a rate counts no rows
    if name in COUNTED:
        need = _counted(worst - least, conditional.recognised.parameters[name])
    raise ImproperPosterior(
        f"the posterior of `{conditional.variable}` is improper: its {name} is {worst:g}",
        expected=f"a {name} above {least}",
        hint=f"{need} needed, or a proper prior",
    )


def _check_matrix(variable: str, name: str, value: Array) -> None:
    """A scale matrix that is singular: its rows lie in fewer dimensions than it has."""
    if not value.size or not np.isfinite(value).all():
        return
    units = np.sqrt(np.maximum(np.diagonal(value, axis1=-2, axis2=-1), np.finfo(float).tiny))
    roots = np.linalg.eigvalsh(value / units[..., :, None] / units[..., None, :])  # whatever the units of each axis
    flat = int((roots <= 1e-13 * roots.shape[-1]).sum(axis=-1).max())
    if flat:
        raise ImproperPosterior(
            f"the posterior of `{variable}` is improper: its {name.replace('_', ' ')} is singular",
            hint=f"at least {flat} more observation{'s' if flat > 1 else ''} in other directions, or a proper prior",
        )


def _check_prior_degrees(plan: Plan, sizes: Mapping[str, int]) -> None:
    """A Wishart over d elements needs more than d - 1 degrees, and d may come from the data."""
    for node in plan.graph.nodes.values():
        degrees = dict(node.parameters).get("degrees")
        if node.rank != 2 or not isinstance(degrees, Constant):
            continue
        size = sizes[node.events[0].plate]
        if degrees.value <= size - 1:
            raise ImproperPosterior(
                f"`{node.name}` has {degrees.value:g} degrees over {size} elements of {node.events[0].plate}",
                expected=f"more than {size - 1} degrees",
            )


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
