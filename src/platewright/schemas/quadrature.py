"""Evidence by quadrature over the few numbers that exact elimination leaves.

    log p(data) = log integral of exp(exact log evidence with the numbers known),  over one number or two

All scalar unknowns are held at first, and each is let go again whose elimination is then exact: an effect size with
its own variance keeps that variance alone, a logistic regression with one weight keeps the weight. Where the others are
Gaussian at each point, points of up to twenty numbers are evaluated at once (`schemas/few_numbers.py`).
"""

from __future__ import annotations

from dataclasses import replace

from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Goal, Plan
from platewright.schemas.evidence import EvidencePlan, other_goal
from platewright.schemas.exact import prepare
from platewright.schemas.few_numbers import QuadraturePlan, least_held, plan_few_numbers, with_known
from platewright.schemas.iterated_steps import steps_at_points

NAME = "quadrature"
MOST_NUMBERS = 2
"""The grid has as many dimensions."""


def plan_quadrature(graph: Graph, goal: Goal) -> EvidencePlan | QuadraturePlan | Declined:
    """Hold a few scalar unknowns, eliminate the others exactly, and integrate over those held."""
    if goal == "posterior":
        return plan_few_numbers(graph)
    if goal != "evidence":
        return other_goal(NAME)
    programs = plan_point_by_point(graph, goal)
    points = plan_few_numbers(graph, goal)
    if isinstance(points, Declined):
        return programs
    return points if isinstance(programs, Declined) else replace(points, otherwise=programs)


def plan_point_by_point(graph: Graph, goal: Goal) -> EvidencePlan | Declined:
    """One exact program, run at each point of a grid."""
    prepared = prepare(graph)
    now = prepared.graph
    held = least_held(now)
    if isinstance(held, Declined):
        return held
    if len(held) > MOST_NUMBERS:
        return Declined(
            NAME,
            f"exact elimination leaves {len(held)} numbers ({', '.join(held)}), at most {MOST_NUMBERS} are gone over",
        )
    complete = with_known(now, held)
    assert isinstance(complete, Plan)
    named = ", ".join(held)
    because = f"few numbers are left: {named} on grids that are refined"
    shown = (
        f"log p(data) = log integral over {named} of p(data, {named})",
        f"with {named} known: {complete.summary}",
        "grids are laid around the mode by its curvature, and bent outwards so that slow tails are reached",
    )
    steps = (*prepared.steps, *steps_at_points(now, held, complete, because, "Section 7.3", shown))
    return EvidencePlan(
        graph,
        goal,
        NAME,
        f"the exact log evidence at points of {named}, added up on finer and finer grids",
        now.factors,
        tuple(held),
        complete=complete,
        steps=steps,
        barren=prepared.barren,
        proper=complete.proper,
    )
