"""Gibbs sampling: draw block after block, each from its exact conditional given all others  (Section 7.1).

A block's conditional is itself an exact plan in which the other unknowns count as known, so whatever elimination can
solve is drawn as one block: all parameters given the hidden classes, all Gaussian weights given their scale. What no
family matches is drawn by a slice sampler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from platewright.algebra.expression import Lag, Reference, walk
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import Program
from platewright.schema import Goal, Plan
from platewright.schemas.exact import plan_exact, prepare

NAME = "gibbs"


@dataclass(frozen=True)
class ExactBlock:
    """Unknowns drawn together from a closed-form conditional."""

    variables: tuple[str, ...]
    plan: Plan


@dataclass(frozen=True)
class SliceBlock:
    """One unknown, drawn by a slice sampler along each of its elements."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    why: str


@dataclass(frozen=True)
class ChainBlock:
    """A hidden chain along an ordered plate, drawn as a whole: filter forwards, sample backwards."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]


Block = ExactBlock | SliceBlock | ChainBlock


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
        shown = []
        for block in self.blocks:
            way = {"ExactBlock": "exact", "SliceBlock": "slice", "ChainBlock": "forward-backward"}[type(block).__name__]
            shown.append(f"{{{', '.join(block.variables)}}} {way}")
        count = len(self.blocks)
        return f"{count} block{'' if count == 1 else 's'}: {'; '.join(shown)}"

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs of the exact blocks."""
        return tuple(block.plan.program for block in self.blocks if isinstance(block, ExactBlock))


def plan_gibbs(graph: Graph, goal: Goal) -> GibbsPlan | Declined:
    """Blocks for every unknown, or which one cannot be drawn and why."""
    if goal == "map":
        return Declined(NAME, "the goal is a mode, and Gibbs sampling gives draws")
    prepared = prepare(graph)
    now = prepared.graph
    if any(node.kind == "undirected" and not now.is_known(name) for name, node in now.nodes.items()):
        return _undirected(now)
    hidden = [name for name in now.unknown if now.nodes[name].domain.is_finite and now.nodes[name].axes]
    others = [name for name in now.unknown if name not in hidden]
    blocks: list[Block] = []
    waiting = list(others)
    while waiting:
        block = _largest_block(now, waiting)
        if isinstance(block, Declined):
            return block
        blocks.append(block)
        waiting = [name for name in waiting if name not in block.variables]
    for name in hidden:
        found = hidden_block(now, name)
        if isinstance(found, Declined):
            return found
        blocks.append(found)
    if not blocks:
        return Declined(NAME, "nothing is unknown")
    proper = all(node.family is None or node.family.proper for node in now.nodes.values())
    return GibbsPlan(graph, goal, tuple(blocks), prepared.steps, now.factors, prepared.barren, proper=proper)


def _undirected(graph: Graph) -> Declined:
    return Declined(NAME, "an undirected component is unknown; its sampler is not derived yet")


def _given_all_but(graph: Graph, block: Sequence[str]) -> Graph:
    """The graph in which everything outside the block is known."""
    return replace(graph, known=graph.known | (set(graph.unknown) - set(block)))


def _largest_block(graph: Graph, waiting: list[str]) -> Block | Declined:
    """All that is waiting, else its Gaussian part, else one unknown."""
    gaussian = [name for name in waiting if graph.nodes[name].domain.is_unbounded]
    reason = ""
    for block in ([*waiting], gaussian, waiting[:1]):
        if not block:
            continue
        found = plan_exact(_given_all_but(graph, block), "posterior", with_evidence=False)
        if isinstance(found, Plan) and set(block) <= _drawn(found):
            return ExactBlock(tuple(block), found)
        reason = found.reason if isinstance(found, Declined) else "it has nothing below it"
    return _slice(graph, waiting[0], reason)


def _drawn(plan: Plan) -> set[str]:
    return {name for conditional in plan.conditionals for name in conditional.variables}


def _slice(graph: Graph, name: str, reason: str) -> SliceBlock | Declined:
    """A slice sampler needs real elements that do not meet each other in one factor."""
    node = graph.nodes[name]
    if node.domain.kind != "real":
        return Declined(NAME, f"`{name}` is {node.domain} and its conditional is not recognised: {reason}")
    factors = tuple(factor for factor in graph.factors if name in factor.names)
    for factor in factors:
        places = {p.indices for p in walk(factor.expression) if isinstance(p, Reference) and p.name == name}
        if len(places) > 1 or any(isinstance(at, Lag) for place in places for at in place):
            return Declined(NAME, f"different elements of `{name}` meet in {factor.owner}: {reason}")
        bound = {index for part in walk(factor.expression) for index in _binds(part)}
        if any(index in bound for place in places for index in walk_indices(place)):
            return Declined(NAME, f"`{name}` is summed over inside {factor.owner}: {reason}")
    return SliceBlock((name,), factors, reason)


def _binds(part: object) -> tuple[object, ...]:
    from platewright.algebra.expression import bound

    return bound(part)  # type: ignore[arg-type]


def walk_indices(place: tuple[object, ...]) -> list[object]:
    """All parts of the positions at which a variable is looked up."""
    return [part for at in place for part in walk(at)]  # type: ignore[arg-type]


def hidden_block(graph: Graph, name: str) -> Block | Declined:
    """How a hidden discrete variable is drawn given all else: elementwise, or as a chain."""
    found = plan_exact(_given_all_but(graph, [name]), "posterior", with_evidence=False)
    if isinstance(found, Plan) and name in _drawn(found):
        return ExactBlock((name,), found)
    factors = tuple(factor for factor in graph.factors if name in factor.names)
    node = graph.nodes[name]
    step = next((axis for axis in node.axes if graph.plates[axis.plate].ordered), None)
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
