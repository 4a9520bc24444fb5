"""Matrices that are known when the program is printed become tables of numbers in it.

    root(inverse([[1, 0.6], [0.6, 2]]))[i, j]       prints      table_1[i * 2 + j]

Their plates have the sizes that the written numbers give them.
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import (
    Index,
    Inverse,
    Literal,
    LogDeterminant,
    Root,
    free_indices,
    names,
    walk,
)
from platewright.algebra.node import Expression

Table = tuple[tuple[float, ...], tuple[int, ...]]


def constant_table(whole: Inverse | Root | LogDeterminant) -> Table | None:
    """The elements of a matrix made of numbers, or the one number of its determinant; None where data have part."""
    if names(whole.matrix) or free_indices(whole.matrix) - {whole.row, whole.column}:
        return None
    sizes = literal_sizes(whole.matrix)
    if {whole.row.plate, whole.column.plate} - set(sizes):
        return None
    environment = Environment({}, sizes)
    if isinstance(whole, LogDeterminant):
        return (float(evaluate(whole, environment)),), (1,)
    element = type(whole)(whole.matrix, whole.row, whole.column, whole.row, whole.column)
    found = np.asarray(evaluate(element, environment, (whole.row, whole.column)))
    return tuple(found.ravel().tolist()), found.shape


def literal_sizes(whole: Expression) -> dict[str, int]:
    """Sizes of plates, as the tables of numbers in an expression have them."""
    return {
        index.plate: extent
        for part in walk(whole)
        if isinstance(part, Literal)
        for index, extent in zip(part.indices, part.shape, strict=True)
        if isinstance(index, Index)
    }
