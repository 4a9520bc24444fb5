"""Hidden classes that are drawn with values known only to lie beyond an end integrated out, and these right after.

    z[i] ~ Bernoulli(p),   t[i] ~ Exponential(rate[z[i]]),  known: t[i] > end[i]
    draw z[i] by   p(z[i]) P(t[i] > end[i] | z[i]),   then t[i] | z[i] beyond its end

Drawn in turn, each holds the other: a time of a class that lives for ever never comes back from there. Both are one
draw only if the second is exact however little lies beyond the end, so the family has to state its tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from platewright.algebra.build import call, substitute
from platewright.algebra.expression import Expression
from platewright.families.bounded import LOWER, log_mass
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.schemas.blocks import Block, BoundedBlock, ExactBlock
from platewright.schemas.closed_forms import drawn_by, given_all_but
from platewright.schemas.exact import plan_exact

NAME = "censored"


def censored_first(graph: Graph, blocks: Sequence[Block], classes: Sequence[Block]) -> list[Block]:
    """All blocks: classes that censored values were integrated out of come first, and these right after."""
    beyond = {one.variables[0]: one for block in blocks if (one := drawn_anew(graph, block)) is not None}
    made = {id(block): _without(graph, block, beyond) for block in classes}
    first = [block for block in made.values() if isinstance(block, ExactBlock)]
    gone = {name for block in first for name in block.without}
    others = [block for block in blocks if not gone & set(block.variables)]
    left = [block for block in classes if isinstance(made[id(block)], Declined)]
    return [*first, *(block for name, block in beyond.items() if name in gone), *others, *left]


def drawn_anew(graph: Graph, block: Block) -> BoundedBlock | None:
    """The block of a censored value with the logarithm of what lies beyond its end, where its family has a tail."""
    if not isinstance(block, BoundedBlock) or block.family is None or block.family.tail is None or block.upper:
        return None
    if not is_censored(graph.nodes[block.variables[0]]):
        return None
    own = dict(block.parameters)
    given: dict[Expression, Expression] = {one.symbol: own[one.name] for one in block.family.parameters}
    end: Expression = reduce(lambda one, other: call("maximum", one, other), block.lower)
    mass = substitute(log_mass(block.family, True, False), {**given, LOWER.symbol: end})
    return replace(block, end=end, log_beyond=mass)


def is_censored(node: Variable) -> bool:
    """Whether a variable has the density of a family within bounds, and not that over the mass between them."""
    family = node.family
    return family is not None and family.within is not None and family.log_density == family.within.log_density


def _without(graph: Graph, block: Block, beyond: dict[str, BoundedBlock]) -> ExactBlock | Declined:
    shown = ", ".join(f"`{name}`" for name in block.variables)
    if not isinstance(block, ExactBlock):
        return Declined(NAME, f"{shown} has no closed form")
    gone = [name for name in beyond if set(graph.nodes[name].parents) & set(block.variables)]
    if not gone:
        return Declined(NAME, f"nothing that is censored depends on {shown}")
    masses = [_as_mass(graph.nodes[name], beyond[name]) for name in gone]
    plan = plan_exact(given_all_but(graph.with_nodes(masses), block.variables), "posterior", with_evidence=False)
    if isinstance(plan, Declined):
        return plan
    if not set(block.variables) <= drawn_by(plan):
        return Declined(NAME, f"{shown} has nothing below it")
    return replace(block, plan=plan, without=tuple(gone))


def _as_mass(node: Variable, block: BoundedBlock) -> Variable:
    """The variable with the probability of its interval in place of its density."""
    assert block.log_beyond is not None
    return replace(node, log_density=block.log_beyond, family=None, parameters=(), given=())
