"""Evidence by quadrature over the few numbers that exact elimination leaves.

    log p(data) = log integral of exp(exact log evidence with the numbers known),  over one number or two

All scalar unknowns are held at first, and each is let go again whose elimination is then exact: an effect size with
its own variance keeps that variance alone, a logistic regression with one weight keeps the weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import pi

from platewright.algebra.domain import Domain
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Goal, Plan
from platewright.schemas.evidence import EvidencePlan, other_goal
from platewright.schemas.exact import plan_exact, prepare

NAME = "quadrature"
MOST_NUMBERS = 2
"""The grid has as many dimensions."""


def plan_quadrature(graph: Graph, goal: Goal) -> EvidencePlan | Declined:
    """Hold a few scalar unknowns, eliminate the others exactly, and integrate over those held."""
    if goal != "evidence":
        return other_goal(NAME)
    prepared = prepare(graph)
    now = prepared.graph
    scalars = [name for name in now.unknown if not now.nodes[name].axes and not now.nodes[name].domain.is_discrete]
    if not scalars:
        return Declined(NAME, "no unknown is a single real number")
    complete = _with_known(now, scalars)
    if isinstance(complete, Declined):
        return Declined(NAME, f"with {', '.join(scalars)} known: {complete.reason}")
    held = min((_let_go(now, order) for order in (scalars, scalars[::-1])), key=len)
    if len(held) > MOST_NUMBERS:
        return Declined(
            NAME,
            f"exact elimination leaves {len(held)} numbers ({', '.join(held)}), at most {MOST_NUMBERS} are gone over",
        )
    complete = _with_known(now, held)
    assert isinstance(complete, Plan)
    named = ", ".join(held)
    return EvidencePlan(
        graph,
        goal,
        NAME,
        f"the exact log evidence at points of {named}, added up on finer and finer grids",
        now.factors,
        (
            f"log p(data) = log integral over {named} of p(data, {named})",
            f"with {named} known: {complete.summary}",
            "grids are laid around the mode by its curvature, and bent outwards so that slow tails are reached",
        ),
        tuple(held),
        complete=complete,
        steps=prepared.steps,
        barren=prepared.barren,
        proper=complete.proper,
    )


def _with_known(graph: Graph, held: Sequence[str]) -> Plan | Declined:
    return plan_exact(replace(graph, known=graph.known | set(held)), "evidence")


def _let_go(graph: Graph, order: Sequence[str]) -> list[str]:
    """What must stay held when unknowns are let go one after another, in this order."""
    held = list(order)
    for name in order:
        fewer = [other for other in held if other != name]
        if fewer and isinstance(_with_known(graph, fewer), Plan):
            held = fewer
    return [name for name in graph.unknown if name in held]


def open_ends(domain: Domain) -> tuple[float, float]:
    """The open range of a number that is integrated over."""
    return (-pi, pi) if domain.kind == "circle" else (domain.lower, domain.upper)
