"""Rows in batches: an iterative plan over them, or what all of them leave together.

rows of a file, or of memory -> batches of one cut -> columns and sizes -> a fit, or sums
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.operation import Declined
from platewright.run.checks.given import Checks, check_given
from platewright.run.checks.sizing import check_complete
from platewright.run.exact.row_batches import Rows
from platewright.run.exact.runner import Passed, Runner
from platewright.run.execute import columns_of
from platewright.run.hidden.em_batches import learn_in_batches
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.mean_field_batches import bound_in_batches
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.iterating import check_options
from platewright.schema import Plan
from platewright.schemas.em import EMPlan
from platewright.schemas.mean_field import MeanFieldPlan


def in_batches(
    plan: EMPlan | MeanFieldPlan,
    rows: tuple[Signature, object, Dataset, int],
    seed: int,
    backend: str,
    options: Mapping[str, Any],
    columns: Mapping[str, Any] | None = None,
) -> EstimatedFit | MeanFieldFit | Declined:
    """An iterative plan over rows in batches, from a file or from memory: cut alike, they give the same bits."""
    check_options(plan, options)
    if isinstance(plan, EMPlan):
        return learn_in_batches(plan, *rows, seed=seed, backend=backend, options=options, columns=columns)
    return bound_in_batches(plan, *rows, seed=seed, backend=backend, options=options, columns=columns)


def passed(
    plan: Plan, runner: Runner, rows: Iterable[Dataset], row: str, exact: Collection[str], checks: Checks | None = None
) -> tuple[Passed, dict[str, int], Mapping[str, tuple[object, ...]]]:
    """What all batches leave together."""
    total: dict[str, int] = {}
    labels: Mapping[str, tuple[object, ...]] = {}

    def checked() -> Iterator[Rows]:
        nonlocal total, labels
        for batch in rows:
            columns = columns_of(plan.graph, batch)
            sizes = {**plan.program.sizes, **batch.sizes}
            check_complete(plan, columns, sizes)
            if checks is not None:
                check_given(checks, columns, sizes, (), {row: total.get(row, 0)})
            total = {**sizes, row: total.get(row, 0) + sizes[row]}
            labels = batch.labels
            yield columns, sizes

    found = runner.gathered(checked(), row, exact)
    return found, total, labels
