"""Split a node whose cells are known in part: what was seen, and what is missing  (Section 2.1).

    a -> x (some cells seen) -> y      becomes      a -> x (seen), a -> x.missing,    y reads whichever is there

A cell is seen or missing, so p(x | a) is shared out cell by cell. Where a cell was seen, its twin `x.missing` follows a
fixed distribution that nobody reads; it sums to one, and the joint density stays what it was.

    a -> x (some cells seen) -> y      becomes      a -> x (unknown) -> y,   x -> x.seen (known)

is the way for a variable with finitely many values that others depend on: what was seen is a report of it, which
allows one value, and a missing report allows all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import log, pi

from platewright.algebra.build import add, equal, multiply, substitute, totals, where
from platewright.algebra.build import log as log_of
from platewright.algebra.domain import BINARY, Domain
from platewright.algebra.expression import AtMost, Constant, Expression, Index, Reference, Size, names, rebuild, walk
from platewright.errors import MissingValue
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.operation import Declined, Step
from platewright.operations.replacing import Replacement, replace_references, replaced_in_graph

NAME = "split_partly_known"

IMPOSSIBLE = -1e300
"""The log density of a report that is not true. Finite, so that it can be multiplied by zero."""


def observed_name(name: str) -> str:
    """The known column that is 1 where a cell of the variable was seen and 0 where it is missing."""
    return f"{name}.observed"


def missing_name(name: str) -> str:
    """The unknown that stands for the missing cells of a variable."""
    return f"{name}.missing"


def seen_name(name: str) -> str:
    """The known report of a variable with finitely many values."""
    return f"{name}.seen"


def as_written(graph: Graph, steps: Iterable[Step]) -> Graph:
    """The graph as the model wrote it, before cells that are missing were split off."""
    return next((step.before for step in steps if step.operation == NAME), graph)


def split_partly_known(graph: Graph, name: str) -> Step | Declined:
    """Tell the cells that were seen from those that are missing."""
    if name not in graph.nodes:
        return Declined(NAME, f"there is no node {name}")
    node = graph.nodes[name]
    if node.kind != "random":
        return Declined(NAME, f"{name} is {node.label}: only a variable with a distribution can be known in part")
    if name not in graph.known:
        return Declined(NAME, f"{name} is unknown in every cell")
    idle = _idle(node)
    if idle is None or (node.rank and node.domain.is_discrete):
        shown = "a vector of counts" if node.domain.is_discrete else str(node.domain)
        return Declined(NAME, f"{name} is {shown}: such a value is known as a whole or not at all")
    because = f"some cells of {name} are missing; they are unknowns of their own"
    is_read = bool(graph.children[name]) or name in names(substitute(node.log_density, {node.symbol: Constant(0.0)}))
    if node.domain.is_finite and is_read:
        after = _reported(graph, node)
        formula = f"{node.symbol} = {Reference(seen_name(name), node.axes)} where {observed_name(name)} is 1"
    else:
        after = _split(graph, node, idle)
        formula = f"{node.symbol} = {_value(node.symbol, node.domain)}"
    return Step(NAME, graph, after, because, reference="Section 2.1", formulas=(formula,))


def _reported(graph: Graph, node: Variable) -> Graph:
    """The variable unknown, with a known report of it."""
    seen = Variable(observed_name(node.name), "input", node.axes, BINARY)
    report = Reference(seen_name(node.name), node.axes)
    differs = add(1.0, multiply(-1.0, equal(node.symbol, report)))
    density = multiply(seen.symbol, differs, IMPOSSIBLE)
    told = Variable(report.name, "random", node.axes, node.domain, log_density=density)
    return replace(graph.with_nodes([seen, told]), known=(graph.known - {node.name}) | {seen.name, told.name})


def _split(graph: Graph, node: Variable, idle: Expression) -> Graph:
    """The graph with the seen and the missing part as two nodes."""
    # The variable at its own place steps aside, so that only other places (an earlier step) are rewritten there.
    own = Reference(f"{node.name}.own", node.axes)
    changes: dict[str, Replacement] = {node.name: lambda at: _value(at, node.domain)}
    after = replaced_in_graph(graph.without([node.name]), changes)
    density = replace_references(substitute(node.log_density, {node.symbol: own}), changes)
    parameters, given = (
        tuple((word, replace_references(value, changes)) for word, value in pairs)
        for pairs in (node.parameters, node.given)
    )
    node = replace(node, parameters=parameters, given=given)
    seen = Variable(observed_name(node.name), "input", node.axes, BINARY)
    twin = replace(node, name=missing_name(node.name))
    if node.rank or _looks_back(density, node.name):
        # The density holds seen and missing cells together: it stays with what was seen, and the twin is a cause of it.
        whole = substitute(density, {own: _value(node.symbol, node.domain)})
        known = replace(node, log_density=whole)
        after = after.with_nodes([known, seen, replace(twin, log_density=idle, family=None, parameters=(), given=())])
    else:
        mask, rest = seen.symbol, add(1.0, multiply(-1.0, seen.symbol))
        here = _bounds_where_seen(graph, substitute(density, {own: node.symbol}), mask)
        known = replace(node, log_density=multiply(mask, here))
        missing = add(multiply(rest, substitute(density, {own: twin.symbol})), idle)
        after = after.with_nodes([known, seen, replace(twin, log_density=missing)])
    order = [*graph.nodes, seen.name, twin.name]
    nodes = {name: after.nodes[name] for name in sorted(after.nodes, key=order.index)}
    return replace(after, nodes=nodes, known=graph.known | {seen.name})


def _bounds_where_seen(graph: Graph, density: Expression, mask: Expression) -> Expression:
    """The density with bounds that data set asked of seen cells only: what stands in a hole may lie outside of them."""
    if isinstance(density, AtMost) and all(_is_settled(graph, name) for name in names(density)):
        return AtMost(where(mask, density.low, 0.0), where(mask, density.high, 0.0))
    return rebuild(density, lambda part: _bounds_where_seen(graph, part, mask))


def _is_settled(graph: Graph, name: str) -> bool:
    """Whether data alone say what a node is."""
    node = graph.nodes.get(name)
    if node is None:
        return False
    if node.definition is not None:
        return all(_is_settled(graph, other) for other in names(node.definition))
    return node.kind == "input" or name in graph.known


def _looks_back(density: Expression, name: str) -> bool:
    """Whether the density at one element looks at others, earlier ones: seen and missing would lean on each other."""
    return any(isinstance(part, Reference) and part.name == name for part in walk(density))


def _value(at: Reference, domain: Domain) -> Expression:
    """The value of the variable at a place, seen or missing."""
    seen = Reference(observed_name(at.name), at.indices)
    twin = Reference(missing_name(at.name), at.indices)
    if domain.is_unbounded:  # linear in the unknown, and written so
        return add(multiply(seen, at), multiply(add(1.0, multiply(-1.0, seen)), twin))
    return where(seen, at, twin)


def _idle(node: Variable) -> Expression | None:
    """The log density of the twin where the cell was seen, a proper one on the same domain; event axes are summed."""
    value = Reference(missing_name(node.name), node.axes)
    domain = node.domain
    density: Expression
    if domain.is_unbounded:
        density = add(multiply(-0.5, value**2), Constant(-0.5 * log(2 * pi)))
    elif domain.kind == "levels":
        density = multiply(-1.0, log_of(Size(str(domain.levels))))
    elif domain.kind == "circle":
        density = Constant(-log(2 * pi))
    elif domain.kind == "integer" and domain.is_finite:
        density = Constant(-log(domain.upper - domain.lower + 1))
    elif domain.kind == "integer" and domain.lower > -float("inf"):  # halving from the lower end on
        density = multiply(-log(2), add(value, 1 - domain.lower))
    elif domain.kind == "real" and domain.upper == float("inf"):
        density = add(multiply(-1.0, value), domain.lower)
    elif domain.kind == "real" and domain.lower > -float("inf"):
        density = Constant(-log(domain.upper - domain.lower))
    else:
        return None
    seen = Reference(observed_name(node.name), node.axes)
    events: tuple[Index, ...] = node.events
    return totals(multiply(seen, density), events)


def split_all(graph: Graph, partly: Iterable[str]) -> tuple[Step, ...]:
    """One step for each variable with missing cells."""
    steps: list[Step] = []
    for name in partly:
        found = split_partly_known(steps[-1].after if steps else graph, name)
        if isinstance(found, Declined):
            raise MissingValue(f"`{name}` has missing cells: {found.reason}", hint="drop these rows or fill them")
        steps.append(found)
    return tuple(steps)
