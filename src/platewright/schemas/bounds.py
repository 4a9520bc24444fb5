"""Unknowns within bounds: what is left of a conditional once its bounds are taken off is a family, or it is not.

    log p(x) + log [low <= x] + log [x <= high]        low, high without x:  the family of p, cut off at both

A latent value behind a censored one, a truncated unknown: drawn exactly by inverting the cumulative distribution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from platewright.algebra.build import add, substitute
from platewright.algebra.domain import POSITIVE, REAL, UNIT
from platewright.algebra.expression import Add, AtMost, Constant, Expression, Index, Reference, names, walk
from platewright.elimination.state import FamilyConditional
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Potential, Variable
from platewright.operation import Declined
from platewright.schema import Plan
from platewright.schemas.blocks import BoundedBlock
from platewright.schemas.exact import plan_exact
from platewright.schemas.rough import meets_itself, touching

NAME = "bounds"


def is_bounded(graph: Graph, name: str) -> bool:
    """Whether bounds are laid on an unknown: by its own family, or by a factor of its own."""
    node = graph.nodes[name]
    cut = node.family is not None and node.family.within is not None
    return cut or any(
        isinstance(part, AtMost) and name in names(part)
        for factor in touching(graph.factors, (name,))
        for part in walk(factor.expression)
    )


def bounded_block(graph: Graph, factors: Sequence[Factor], name: str) -> BoundedBlock | Declined:
    """The unknown without its bounds recognised, all else known; or what stands in the way."""
    if graph.nodes[name].domain.is_discrete:
        return Declined(NAME, f"`{name}` is {graph.nodes[name].domain}")
    if (owner := meets_itself(graph, factors, name)) is not None:
        return Declined(NAME, f"elements of `{name}` meet in {owner}")
    node = graph.nodes[name]
    around = touching(factors, (name,))
    freed, lower, upper = _without_bounds(graph, node)
    own = node.family.within if node.family is not None else None
    if own is not None and own.quantile is not None and [factor.owner for factor in around] == [name]:
        parameters = tuple((word, value) for word, value in node.parameters if word not in ("lower", "upper"))
        return BoundedBlock((name,), around, lower, upper, own, parameters)
    found = _recognised(freed, name)
    if isinstance(found, Plan):
        return BoundedBlock((name,), around, lower, upper, plan=found)
    if all(isinstance(end, Constant) for end in (*lower, *upper)):
        return found  # its domain holds it, whatever moves it
    return BoundedBlock((name,), around, lower, upper, why=found.reason)


Ends = tuple[Expression, ...]


def _without_bounds(graph: Graph, node: Variable) -> tuple[Graph, Ends, Ends]:
    """The graph with the bounds on a node taken off, and the bounds."""
    bare, bounds = _bare(node, node.log_density, node.plates)
    given = dict(node.parameters) if node.family is not None and node.family.within is not None else {}
    bounds += [(given.get("lower"), given.get("upper"))]
    potentials: dict[str, Potential] = {}
    for key, potential in graph.potentials.items():
        left, more = _bare(node, potential.expression, potential.axes)
        bounds += more
        potentials[key] = replace(potential, expression=left)
    ends = node.domain.lower, node.domain.upper
    bounds += [(Constant(ends[0]) if isfinite(ends[0]) else None, Constant(ends[1]) if isfinite(ends[1]) else None)]
    lower = tuple(dict.fromkeys(low for low, _ in bounds if low is not None))
    upper = tuple(dict.fromkeys(high for _, high in bounds if high is not None))
    freed = graph.with_nodes([replace(node, log_density=bare, family=None, parameters=(), given=())])
    return replace(freed, potentials=potentials), lower, upper


def _recognised(graph: Graph, name: str) -> Plan | Declined:
    """Try the supports that hold the unknown's own, the widest first."""
    node = graph.nodes[name]
    reason = ""
    for domain in (REAL, POSITIVE, UNIT):
        if node.domain.lower < domain.lower or node.domain.upper > domain.upper:
            continue
        found = plan_exact(graph.with_nodes([replace(node, domain=domain)]), "posterior", with_evidence=False)
        if isinstance(found, Declined):
            reason = found.reason
            continue
        refused = _cannot_invert(found, name)
        if refused is None:
            return found
        reason = refused
    return Declined(NAME, f"without its bounds: {reason}")


def _cannot_invert(plan: Plan, name: str) -> str | None:
    """Why a conditional has no cumulative distribution to invert."""
    conditional = next((c for c in plan.conditionals if name in c.variables), None)
    if conditional is None:
        return f"`{name}` has nothing below it"
    if isinstance(conditional, FamilyConditional):
        family, change = conditional.recognised.family, conditional.recognised.transform
        if family.cumulative is None or family.quantile is None or change.name != "identity":
            return f"{family.name} has no cumulative distribution to invert"
    return None


Bounds = list[tuple[Expression | None, Expression | None]]


def _bare(node: Variable, density: Expression, axes: tuple[Index, ...]) -> tuple[Expression, Bounds]:
    """A log density without the bounds on a node, and the bounds, over the node's own axes."""
    terms = density.terms if isinstance(density, Add) else (density,)
    kept: list[Expression] = []
    found: Bounds = []
    for term in terms:
        bound = _bound(node, term, axes) if isinstance(term, AtMost) and node.name in names(term) else None
        if bound is None:
            kept.append(term)
        else:
            found.append(bound)
    return add(*kept), found


def _bound(node: Variable, term: AtMost, axes: tuple[Index, ...]) -> tuple[Expression | None, Expression | None] | None:
    """`low <= x` or `x <= high` where x stands alone at an element of its own for each element of the axes."""
    for side, other in ((term.high, term.low), (term.low, term.high)):
        if not isinstance(side, Reference) or side.name != node.name or node.name in names(other):
            continue
        if set(side.indices) != set(axes) or len(side.indices) != len(node.axes):
            continue
        moved = substitute(other, dict(zip(side.indices, node.axes, strict=True)))
        return (moved, None) if side is term.high else (None, moved)
    return None
