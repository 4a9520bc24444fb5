"""The exact plan of many copies of a model, one for each point of the numbers that are held: all points at once.

    x[t] ~ N(x[t-1], sd s),  y[t] ~ N(x[t], sd e)        s and e held, at points p
    x[p, t] ~ N(x[p, t-1], sd s[p]),  y[p, t] ...        a plate more, over which every elimination falls apart
    log evidence  =  sum over p of what is left of copy p:  the sum is left out, and each point has its own

Nothing new is derived: chains, groups and whatever else an exact plan eliminates are taken point by point because the
plate of points is independent, like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from platewright.algebra.build import add, multiply, substitute, total
from platewright.algebra.expression import (
    ONE,
    Add,
    Expression,
    Multiply,
    Reference,
    Size,
    Sum,
    all_indices,
    names,
    rebuild,
    walk,
)
from platewright.graph.graph import Graph
from platewright.language.plate import Plate
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.program.pointwise import POINT
from platewright.program.program import EVIDENCE, Program
from platewright.program.statements import Assign, Pool, Statistic, Triangularise
from platewright.schemas.exact import plan_exact

WORD = "copies at points"
ABOUT = 100
"""Points, where orders of elimination look at sizes."""


class Mixed(Exception):
    """A term that is no sum over points."""


def plan_at_points(graph: Graph, held: Sequence[str]) -> Program | Declined:
    """The program of the log evidence at each point, with the held unknowns among its data."""
    if graph.potentials:
        return Declined(WORD, "the model has potentials")
    found = plan_exact(repeated(graph, held), "evidence")
    if isinstance(found, Declined):
        return found
    try:
        return at_each_point(found.program)
    except Mixed as reason:
        return Declined(WORD, f"points do not fall apart: {reason}")


def repeated(graph: Graph, held: Sequence[str]) -> Graph:
    """The graph with every random or computed node once for each point, and the held known."""
    copied = {name for name, node in graph.nodes.items() if node.kind in ("random", "deterministic")}
    nodes = [_copied(graph.nodes[name], copied) for name in graph.nodes if name in copied]
    plates = {**graph.plates, POINT.plate: Plate(POINT.plate)}
    about = {**graph.about, POINT.plate: ABOUT} if graph.about else {}
    return replace(graph.with_nodes(nodes), plates=plates, about=about, known=graph.known | set(held))


def copies(program: Program, held: Sequence[str]) -> tuple[str, ...]:
    """The data that each point has a copy of."""
    return tuple(name for name, axes in program.columns.items() if POINT in axes and name not in held)


def _copied(node: Variable, copied: set[str]) -> Variable:
    def put(expression: Expression) -> Expression:
        changed = rebuild(expression, put)
        if isinstance(changed, Reference) and changed.name in copied:
            return Reference(changed.name, (POINT, *changed.indices))
        return changed

    definition = None if node.definition is None else put(node.definition)
    parameters, given = (tuple((word, put(one)) for word, one in pairs) for pairs in (node.parameters, node.given))
    return replace(
        node, axes=(POINT, *node.axes), log_density=put(node.log_density), definition=definition,
        parameters=parameters, given=given,
    )  # fmt: skip


def at_each_point(program: Program) -> Program:
    """The program without the sum over points in its log evidence; raises `Mixed` where there is none."""
    passes: list[Statistic | Pool] = []
    apart: dict[str, Expression] = {}
    for one in program.passes:
        if isinstance(one, Statistic) and POINT in one.over:
            over = tuple(index for index in one.over if index != POINT)
            if one.indices or one.kind != "sum":
                raise Mixed(f"{one.name} is a table over points")
            apart[one.name] = Reference(one.name, (POINT,)) if over else one.summand
            one = replace(one, indices=(POINT,), over=over)
            if not over:
                continue
        elif isinstance(one, Pool) and POINT in one.over and POINT not in {cell.index for cell in one.cells}:
            raise Mixed(f"{one.name} pools rows of all points")
        passes.append(one)
    body: list[Assign | Pool | Triangularise] = []
    for statement in program.body:
        if isinstance(statement, Assign) and POINT not in statement.indices and _meets(statement.expression, apart):
            if statement.indices:
                raise Mixed(f"{statement.name} is a table over points")
            statement = replace(statement, indices=(POINT,), expression=_each(statement.expression, apart))
            apart[statement.name] = Reference(statement.name, (POINT,))
        elif isinstance(statement, Pool) and POINT in statement.over:
            if POINT not in {cell.index for cell in statement.cells}:
                raise Mixed(f"{statement.name} pools rows of all points")
        elif isinstance(statement, Triangularise) and POINT not in statement.batch:
            raise Mixed(f"{statement.name} is one problem for all points")
        body.append(statement)
    if EVIDENCE not in apart:
        raise Mixed("the log evidence has no term of a point")
    return replace(program, passes=tuple(passes), body=tuple(body))


def _meets(expression: Expression, apart: Mapping[str, Expression]) -> bool:
    """Whether an expression holds something of points."""
    sized = any(isinstance(part, Size) and part.plate == POINT.plate for part in walk(expression))
    return sized or POINT in all_indices(expression) or bool(names(expression) & set(apart))


def _each(expression: Expression, apart: Mapping[str, Expression]) -> Expression:
    """What one point adds to a sum of terms, each of which is a sum over points times what is the same for all."""
    match expression:
        case Add(terms):
            return add(*(_each(term, apart) for term in terms))
        case Multiply(factors):
            mine = [factor for factor in factors if _meets(factor, apart)]
            if len(mine) != 1:
                raise Mixed(f"the term {expression}")
            return multiply(*(factor for factor in factors if factor is not mine[0]), _each(mine[0], apart))
        case Sum(index, inner) if index.plate == POINT.plate:
            return substitute(inner, {index: POINT}) if index != POINT else inner
        case Sum(index, inner):
            return total(_each(inner, apart), index)
        case Size(plate) if plate == POINT.plate:
            return ONE
        case Reference(name, ()) if name in apart:
            return apart[name]
    raise Mixed(f"the term {expression}")


def sizes_at(sizes: Mapping[str, int], count: int) -> dict[str, int]:
    """Sizes of plates with so many points."""
    return {**sizes, POINT.plate: count}
