"""Lay the rows of a Gaussian group out as a least-squares problem: columns, cells, and where each feature goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from platewright.algebra.build import multiply, substitute
from platewright.algebra.expression import Constant, Expression, Index, Lag, Multiply, Size, free_indices
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.program.statements import Cell, Column, Entry, Feature, Pool, Source
from platewright.recognition.groups import Group
from platewright.recognition.linear import Part
from platewright.recognition.rows import Rows


class PlacedRows(Protocol):
    """Rows with the codes of their batch and the known part of their weight."""

    @property
    def rows(self) -> Rows: ...
    @property
    def codes(self) -> tuple[Expression, ...]: ...
    @property
    def weight(self) -> Expression: ...


@dataclass(frozen=True)
class Layout:
    """Columns that are eliminated, columns that stay, and the sources of rows."""

    eliminated: tuple[Column, ...]
    outer: tuple[Column, ...]
    sources: tuple[Source, ...]
    pools: tuple[Pool, ...]


def lay_out(
    name: str,
    placed: Sequence[PlacedRows],
    group: Group,
    nodes: Mapping[str, Variable],
    output: Index | None,
) -> Layout | Declined:
    """The least-squares problem of a group."""
    eliminated = tuple(_own_column(nodes[variable], group, output) for variable in group.variables)
    others = {part.variable for item in placed for part in item.rows.parts} - set(group.variables)
    outer = tuple(_outer_column(nodes[v], placed, group) for v in nodes if v in others)
    if output is not None:
        if outer:
            return Declined("eliminate gaussian", "a matrix scale is shared with unknowns of another plate")
        for item in placed:
            for part in item.rows.parts:
                if output in free_indices(part.coefficient) or output not in part.at:
                    return Declined("eliminate gaussian", f"{part.variable} does not run along {output.plate} freely")
    columns = (*eliminated, *outer)
    numbers = {column.variable: number for number, column in enumerate(columns)}
    sources: list[Source] = []
    pools: list[Pool] = []
    for number, item in enumerate(placed):
        source, pool = _source(f"{name}.pool_{number}", item, columns, numbers, group, nodes, output)
        sources.append(source)
        if pool is not None:
            pools.append(pool)
    return Layout(eliminated, outer, tuple(sources), tuple(pools))


def _own_column(variable: Variable, group: Group, output: Index | None) -> Column:
    fixed = set(group.batch) | ({output.plate} if output is not None else set())
    dense = tuple(axis for axis in variable.axes if axis.plate not in fixed)
    at: list[Expression] = []
    for axis in variable.axes:
        if axis.plate in group.batch:
            at.append(Index(axis.plate, axis.plate))
        elif output is not None and axis.plate == output.plate:
            at.append(output)
        else:
            at.append(axis)
    return Column(variable.name, dense, tuple(at))


def _outer_column(variable: Variable, placed: Sequence[PlacedRows], group: Group) -> Column:
    """An unknown that stays: along each axis either one position for each batch, or all positions."""
    batch = {Index(plate, plate) for plate in group.batch}
    dense: list[Index] = []
    at: list[Expression] = []
    for number, axis in enumerate(variable.axes):
        found: set[Expression] = set()
        for item in placed:
            back = dict(zip(item.codes, (Index(p, p) for p in group.batch), strict=True))
            back = {code: own for code, own in back.items() if code != own}
            for part in item.rows.parts:
                if part.variable == variable.name:
                    found.add(substitute(part.at[number], back))
        only = next(iter(found)) if len(found) == 1 else None
        if only is not None and free_indices(only) <= batch and not (isinstance(only, Constant)):
            at.append(only)
        else:
            fresh = Index(f"{variable.name}.{axis.name}", axis.plate)
            dense.append(fresh)
            at.append(fresh)
    return Column(variable.name, tuple(dense), tuple(at))


def _facing(rows: Rows) -> Rows:
    """The square of `y - mu` read as that of `mu - y`, so that features carry the sign a reader expects."""
    lead = rows.parts[0].coefficient
    number = lead.factors[0] if isinstance(lead, Multiply) else lead
    if not isinstance(number, Constant) or number.value > 0:
        return rows
    parts = tuple(Part(p.variable, p.at, multiply(-1.0, p.coefficient), p.inner) for p in rows.parts)
    return replace(rows, parts=parts, rest=multiply(-1.0, rows.rest))


def _source(
    name: str,
    item: PlacedRows,
    columns: tuple[Column, ...],
    numbers: Mapping[str, int],
    group: Group,
    nodes: Mapping[str, Variable],
    output: Index | None,
) -> tuple[Source, Pool | None]:
    rows = _facing(item.rows)
    batch = tuple(Index(plate, plate) for plate in group.batch)
    features: list[Feature] = []
    wanted: list[tuple[int, int, list[tuple[Expression, str]]]] = []
    used_axes = set(code for code in item.codes if isinstance(code, Index))
    for part in rows.parts:
        number = numbers[part.variable]
        column = columns[number]
        positions = []
        for axis, at, own in zip(nodes[part.variable].axes, part.at, column.at, strict=True):
            if own in column.dense:
                positions.append((at, axis.plate))
                step = at.index if isinstance(at, Lag) and axis.plate == group.along else at
                if isinstance(step, Index) and step in rows.axes:
                    used_axes.add(step)
        wanted.append((len(features), number, positions))
        features.append(Feature(part.coefficient, part.inner))
    rest = multiply(-1.0, rows.rest)
    features.append(Feature(rest, (output,) if output is not None else ()))
    if set(rows.axes) <= used_axes and all(isinstance(code, Index) for code in item.codes):
        # One row a cell: nothing to pool.
        others = tuple(axis for axis in rows.axes if axis not in batch)
        entries = tuple(Entry(f, c, tuple(at for at, _ in positions)) for f, c, positions in wanted)
        return Source(rows.owner, None, (*batch, *others), tuple(features), item.weight, entries), None
    cells = [Cell(own, code) for own, code in zip(batch, item.codes, strict=True)]
    numbered: dict[Expression, Index] = {}
    inner = {index for part in rows.parts for index in part.inner}
    entries_list = []
    for feature, number, positions in wanted:
        places: list[Expression] = []
        for at, plate in positions:
            if isinstance(at, Constant) or at in inner:
                places.append(at)
                continue
            is_before = isinstance(at, Lag) and plate == group.along
            step = at.index if isinstance(at, Lag) and is_before else at
            if step not in numbered:
                numbered[step] = Index(f"{plate}~{len(numbered)}", plate)
                cells.append(Cell(numbered[step], step))
            places.append(Lag(numbered[step]) if is_before else numbered[step])
        entries_list.append(Entry(feature, number, tuple(places)))
    over, weight = _counted(rows.axes, item.weight, [*(f.expression for f in features), *(c.code for c in cells)])
    pool = Pool(name, over, tuple(cells), tuple(features), weight, because=f"rows of {rows.owner}: mean and scatter")
    source = Source(rows.owner, name, tuple(cell.index for cell in cells), tuple(features), weight, tuple(entries_list))
    return source, pool


def _counted(
    axes: tuple[Index, ...], weight: Expression, parts: Sequence[Expression]
) -> tuple[tuple[Index, ...], Expression]:
    """Equal rows along an axis are one row with their number as its weight."""
    used = free_indices(weight).union(*(free_indices(part) for part in parts))
    idle = [axis for axis in axes if axis not in used]
    return tuple(axis for axis in axes if axis in used), multiply(weight, *(Size(axis.plate) for axis in idle))
