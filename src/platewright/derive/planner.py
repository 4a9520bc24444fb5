"""Choose an algorithm: try the schemas in one visible order and keep every refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from platewright.errors import NotSolvable, UnknownName
from platewright.graph.components import component_parents, undirected_components
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Goal, Plan
from platewright.schemas.asked import plan_exact_goal
from platewright.schemas.collapsed import CollapsedPlan, plan_collapsed
from platewright.schemas.em import EMPlan, plan_em
from platewright.schemas.evidence import EvidencePlan, plan_annealed, plan_chib, plan_enumeration
from platewright.schemas.few_numbers import QuadraturePlan, chosen
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from platewright.schemas.marginal_laplace import plan_laplace_goal
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field
from platewright.schemas.quadrature import plan_quadrature

AnyPlan = Plan | CollapsedPlan | EMPlan | GibbsPlan | MeanFieldPlan | EvidencePlan | QuadraturePlan

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
"""For each goal the schemas that `by="auto"` tries, in order."""


OTHERWISE = {
    "posterior": "by='gibbs'",
    "map": "goal='posterior', which can sample",
    "evidence": "by='laplace', or by='mean-field' for a bound",
}
"""What takes almost any model, for each goal."""


def _sums_levels(graph: Graph, name: str, goal: Goal) -> bool:
    """Whether quadrature comes before sampling: a normaliser over levels is dear, and a lattice needs few of it."""
    if name != "quadrature" or goal != "posterior":
        return False
    parents = (component_parents(graph, component) for component in undirected_components(graph))
    return any(parent in graph.unknown for found in parents for parent in found)


def choose_plan(graph: Graph, goal: Goal, by: str = "auto") -> AnyPlan:
    """The first schema that applies, with the reasons of those before it; an error when none does."""
    if by != "auto" and by not in dict(SCHEMAS):
        raise UnknownName(by, ["auto", *dict(SCHEMAS)], where="by=")
    declined: list[Declined] = []
    for name, schema in SCHEMAS:
        if by != name and not (by == "auto" and (name in AUTOMATIC[goal] or _sums_levels(graph, name, goal))):
            continue
        found = schema(graph, goal)
        if isinstance(found, QuadraturePlan) and by == "auto":
            found = chosen(found)
        if not isinstance(found, Declined):
            return replace(found, declined=(*declined, *found.declined))
        declined.append(Declined(name, found.reason))
    reasons = "\n    ".join(f"{refusal.operation} declined: {refusal.reason}" for refusal in declined)
    ways = ["give conjugate priors", "make a scale shared", "make more variables known"]
    if not any(f"'{refusal.operation}'" in OTHERWISE[goal] for refusal in declined):  # what declined is not advised
        ways.append(f"try {OTHERWISE[goal]}")
    if by != "auto":
        ways.insert(0, f"leave out by='{by}', so that the first schema that applies is taken")
    raise NotSolvable(
        f"no schema solves `{graph.title}` for the goal {goal}:\n    {reasons}",
        expected="a model whose unknowns can be eliminated one after another",
        hint=f"{', '.join(ways[:-1])}, or {ways[-1]}",
    )
