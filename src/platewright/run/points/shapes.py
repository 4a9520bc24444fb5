"""Columns of eliminated unknowns as arrays of the unknowns, in the order of their own axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from platewright.algebra.expression import Index
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.program.statements import Column


def arrays_of(
    graph: Graph, columns: Sequence[Column], batch: Sequence[Index], sizes: Mapping[str, int], values: Array
) -> dict[str, Array]:
    """Values over (anything, elements of the batch, columns), or (anything, columns) without a batch, by name."""
    found, start = {}, 0
    lead = values.shape[: values.ndim - 1 - bool(batch)]
    for column in columns:
        stop = start + prod(sizes[axis.plate] for axis in column.dense)
        order = [axis.plate for axis in (*batch, *column.dense)]
        part = values[..., start:stop].reshape((*lead, *(sizes[plate] for plate in order)))
        places = [order.index(axis.plate) for axis in graph.nodes[column.variable].axes]
        found[column.variable] = np.transpose(part, (*range(len(lead)), *(len(lead) + place for place in places)))
        start = stop
    return found


def columns_from(
    graph: Graph, columns: Sequence[Column], batch: Sequence[Index], sizes: Mapping[str, int], at: Mapping[str, Array]
) -> Array:
    """One value of each unknown as columns, over elements of the batch where there is one: the way back."""
    elements = [prod(sizes[index.plate] for index in batch)] if batch else []
    parts = []
    for column in columns:
        axes = [axis.plate for axis in graph.nodes[column.variable].axes]
        order = [axes.index(axis.plate) for axis in (*batch, *column.dense)]
        part = np.transpose(np.asarray(at[column.variable], dtype=float), order)
        parts.append(part.reshape(*elements, prod(sizes[axis.plate] for axis in column.dense)))
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*elements, 0))
