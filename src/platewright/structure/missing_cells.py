"""Missing cells drawn from their predictive under a network and the complete rows  (Section 8.3, step 4).

    parameters | complete rows          then for each column     its missing cells | all other cells, parameters

Parameters come and go within a step, so the chain is one over networks and missing cells; hidden nodes are columns all
of whose cells are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from platewright.structure.columns import Rows
from platewright.structure.drawn_conditionals import Conditional, drawn_conditionals
from platewright.structure.evidence_prior import EvidencePrior

Values = NDArray[np.float64]


def first_filling(rows: Rows, generator: np.random.Generator) -> Rows:
    """Every missing cell from the cells of its column that are not; hidden ones from all levels alike."""
    codes, values, missing = rows.codes.copy(), rows.values.copy(), rows.missing
    for node, column in enumerate(rows.columns):
        holes = np.flatnonzero(missing[node])
        if not len(holes):
            continue
        whole = np.flatnonzero(~missing[node])
        if column.kind != "category":
            values[node, holes] = values[node, generator.choice(whole, len(holes))]
        elif len(whole):
            codes[node, holes] = codes[node, generator.choice(whole, len(holes))]
        else:
            codes[node, holes] = generator.integers(0, len(column.levels), len(holes))
    return rows.with_cells(codes, values)


def refilled(
    rows: Rows,
    missing: NDArray[np.bool_],
    parents: Sequence[frozenset[int]],
    prior: EvidencePrior,
    centres: Values,
    generator: np.random.Generator,
    sweeps: int = 1,
) -> Rows:
    """Complete rows with the missing cells drawn anew."""
    holed = {node for node in range(len(parents)) if missing[node].any()}
    children = [[c for c, above in enumerate(parents) if node in above] for node in range(len(parents))]
    for _ in range(sweeps):
        wanted = holed | {child for node in holed for child in children[node]}
        drawn = drawn_conditionals(rows, parents, prior, centres, generator, wanted)
        codes, values = rows.codes.copy(), rows.values.copy()
        for node in generator.permutation(len(parents)):
            holes = np.flatnonzero(missing[node])
            if not len(holes):
                continue
            own, below = drawn[node], [drawn[child] for child in children[node]]
            if rows.columns[node].kind == "category":
                codes[node, holes] = _categories(own, below, codes[:, holes], values[:, holes], generator)
            elif own.group is not None:
                values[node, holes] = own.group.draw(own.at(codes[:, holes]), generator)
            else:
                values[node, holes] = _numbers(own, below, codes[:, holes], values[:, holes], generator)
        rows = replace(rows, codes=codes, values=values)
    return rows


def _categories(
    own: Conditional,
    below: Sequence[Conditional],
    codes: NDArray[np.int64],
    values: Values,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """A level for each row, by its probability given everything else in the row."""
    levels = len(own.rows.columns[own.node].levels)
    logs = np.empty((levels, codes.shape[1]))
    for level in range(levels):
        codes[own.node] = level
        logs[level] = sum(part.log_density(codes, values) for part in (own, *below))
    shares = np.exp(logs - logs.max(axis=0))
    reached = np.cumsum(shares, axis=0)
    return np.asarray((generator.random(codes.shape[1]) * reached[-1] >= reached).sum(axis=0).clip(0, levels - 1))


def _numbers(
    own: Conditional,
    below: Sequence[Conditional],
    codes: NDArray[np.int64],
    values: Values,
    generator: np.random.Generator,
) -> Values:
    """A number for each row: normal, its precision that of the node and of all regressions on it."""
    found = own.at(codes)
    precision, pull = found[:, 0].copy(), found[:, 0] * own.mean(found, values)
    for child in below:
        at = child.at(codes)
        slope = at[:, 2 + child.numbers.index(own.node)]
        left = values[child.node] - child.mean(at, values) + slope * values[own.node]
        precision += at[:, 0] * slope**2
        pull += at[:, 0] * slope * left
    return np.asarray(pull / precision + generator.standard_normal(len(pull)) / np.sqrt(precision))
