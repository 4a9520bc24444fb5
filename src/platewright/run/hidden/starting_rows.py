"""A choice of rows to start from: more of them say nothing more about where to begin."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.family import Array
from platewright.language.plate import beginning
from platewright.run.hidden.chain import some_steps
from platewright.schemas.hidden_plan import HiddenPlan

ROWS_TO_START = 5_000
"""More rows than this say nothing more about where to start."""

Rows = tuple[Mapping[str, Array], Mapping[str, int]]


def starting_rows(
    plan: HiddenPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], generator: np.random.Generator
) -> Rows:
    """Columns and sizes of some rows drawn at random, where there are many; chains are taken from their beginning."""
    plates = {axes[0].plate for axes in plan.latent.elements}
    row = min(plates, default="")
    nodes = plan.graph.nodes
    if len(plates) != 1 or plan.latent.gaussian or sizes[row] <= ROWS_TO_START:
        return columns, sizes
    if any(node.domain.levels == row for node in nodes.values()):  # rows that belong to these
        return columns, sizes
    if any(row in {axis.plate for axis in nodes[name].axes} for name in plan.learned):  # each row has its own
        return columns, sizes
    if any(item.chain for item in plan.hidden):
        chosen = some_steps(columns[beginning(row)], ROWS_TO_START, generator)
    else:
        chosen = np.sort(generator.choice(sizes[row], ROWS_TO_START, replace=False))
    few = {}
    for name, values in columns.items():
        axes = [axis.plate for axis in nodes[name].axes]
        few[name] = np.take(values, chosen, axis=axes.index(row)) if row in axes else values
    return few, {**sizes, row: len(chosen)}
