"""Laplace's posterior: a Gaussian about the mode, on coordinates that fill the whole space, all that is hidden gone.

    log p(u | data) ~ constant - (u - u0)' H (u - u0) / 2          u0: the mode of the density of the coordinates u

What is hidden is integrated out as for a mode (`schemas/asked.py`), so the Gaussian is one of the few unknowns that are
left: for these it is good where it would be poor for effects of small groups and their scale together.
"""

from __future__ import annotations

from dataclasses import replace

from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Goal
from platewright.schemas.em import EMPlan, plan_em
from platewright.schemas.evidence import EvidencePlan, plan_laplace

NAME = "laplace"


def plan_laplace_goal(graph: Graph, goal: Goal) -> EvidencePlan | EMPlan | Declined:
    """The evidence about the mode of everything, or the posterior about the mode of what is not hidden."""
    if goal == "map":
        return Declined(NAME, "it gives a posterior or its evidence; the mode is that of goal='map'")
    if goal == "evidence":
        return plan_laplace(graph, goal)
    found = plan_em(graph, "map")
    if isinstance(found, Declined):
        return Declined(NAME, found.reason)
    if odd := next((name for name in found.learned if graph.nodes[name].domain.kind == "circle"), None):
        return Declined(NAME, f"`{odd}` is an angle, and coordinates of a circle have an end")
    return replace(found, goal=goal, schema=NAME)
