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
from platewright.schemas.exact import Prepared, plan_exact, prepare
from platewright.schemas.hidden import NAME, Hidden
from platewright.schemas.latent import Latent, find_latent, hidden_classes, hidden_gaussians


@dataclass(frozen=True)
class EMPlan:
    """The exact plan for known hidden values, made soft, and the conditionals of the hidden variables."""

    graph: Graph
    goal: Goal
    latent: Latent
    blocks: tuple[Plan, ...]
    """Exact modes given hidden variables: one of all parameters, else of several blocks, each given the others."""
    rest: tuple[Factor, ...]
    """Log factors without hidden variables: part of the objective."""
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
    def complete(self) -> Plan:
        """The exact mode of the (first) block of parameters."""
        return self.blocks[0]

    @property
    def maximise(self) -> Program:
        """The exact mode of the (first) block, from soft statistics."""
        return self.latent.programs[0]

    @property
    def expect(self) -> Program:
        """Log weights and probabilities of hidden classes that are not chains."""
        return self.latent.expect

    @property
    def summary(self) -> str:
        """One line about the two steps."""
        found = [", ".join(name for c in block.conditionals for name in c.variables) for block in self.blocks]
        modes = f"the exact mode of {', then of '.join(found)}"
        return (
            f"expected statistics of {self.latent.summary}, then {modes}" if self.latent.names else f"{modes}, in turn"
        )

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The log factors of the joint."""
        return self.complete.factors


def plan_em(graph: Graph, goal: Goal) -> EMPlan | Declined:
    """EM when the unknowns are parameters and hidden variables, and the former have a closed-form mode."""
    prepared = prepare(graph)
    now = prepared.graph
    classes, gaussians = hidden_classes(now), hidden_gaussians(now)
    holes = [name for name in gaussians if name.endswith(".missing")]
    reason = ""
    declined: list[Declined] = []
    # Whatever comes anew with every row is integrated out, unless all of it has a mode of closed form.
    for hidden, several in ((holes, False), (gaussians, True), (holes, True)):
        if not classes and not hidden and not several:
            continue
        found = _planned(graph, prepared, classes, hidden, goal, several)
        if not isinstance(found, Declined):
            return replace(found, declined=tuple(declined))
        if left := [name for name in hidden if name not in holes]:
            declined.append(Declined(f"integrate {', '.join(left)} out", found.reason))
        if classes or hidden or not reason:
            reason = found.reason
    apart = [refusal.reason for refusal in declined if refusal.reason != reason]
    return Declined(NAME, "; else: ".join([*apart, reason]))


def _planned(
    graph: Graph, prepared: Prepared, classes: list[str], gaussians: list[str], goal: Goal, several: bool
) -> EMPlan | Declined:
    """EM with a given choice of hidden variables; `several` blocks of parameters may take turns."""
    now = prepared.graph
    wanted = {*classes, *gaussians}
    blocks = _mode_blocks(replace(now, known=now.known | wanted), several)
    if isinstance(blocks, Declined):
        given = f"with {', '.join([*classes, *gaussians])} known: " if wanted else ""
        return Declined(NAME, given + blocks.reason)
    if not wanted and len(blocks) == 1:
        return Declined(NAME, "no discrete or Gaussian variable on a plate of rows is unknown")
    latent = find_latent(now, classes, gaussians, [block.program for block in blocks], lambda factor: factor)
    if isinstance(latent, Declined):
        return latent
    # Those of the exact plan, for they hold the normalisers of undirected parts too.
    rest = tuple(factor for factor in blocks[0].factors if not mentions(factor.expression, wanted))
    return EMPlan(graph, goal, latent, blocks, rest, prepared.steps, prepared.barren)


def _mode_blocks(graph: Graph, several: bool) -> tuple[Plan, ...] | Declined:
    """All parameters at once where their mode has a closed form, else Gaussian ones together and others one by one.

    Each block given the others: a step to its mode cannot lower the objective, so EM goes on rising.
    """
    whole = plan_exact(graph, "map", with_evidence=False)
    if not isinstance(whole, Declined):
        return (whole,)
    if not several:
        return whole
    gaussian = [name for name in graph.unknown if graph.nodes[name].domain.is_unbounded]
    together = _given_the_rest(graph, gaussian) if gaussian else whole
    waiting = list(graph.unknown)
    blocks = []
    if not isinstance(together, Declined):
        blocks.append(together)
        waiting = [name for name in waiting if name not in gaussian]
    for name in waiting:
        found = _given_the_rest(graph, [name])
        if isinstance(found, Declined):
            if found.reason in whole.reason:
                return Declined(NAME, whole.reason)
            return Declined(NAME, f"{whole.reason}; and {name} alone, given the rest: {found.reason}")
        blocks.append(found)
    return tuple(blocks)


def _given_the_rest(graph: Graph, block: list[str]) -> Plan | Declined:
    """The mode of some parameters, the others known."""
    found = plan_exact(
        replace(graph, known=graph.known | (set(graph.unknown) - set(block))), "map", with_evidence=False
    )
    if isinstance(found, Declined):
        return found
    solved = {name for conditional in found.conditionals for name in conditional.variables}
    if not set(block) <= solved:
        return Declined(NAME, f"{', '.join(sorted(set(block) - solved))} has nothing below it")
    return found
