"""The log joint of all unknowns as one block, what has finitely many values summed out  (Lemmas 6.2 and 6.4).

    log p(data, theta) = log sum over hidden of p(data, hidden, theta),   with slopes and curvatures in theta

It is what an optimiser or a sampler of somebody else's asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.build import add
from platewright.algebra.expression import ZERO, Add, names
from platewright.elimination.state import State
from platewright.elimination.stepping import steps_of
from platewright.elimination.tables import summed_out
from platewright.errors import NotSolvable
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.derivatives import Slope
from platewright.schemas.blocks import HamiltonianBlock
from platewright.schemas.exact import normalisers, prepare
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.scan_slopes import has_scan
from platewright.schemas.slopes import slopes_in, slopes_of

NAME = "log_density"


@dataclass(frozen=True)
class WholeDensity:
    """A log density in the unknowns of `block`, and what of it no unknown enters."""

    graph: Graph
    block: HamiltonianBlock
    constant: tuple[Factor, ...]
    steps: tuple[Step, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        """The unknowns that it is a function of, in the order of writing."""
        return self.block.variables

    @property
    def plan(self) -> GibbsPlan:
        """The block alone, as those that print programs read it."""
        return GibbsPlan(self.graph, "posterior", (self.block,), self.steps, self.block.factors)


def whole_density(graph: Graph, held: Collection[str] = ()) -> WholeDensity | Declined:
    """The density of all unknowns but those that are `held`, or which of them has no slope."""
    prepared = prepare(replace(graph, known=graph.known | set(held)))
    now = prepared.graph
    minus = normalisers(now)
    if isinstance(minus, Declined):
        return Declined(NAME, minus.reason)
    hidden = [name for name in now.unknown if now.nodes[name].domain.is_finite]
    left = tuple(name for name in now.unknown if name not in hidden)
    for name in left:
        if now.nodes[name].domain.is_discrete:
            return Declined(NAME, f"`{name}` counts without end: it is neither summed out nor has it a slope")
    summed = summed_out(State(now, (*now.factors, *minus), now.unknown), hidden)
    if isinstance(summed, Declined):
        return Declined(NAME, summed.reason)
    moving, constant = _parted(summed.factors, frozenset(left))
    slopes = slopes_of(moving, left)
    if isinstance(slopes, Declined):
        return Declined(NAME, slopes.reason)
    block = HamiltonianBlock(left, moving, slopes, "asked for as a whole")
    return WholeDensity(now, block, constant, (*prepared.steps, *steps_of(summed)))


def curvatures_of(slopes: Sequence[Slope], variables: Sequence[str]) -> dict[tuple[str, str], tuple[Slope, ...]]:
    """The second derivatives, as slopes of slopes: one is added up at the places of both of its occurrences."""
    found: dict[tuple[str, str], list[Slope]] = {}
    for slope in slopes:
        if has_scan(slope.expression, frozenset(variables)):
            raise NotSolvable(f"the second derivatives in `{slope.variable}` go through a scan, and are not derived")
        for second in slopes_in(Factor(slope.variable, slope.over, slope.expression), frozenset(variables)):
            pair = slope.variable, second.variable
            both = Slope(" ".join(pair), (*slope.at, *second.at), second.over, second.expression)
            found.setdefault(pair, []).append(both)
    return {pair: tuple(parts) for pair, parts in found.items()}


def _parted(factors: Sequence[Factor], wanted: frozenset[str]) -> tuple[tuple[Factor, ...], tuple[Factor, ...]]:
    """The terms of factors that hold one of the unknowns, and all others."""
    parted: tuple[list[Factor], list[Factor]] = ([], [])
    for factor in factors:
        terms = factor.expression.terms if isinstance(factor.expression, Add) else (factor.expression,)
        for still in (False, True):
            part = add(*(term for term in terms if bool(names(term) & wanted) != still))
            if part != ZERO:
                parted[still].append(replace(factor, expression=part))
    return tuple(parted[0]), tuple(parted[1])
