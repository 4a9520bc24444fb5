"""Choose an algorithm: try the schemas in one visible order and keep every refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from platewright.errors import NotSolvable, UnknownName
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Goal, Plan
from platewright.schemas.exact import plan_exact

SCHEMAS: tuple[tuple[str, Callable[[Graph, Goal], Plan | Declined]], ...] = (("exact", plan_exact),)
"""All schemas, the most exact first."""


def choose_plan(graph: Graph, goal: Goal, by: str = "auto") -> Plan:
    """The first schema that applies, with the reasons of those before it; an error when none does."""
    if by != "auto" and by not in dict(SCHEMAS):
        raise UnknownName(by, ["auto", *dict(SCHEMAS)], where="by=")
    declined: list[Declined] = []
    for name, schema in SCHEMAS:
        if by not in ("auto", name):
            continue
        found = schema(graph, goal)
        if isinstance(found, Plan):
            return replace(found, declined=tuple(declined))
        declined.append(Declined(name, found.reason))
    reasons = "\n    ".join(f"{refusal.operation} declined: {refusal.reason}" for refusal in declined)
    raise NotSolvable(
        f"no schema solves `{graph.title}` for the goal {goal}:\n    {reasons}",
        expected="a model whose unknowns can be eliminated one after another",
        hint="give conjugate priors, make a scale shared, or make more of the variables known",
    )
