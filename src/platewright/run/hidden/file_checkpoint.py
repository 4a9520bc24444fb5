"""Where the state of a run over a file is stored, and what it must belong to: the plan, every batch, the options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platewright.derive.explain import explain_plan
from platewright.run.checkpoint import Checkpoint, checkpoint_at, run_name
from platewright.run.hidden.row_file import RowFile
from platewright.schemas.em import EMPlan
from platewright.schemas.mean_field import MeanFieldPlan


def file_checkpoint(
    plan: EMPlan | MeanFieldPlan, file: RowFile, path: str | Path | None, options: Mapping[str, object]
) -> Checkpoint:
    """Where the state of a run is stored, and what it must belong to: each batch adds to the key."""
    if path is None:
        return Checkpoint()
    name = run_name(explain_plan(plan), {}, options)
    for batch in file:
        name = name.with_rows(batch.columns)
    return checkpoint_at(path, name)
