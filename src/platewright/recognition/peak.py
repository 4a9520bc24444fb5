"""The parameters whose peak is that of a variable recognised through a change of variable.

    p(x) = exp(sum_i w_i t_i(y)) |dy / dx|,     log |dx / dy| = sum_i c_i t_i(y) + constant

The density of x carries the volume factor of the change, which moves the natural parameters: its peak in terms of y is
that of the family at weights w_i - c_i.
"""

from __future__ import annotations

from collections.abc import Mapping

from platewright.algebra.build import substitute
from platewright.algebra.expression import Expression
from platewright.family import Argument, Family, X, instantiate
from platewright.recognition.transform import IDENTITY, Transform, Y, coefficients


def parameters_at_peak(
    family: Family, transform: Transform, parameters: Mapping[str, Expression]
) -> Mapping[str, Expression]:
    """Parameters of the family, as expressions; those of families of scalars where there is a change of variable."""
    if transform is IDENTITY:
        return parameters
    volume = coefficients(transform.log_jacobian)
    given = {name: Argument(value) for name, value in parameters.items()}
    weights = {}
    for number, (natural, statistic) in enumerate(zip(family.natural, family.statistics, strict=True)):
        moved = instantiate(natural, given) - volume.get(substitute(statistic, {X: Y}), 0.0)
        weights[f"weight{number}"] = Argument(moved)
    assert family.from_natural is not None
    return {name: instantiate(form, weights) for name, form in family.from_natural.items()}
