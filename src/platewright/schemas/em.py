"""Expectation maximisation: expected statistics of hidden variables, then the exact mode of the rest  (Section 7.4).

With the hidden variables known the mode is a closed-form plan. Its statistics are sums over rows of functions of the
hidden values; EM puts their expectations in:

    sum_n [z[n] = k] y[n]      becomes      sum_n p(z[n] = k | data, parameters) y[n]

So no algorithm is written for a model: the M step is the exact plan with soft statistics, the E step is the exact
conditional of the hidden variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from platewright.algebra.expression import mentions
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import Program
from platewright.schema import Goal, Plan
from platewright.schemas.exact import plan_exact, prepare
from platewright.schemas.expectations import expectations
from platewright.schemas.hidden import NAME, Group, Hidden, find_groups, find_hidden
from platewright.schemas.soft import softened


@dataclass(frozen=True)
class EMPlan:
    """The exact plan for known hidden values, made soft, and the conditionals of the hidden variables."""

    graph: Graph
    goal: Goal
    hidden: tuple[Hidden, ...]
    groups: tuple[Group, ...]
    """Those that are not chains, by the factors in which they meet."""
    complete: Plan
    maximise: Program
    expect: Program
    """Computes the log weights and probabilities of hidden variables that are not chains."""
    rest: tuple[Factor, ...]
    """Log factors without hidden variables: part of the objective."""
    steps: tuple[Step, ...] = ()
    barren: tuple[str, ...] = ()
    joint: tuple[tuple[str, ...], ...] = ()
    """Sets of hidden variables whose joint probabilities the statistics need."""
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True

    @property
    def summary(self) -> str:
        """One line about the two steps."""
        hidden = ", ".join(h.name + (" by forward-backward" if h.chain else "") for h in self.hidden)
        found = ", ".join(name for c in self.complete.conditionals for name in c.variables)
        return f"expected statistics of {hidden}, then the exact mode of {found}"

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The log factors of the joint."""
        return self.complete.factors


def plan_em(graph: Graph, goal: Goal) -> EMPlan | Declined:
    """EM when the unknowns are parameters and hidden discrete variables, and the former have a closed-form mode."""
    prepared = prepare(graph)
    now = prepared.graph
    names_hidden = [n for n in now.unknown if now.nodes[n].domain.is_finite and now.nodes[n].axes]
    if not names_hidden:
        return Declined(NAME, "no discrete variable on a plate is unknown")
    complete = plan_exact(replace(now, known=now.known | set(names_hidden)), "map", with_evidence=False)
    if isinstance(complete, Declined):
        return Declined(NAME, f"with {', '.join(names_hidden)} known: {complete.reason}")
    hidden = []
    for name in names_hidden:
        found = find_hidden(now, name)
        if isinstance(found, Declined):
            return found
        hidden.append(found)
    groups = find_groups(now, hidden)
    if isinstance(groups, Declined):
        return groups
    soft = softened(complete.program, hidden, groups)
    if isinstance(soft, Declined):
        return soft
    rest = tuple(factor for factor in now.factors if not mentions(factor.expression, set(names_hidden)))
    return EMPlan(
        graph=graph,
        goal=goal,
        hidden=tuple(hidden),
        groups=groups,
        complete=complete,
        maximise=soft.program,
        expect=expectations(now, groups, soft.joint),
        rest=rest,
        steps=prepared.steps,
        barren=prepared.barren,
        joint=soft.joint,
    )
