"""Whether an iterative schema can go over a file batch by batch, and if not, why all rows must be there at once.

It can where a row tells nothing about another but through the parameters: hidden variables and log factors are of
single rows (or of steps of one series), and all that is kept of the rows are statistics that merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from platewright.algebra.expression import Expression, Index, Literal, Size, all_indices, walk
from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.language.plate import root_of
from platewright.operation import Declined
from platewright.program.program import Program, expressions_of
from platewright.program.rows_kept import indices_kept, looks_at_rows
from platewright.run.hidden.row_file import RowFile, surveyed
from platewright.schemas.em import EMPlan
from platewright.schemas.mean_field import MeanFieldPlan

BYTES_AT_ONCE = 2**26
"""Cells of a batch for C take no more; the number of its rows is a power of two of batches, the same in memory."""


def opened(
    plan: EMPlan | MeanFieldPlan,
    signature: Signature,
    source: object,
    first: Dataset,
    length: int,
    count: int,
    seed: int,
    in_c: bool = False,
) -> RowFile | Declined:
    """The file after a first pass, with `count` of its rows to start from; `first` is its first batch, or all rows."""
    row = row_of_file(plan, first)
    if row is None or first.sizes[row] < length:
        return Declined("batches", "the rows are one batch")
    length *= _times(first, row, length) if in_c else 1
    if not isinstance(source, (str, Path)) and first.sizes[row] <= length:
        return Declined("batches", "the rows are one batch")
    if reason := why_whole(plan, row):
        return Declined("batches", reason)
    file = surveyed(RowFile(plan.graph, signature, source, length, row), count, np.random.default_rng([seed, count]))
    return file if file.count > 1 else Declined("batches", "the rows are one batch")


def fitted_in(file: RowFile, backend: str, seed: int, begin: float) -> dict[str, Any]:
    """What a fit says of its run over a file that began at a time of `perf_counter`."""
    shown = f"{backend}, in batches" if file.on_disk else backend
    return {"labels": file.labels, "seed": seed, "backend": shown, "seconds": {"run": perf_counter() - begin}}


def _times(first: Dataset, row: str, length: int) -> int:
    """How many batches C takes at once: each costs it a millisecond, and it keeps nothing of rows but their cells."""
    cells = sum(np.size(values) for values in first.columns.values())
    room = BYTES_AT_ONCE * first.sizes[row] // max(8 * cells * length, 1)
    return max(1, min(8, 2 ** (int(room).bit_length() - 1) if room else 1))


def row_of_file(plan: EMPlan | MeanFieldPlan, dataset: Dataset) -> str | None:
    """The one plate on which all columns begin; nothing where there are several."""
    nodes = plan.graph.nodes
    found = {nodes[name].axes[0].plate for name in dataset.columns if nodes[name].axes}
    return found.pop() if len(found) == 1 else None


def why_whole(plan: EMPlan | MeanFieldPlan, row: str) -> str:
    """The condition that fails, or nothing."""
    return next(_reasons(plan, row), "")


def _reasons(plan: EMPlan | MeanFieldPlan, row: str) -> Iterator[str]:
    graph = plan.graph
    if isinstance(plan, MeanFieldPlan) and len(plan.blocks) > 1:
        yield "blocks of parameters take turns"
    own = root_of(graph.plates, row)
    if any(name != row and root_of(graph.plates, name) == own for name in graph.plates):
        yield f"another plate is the same set as `{row}`"
    if any(node.domain.levels == row for node in graph.nodes.values()):
        yield f"other variables refer to elements of `{row}`"
    for axes in plan.latent.elements:
        if row not in {axis.plate for axis in axes}:
            yield f"a hidden variable does not live on `{row}`"
    for name in sorted({*plan.learned, *plan.barren}):
        if row in {axis.plate for axis in graph.nodes[name].axes}:
            yield f"`{name}` is a parameter of each element of `{row}`"
    hidden = [factor for item in plan.hidden for factor in item.factors]
    for factor in (*graph.factors, *plan.rest, *hidden):
        yield from _of_rows(factor.owner, factor.axes, [factor.expression], row)
    for program in plan.latent.programs:
        yield from _program_reasons(program, row)
    for ascent in plan.ascents if isinstance(plan, EMPlan) else ():
        if any(index.plate == row for factor in ascent.factors for index in all_indices(factor.summed)):
            yield f"the slopes of {', '.join(ascent.variables)} need every row at each look"


def _of_rows(what: str, over: tuple[Index, ...], parts: Iterable[Expression], row: str) -> Iterator[str]:
    """Reasons why a sum over `over` is no sum of what each row adds by itself."""
    on_rows = {index for index in over if index.plate == row}
    if len(on_rows) > 1:
        yield f"{what} is about pairs of elements of `{row}`"
    for part in parts:
        if any(index.plate == row for index in all_indices(part) - on_rows):
            yield f"{what} needs all elements of `{row}` at once"
        for node in walk(part):
            if isinstance(node, Size) and node.plate == row:
                yield f"{what} needs the number of elements of `{row}`"
            if isinstance(node, Literal) and row in node.plates:
                yield f"the model holds a table over `{row}`"


def _program_reasons(program: Program, row: str) -> Iterator[str]:
    """What is kept of the rows must merge, and what follows must not look at rows again."""
    for statement in program.passes:
        yield from _of_rows(statement.name, statement.over, expressions_of(statement), row)
        if any(index.plate == row for index in indices_kept(statement)):
            yield f"{statement.name} keeps something for each element of `{row}`"
    yield from looks_at_rows(program, row)
