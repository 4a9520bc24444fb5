"""Integrate Gaussian unknowns out of the joint by triangularising the rows that touch them.

    -phi/2 |R u + C v - z|^2  - phi/2 |left v - rest|^2        rows of u (eliminated) and v (kept), after a rotation
    integral over u:    d/2 log(2 pi) - log det R - d/2 log phi  - phi/2 |left v - rest|^2

All rows must carry one common scale phi (design section 3, common factor), which may itself be unknown: it is
eliminated next. The scale may also be a matrix over an output index (multi-output regression, mean vectors).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platewright.algebra.build import add, log, log_determinant, multiply, power, substitute, totals
from platewright.algebra.expression import (
    ONE,
    Constant,
    Expression,
    Index,
    Indicator,
    Reference,
    Root,
    Size,
    free_indices,
    mentions,
    names,
)
from platewright.graph.graph import Factor
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.operations.gaussian_sources import Layout, lay_out
from platewright.program.statements import Column, Pool, Triangularise
from platewright.recognition.groups import Group, place
from platewright.recognition.linear import Part, without_idle
from platewright.recognition.rows import Rows, renamed_rows
from platewright.recognition.scales import no_common_scale, parted

WORD = "eliminate gaussian"


@dataclass(frozen=True)
class GaussianElimination:
    """What elimination leaves: statements that compute it, factors that remain, and the conditional of the group."""

    group: Group
    statement: Triangularise
    pools: tuple[Pool, ...]
    factors: tuple[Factor, ...]
    scale: Expression
    matrix: Expression | None
    computed: Mapping[str, tuple[Index, ...]]
    """Arrays that the statement computes, with their axes."""


def eliminate_gaussian(
    name: str, rows: Sequence[Rows], group: Group, nodes: Mapping[str, Variable], unknown: frozenset[str]
) -> GaussianElimination | Declined:
    """Eliminate a group from the rows that touch it; the caller keeps all other factors."""
    gone = frozenset(group.variables)
    touching = [_plain(found, unknown) for found in rows if not gone.isdisjoint(found.variables)]
    if not touching:
        return Declined(WORD, f"no square holds {_shown(group)}")
    for found in touching:
        if stray := _unknown_beside(found, unknown):
            where = f"enters `{found.owner}` beside {_shown(group)}"
            return Declined(WORD, f"`{stray}`, unknown and not Gaussian given the rest, {where}")
    settled = _one_scale([_at_batch(found, group, nodes) for found in touching], group, unknown)
    if isinstance(settled, Declined):
        return settled
    placed, scale, matrix, output = settled
    layout = lay_out(name, placed, group, nodes, output)
    if isinstance(layout, Declined):
        return layout
    return _result(name, group, layout, scale, matrix, output)


def _shown(group: Group) -> str:
    return ", ".join(f"`{name}`" for name in group.variables)


def _unknown_beside(rows: Rows, unknown: frozenset[str]) -> str:
    """An unknown that the rows hold in another way than as one of their linear parts."""
    used = set(names(rows.rest))
    for part in rows.parts:
        used |= names(part.coefficient)
        for position in part.at:
            used |= names(position)
    return min(used & unknown, default="")


@dataclass(frozen=True)
class Placed:
    """Rows at their batch: codes say which batch a row is in; the weight is the known part only."""

    rows: Rows
    codes: tuple[Expression, ...]
    weight: Expression


def _plain(rows: Rows, unknown: frozenset[str]) -> Rows:
    """A known matrix is taken apart into its root, so that the quadratic form becomes ordinary rows."""
    if rows.outputs is None or rows.matrix is None or mentions(rows.matrix, set(unknown)):
        return rows
    row, column = rows.outputs
    if isinstance(rows.matrix, Indicator) and {rows.matrix.left, rows.matrix.right} == {row, column}:
        return Rows(rows.owner, (*rows.axes, row), rows.weight, rows.parts, rows.rest)
    root = Root(rows.matrix, row, column, row, column)
    parts = [Part(p.variable, p.at, multiply(root, p.coefficient), (*p.inner, row)) for p in rows.parts]
    parts = [without_idle(part) for part in parts]
    rest = totals(multiply(root, rows.rest), [row])
    return Rows(rows.owner, (*rows.axes, column), rows.weight, tuple(parts), rest)


def _at_batch(rows: Rows, group: Group, nodes: Mapping[str, Variable]) -> tuple[Rows, tuple[Expression, ...]]:
    """Row axes that are the batch take its name; other rows get a code that says which batch they are in."""
    if not group.batch:
        return rows, ()
    member = next(name for name in group.variables if name in rows.variables)
    codes: list[Expression] = []
    for plate in group.batch:
        at = place(rows, member, plate, nodes)
        assert at is not None
        own = Index(plate, plate)
        if isinstance(at, Index) and at != own:
            changes: dict[Expression, Expression] = {at: own}
            if own in rows.axes:
                changes[own] = Index(plate + "~", plate)
            rows = renamed_rows(rows, changes)
            codes = [substitute(code, changes) for code in codes]
            at = own
        codes.append(at)
    return rows, tuple(codes)


def _one_scale(
    found: list[tuple[Rows, tuple[Expression, ...]]], group: Group, unknown: frozenset[str]
) -> tuple[list[Placed], Expression, Expression | None, Index | None] | Declined:
    """Split weights into known part and common unknown scale; declined when rows differ in the latter."""
    batch = [Index(plate, plate) for plate in group.batch]
    placed: list[Placed] = []
    scales: dict[tuple[Expression, Expression | None], str] = {}
    output: Index | None = None
    for rows, codes in found:
        known, scale = parted(rows.weight, unknown)
        back = {code: own for code, own in zip(codes, batch, strict=True) if code != own}
        scale = substitute(scale, back)
        matrix = None
        if rows.outputs is not None and rows.matrix is not None:
            row, column = rows.outputs
            output = Index(row.name, row.plate) if output is None else output
            too = Index(output.name + "'", output.plate)
            matrix = substitute(substitute(rows.matrix, {row: output, column: too}), back)
            rows = renamed_rows(rows, {row: output})
            rows = Rows(rows.owner, rows.axes, rows.weight, rows.parts, rows.rest, (output, too), matrix)
        scales.setdefault((scale, matrix), rows.owner)
        placed.append(Placed(rows, codes, known))
    if len(scales) > 1:
        shown = {
            scale if matrix is None else multiply(scale, matrix): owner for (scale, matrix), owner in scales.items()
        }
        return Declined(WORD, no_common_scale(group.variables, shown, unknown))
    scale, matrix = next(iter(scales))
    stray = free_indices(scale) - set(batch)
    if matrix is not None:
        assert output is not None
        stray |= free_indices(matrix) - set(batch) - {output, Index(output.name + "'", output.plate)}
    if stray:
        plate = min(index.plate for index in stray)
        return Declined(WORD, f"the scale of {_shown(group)} differs along plate `{plate}`, to which they are common")
    return placed, scale, matrix, output


def _result(
    name: str, group: Group, layout: Layout, scale: Expression, matrix: Expression | None, output: Index | None
) -> GaussianElimination:
    batch = tuple(Index(plate, plate) for plate in group.batch)
    count = add(*(multiply(*(Size(index.plate) for index in column.dense)) for column in layout.eliminated))
    outer = layout.outer
    statement = Triangularise(
        name,
        batch,
        (*layout.eliminated, *outer),
        len(layout.eliminated),
        layout.sources,
        output,
        because=f"{', '.join(group.variables)} given the rest: jointly Gaussian",
        along=group.along,
    )
    computed: dict[str, tuple[Index, ...]] = {f"{name}.log_root": batch}
    log_root = Reference(f"{name}.log_root", batch)
    copies: Expression = ONE if output is None else Size(output.plate)
    volume = add(
        multiply(0.5 * math.log(2 * math.pi), count, copies),
        multiply(-1.0, copies, log_root),
        multiply(-0.5, count, copies, log(scale)) if scale != ONE else Constant(0.0),
    )
    if matrix is not None:
        assert output is not None
        too = Index(output.name + "'", output.plate)
        volume = add(volume, multiply(-0.5, count, log_determinant(matrix, output, too)))
    factors = [Factor(f"{name}: volume", batch, volume)]
    factors.append(_left_over(name, batch, outer, scale, matrix, output, computed))
    return GaussianElimination(group, statement, layout.pools, tuple(factors), scale, matrix, computed)


def _left_over(
    name: str,
    batch: tuple[Index, ...],
    outer: tuple[Column, ...],
    scale: Expression,
    matrix: Expression | None,
    output: Index | None,
    computed: dict[str, tuple[Index, ...]],
) -> Factor:
    """The squares that remain: a number when nothing else is unknown, else rows in the unknowns that stay."""
    owner = f"{name}: residual"
    if not outer:
        axes = batch
        if output is None or matrix is None:
            computed[f"{name}.residual"] = batch
            return Factor(owner, axes, multiply(-0.5, scale, Reference(f"{name}.residual", batch)))
        too = Index(output.name + "'", output.plate)
        computed[f"{name}.residual"] = (*batch, output, too)
        whole = totals(multiply(matrix, Reference(f"{name}.residual", (*batch, output, too))), [output, too])
        return Factor(owner, axes, multiply(-0.5, scale, whole))
    row = Index(f"{name}.rows", f"{name}.rows")
    computed[f"{name}.left"] = (*batch, row)
    terms: list[Expression] = [multiply(-1.0, Reference(f"{name}.left", (*batch, row)))]
    for position, column in enumerate(outer):
        array = f"{name}.left_{position}"
        computed[array] = (*batch, row, *column.dense)
        product = multiply(Reference(array, (*batch, row, *column.dense)), Reference(column.variable, column.at))
        terms.append(totals(product, column.dense))
    return Factor(owner, (*batch, row), multiply(-0.5, scale, power(add(*terms), 2.0)))
