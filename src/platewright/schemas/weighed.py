"""Few-valued unknowns that are drawn with what depends on them integrated out, and that drawn right after.

    k ~ Categorical,   y[i] ~ Normal(alpha + beta[i > k] (x[i] - x[k]), sd)         alpha, beta | k, y are Gaussian
    draw k by   p(k) int p(alpha, beta) prod_i p(y[i] | k, alpha, beta),   then alpha, beta | k

Drawn in turn, each holds the other: the lines through the data stay where they break, and the break where they do. The
log evidence of the closed form, k counted as known, is the log weight of k, and both draws are one from their joint.
It costs the closed form once for each value of each element, so classes of many rows stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from platewright.algebra.expression import Reference, free_indices, walk
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined
from platewright.schema import Plan
from platewright.schemas.blocks import Block, ExactBlock, SiteBlock, WeighedBlock
from platewright.schemas.closed_forms import drawn_by, given_all_but
from platewright.schemas.exact import plan_exact
from platewright.schemas.rough import touching

NAME = "weigh"
MOST_LEVELS = 1000
"""Values of one unknown, where the model tells."""
MOST_SITES = 64
"""Values of all elements of an unknown on plates: the closed form is computed once for each."""


@dataclass(frozen=True)
class Weighed:
    """A discrete draw with others integrated out, and the draw of these that belongs to it."""

    first: WeighedBlock
    then: ExactBlock

    @property
    def variables(self) -> tuple[str, ...]:
        """All that the two draw."""
        return (*self.first.variables, *self.then.variables)


def weigh(graph: Graph, factors: Sequence[Factor], blocks: Sequence[Block]) -> list[Weighed]:
    """The discrete unknowns of some blocks that are drawn in turn with others that have a closed form."""
    found: list[Weighed] = []
    for block in blocks:
        for name in block.variables:
            if not graph.nodes[name].domain.is_finite:
                continue
            made = _weighed(graph, factors, blocks, block, name, found)
            if isinstance(made, Declined):
                continue
            found = [one for one in found if not set(one.variables) & set(made.variables)] + [made]
    return found


def _weighed(
    graph: Graph, factors: Sequence[Factor], blocks: Sequence[Block], own: Block, name: str, before: Sequence[Weighed]
) -> Weighed | Declined:
    if reason := _many(graph, factors, own, name):
        return Declined(NAME, reason)
    around = touching(factors, (name,))
    beside = [block for block in blocks if isinstance(block, ExactBlock) and _meets(block, around)]
    groups = [[n for n in block.variables if not graph.nodes[n].domain.is_finite] for block in beside]
    if not any(group and block is not own for group, block in zip(groups, beside, strict=True)):
        return Declined(NAME, f"nothing with a closed form is drawn in turn with `{name}`")
    for gone in ([n for group in groups for n in group], *_by_hold(graph, groups)):
        together = [one for one in before if set(one.then.variables) & set(gone)]
        every = tuple(dict.fromkeys(n for one in together for n in one.first.variables)) + (name,)
        gone = list(dict.fromkeys((*(n for one in together for n in one.then.variables), *gone)))
        if not _is_shared(graph, around, name, gone):
            continue
        plan = plan_exact(given_all_but(graph, gone, every), "posterior", about=every)
        then = plan_exact(given_all_but(graph, gone), "posterior", with_evidence=False)
        if isinstance(plan, Plan) and isinstance(then, Plan) and set(gone) <= drawn_by(plan) & drawn_by(then):
            held = ", ".join(f"`{n}`" for n in gone)
            why = (
                f"each holds the other, and the log evidence of the closed form of {held} is the log weight of a value"
            )
            first = WeighedBlock(every, plan, tuple(gone), why)
            return Weighed(first, ExactBlock(tuple(gone), then))
    return Declined(NAME, f"what is drawn in turn with `{name}` has no closed form together")


def _is_shared(graph: Graph, around: Sequence[Factor], name: str, gone: Sequence[str]) -> bool:
    """Whether rows that hold what is integrated out look at all elements of an unknown, as a sum of weights does.

    Elements that have rows of their own are classes of these, of which no one holds what all of them share.
    """
    shared = [factor for factor in around if factor.names & set(gone)]
    places = [(f, p) for f in shared for p in walk(f.expression) if isinstance(p, Reference) and p.name == name]
    return not graph.nodes[name].axes or any(free_indices(place) - set(factor.axes) for factor, place in places)


def _by_hold(graph: Graph, groups: Sequence[list[str]]) -> list[list[str]]:
    """Unknowns with a place first, which hold a value harder than scales do; then those of large blocks."""
    places = {id(group): any(graph.nodes[n].domain.is_unbounded for n in group) for group in groups}
    return sorted((group for group in groups if group), key=lambda group: (not places[id(group)], -len(group)))


def _meets(block: Block, around: Sequence[Factor]) -> bool:
    return any(name in factor.names for factor in around for name in block.variables)


def _many(graph: Graph, factors: Sequence[Factor], own: Block, name: str) -> str:
    """Why there are too many values to compute a closed form for each; empty if there are not."""
    node = graph.nodes[name]
    others = [n for n in own.variables if n != name and graph.nodes[n].domain.is_finite]
    if any({name, other} <= factor.names for factor in factors for other in others):
        return f"`{name}` is drawn together with `{others[0]}`"
    levels = _size(graph, str(node.domain.levels)) if node.domain.kind == "levels" else _values(graph, name)
    if not node.axes:
        return f"`{name}` has {levels} values" if levels is not None and levels > MOST_LEVELS else ""
    if not isinstance(own, SiteBlock) or node.kind == "undirected":
        return f"elements of `{name}` are drawn at once"
    sizes = [levels, *(_size(graph, axis.plate) for axis in node.axes)]
    if any(size is None for size in sizes) or prod(size or 1 for size in sizes) > MOST_SITES:
        return f"`{name}` has too many elements, or the data will tell how many"
    return ""


def _values(graph: Graph, name: str) -> int:
    return graph.nodes[name].domain.listed


def _size(graph: Graph, plate: str) -> int | None:
    return graph.plates[plate].size if plate in graph.plates else None
