"""Where the state of a run over a file is stored, and what it must belong to: the plan, every batch, the options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platewright.derive.explain import explain_plan
from platewright.run.checkpoint import Checkpoint, run_key
from platewright.run.hidden.row_file import RowFile
from platewright.schemas.em import EMPlan
from platewright.schemas.mean_field import MeanFieldPlan


def file_checkpoint(
    plan: EMPlan | MeanFieldPlan, file: RowFile, path: str | Path | None, options: Mapping[str, object]
) -> Checkpoint:
    """Where the state of a run is stored, and what it must belong to: each batch adds to the key."""
    if path is None:
        return Checkpoint()
    key = explain_plan(plan)
    for batch in file:
        key = run_key(key, batch.columns, options)
    return Checkpoint(Path(path), key)
