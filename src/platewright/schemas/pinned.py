"""Unknowns that others fix: given the rest each has one value left, so that a sampler that moves one never leaves it.

    log[total = x_1 + x_2 + x_3]        given x_2 and x_3 there is one x_1
    x ~ Multinomial(count, p)           given all elements but one there is one value of that

Such unknowns must be drawn together. A chain that moved them in turn would stand where it began, and its draws would
look like an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from platewright.algebra.expression import AtMost, Call, Expression, Indicator, Multiply, Reference, children, walk
from platewright.graph.graph import Factor, Graph
from platewright.schemas.blocks import Block, ExactBlock
from platewright.schemas.rough import meets_itself

COMPARISONS = frozenset({"less", "floor"})
"""Steps: an unknown inside them may move between their edges."""


def pinned_unknowns(graph: Graph, factors: Sequence[Factor], blocks: Sequence[Block]) -> str | None:
    """Which unknowns fix each other without being drawn as one block, in words; None where none do."""
    for name in graph.unknown:
        node = graph.nodes[name]
        if node.domain.kind == "integer" and node.events:
            return f"`{name}` is a vector of counts with a fixed sum: no element of it can move alone"
    together = [set(block.variables) for block in blocks if isinstance(block, ExactBlock)]
    for factor in factors:
        for condition in _equalities(factor.expression):
            fixed = [name for name in graph.unknown if name in _fixed(condition)]
            alone = len(fixed) == 1 and meets_itself(graph, (factor,), fixed[0]) is None
            smooth = next((name for name in fixed if not graph.nodes[name].domain.is_discrete), None)
            if smooth is not None:
                return f"`{factor.owner}` holds where {condition}, which leaves no density of `{smooth}`"
            if not fixed or alone or any(set(fixed) <= names for names in together):
                continue
            shown = ", ".join(f"`{name}`" for name in fixed)
            return f"`{factor.owner}` holds where {condition}: no element of {shown} can move alone"
    return None


def _equalities(expression: Expression) -> Iterator[Indicator]:
    """The equalities without which a log factor is minus infinity."""
    for part in walk(expression):
        match part:
            case AtMost(_, high):
                yield from _needed(high)
            case Call("log", (inside,)):
                yield from _needed(inside)


def _needed(expression: Expression) -> Iterator[Indicator]:
    """The equalities without which an expression is nought."""
    match expression:
        case Indicator():
            yield expression
        case Multiply(factors):
            for factor in factors:
                yield from _needed(factor)


def _fixed(expression: Expression) -> frozenset[str]:
    """The names whose value an equality fixes; those inside of steps it only bounds."""
    match expression:
        case Reference(name):
            return frozenset({name})
        case Indicator(left, right):
            return _fixed(left) | _fixed(right)
        case Call(function) if function in COMPARISONS:
            return frozenset()
    return frozenset(name for part in children(expression) for name in _fixed(part))
