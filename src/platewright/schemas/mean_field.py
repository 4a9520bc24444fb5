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
from platewright.schemas.exact import Prepared, plan_exact, prepare
from platewright.schemas.hidden import Hidden
from platewright.schemas.latent import Latent, find_latent, hidden_classes, hidden_gaussians

NAME = "mean-field"


@dataclass(frozen=True)
class MeanFieldPlan:
    """The exact posterior plan made soft, and hidden variables with expected log factors."""

    graph: Graph
    goal: Goal
    latent: Latent
    complete: Plan
    rest: tuple[Factor, ...] = ()
    steps: tuple[Step, ...] = ()
    barren: tuple[str, ...] = ()
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """Hidden classes."""
        return self.latent.hidden

    @property
    def blocks(self) -> tuple[Plan, ...]:
        """The exact posterior of all parameters, as the only block."""
        return (self.complete,)

    @property
    def maximise(self) -> Program:
        """The exact posterior, from soft statistics."""
        return self.latent.programs[0]

    @property
    def expect(self) -> Program:
        """Log weights and probabilities of hidden classes that are not chains."""
        return self.latent.expect

    @property
    def summary(self) -> str:
        """One line about the two distributions."""
        hidden = ", ".join(sorted(self.latent.names))
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
    classes, gaussians = hidden_classes(now), hidden_gaussians(now)
    reason = ""
    for clouds in dict.fromkeys(((), tuple(gaussians))):
        if not classes and not clouds:
            continue
        found = _planned(graph, prepared, classes, list(clouds), goal)
        if not isinstance(found, Declined):
            return found
        reason = reason or found.reason
    return Declined(NAME, reason or "no discrete or Gaussian variable on a plate of rows is unknown")


def _planned(
    graph: Graph, prepared: Prepared, classes: list[str], gaussians: list[str], goal: Goal
) -> MeanFieldPlan | Declined:
    """Mean field with a given choice of hidden variables."""
    now = prepared.graph
    wanted = {*classes, *gaussians}
    complete = plan_exact(replace(now, known=now.known | wanted), "posterior")
    if isinstance(complete, Declined):
        return Declined(NAME, f"with {', '.join([*classes, *gaussians])} known: {complete.reason}")
    expecter = Expecter(complete.conditionals, now.nodes, now.facts)
    latent = find_latent(now, classes, gaussians, [complete.program], expecter.factor)
    if isinstance(latent, Declined):
        return Declined(NAME, latent.reason)
    rest = tuple(factor for factor in now.factors if not mentions(factor.expression, wanted))
    return MeanFieldPlan(graph, goal, latent, complete, rest, prepared.steps, prepared.barren)
