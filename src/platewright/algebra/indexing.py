"""`mu[z]`: a reference or a table with some of its leading axes at given positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from platewright.algebra.build import expression
from platewright.algebra.expression import Constant, Expression, Index, Lag, Literal, Reference
from platewright.errors import ModelError


class Home(Protocol):
    """The model in which a name was written: it knows the plates of a table, and which axis an index picks."""

    def in_place(self, table: Reference | Literal, positions: Sequence[object]) -> tuple[object, ...]: ...


def at_home(variable: Reference, home: Home) -> Reference:
    """The reference, remembering its model until it is indexed; it is equal to one that does not."""
    object.__setattr__(variable, HOME, home)
    return variable


HOME = "_home"


def _home(variable: Reference | Literal, positions: Sequence[object]) -> Home | None:
    """The model of a table; that of a table of numbers is the one of its indices."""
    found: Home | None = next((part.__dict__[HOME] for part in (variable, *positions) if _knows(part)), None)
    return found


def _knows(part: object) -> bool:
    return isinstance(part, Reference) and HOME in part.__dict__


def indexed(variable: Expression, at: object) -> Expression:
    """Fix axes at positions: those that the model finds for them, else the leading ones in order; `:` leaves one."""
    positions = at if isinstance(at, tuple) else (at,)
    if not isinstance(variable, (Reference, Literal)) or not variable.indices:
        raise ModelError(f"`{variable}` has no plates to index", expected="a variable that lives on a plate")
    shown = variable.name if isinstance(variable, Reference) else "a table"
    lagged = any(isinstance(part, Lag) for part in variable.indices)
    if lagged and len(variable.indices) == 1:  # its other axes are not known yet, but their order is
        return replace(variable, indices=(*variable.indices, *(expression(position) for position in positions)))
    if (home := _home(variable, positions)) is not None:
        positions = home.in_place(variable, positions)
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
