"""What a program keeps of the rows of a plate: the indices of its statistics, and looks at rows after the passes.

A program of which nothing is kept of single rows may take them in batches, or have others stand for them.
"""

from __future__ import annotations

from collections.abc import Iterator

from platewright.algebra.expression import Index, all_indices, names
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Pool, Statistic


def indices_kept(statement: Statistic | Pool) -> tuple[Index, ...]:
    """The indices of what a statement leaves behind, and those inside its features."""
    if isinstance(statement, Statistic):
        return statement.indices
    inner = [index for feature in statement.features for index in feature.inner]
    return (*(cell.index for cell in statement.cells), *inner)


def looks_at_rows(program: Program, row: str) -> Iterator[str]:
    """A sentence for each statement after the passes that looks at elements of a plate again."""
    on_rows = {name for name, axes in program.columns.items() if any(axis.plate == row for axis in axes)}
    for later in program.body:
        for part in expressions_of(later):
            if names(part) & on_rows or any(index.plate == row for index in all_indices(part)):
                yield f"{later.name} keeps something for each element of `{row}`"
