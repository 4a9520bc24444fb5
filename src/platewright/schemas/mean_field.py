"""Mean field: hidden variables and parameters take turns, each given the expected log density of the other.

With hidden probabilities fixed, the best distribution of the parameters is the exact posterior with soft statistics;
with that fixed, the best distribution of the hidden variables comes from expected log factors. The lower bound

    soft log evidence + entropy of the hidden variables

is exact and never falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from platewright.algebra.expression import mentions
from platewright.elimination.expected import Expecter
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import Program
from platewright.schema import Goal, Plan
from platewright.schemas.exact import plan_exact, prepare
from platewright.schemas.expectations import expectations
from platewright.schemas.hidden import Group, Hidden, find_groups, find_hidden
from platewright.schemas.soft import softened

NAME = "mean-field"


@dataclass(frozen=True)
class MeanFieldPlan:
    """The exact posterior plan made soft, and hidden variables with expected log factors."""

    graph: Graph
    goal: Goal
    hidden: tuple[Hidden, ...]
    groups: tuple[Group, ...]
    complete: Plan
    maximise: Program
    expect: Program
    rest: tuple[Factor, ...] = ()
    steps: tuple[Step, ...] = ()
    barren: tuple[str, ...] = ()
    joint: tuple[tuple[str, ...], ...] = ()
    """Sets of hidden variables whose joint probabilities the statistics need."""
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True

    @property
    def summary(self) -> str:
        """One line about the two distributions."""
        hidden = ", ".join(item.name for item in self.hidden)
        found = ", ".join(name for c in self.complete.conditionals for name in c.variables)
        return f"q({hidden}) q({found}) in turn, the latter exact given soft statistics"

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The log factors of the joint."""
        return self.complete.factors


def plan_mean_field(graph: Graph, goal: Goal) -> MeanFieldPlan | Declined:
    """Mean field when parameters given the hidden variables have an exact posterior with known moments."""
    if goal == "map":
        return Declined(NAME, "the goal is a mode, and mean field gives distributions")
    prepared = prepare(graph)
    now = prepared.graph
    names_hidden = [n for n in now.unknown if now.nodes[n].domain.is_finite and now.nodes[n].axes]
    if not names_hidden:
        return Declined(NAME, "no discrete variable on a plate is unknown")
    complete = plan_exact(replace(now, known=now.known | set(names_hidden)), "posterior")
    if isinstance(complete, Declined):
        return Declined(NAME, f"with {', '.join(names_hidden)} known: {complete.reason}")
    expecter = Expecter(complete.conditionals, now.nodes, now.facts)
    hidden: list[Hidden] = []
    expected: dict[Factor, Factor] = {}
    for name in names_hidden:
        found = find_hidden(now, name)
        if isinstance(found, Declined):
            return Declined(NAME, found.reason)
        for factor in found.factors:
            if factor not in expected:
                taken = expecter.factor(factor)
                if isinstance(taken, Declined):
                    return Declined(NAME, f"in {factor.owner}: {taken.reason}")
                expected[factor] = taken
        hidden.append(replace(found, factors=tuple(expected[factor] for factor in found.factors)))
    groups = find_groups(now, hidden)
    if isinstance(groups, Declined):
        return Declined(NAME, groups.reason)
    soft = softened(complete.program, hidden, groups)
    if isinstance(soft, Declined):
        return Declined(NAME, soft.reason)
    return MeanFieldPlan(
        graph=graph,
        goal=goal,
        hidden=tuple(hidden),
        groups=groups,
        complete=complete,
        maximise=soft.program,
        expect=expectations(now, groups, soft.joint),
        rest=tuple(factor for factor in now.factors if not mentions(factor.expression, set(names_hidden))),
        steps=prepared.steps,
        barren=prepared.barren,
        joint=soft.joint,
    )
