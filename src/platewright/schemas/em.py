"""Expectation maximisation: expected statistics of hidden variables, then the exact mode of the rest  (Section 7.4).

With the hidden variables known the mode is a closed-form plan. Its statistics are sums over rows of functions of the
hidden values; EM puts their expectations in:

    sum_n [z[n] = k] y[n]      becomes      sum_n p(z[n] = k | data, parameters) y[n]

So no algorithm is written for a model: the M step is the exact plan with soft statistics, the E step is the exact
conditional of the hidden variables. Parameters without a closed mode are raised along the slopes of the expected log
joint instead (`schemas/ascent.py`), which cannot lower the objective either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal as OneOf

from platewright.algebra.expression import Index, mentions
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import Program
from platewright.schema import Goal, Plan
from platewright.schemas.ascent import Ascent, draft_ascents, expected_ascent
from platewright.schemas.asked import HINT, IntegratedOut, Marginal, hidden_unknowns, integrated_out
from platewright.schemas.exact import Prepared, normalisers, plan_exact, prepare
from platewright.schemas.hidden import NAME, Hidden
from platewright.schemas.iterated_steps import expectation_steps, raised_steps, steps_given
from platewright.schemas.latent import Latent, find_latent, hidden_classes


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
    factors: tuple[Factor, ...]
    """The log factors of the joint."""
    steps: tuple[Step, ...] = ()
    barren: tuple[str, ...] = ()
    ascents: tuple[Ascent, ...] = ()
    """Parameters without a closed mode; their programs come after those of the blocks."""
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True
    integrated: tuple[IntegratedOut, ...] = ()
    """Unknowns that are gone from the objective: each has a family given those that are left."""
    left: frozenset[str] = frozenset()
    """The factors that they left."""

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """Hidden classes."""
        return self.latent.hidden

    @property
    def complete(self) -> Plan:
        """The exact mode of the (first) block of parameters."""
        return self.blocks[0]

    @property
    def solved(self) -> tuple[tuple[str, ...], ...]:
        """The parameters of each block that has a closed mode."""
        return tuple(tuple(name for c in block.conditionals for name in c.variables) for block in self.blocks)

    @property
    def learned(self) -> tuple[str, ...]:
        """All parameters, each once."""
        raised = (ascent.variables for ascent in self.ascents)
        return tuple(dict.fromkeys(name for group in (*self.solved, *raised) for name in group))

    @property
    def row_parameters(self) -> dict[str, tuple[Index, ...]]:
        """What the log factors of rows are functions of beside the data, with its axes: the unknowns themselves."""
        return {name: self.graph.nodes[name].axes for name in self.graph.unknown}

    @property
    def has_one_mode(self) -> bool:
        """Whether the objective itself is concave, with nothing hidden and nothing found beside the one ascent."""
        return not (self.blocks or self.latent.names) and len(self.ascents) == 1 and self.ascents[0].one_top

    @property
    def takes_turns(self) -> bool:
        """Whether some parameters are found given the values of others."""
        return len(self.blocks) != 1 or bool(self.ascents)

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
        ways = [f"the exact mode of {', then of '.join(map(', '.join, self.solved))}"] if self.blocks else []
        if raised := ", then ".join(", ".join(ascent.variables) for ascent in self.ascents):
            ways.append(f"{raised} raised along {'its slope' if ',' not in raised else 'their slopes'}")
        shown = ", then ".join(ways)
        gone = f"{', '.join(item.name for item in self.integrated)} integrated out, " if self.integrated else ""
        if self.latent.names:
            return f"{gone}expected statistics of {self.latent.summary}, then {shown}"
        return gone + (f"{shown}, in turn" if len(self.blocks) + len(self.ascents) > 1 else shown)


Way = OneOf["at once", "in turn", "along slopes"]
"""How parameters are found: by one closed mode, by several in turn, or where there is none along slopes."""


def plan_em(graph: Graph, goal: Goal) -> EMPlan | Declined:
    """EM when the unknowns are parameters and hidden variables, and the former have a closed-form mode or slopes."""
    prepared = prepare(graph)
    classes, hidden = hidden_classes(prepared.graph), hidden_unknowns(prepared.graph)
    gaussians = [name for name in hidden if prepared.graph.nodes[name].domain.is_unbounded]
    marginal = integrated_out(prepared.graph, [name for name in hidden if name not in gaussians])
    if isinstance(marginal, Declined):
        return Declined(NAME, marginal.reason)
    reason = ""
    ways: tuple[Way, ...] = ("at once", "in turn", "along slopes")
    for way in ways if classes or gaussians else ways[1:]:
        found = _planned(graph, prepared, marginal, classes, gaussians, goal, way)
        if not isinstance(found, Declined):
            return found
        if classes or gaussians or not reason or way == "along slopes":
            reason = found.reason
    told = f" ({HINT})" if gaussians else ""
    return Declined(NAME, reason + told)


def _planned(
    graph: Graph,
    prepared: Prepared,
    marginal: Marginal,
    classes: list[str],
    gaussians: list[str],
    goal: Goal,
    way: Way,
) -> EMPlan | Declined:
    """EM with a given way to find the parameters."""
    now = marginal.graph
    left = frozenset(now.potentials) - frozenset(prepared.graph.potentials)
    wanted = frozenset({*classes, *gaussians})
    given = f"with {', '.join([*classes, *gaussians])} known: " if wanted else ""
    complete = replace(now, known=now.known | wanted)
    blocks, reasons = _mode_blocks(complete, way != "at once")
    if reasons and way != "along slopes":
        return Declined(NAME, given + "; ".join(dict.fromkeys(reasons.values())))
    if not wanted and not marginal.gone and len(blocks) == 1 and not reasons:
        return Declined(NAME, "no discrete or Gaussian variable on a plate of rows is unknown")
    minus = normalisers(complete)
    if isinstance(minus, Declined):
        return minus
    factors = (*now.factors, *minus)
    taken = [statement.name for block in blocks for statement in block.program.passes]
    drafts = draft_ascents(now, factors, wanted | left, reasons, taken)
    if isinstance(drafts, Declined):
        return Declined(NAME, given + drafts.reason)
    programs = [*(block.program for block in blocks), *(draft.program for draft in drafts)]
    latent = find_latent(now, classes, gaussians, programs, lambda factor: factor)
    if isinstance(latent, Declined):
        return latent
    ascents, soft = [], list(latent.programs[: len(blocks)])
    for draft, program in zip(drafts, latent.programs[len(blocks) :], strict=True):
        ascent = expected_ascent(draft, program, now.nodes)
        if isinstance(ascent, Declined):
            return Declined(NAME, given + ascent.reason)
        ascents.append(ascent[0])
        soft.append(ascent[1])
    latent = replace(latent, programs=tuple(soft))
    rest = tuple(factor for factor in factors if not mentions(factor.expression, wanted))
    expected = "their expected statistics stand in for data"
    chains = [chain.group.now for chain in latent.chains]
    steps = [*prepared.steps, *marginal.steps, *expectation_steps(now, [*gaussians, *classes], chains)]
    steps += steps_given(now, blocks, expected)
    for raised in ascents:
        steps += raised_steps(now, raised.variables, raised.why)
    found = EMPlan(graph, goal, latent, blocks, rest, factors, tuple(steps), prepared.barren, tuple(ascents))
    return replace(found, integrated=marginal.gone, left=left)


def _mode_blocks(graph: Graph, several: bool) -> tuple[tuple[Plan, ...], dict[str, str]]:
    """All parameters at once where their mode has a closed form, else Gaussian ones together and others one by one.

    Each block given the others: a step to its mode cannot lower the objective, so EM goes on rising. Parameters that
    have none come with the reason.
    """
    whole = plan_exact(graph, "map", with_evidence=False)
    if not isinstance(whole, Declined):
        return (whole,), {}
    if not several:
        return (), {"": whole.reason}
    gaussian = [name for name in graph.unknown if graph.nodes[name].domain.is_unbounded]
    together = _given_the_rest(graph, gaussian) if gaussian else whole
    waiting = list(graph.unknown)
    blocks: list[Plan] = []
    reasons: dict[str, str] = {}
    if not isinstance(together, Declined):
        blocks.append(together)
        waiting = [name for name in waiting if name not in gaussian]
    for name in waiting:
        found = _given_the_rest(graph, [name])
        if isinstance(found, Declined):
            reasons[name] = found.reason
        else:
            blocks.append(found)
    if reasons and len(blocks) > 1:
        left = _mode_blocks(replace(graph, known=graph.known | set(reasons)), several)
        return left[0], {**reasons, **left[1]}
    return tuple(blocks), reasons


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
