"""What is asked of a model, checked: a goal, how to get there, and what a mode integrates out."""

from __future__ import annotations

from collections.abc import Iterable

from platewright.errors import ModelError, UnknownName
from platewright.language.model import Model
from platewright.schema import GOALS, Goal, Question


def question(model: Model, goal: Goal, by: str, integrate: Iterable[str] | None) -> Question:
    """A goal, a schema and unknowns to be integrated out, as they were named."""
    if goal not in GOALS:
        raise UnknownName(goal, GOALS, where="goal=")
    if integrate is None:
        return Question(goal, by)
    named = frozenset([integrate] if isinstance(integrate, str) else integrate)
    able = [name for name, node in model.variables.items() if node.kind == "random" and "@" not in name]
    if goal != "map":
        raise ModelError(f"integrate= with goal={goal!r}", expected="goal='map'", hint="only a mode leaves a choice")
    if strangers := named - set(able):
        raise UnknownName(min(strangers), able, where="integrate=")
    return Question(goal, by, named)
