"""Rows that one elimination leaves and a pool takes as they are: kept side by side, and added without a loop of ours.

block1[i] leaves rows (left_0, left_1, left)  ->  block2.pool = weight, mean and scatter over i and these rows
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from platewright.algebra.expression import ONE, Index, Reference, free_indices, names
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.statistics import StatisticsWriter, pool_width
from platewright.program.program import expressions_of, statement_text
from platewright.program.statements import Assign, Pool, Triangularise


def taken_whole(body: Sequence[Assign | Pool | Triangularise]) -> dict[str, Triangularise]:
    """For each pool that takes all rows of an elimination as they are, and alone, that elimination."""
    found: dict[str, Triangularise] = {}
    for step in body:
        if not isinstance(step, Triangularise) or not step.outer:
            continue
        left = {left_name(step), *(f"{left_name(step)}_{number}" for number in range(len(step.outer)))}
        readers = [other for other in body if any(names(part) & left for part in expressions_of(other))]
        if len(readers) == 1 and isinstance(readers[0], Pool) and _takes(readers[0], step):
            found[readers[0].name] = step
    return found


def left_name(step: Triangularise) -> str:
    """What the rows that an elimination leaves are called."""
    return f"{step.name}.left"


def _takes(pool: Pool, step: Triangularise) -> bool:
    """Whether a row of the pool is a row that is left, column by column."""
    rows = Index(f"{step.name}.rows", f"{step.name}.rows")
    wanted = [f"{left_name(step)}_{number}" for number in range(len(step.outer))] + [left_name(step)]
    places = [feature.expression for feature in pool.features]
    if [place.name for place in places if isinstance(place, Reference)] != wanted or len(places) != len(wanted):
        return False
    at = (*step.batch, rows)
    whole = all(
        isinstance(feature.expression, Reference) and feature.expression.indices == (*at, *feature.inner)
        for feature in pool.features
    )
    others = [pool.weight, *(cell.code for cell in pool.cells)]
    return whole and set(pool.over) == set(at) and not any(rows in free_indices(part) for part in others)


def add_left_rows(writer: StatisticsWriter, pool: Pool, step: Triangularise) -> None:
    """The pool of rows that `step` left: those of one batch at once, or all where they share weight and cell."""
    function, printer = writer.function, writer.printer
    printer.forget()
    printer.line(f"/* {c_comment(statement_text(pool))} */")
    writer.before(pool)
    shared = pool.weight == ONE and not pool.cells
    with ExitStack() as loops:
        for index in () if shared else step.batch:
            loops.enter_context(printer.loop(index))
        loops.enter_context(printer.nested(""))
        width = function.length_text(pool_width(pool))
        sizes = [printer.size(index.plate) for index in step.batch]
        batch = "0" if shared or not step.batch else printer.offset(step.batch, sizes)
        many = " * ".join(["width", *(sizes if shared else ())])
        writer.pool_cell(pool, width)
        rows = f"{printer.column(left_name(step))} + ({batch}) * width * width"
        printer.line(f"add_rows({many}, {rows}, weight, width, {writer.pool_places(pool)});")
    writer.after(pool)
