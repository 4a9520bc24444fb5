"""`mu[z]`: a reference or a table with some of its leading axes at given positions."""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.build import expression
from platewright.algebra.expression import Constant, Expression, Index, Lag, Literal, Reference
from platewright.errors import ModelError


def indexed(variable: Expression, at: object) -> Expression:
    """Fix the leading axes in order; `:` leaves an axis as it is."""
    positions = at if isinstance(at, tuple) else (at,)
    if not isinstance(variable, (Reference, Literal)) or not variable.indices:
        raise ModelError(f"`{variable}` has no plates to index", expected="a variable that lives on a plate")
    shown = variable.name if isinstance(variable, Reference) else "a table"
    lagged = any(isinstance(part, Lag) for part in variable.indices)
    if lagged and len(variable.indices) == 1:  # its other axes are not known yet, but their order is
        return replace(variable, indices=(*variable.indices, *(expression(position) for position in positions)))
    axes = [axis for axis, part in enumerate(variable.indices) if not isinstance(part, Lag)]
    if len(positions) > len(axes):
        raise ModelError(
            f"`{shown}` has {len(axes)} axes but is indexed with {len(positions)}",
            expected=f"at most {len(axes)} positions",
        )
    chosen = list(variable.indices)
    for axis, position in zip(axes, positions, strict=False):
        if isinstance(position, slice):
            continue
        # A plate stands for its index: `m.skill[other]` with `other` a plate like that of `skill`.
        where_at = plate if isinstance(plate := getattr(position, "index", None), Index) else expression(position)
        if isinstance(where_at, Constant) and (where_at.value < 0 or not float(where_at.value).is_integer()):
            raise ModelError(f"`{shown}` indexed at {where_at.value:g}", expected="a whole number from 0")
        chosen[axis] = where_at
    return replace(variable, indices=tuple(chosen))
