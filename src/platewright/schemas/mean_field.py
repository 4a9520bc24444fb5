"""Mean field: distributions of hidden variables and of blocks of parameters take turns, each given the others.

With hidden probabilities fixed, the best distribution of the parameters is the exact posterior with soft statistics;
with that fixed, the best distribution of the hidden variables comes from expected log factors. Parameters without a
joint posterior of closed form fall into blocks, each exact given moments of the others. The lower bound

    soft log evidence of the last block + entropies of the other blocks and of the hidden variables

is exact and never falls. Where nothing is hidden, blocks of parameters take turns alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from platewright.algebra.expression import Index, mentions
from platewright.elimination.state import GaussianConditional
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import Program
from platewright.program.statements import Pool, Statistic
from platewright.schema import Goal, Plan
from platewright.schemas.exact import Prepared, plan_exact, prepare
from platewright.schemas.field_blocks import FieldBlock, expected_factor, find_blocks, joint_block
from platewright.schemas.hidden import Hidden
from platewright.schemas.iterated_steps import expectation_steps, held_fixed
from platewright.schemas.latent import Latent, find_latent, hidden_classes, hidden_gaussians

NAME = "mean-field"


@dataclass(frozen=True)
class MeanFieldPlan:
    """Exact plans of blocks of parameters made soft, and hidden variables with expected log factors."""

    graph: Graph
    goal: Goal
    latent: Latent
    fields: tuple[FieldBlock, ...]
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
        """The exact posterior of each block of parameters, one of all where they have one together."""
        return tuple(block.plan for block in self.fields)

    @property
    def learned(self) -> tuple[str, ...]:
        """All parameters."""
        return tuple(name for block in self.blocks for c in block.conditionals for name in c.variables)

    @cached_property
    def complete(self) -> Plan:
        """The distribution of all parameters: that of the only block, or the product of several."""
        last = self.fields[-1].plan
        if len(self.fields) == 1:
            return last
        conditionals = tuple(conditional for block in self.fields for conditional in block.plan.conditionals)
        factors = tuple(factor for factor in prepare(self.graph).graph.factors)
        return replace(last, graph=self.graph, conditionals=conditionals, factors=factors)

    @property
    def row_parameters(self) -> dict[str, tuple[Index, ...]]:
        """What the log factors of rows are functions of beside the data, with its axes: moments of the parameters."""
        found = {name: self.graph.nodes[name].axes for name in self.graph.unknown}
        for block in self.fields:
            found |= block.expecter.arrays
        return found

    @property
    def soft_passes(self) -> tuple[Statistic | Pool, ...]:
        """The statistics of all blocks: they are of the same hidden probabilities, so one pass leaves them all."""
        return tuple(dict.fromkeys(statement for program in self.latent.programs for statement in program.passes))

    @property
    def takes_turns(self) -> bool:
        """Whether blocks of parameters are updated given moments of each other."""
        return len(self.fields) > 1

    @property
    def maximise(self) -> Program:
        """The exact posterior of the last block, from soft statistics."""
        return self.latent.programs[-1]

    @property
    def noises(self) -> frozenset[str]:
        """The plates of directions along which Gaussian parameters vary."""
        arrays = [axes for block in self.fields for axes in block.expecter.arrays.values()]
        return frozenset(axis.plate for axes in arrays for axis in axes) - set(self.graph.plates)

    @property
    def expect(self) -> Program:
        """Log weights and probabilities of hidden classes that are not chains."""
        return self.latent.expect

    @property
    def summary(self) -> str:
        """One line about the distributions."""
        hidden = [f"q({', '.join(sorted(self.latent.names))})"] if self.latent.names else []
        found = [f"q({', '.join(block.variables)})" for block in self.fields]
        soft = "soft statistics" if hidden else "moments of the others"
        exact = "the latter exact" if len(found) == 1 else "those of parameters exact" if hidden else "each exact"
        return f"{' '.join([*hidden, *found])} in turn, {exact} given {soft}"

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The log factors of the joint."""
        return self.complete.factors


def plan_mean_field(graph: Graph, goal: Goal) -> MeanFieldPlan | Declined:
    """Mean field when parameters given the hidden variables have exact posteriors, in blocks, with known moments."""
    if goal == "map":
        return Declined(NAME, "the goal is a mode, and mean field gives distributions")
    prepared = prepare(graph)
    now = prepared.graph
    classes, gaussians = hidden_classes(now), hidden_gaussians(now)
    reason = ""
    wide: MeanFieldPlan | None = None
    choices = [(clouds, several) for several in (False, True) for clouds in dict.fromkeys(((), tuple(gaussians)))]
    for clouds, several in choices:
        if not several and not classes and not clouds:
            continue
        found = _planned(graph, prepared, [*classes], [*clouds], goal, several)
        if isinstance(found, Declined):
            reason = found.reason if several or not reason else reason
        elif several and _ties_rows(found):
            wide = wide or found
        else:
            return found
    return wide or Declined(NAME, reason)


def _ties_rows(plan: MeanFieldPlan) -> bool:
    """Whether a Gaussian block has all elements of a plate of rows side by side: filtering is linear in them."""
    rows = {name for name, plate in plan.graph.plates.items() if plate.size is None and plate.labels is None}
    found = [c for c in plan.complete.conditionals if isinstance(c, GaussianConditional)]
    return any(index.plate in rows for c in found for column in c.statement.columns for index in column.dense)


def _planned(
    graph: Graph, prepared: Prepared, classes: list[str], gaussians: list[str], goal: Goal, several: bool
) -> MeanFieldPlan | Declined:
    """Mean field with a given choice of hidden variables; `several` blocks of parameters may take turns."""
    now = prepared.graph
    wanted = {*classes, *gaussians}
    fields = _fields(replace(now, known=now.known | wanted), several)
    if isinstance(fields, Declined):
        given = f"with {', '.join([*classes, *gaussians])} known: " if wanted else ""
        return Declined(NAME, given + fields.reason)
    if not wanted and len(fields) == 1:
        return Declined(NAME, "nothing is hidden and all parameters have an exact posterior together")
    expecters = [block.expecter for block in fields]
    programs = [block.plan.program for block in fields]
    latent = find_latent(now, classes, gaussians, programs, lambda factor: expected_factor(factor, expecters))
    if isinstance(latent, Declined):
        return Declined(NAME, latent.reason)
    rest = tuple(factor for factor in now.factors if not mentions(factor.expression, wanted))
    soft = (
        held_fixed(now, [name for name in now.unknown if name not in wanted], "they stand by their moments")
        if wanted
        else []
    )
    chains = [chain.group.now for chain in latent.chains]
    hidden = expectation_steps(soft[-1].after if soft else now, [*gaussians, *classes], chains)
    updates = [step for block in fields for step in _update(now, block.plan)]
    steps = (*prepared.steps, *soft, *hidden, *updates)
    return MeanFieldPlan(graph, goal, latent, fields, rest, steps, prepared.barren)


def _update(graph: Graph, block: Plan) -> list[Step]:
    """What is held by its moments, what is expected of the log joint then, and the exact steps of a block."""
    held = [name for name in graph.unknown if name in block.graph.known]
    steps = held_fixed(graph, held, "their expected statistics stand in for data")
    if steps and steps[-1].after != block.graph:
        because = f"moments of {', '.join(held)} stand for their values in the log joint"
        steps.append(Step("expect", steps[-1].after, block.graph, because, "Lemma 4.2"))
    return [*steps, *block.steps]


def _fields(graph: Graph, several: bool) -> tuple[FieldBlock, ...] | Declined:
    """All parameters in one block, or in several."""
    if several:
        return find_blocks(graph)
    complete = plan_exact(graph, "posterior", chains=False)
    return complete if isinstance(complete, Declined) else (joint_block(graph, complete),)
