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
from platewright.schemas.em import Hidden, expectations, find_hidden, softened
from platewright.schemas.exact import plan_exact, prepare

NAME = "mean-field"


@dataclass(frozen=True)
class MeanFieldPlan:
    """The exact posterior plan made soft, and hidden variables with expected log factors."""

    graph: Graph
    goal: Goal
    hidden: tuple[Hidden, ...]
    complete: Plan
    maximise: Program
    expect: Program
    rest: tuple[Factor, ...] = ()
    steps: tuple[Step, ...] = ()
    barren: tuple[str, ...] = ()
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
    for name in names_hidden:
        found = find_hidden(now, name, names_hidden)
        if isinstance(found, Declined):
            return Declined(NAME, found.reason)
        factors = []
        for factor in found.factors:
            expected = expecter.factor(factor)
            if isinstance(expected, Declined):
                return Declined(NAME, f"in {factor.owner}: {expected.reason}")
            factors.append(expected)
        hidden.append(replace(found, factors=tuple(factors)))
    soft = softened(complete.program, hidden)
    if isinstance(soft, Declined):
        return Declined(NAME, soft.reason)
    rest = tuple(factor for factor in now.factors if not mentions(factor.expression, set(names_hidden)))
    return MeanFieldPlan(
        graph, goal, tuple(hidden), complete, soft, expectations(now, hidden), rest, prepared.steps, prepared.barren
    )
