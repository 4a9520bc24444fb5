"""What the passes of a block leave to each sweep: sums over data alone are computed once, before the first.

A weight of a pool that is the same for all rows of a cell is taken out of the pool, `weight(cell) * pool`, so that
pools of data alone stay what they are while a precision moves. Where data enter other sums by linear forms, few rows
stand for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from platewright.algebra.build import multiply, substitute
from platewright.algebra.expression import Constant, Expression, free_indices, names
from platewright.backends.c_gibbs.expression import is_product
from platewright.backends.c_gibbs.few_rows import Condensed, FewRows, condensed, condensed_source
from platewright.operation import Declined
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Assign, Pool, Statistic, Triangularise

Body = tuple[Assign | Pool | Triangularise, ...]


@dataclass(frozen=True)
class Split:
    """The passes of a block: over data alone, and those that unknowns enter; for pools the weight taken out."""

    fixed: tuple[Statistic | Pool, ...]
    few: tuple[FewRows, ...]
    """Rows that stand for many in `moving` and in `body`."""
    moving: tuple[Statistic | Pool, ...]
    body: Body
    outside: dict[str, Expression]


def split_passes(program: Program, changing: frozenset[str]) -> Split:
    """What can be computed once, and what each sweep has to."""
    fixed: list[Statistic | Pool] = []
    few: list[FewRows] = []
    moving: list[Statistic | Pool] = []
    body = program.body
    outside: dict[str, Expression] = {}
    for statement in program.passes:
        if isinstance(statement, Pool):
            statement, outside[statement.name] = without_common_weight(statement)
        used = {name for expression in expressions_of(statement) for name in names(expression)}
        if not used & changing:
            fixed.append(statement)
            continue
        found: Condensed | _RowByRow | Declined
        if isinstance(statement, Statistic):
            found = condensed(statement, changing, program.sizes)
            moving.append(statement if isinstance(found, Declined) else found.statement)
        else:
            found = _row_by_row(body, statement, outside[statement.name], changing, program.sizes)
            if isinstance(found, Declined):
                moving.append(statement)
            else:
                body = found.body
        if not isinstance(found, Declined):
            few.append(found.few)
    return Split(tuple(fixed), tuple(few), tuple(moving), body, outside)


@dataclass(frozen=True)
class _RowByRow:
    body: Body
    few: FewRows


def _row_by_row(
    body: Body,
    pool: Pool,
    weight: Expression,
    changing: frozenset[str],
    sizes: Mapping[str, int],
) -> _RowByRow | Declined:
    """The body with few rows, one by one, where it had those of a pool."""
    few: FewRows | None = None
    steps: list[Assign | Pool | Triangularise] = []
    for step in body:
        if isinstance(step, Triangularise):
            sources = []
            for source in step.sources:
                if source.pool == pool.name:
                    found = condensed_source(source, pool, weight, changing, sizes)
                    if isinstance(found, Declined):
                        return found
                    source, few = found
                sources.append(source)
            step = replace(step, sources=tuple(sources))
        elif pool.name in {name.rpartition(".")[0] for part in expressions_of(step) for name in names(part)}:
            return Declined("few rows", f"{pool.name} is used by itself")
        steps.append(step)
    return Declined("few rows", f"{pool.name} has no rows") if few is None else _RowByRow(tuple(steps), few)


def without_common_weight(pool: Pool) -> tuple[Pool, Expression]:
    """The pool with what is left of its weight in the rows, and the factor that all rows of a cell share."""
    at_cell: dict[Expression, Expression] = {cell.code: cell.index for cell in pool.cells if names(cell.code)}
    inside: list[Expression] = []
    common: list[Expression] = []
    for factor in is_product(pool.weight):
        moved = substitute(factor, at_cell)
        is_common = not free_indices(moved) & set(pool.over) and not isinstance(factor, Constant)
        (common if is_common else inside).append(moved if is_common else factor)
    return replace(pool, weight=multiply(1.0, *inside)), multiply(1.0, *common)
