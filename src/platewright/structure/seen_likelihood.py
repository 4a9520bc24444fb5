"""The probability of the cells that are there, at one set of parameters: missing ones are summed and integrated out.

    sum over missing categories of [ product of tables and counts x integral over missing numbers of the regressions ]

Numbers hang on no category's table, so given the categories of a row its missing numbers are normal: the regressions
that share one are least-squares rows, triangularised together. Missing categories are eliminated along the network. A
column with a model of its own has no children, so a cell of it that is missing says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import log, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import SizeError
from platewright.structure.columns import Rows
from platewright.structure.drawn_conditionals import Conditional

MOST_NUMBERS = 50_000_000
Codes = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Factor:
    """Conditionals that go together, and the missing numbers that they share."""

    parts: tuple[Conditional, ...]
    free: tuple[int, ...] = ()

    def log_density(self, codes: Codes, values: Values) -> Values:
        """Of each row, the missing numbers integrated out.

        sqrt(precision) (own - mean) = residual - design @ free,    one row of it for each regression
        """
        if not self.free:
            return sum((part.log_density(codes, values) for part in self.parts), np.zeros(codes.shape[1]))
        known = values.copy()
        known[list(self.free)] = 0.0
        found = np.full(codes.shape[1], 0.5 * (len(self.free) - len(self.parts)) * log(2 * pi))
        design = np.zeros((codes.shape[1], len(self.parts), len(self.free)))
        residual = np.zeros((codes.shape[1], len(self.parts)))
        for row, part in enumerate(self.parts):
            at = part.at(codes)
            root = np.sqrt(at[:, 0])
            found += np.log(root)
            residual[:, row] = root * (known[part.node] - part.mean(at, known))
            for place, node in enumerate(self.free):
                if node == part.node:
                    design[:, row, place] = -root
                elif node in part.numbers:
                    design[:, row, place] = root * at[:, 2 + part.numbers.index(node)]
        orthogonal, triangle = np.linalg.qr(design)
        found -= np.log(np.abs(np.diagonal(triangle, axis1=1, axis2=2))).sum(axis=1)
        explained = np.einsum("nrf,nr->nf", orthogonal, residual)
        left = residual - np.einsum("nrf,nf->nr", orthogonal, explained)
        return np.asarray(found - 0.5 * (left**2).sum(axis=1))

    def holes(self, missing: frozenset[int]) -> tuple[int, ...]:
        """The missing categories that it hangs on."""
        names = {name for part in self.parts for name in part.tables}
        names |= {part.node for part in self.parts if part.kind == "category"}
        return tuple(sorted(names & missing))


def seen_likelihood(rows: Rows, conditionals: Sequence[Conditional]) -> float:
    """The log probability of all rows, pattern by pattern of what is missing."""
    patterns, which = np.unique(rows.missing, axis=1, return_inverse=True)
    total = 0.0
    for number, pattern in enumerate(patterns.T):
        chosen = which.reshape(-1) == number
        missing = frozenset(int(node) for node in np.flatnonzero(pattern))
        factors = factors_of(rows, conditionals, missing)
        total += _of_pattern(rows, rows.codes[:, chosen], rows.values[:, chosen], missing, factors)
    return total


def factors_of(rows: Rows, conditionals: Sequence[Conditional], missing: frozenset[int]) -> list[Factor]:
    """Each conditional alone, but regressions together where they share a missing number."""
    found: list[Factor] = []
    for part in conditionals:
        if part.group is not None and part.node in missing:
            continue
        free = {node for node in (part.node, *part.numbers) if node in missing and part.kind == "number"}
        joined = [factor for factor in found if free & set(factor.free)]
        found = [factor for factor in found if factor not in joined]
        parts = tuple(one for factor in joined for one in factor.parts)
        together = free.union(*(factor.free for factor in joined))
        found.append(Factor((*parts, part), tuple(sorted(together))))
    return found


def _of_pattern(rows: Rows, codes: Codes, values: Values, missing: frozenset[int], factors: Sequence[Factor]) -> float:
    total = 0.0
    tables: list[tuple[tuple[int, ...], Values]] = []
    for factor in factors:
        holes = factor.holes(missing)
        logs = _at_all_levels(rows, codes, values, holes, factor)
        top = logs.max(axis=tuple(range(1, logs.ndim)), keepdims=True) if holes else logs
        total += float(top.sum())
        if holes:
            tables.append((holes, np.exp(logs - top)))
    open_nodes = {node for names, _ in tables for node in names}
    for node in _elimination_order(open_nodes, [names for names, _ in tables]):
        touched = [table for table in tables if node in table[0]]
        tables = [table for table in tables if node not in table[0]]
        names = tuple(sorted({name for held, _ in touched for name in held} - {node}))
        size = codes.shape[1] * float(np.prod([len(rows.columns[name].levels) for name in (*names, node)]))
        if size > MOST_NUMBERS:
            raise SizeError("the missing cells of a row hang together too much", expected=f"{MOST_NUMBERS} numbers")
        place = {name: 1 + k for k, name in enumerate((*names, node))}
        given: list[Any] = [part for held, chance in touched for part in (chance, [0, *(place[name] for name in held)])]
        tables.append((names, np.einsum(*given, [0, *(place[name] for name in names)])))
    return total + sum(float(np.log(chance).sum()) for _, chance in tables)


def _at_all_levels(rows: Rows, codes: Codes, values: Values, holes: tuple[int, ...], factor: Factor) -> Values:
    """The log density of a factor in each row, with an axis for each missing category."""
    sizes = [len(rows.columns[node].levels) for node in holes]
    found = np.empty((codes.shape[1], *sizes))
    filled = codes.copy()
    for levels in product(*(range(size) for size in sizes)):
        for node, level in zip(holes, levels, strict=True):
            filled[node] = level
        at: Any = (slice(None), *levels)
        found[at] = factor.log_density(filled, values)
    return found


def _elimination_order(holes: set[int], families: list[tuple[int, ...]]) -> list[int]:
    """The node with the fewest others first."""
    near = {node: {other for family in families if node in family for other in family} - {node} for node in holes}
    order = []
    while near:
        node = min(near, key=lambda name: (len(near[name]), name))
        around = near.pop(node)
        for other in around:
            near[other] = (near[other] | around) - {node, other}
        order.append(node)
    return order
