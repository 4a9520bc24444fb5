"""Gibbs sampling: draw block after block, each from its exact conditional given all others  (Section 7.1).

A block's conditional is itself an exact plan in which the other unknowns count as known, so whatever elimination can
solve is drawn as one block: all parameters given the hidden classes, all Gaussian weights given their scale. What no
family matches is moved along its gradient where it is coupled, and by a slice sampler where it stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from platewright.algebra.expression import Lag, Reference, walk
from platewright.elimination.tables import MOST_TIED, level_count
from platewright.graph.components import chain_components, component_parents
from platewright.graph.graph import Factor, Graph
from platewright.graph.normaliser import log_normaliser
from platewright.operation import Declined, Step
from platewright.program.program import Program
from platewright.schema import Goal, Plan
from platewright.schemas.blocks import (
    Block,
    BoundedBlock,
    ChainBlock,
    CoordinateBlock,
    ExactBlock,
    HamiltonianBlock,
    JumpBlock,
    OrbitBlock,
    ScaleBlock,
    SiteBlock,
    SliceBlock,
    WeighedBlock,
    way,
)
from platewright.schemas.bounds import bounded_block, is_bounded
from platewright.schemas.censored import censored_first
from platewright.schemas.closed_forms import drawn_by, given_all_but, largest_block
from platewright.schemas.exact import plan_exact, prepare
from platewright.schemas.integrated import Integrated, integrate, owner_of, reasons
from platewright.schemas.pinned import pinned_unknowns
from platewright.schemas.rough import funnels, jumps, rough_blocks, touching
from platewright.schemas.sweep_steps import sweep_steps
from platewright.schemas.tied_classes import may_nest, tied_classes
from platewright.schemas.weighed import weigh

NAME = "gibbs"
__all__ = [
    "Block",
    "BoundedBlock",
    "ChainBlock",
    "CoordinateBlock",
    "ExactBlock",
    "GibbsPlan",
    "HamiltonianBlock",
    "JumpBlock",
    "OrbitBlock",
    "ScaleBlock",
    "SiteBlock",
    "SliceBlock",
    "WeighedBlock",
    "hidden_block",
    "plan_gibbs",
]


@dataclass(frozen=True)
class GibbsPlan:
    """Blocks in the order of a sweep."""

    graph: Graph
    goal: Goal
    blocks: tuple[Block, ...]
    steps: tuple[Step, ...]
    factors: tuple[Factor, ...]
    barren: tuple[str, ...] = ()
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True

    @property
    def summary(self) -> str:
        """One line about the blocks."""
        shown = [f"{{{', '.join(block.variables)}}} {way(block)}" for block in self.blocks]
        count = len(self.blocks)
        return f"{count} block{'' if count == 1 else 's'}: {'; '.join(shown)}"

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs of the blocks that have a closed form."""
        return tuple(block.plan.program for block in self.blocks if isinstance(block, ExactBlock | WeighedBlock))


def plan_gibbs(graph: Graph, goal: Goal, weighing: bool = True) -> GibbsPlan | Declined:
    """Blocks for every unknown, or which one cannot be drawn and why.

    Without `weighing`, discrete unknowns are drawn given all else: each block's density has its normaliser then, and a
    sweep is short.
    """
    if goal == "map":
        return Declined(NAME, "the goal is a mode, and Gibbs sampling gives draws")
    prepared = prepare(graph)
    now = prepared.graph
    minus = _normalisers(now)
    if isinstance(minus, Declined):
        return minus
    factors = (*now.factors, *minus)
    hidden = [name for name in now.unknown if _is_hidden(now, name)]
    others = [name for name in now.unknown if name not in hidden]
    classes = _hidden_blocks(now, factors, hidden)
    blocks, rough = _exact_blocks(now, others)
    weighed = weigh(now, factors, [*blocks, *classes]) if weighing else []
    if weighed:
        first = {name for one in weighed for name in one.variables}
        others = [name for name in others if name not in first]
        classes = [block for block in classes if not first & set(block.variables)]
        blocks, rough = _exact_blocks(now, others)
    integrated = integrate(now, factors, [name for block in blocks for name in block.variables], rough)
    if integrated.gone:
        rough = reasons(integrated, rough)
        moved = {*rough, *integrated.gone}
        blocks, _ = _exact_blocks(now, [name for name in others if name not in moved])
    for name in [name for name in rough if is_bounded(now, name)]:
        found = bounded_block(given_all_but(now, [name]), factors, name)
        if isinstance(found, Declined):
            rough[name] = f"{rough[name]}; {found.reason}"
        else:
            del rough[name]
            blocks.append(found)
    beside = funnels(now, factors, [*blocks, *(one.then for one in weighed)])
    blocks = [*_in_order(now, integrated, rough_blocks(now, integrated.factors, rough), blocks), *beside]
    blocks = censored_first(now, blocks, classes) if weighing else [*blocks, *classes]
    blocks = [*(block for one in weighed for block in (one.first, one.then)), *blocks]
    if not blocks:
        return Declined(NAME, "nothing is unknown")
    drawn = {name for block in blocks for name in block.variables}
    blocks += [block for block in jumps(now, factors) if set(block.variables) <= drawn]
    fixed = pinned_unknowns(now, factors, blocks)
    if fixed is not None:
        return Declined(NAME, fixed)
    proper = all(node.family is None or node.family.proper for node in now.nodes.values())
    steps = (*prepared.steps, *sweep_steps(now, blocks))
    return GibbsPlan(graph, goal, tuple(blocks), steps, factors, prepared.barren, proper=proper)


def _exact_blocks(graph: Graph, others: Sequence[str]) -> tuple[list[Block], dict[str, str]]:
    """The unknowns with a closed form, as few blocks as can be, and why each other one has none."""
    blocks: list[Block] = []
    rough: dict[str, str] = {}
    for waiting in _portions(graph, others):
        while waiting:
            block = largest_block(graph, waiting)
            if isinstance(block, Declined):
                rough[waiting.pop(0)] = block.reason
                continue
            blocks.append(block)
            waiting = [name for name in waiting if name not in block.variables]
    return blocks, rough


def _portions(graph: Graph, others: Sequence[str]) -> list[list[str]]:
    """What may share a block: all, or where the discrete ones have too many values together, each of these alone."""
    discrete = [name for name in others if graph.nodes[name].domain.is_finite]
    joint = prod(level_count(graph, str(graph.nodes[name].domain.levels)) for name in discrete)
    if len(discrete) < 2 or joint <= MOST_TIED:
        return [list(others)]
    return [[name for name in others if name not in discrete], *([name] for name in discrete)]


def _in_order(graph: Graph, found: Integrated, rough: Sequence[Block], exact: Sequence[Block]) -> list[Block]:
    """What was moved with others integrated out comes first and these right after it: together they are one draw."""
    if not found.gone:
        return [*exact, *rough]
    first: list[Block] = []
    last: list[Block] = []
    for block in rough:
        owners = {factor.owner for factor in getattr(block, "factors", ())}
        gone = tuple(name for name in found.gone if owner_of(name) in owners)
        if not gone:
            last.append(block)
            continue
        assert isinstance(block, SliceBlock | HamiltonianBlock | CoordinateBlock | ScaleBlock | OrbitBlock)
        first.append(replace(block, without=gone))
    drawn = [largest_block(graph, [name]) for name in found.gone]
    return [*first, *(block for block in drawn if not isinstance(block, Declined)), *exact, *last]


def _is_hidden(graph: Graph, name: str) -> bool:
    node = graph.nodes[name]
    return node.domain.is_finite and (bool(node.axes) or node.kind == "undirected")


def _normalisers(graph: Graph) -> tuple[Factor, ...] | Declined:
    """Minus the log normaliser of each undirected component that an unknown parent enters; others are constant."""
    found = []
    for component in chain_components(graph):
        if not any(graph.nodes[name].kind == "undirected" for name in component):
            continue
        unknown = [name for name in graph.unknown if name in component_parents(graph, component)]
        if not unknown:
            continue
        factor = log_normaliser(graph, component)
        if isinstance(factor, str):
            shown = ", ".join(f"`{name}`" for name in graph.nodes if name in component)
            return Declined(
                NAME,
                f"the normaliser of the undirected component of {shown} depends on the unknown `{unknown[0]}` and has "
                f"no closed form: {factor}",
            )
        found.append(Factor(f"normaliser of {factor.owner}", factor.axes, -factor.expression))
    return tuple(found)


def _hidden_blocks(graph: Graph, factors: tuple[Factor, ...], hidden: Sequence[str]) -> list[Block]:
    """Hidden classes: those of one element that meet as one draw, those around it with them, and others one by one."""
    blocks: list[Block] = []
    for group in tied_classes(graph, factors, hidden):
        together = _class_block(graph, group)
        found = [together] if together is not None else [_alone(graph, factors, name) for name in group]
        for block in found:
            whole = None
            for other in blocks if isinstance(block, ExactBlock) else []:
                if isinstance(other, ExactBlock) and may_nest(graph, factors, other.variables, block.variables):
                    whole = _class_block(graph, (*other.variables, *block.variables))
                    if whole is not None:
                        blocks[blocks.index(other)] = whole
                        break
            if whole is None:
                blocks.append(block)
    return blocks


def _alone(graph: Graph, factors: tuple[Factor, ...], name: str) -> Block:
    """One hidden variable given all else; where its elements meet, element by element."""
    drawn = hidden_block(graph, name)
    if not isinstance(drawn, Declined):
        return drawn
    return SiteBlock((name,), touching(factors, (name,)), drawn.reason)


def _class_block(graph: Graph, group: tuple[str, ...]) -> ExactBlock | None:
    """Several hidden classes as one draw, where each has a table once those before it are summed out."""
    if len(group) == 1:
        return None
    found = plan_exact(given_all_but(graph, group), "posterior", with_evidence=False)
    return ExactBlock(group, found) if isinstance(found, Plan) and set(group) <= drawn_by(found) else None


def hidden_block(graph: Graph, name: str) -> Block | Declined:
    """How a hidden discrete variable is drawn given all else: elementwise, or as a chain."""
    found = plan_exact(given_all_but(graph, [name]), "posterior", with_evidence=False)
    if isinstance(found, Plan) and name in drawn_by(found):
        return ExactBlock((name,), found)
    factors = tuple(factor for factor in graph.factors if name in factor.names)
    node = graph.nodes[name]
    step = next((axis for axis in node.axes if graph.plates[axis.plate].ordered), None)
    if node.kind == "undirected":
        step = None  # its potentials have no start: the element before the first is the first
    if step is not None and len(node.axes) == 1 and all(_is_chain(factor, name, step.plate) for factor in factors):
        return ChainBlock((name,), factors)
    reason = found.reason if isinstance(found, Declined) else "it has nothing below it"
    return Declined(NAME, f"`{name}`: {reason}")


def _is_chain(factor: Factor, name: str, step: str) -> bool:
    """Whether a factor touches the variable at one element and at most the one before; its other axes are summed."""
    steps = [axis for axis in factor.axes if axis.plate == step]
    if len(steps) != 1:
        return False
    for part in walk(factor.expression):
        if isinstance(part, Reference) and part.name == name:
            at = part.indices[0]
            if not (at == steps[0] or (isinstance(at, Lag) and at.index == steps[0])):
                return False
    return True
