"""Learn from more rows, or forget some, without touching the others again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from platewright.algebra.expression import Expression, Index, Lag, Literal, names, walk
from platewright.errors import DataError, MissingColumn, ShapeError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.language.plate import root_of
from platewright.operation import Declined
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Pool, Statistic
from platewright.run.checks.given import check_given, checks_of
from platewright.run.exact.monoid import without
from platewright.run.exact.solved import Solved
from platewright.run.execute import Statistics, arguments

Kind = TypeVar("Kind", bound=Solved)
"""What was learned, with or without the members of a result."""


def row_plate(program: Program, columns: Collection[str]) -> str:
    """The one plate that the rows of all data are on."""
    found = {axes[0].plate for name, axes in program.columns.items() if axes and name in columns}
    # A program may need no more of its rows than their number; the levels of a variable are no rows.
    found = found or {plate for plate in program.plates if "." not in plate}
    if not found:
        raise DataError("the data have no rows: no variable among them is on a plate")
    if len(found) != 1:
        raise DataError(
            f"the data lie on several plates ({', '.join(sorted(found))}), so rows cannot be added or taken away",
            hint="learn again from all data",
        )
    return found.pop()


def looks_back(program: Program) -> bool:
    """Whether a row depends on the row before it, so that rows cannot be taken one by one."""
    return any(isinstance(node, Lag) for node in _all_parts(program))


def is_numbered(program: Program, row: str) -> bool:
    """Whether the model holds a table with one entry for each row."""
    return any(isinstance(node, Literal) and row in node.plates for node in _all_parts(program))


def _all_parts(program: Program) -> Iterator[Expression]:
    for statement in (*program.passes, *program.body):
        for part in expressions_of(statement):
            yield from walk(part)


def check_no_table(program: Program, row: str, graph: Graph) -> None:
    """Rows that a table of the model counts, or whose set is that of another plate too, stay as many as they are."""
    own = root_of(graph.plates, row)
    twins = [name for name in program.plates if name != row and root_of(graph.plates, name) == own]
    if twins:
        raise DataError(
            f"plates `{row}` and `{twins[0]}` are one set, so its rows can neither be added nor taken away",
            hint="learn again from all data",
        )
    if is_numbered(program, row):
        raise DataError(
            f"the model holds a table over plate `{row}`, so its rows can neither be added nor taken away",
            hint=f"make the table a column: pw.Input(plates={row})",
        )


def check_any_order(program: Program, row: str, graph: Graph) -> None:
    """Rows of a sequence stand in their order: none can be added or taken away by itself."""
    check_no_table(program, row, graph)
    if looks_back(program):
        raise DataError(
            f"the rows lie on the ordered plate `{row}` and depend on the rows before them",
            hint="learn again from all data",
        )


def check_new_rows(
    program: Program, old: Mapping[str, int], columns: Mapping[str, Any], sizes: Mapping[str, int]
) -> None:
    """New rows must be complete, and all other plates as large as before."""
    row = row_plate(program, columns)
    for name, axes in program.columns.items():
        if any(axis.plate == row for axis in axes) and name not in columns:
            shown = name.split("@")[0]
            raise MissingColumn(f"the new rows have no `{shown}`", expected=f"a column `{shown}` for each {row}")
    for plate in program.plates:
        if plate != row and plate in old and sizes.get(plate, old[plate]) != old[plate]:
            raise ShapeError(
                f"plate `{plate}` has size {sizes[plate]} in the new rows", expected=f"{old[plate]}, as learned"
            )


def check_the_rest(program: Program, old: Mapping[str, Array], columns: Mapping[str, Array], row: str) -> None:
    """What does not lie on the rows was learned from once: new rows come with the same values, or without them."""
    for name, values in columns.items():
        axes = program.columns.get(name)
        if axes is None or name not in old or any(axis.plate == row for axis in axes):
            continue
        if not np.array_equal(old[name], values):
            raise DataError(
                f"`{name.split('@')[0]}` is not on the rows, and differs from what was learned from",
                expected=f"new elements of plate `{row}` alone",
                hint="learn again from all data",
            )


@lru_cache(maxsize=256)
def needs_rows(program: Program) -> bool:
    """Whether the pass or the work after it keeps something for each row (unknowns that live on the rows)."""
    rows = {axes[0].plate for axes in program.columns.values() if axes}
    if any(index.plate in rows for statement in program.passes for index in _kept_for(statement)):
        return True
    used: set[str] = set()
    for statement in program.body:
        for expression in expressions_of(statement):
            used |= names(expression)
    return bool(used & set(program.columns))


def _kept_for(statement: Statistic | Pool) -> tuple[Index, ...]:
    """The indices of what a pass leaves behind."""
    return statement.indices if isinstance(statement, Statistic) else tuple(cell.index for cell in statement.cells)


def check_more(fit: Solved, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> str:
    """The plate of new rows, which may come after those that were learned from."""
    program, graph = fit.derivation.program, fit.derivation.graph
    row = row_plate(program, columns)
    check_any_order(program, row, graph)
    check_new_rows(program, fit.sizes, columns, sizes)
    check_the_rest(program, fit.columns, columns, row)
    check_given(checks_of(graph, columns), columns, {**fit.sizes, **sizes})
    return row


def updated(fit: Kind, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Kind:
    """The fit after more rows."""
    program, module = fit.derivation.program, fit.module
    row = check_more(fit, columns, sizes)
    both = {**fit.sizes, row: fit.sizes[row] + sizes[row]}
    if not fit.columns and needs_rows(program):
        raise DataError("the rows were read from a file and not kept", hint="learn again from all data")
    joined = (
        {} if not fit.columns else {name: _joined(program, name, fit.columns, columns, row) for name in program.columns}
    )
    if needs_rows(program):
        found = statistics_like(fit, joined, both)
    else:
        more = statistics_like(fit, {**fit.columns, **columns}, {**fit.sizes, row: sizes[row]})
        found = module.merged(fit.statistics, more)
    return replace(fit, statistics=found, columns=joined, sizes=both)


def _joined(program: Program, name: str, old: Mapping[str, Array], new: Mapping[str, Array], row: str) -> Array:
    axes = [axis.plate for axis in program.columns[name]]
    if row not in axes or name not in new:
        return old[name]
    return np.concatenate([old[name], new[name]], axis=axes.index(row))


def statistics_like(fit: Solved, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Statistics:
    """The statistics of some rows, in twofold precision where those of the fit are: they are to merge."""
    exact = [name for name, value in fit.statistics.items() if isinstance(value, tuple) and len(value) > 4]
    given = arguments(fit.derivation.program, fit.module, columns, sizes)
    return fit.module.statistics(*given, exact) if exact else fit.module.statistics(*given)


def forgotten(fit: Kind, rows: object) -> Kind:
    """The fit without some of its rows, given by number or by mask."""
    program = fit.derivation.program
    row = row_plate(program, program.columns)
    check_any_order(program, row, fit.derivation.graph)
    count = fit.sizes[row]
    if not fit.columns:
        raise DataError("the rows were read from a file and not kept", hint="learn from data in memory to forget rows")
    gone = _row_numbers(rows, count)
    keep = np.setdiff1d(np.arange(count), gone)
    kept = chosen_rows(program, fit.columns, row, keep)
    sizes = {**fit.sizes, row: len(keep)}
    if not needs_rows(program):
        left = _subtracted(fit, program, row, gone)
        if not isinstance(left, Declined):
            return replace(fit, statistics=left, columns=kept, sizes=sizes)
    found = statistics_like(fit, kept, sizes)
    return replace(fit, statistics=found, columns=kept, sizes=sizes)


def _row_numbers(rows: object, count: int) -> Array:
    """Rows given by number (also from the end) or by mask, as distinct numbers in order."""
    gone = np.asarray(rows)
    if gone.dtype == bool:
        if gone.shape != (count,):
            raise DataError(f"a mask of shape {gone.shape}", expected=f"one entry for each of the {count} rows")
        return np.flatnonzero(gone)
    if gone.size == 0:
        return np.zeros(0, dtype=int)
    if gone.dtype.kind not in "iu" or gone.ndim > 1:
        raise DataError(f"rows {rows!r} are to be forgotten"[:80], expected="a list of row numbers, or a mask")
    outside = gone[(gone < -count) | (gone >= count)]
    if outside.size:
        raise DataError(f"row {int(outside.flat[0])} is to be forgotten", expected=f"rows 0 to {count - 1}")
    return np.unique(np.where(gone < 0, gone + count, gone))


def _subtracted(fit: Solved, program: Program, row: str, gone: Array) -> Any:
    part = chosen_rows(program, fit.columns, row, gone)
    less = statistics_like(fit, part, {**fit.sizes, row: len(gone)})
    return without(program, fit.statistics, less, {s.name: key for s, key in zip(program.passes, less, strict=True)})


def chosen_rows(program: Program, columns: Mapping[str, Array], row: str, rows: Array) -> dict[str, Array]:
    """Data at some rows only."""
    found = {}
    for name, values in columns.items():
        axes = [axis.plate for axis in program.columns.get(name, ())]
        found[name] = np.take(values, rows, axis=axes.index(row)) if row in axes else values
    return found
