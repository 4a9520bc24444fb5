"""Blocks of parameters for mean field: each an exact plan, given expected log factors under the other blocks.

    q(theta) = product over blocks of q(block),      log q(block) = E over all other blocks of log p + constant

Given the others, a block has a closed form as in Gibbs sampling. Its expected log factors have that form too, with
moments of the others in place of their values (Lemma 4.2): so the update is an exact plan on known arrays of moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from platewright.algebra.domain import REAL
from platewright.algebra.expression import Index
from platewright.elimination.entropy import entropy_of
from platewright.elimination.expected import Expecter
from platewright.elimination.loadings import direction_sizes
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Factor, Graph
from platewright.language.plate import Plate
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.program.program import Program
from platewright.program.statements import Assign
from platewright.schema import Plan
from platewright.schemas.body_program import body_program
from platewright.schemas.exact import plan_exact

WORD = "mean-field"
ENTROPY = "entropy"


@dataclass(frozen=True)
class FieldBlock:
    """Parameters with a distribution of their own: its exact plan, what others need of it, and its entropy."""

    plan: Plan
    expecter: Expecter
    entropy: Program | None = None
    """What a block adds to the bound while another is updated; none where it is the only one."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The parameters of the block."""
        return tuple(name for conditional in self.plan.conditionals for name in conditional.variables)


def joint_block(graph: Graph, plan: Plan) -> FieldBlock:
    """All parameters as one block."""
    return FieldBlock(plan, Expecter(plan.conditionals, dict(graph.nodes), graph.facts))


def find_blocks(graph: Graph) -> tuple[FieldBlock, ...] | Declined:
    """As few blocks as the search finds in which every parameter has a closed form and moments that others need."""
    if graph.potentials:
        return Declined(WORD, "several blocks of parameters are not tried beside potentials")
    parted = _parted(graph)
    if isinstance(parted, Declined):
        return parted
    blocks: list[FieldBlock] = []
    named = 0
    for number, expecter in enumerate(parted):
        others = [other for other in parted if other is not expecter]
        expected = expected_graph(graph, others)
        if isinstance(expected, Declined):
            return expected
        # The last block is left with all that is known of the bound; the others need their distribution only.
        found = plan_exact(expected, "posterior", with_evidence=number == len(parted) - 1, blocks=named, chains=False)
        shown = ", ".join(sorted(expecter.unknown))
        if isinstance(found, Declined):
            return Declined(WORD, f"{shown}, given moments of the others: {found.reason}")
        if not _same_form(expecter.conditionals, found.conditionals):
            return Declined(WORD, f"{shown} given moments of the others is of another form than given their values")
        named += sum(isinstance(conditional, GaussianConditional) for conditional in found.conditionals)
        block = _with_entropy(graph, found, replace(expecter, conditionals=found.conditionals))
        if isinstance(block, Declined):
            return block
        blocks.append(block)
    return tuple(blocks)


def _with_entropy(graph: Graph, plan: Plan, expecter: Expecter) -> FieldBlock | Declined:
    entropy = entropy_of(expecter)
    if isinstance(entropy, Declined):
        return entropy
    shown = ", ".join(sorted(expecter.unknown))
    body = [Assign(ENTROPY, (), entropy, f"entropy of the distribution of {shown}")]
    return FieldBlock(plan, expecter, body_program(graph, body, expecter.arrays))


def expected_factor(factor: Factor, expecters: Sequence[Expecter]) -> Factor | Declined:
    """The expectation of a log factor under several independent distributions, one after another."""
    for expecter in expecters:
        if factor.names & expecter.unknown:
            found = expecter.factor(factor)
            if isinstance(found, Declined):
                return found
            factor = found
    return factor


def expected_graph(graph: Graph, others: Sequence[Expecter]) -> Graph | Declined:
    """The graph with expected log factors, in which the moments of the others are known arrays."""
    nodes: dict[str, Variable] = {}
    for factor in graph.factors:
        found = expected_factor(factor, others)
        if isinstance(found, Declined):
            return Declined(found.operation, f"in {factor.owner}: {found.reason}")
        nodes[factor.owner] = replace(graph.nodes[factor.owner], log_density=found.expression, parameters=(), given=())
    arrays: dict[str, tuple[Index, ...]] = {}
    sizes: dict[str, int] = {}
    for other in others:
        arrays |= other.arrays
        sizes |= direction_sizes(other.conditionals, fixed_sizes(graph))
    plates = {axis.plate for axes in arrays.values() for axis in axes} - set(graph.plates)
    given = {name: Variable(name, "input", axes, REAL) for name, axes in arrays.items()}
    settled = {name for other in others for name in other.unknown}
    return replace(
        graph,
        plates={**graph.plates, **{name: Plate(name, sizes.get(name)) for name in sorted(plates)}},
        nodes={**{name: nodes.get(name, node) for name, node in graph.nodes.items()}, **given},
        known=graph.known | settled,
    )


# -- which parameters go together -------------------------------------------------------------------------------------


def _parted(graph: Graph) -> list[Expecter] | Declined:
    """Blocks one after another: all that is waiting, else its Gaussian part, else one with those that may join it."""
    waiting = list(graph.unknown)
    found: list[Expecter] = []
    while waiting:
        gaussian = [name for name in waiting if graph.nodes[name].domain.is_unbounded]
        for names in (waiting, gaussian, waiting[:1]):
            block = _given_the_rest(graph, names) if names else Declined(WORD, "")
            if isinstance(block, Expecter):
                break
        if isinstance(block, Declined):
            return Declined(WORD, f"{waiting[0]} alone, given the rest: {block.reason}")
        block = _grown(graph, block, waiting)
        found.append(block)
        waiting = [name for name in waiting if name not in block.unknown]
    return found


def _grown(graph: Graph, block: Expecter, waiting: Sequence[str]) -> Expecter:
    """The block with every parameter beside it that keeps the closed form: the fewer factors, the better the bound."""
    for name in waiting:
        beside = {other for factor in graph.factors if factor.names & block.unknown for other in factor.names}
        if name in beside and name not in block.unknown:
            larger = _given_the_rest(graph, [*(other for other in waiting if other in block.unknown), name])
            block = larger if isinstance(larger, Expecter) else block
    return block


def _given_the_rest(graph: Graph, names: Sequence[str]) -> Expecter | Declined:
    """How expectations are taken under the closed form of some parameters, the others known; all must be there."""
    wanted = set(names)
    plan = plan_exact(
        replace(graph, known=graph.known | (set(graph.unknown) - wanted)), "posterior", False, chains=False
    )
    if isinstance(plan, Declined):
        return plan
    expecter = Expecter(plan.conditionals, dict(graph.nodes), graph.facts)
    if missing := sorted(wanted - expecter.unknown):
        return Declined(WORD, f"{', '.join(missing)} has nothing below it")
    for factor in graph.factors:
        if factor.names & wanted and isinstance(found := expecter.factor(factor), Declined):
            return Declined(WORD, f"in {factor.owner}: {found.reason}")
    entropy = entropy_of(expecter)
    return entropy if isinstance(entropy, Declined) else expecter


def _same_form(before: Sequence[Conditional], after: Sequence[Conditional]) -> bool:
    """Whether the unknowns of two plans are split and moved alike, so that moments mean the same in both."""
    return {_form(conditional) for conditional in before} == {_form(conditional) for conditional in after}


def _form(conditional: Conditional) -> tuple[object, ...]:
    match conditional:
        case FamilyConditional(variable, recognised):
            return variable, recognised.family.name, recognised.transform.name
        case GaussianConditional(statement, scale, matrix):
            columns = tuple((column.variable, column.at) for column in statement.columns)
            return columns, statement.batch, scale, matrix
    return (conditional.variable,)
