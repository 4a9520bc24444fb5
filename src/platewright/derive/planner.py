"""Choose an algorithm by its cost, and keep every refusal.

Schemas are looked at from the one that may be cheapest on, until none that follows could touch rows less often than
the best so far. What is asked for by name is taken whatever it costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from platewright.derive.cost import LEAST, dearer, touched
from platewright.derive.plans import AnyPlan
from platewright.errors import NotSolvable, UnknownName
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Goal
from platewright.schemas.asked import plan_exact_goal
from platewright.schemas.collapsed import plan_collapsed
from platewright.schemas.em import plan_em
from platewright.schemas.evidence import plan_annealed, plan_chib, plan_enumeration
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import plan_gibbs
from platewright.schemas.marginal_laplace import plan_laplace_goal
from platewright.schemas.mean_field import plan_mean_field
from platewright.schemas.quadrature import plan_quadrature

SCHEMAS: tuple[tuple[str, Callable[[Graph, Goal], AnyPlan | Declined]], ...] = (
    ("exact", plan_exact_goal),
    ("enumeration", plan_enumeration),
    ("quadrature", plan_quadrature),
    ("em", plan_em),
    ("collapsed-gibbs", plan_collapsed),
    ("gibbs", plan_gibbs),
    ("mean-field", plan_mean_field),
    ("chib", plan_chib),
    ("annealed", plan_annealed),
    ("laplace", plan_laplace_goal),
)
"""All schemas, the most exact first."""

AUTOMATIC: dict[str, tuple[str, ...]] = {
    "posterior": ("exact", "quadrature", "gibbs"),
    "evidence": ("exact", "enumeration", "quadrature", "chib", "annealed"),
    "map": ("exact", "em"),
}
"""For each goal the schemas that `by="auto"` looks at, those first that may be cheapest."""


OTHERWISE = {
    "posterior": "by='gibbs'",
    "map": "goal='posterior', which can sample",
    "evidence": "by='laplace', or by='mean-field' for a bound",
}
"""What takes almost any model, for each goal."""


def choose_plan(graph: Graph, goal: Goal, by: str = "auto") -> AnyPlan:
    """The cheapest schema that applies, with the reasons against the others; an error when none does."""
    if by != "auto" and by not in dict(SCHEMAS):
        raise UnknownName(by, ["auto", *dict(SCHEMAS)], where="by=")
    declined: list[Declined] = []
    best: AnyPlan | None = None
    for name in (by,) if by != "auto" else AUTOMATIC[goal]:
        if best is not None and not touched(best) > LEAST.get(name, 1):
            break
        found = dict(SCHEMAS)[name](graph, goal)
        if isinstance(found, Declined):
            declined.append(Declined(name, found.reason))
        elif best is None:
            best = found
        elif against := dearer(best, found):
            declined.append(against)
            best = found
    if isinstance(best, QuadraturePlan):
        best = replace(best, is_chosen=by == "auto")
    if best is not None:
        return replace(best, declined=(*declined, *best.declined))
    reasons = "\n    ".join(f"{refusal.operation} declined: {refusal.reason}" for refusal in declined)
    ways = ["give conjugate priors", "make a scale shared", "make more variables known"]
    if not any(f"'{refusal.operation}'" in OTHERWISE[goal] for refusal in declined):  # what declined is not advised
        ways.append(f"try {OTHERWISE[goal]}")
    if by != "auto":
        ways.insert(0, f"leave out by='{by}', so that the cheapest schema that applies is taken")
    raise NotSolvable(
        f"no schema solves `{graph.title}` for the goal {goal}:\n    {reasons}",
        expected="a model whose unknowns can be eliminated one after another",
        hint=f"{', '.join(ways[:-1])}, or {ways[-1]}",
    )
