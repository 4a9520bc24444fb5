"""Eliminate every Gaussian unknown at each of many points of the others: what to compute once, what at a point.

    y[n] ~ N(mu + v[person[n]], sd e),  v[p] ~ N(0, sd s)       s and e held: families with scales e^-2 and s^-2

The block of Gaussian unknowns, its group of the most elements, and the parts of the rows are those of exact plans.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.build import add
from platewright.algebra.expression import Expression, Index, Lag, Reference, free_indices, names, rebuild, walk
from platewright.algebra.zero_times_log import zero_wins
from platewright.elimination.gaussian import gaussian_block, sizes_of, squares_of
from platewright.elimination.state import State
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.program.pointwise import POINT, Family, Placed, Pointwise
from platewright.program.program import Hoister
from platewright.program.statements import Column
from platewright.recognition.groups import Group, choose_group, place
from platewright.recognition.linear import Part
from platewright.recognition.rows import Rows
from platewright.recognition.scales import parted
from platewright.schemas.exact import may_be_zero

WORD = "elimination at points"


def plan_pointwise(graph: Graph) -> Pointwise | Declined:
    """The program, with all unknowns held that are not Gaussian given the others; or what stands in its way."""
    state = State(graph, graph.factors, graph.unknown)
    if graph.potentials:
        return Declined(WORD, "the model has potentials")
    block, refused = gaussian_block(state)
    held = tuple(name for name in graph.unknown if name not in block)
    if not block or not held:
        return Declined(WORD, "no unknown is Gaussian given others that are held")
    for name in held:
        if graph.nodes[name].axes or graph.nodes[name].domain.is_discrete:
            return Declined(WORD, refused.get(name, f"`{name}` is no single real number"))
    split = squares_of(state, block)
    assert not isinstance(split, Declined)
    rows, rest = split
    rest += [factor for factor in state.factors if not set(block) & factor.names]
    if stray := _look_back(rows):
        return Declined(WORD, f"`{stray}` looks a step back: it is a chain")
    group = choose_group(rows, block, graph.nodes, sizes_of(state), chains=False, most=True)
    if not group.batch:
        group = Group((), ())
    own = tuple(_column(graph, name, group.batch) for name in group.variables)
    dense = tuple(_column(graph, name, ()) for name in block if name not in group.variables)
    families = []
    for one in rows:
        family = _family(one, group, own, dense, graph, frozenset(held))
        if isinstance(family, Declined):
            return family
        families.append(family)
    return _program(graph, held, group, own, dense, families, add(*(factor.summed for factor in rest)))


def _program(
    graph: Graph,
    held: tuple[str, ...],
    group: Group,
    own: tuple[Column, ...],
    dense: tuple[Column, ...],
    families: Sequence[Family],
    terms: Expression,
) -> Pointwise:
    data = frozenset(name for name in graph.nodes if graph.is_known(name))
    hoister = Hoister(data, graph.nodes)
    left = zero_wins(hoister.hoist(terms), may_be_zero(graph))
    used = set(names(left))
    for statistic in hoister.statistics.values():
        used |= names(statistic.summand)
    for family in families:
        parts = [family.weight, family.rest, *(family.code or ())]
        for placed in (*family.own, *family.dense):
            parts += [placed.value, *placed.at]
        for part in parts:
            used |= names(part)
    columns = {name: node.axes for name, node in graph.nodes.items() if name in used and name in data}
    batch = tuple(Index(plate, plate) for plate in group.batch)
    statistics = tuple(hoister.statistics.values())
    return Pointwise(
        graph.title, columns, held, batch, own, dense, tuple(families), statistics, at_points(left, held),
        fixed_sizes(graph),
    )  # fmt: skip


def at_points(expression: Expression, held: Sequence[str]) -> Expression:
    """The expression with each held unknown at a point."""
    if isinstance(expression, Reference) and expression.name in held:
        return Reference(expression.name, (POINT,))
    return rebuild(expression, lambda part: at_points(part, held))


def _column(graph: Graph, name: str, batch: tuple[str, ...]) -> Column:
    return Column(name, tuple(axis for axis in graph.nodes[name].axes if axis.plate not in batch))


def _look_back(rows: Sequence[Rows]) -> str:
    """An unknown that rows look up a step back."""
    for one in rows:
        for part in one.parts:
            if any(isinstance(node, Lag) for at in part.at for node in walk(at)):
                return part.variable
    return ""


def _family(
    rows: Rows, group: Group, own: tuple[Column, ...], dense: tuple[Column, ...], graph: Graph, held: frozenset[str]
) -> Family | Declined:
    """The rows with their scale, whose they are, and their columns."""
    if rows.outputs is not None:
        return Declined(WORD, f"the rows of `{rows.owner}` have a matrix for a scale")
    weight, scale = parted(rows.weight, held)
    if free_indices(scale):
        return Declined(WORD, f"the scale {scale} of `{rows.owner}` differs from row to row")
    codes: tuple[Expression, ...] | None = None
    mine: list[Placed] = []
    others: list[Placed] = []
    members = [name for name in group.variables if name in rows.variables]
    if members:
        found = [place(rows, members[0], plate, graph.nodes) for plate in group.batch]
        assert all(code is not None for code in found)
        codes = tuple(code for code in found if code is not None)
    for part in rows.parts:
        if names(part.coefficient) & held or any(names(at) & held for at in part.at):
            return Declined(WORD, f"`{part.variable}` enters `{rows.owner}` times what is held")
        columns, target = (own, mine) if part.variable in group.variables else (dense, others)
        target.append(_placed(part, columns, graph.nodes[part.variable].axes))
    if names(rows.rest) & held:
        return Declined(WORD, f"what is held shifts `{rows.owner}`")
    return Family(
        rows.owner, rows.axes, weight, at_points(scale, tuple(held)), codes, tuple(mine), tuple(others), rows.rest
    )


def _placed(part: Part, columns: tuple[Column, ...], axes: tuple[Index, ...]) -> Placed:
    """A part of a row in the column of its unknown, at the positions that are not those of the element."""
    number = [column.variable for column in columns].index(part.variable)
    at = tuple(place for axis, place in zip(axes, part.at, strict=True) if axis in columns[number].dense)
    return Placed(number, at, part.coefficient, part.inner)
