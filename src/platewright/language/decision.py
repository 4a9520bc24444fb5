"""Actions and utilities: what is decided, what is known by then, and what an outcome is worth  (Section 3.2).

    m.treat = Action(levels=["wait", "operate"], knows=[m.sign], plates=patient)
    m.gain = Utility(m.worth[m.ill, m.treat])

An action is an input that nobody has chosen yet, a utility a function that nobody else uses. Of several utilities the
sum counts. Actions are taken in the order in which they are written, and nothing known before is forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from platewright.algebra.build import expression
from platewright.algebra.expression import Expression, Reference
from platewright.errors import ParameterError
from platewright.language.distribution import as_plates
from platewright.language.plate import Plate


@dataclass(frozen=True, init=False)
class Action:
    """What is to be decided: `m.treat = pw.Action(levels=["wait", "operate"], knows=[m.sign], plates=patient)`.

    `levels` are what can be done: names, their number, or a plate, over which a table of utilities may be written.
    `knows` are the variables that are seen before the action is taken; those of earlier actions are known too.
    """

    levels: int | Plate | tuple[object, ...]
    plates: tuple[Plate, ...]
    knows: tuple[str, ...]

    def __init__(
        self,
        levels: int | Plate | Sequence[object],
        plates: Plate | Sequence[Plate] = (),
        knows: Expression | Sequence[Expression] = (),
    ) -> None:
        if isinstance(levels, str) or not isinstance(levels, (int, Plate, list, tuple)) or isinstance(levels, bool):
            raise ParameterError(f"the levels of an action are {levels!r}", expected='such as ["wait", "operate"]')
        found = tuple(levels) if isinstance(levels, (list, tuple)) else levels
        size = found.size if isinstance(found, Plate) else found if isinstance(found, int) else len(found)
        if size is None or size < 2:
            raise ParameterError(
                f"an action with {size if size is not None else 'an open number of'} levels",
                expected="at least two, known before any data",
            )
        if isinstance(found, tuple) and len(set(found)) < len(found):
            raise ParameterError(f"an action with the levels {list(found)!r}", expected="each level once")
        seen = (knows,) if isinstance(knows, Expression) else tuple(knows)
        for one in seen:
            if not isinstance(one, Reference):
                raise ParameterError(f"an action knows {one!r}", expected="variables: knows=[m.sign]")
        object.__setattr__(self, "levels", found)
        object.__setattr__(self, "plates", as_plates(plates))
        object.__setattr__(self, "knows", tuple(dict.fromkeys(one.name for one in seen)))  # type: ignore[attr-defined]


@dataclass(frozen=True, init=False)
class Utility:
    """What an outcome is worth: `m.gain = pw.Utility(m.worth[m.ill, m.treat] - m.cost)`."""

    value: Expression

    def __init__(self, value: object) -> None:
        object.__setattr__(self, "value", expression(value))
