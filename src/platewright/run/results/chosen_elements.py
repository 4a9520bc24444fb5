"""Some elements of a plate, out of all columns that lie on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.expression import Index
from platewright.family import Array
from platewright.graph.graph import Graph


def chosen_elements(graph: Graph, columns: Mapping[str, Array], row: str, at: object) -> dict[str, Array]:
    """The columns with some elements of one plate."""
    found = {}
    for name, values in columns.items():
        axes: tuple[Index, ...] = graph.nodes[name].axes if name in graph.nodes else ()
        place = next((k for k, axis in enumerate(axes) if axis.plate == row), None)
        found[name] = values if place is None else np.take(values, np.asarray(at), axis=place)
    return found
