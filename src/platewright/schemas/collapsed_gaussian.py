"""A Gaussian block as a function of product sums, so that one row can enter it: what triangularisation computes.

    G[a, b] = sum over rows of weight f_a f_b          features f of the columns, the right-hand side last
    eliminate column c:   log root += log(G[c, c]) / 2,   G[a, b] -= G[a, c] G[c, b] / G[c, c]
    what is left of the right-hand side is the residual

Right-hand sides are taken about a pilot fit, `f - sum_c f_c pilot_c`, as columns of their own: this moves the unknowns,
not the residual, and keeps the digits of data far from zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from platewright.algebra.build import add, log, multiply, power, substitute, totals
from platewright.algebra.expression import ZERO, Expression, Index, Reference, free_indices, mentions
from platewright.program.statements import Assign, Pool, Source, Triangularise
from platewright.schemas.collapsed_tables import Collapse, Tables

MOST_COLUMNS = 3
"""More columns make formulas that nobody would read, and that cost more than a factorisation."""


@dataclass(frozen=True)
class Centred:
    """A column made before the first sweep: a right-hand side less a rough fit of all pooled rows of a block."""

    name: str
    axes: tuple[Index, ...]
    block: str
    features: tuple[Expression, ...]
    right: Expression
    output: Index | None
    pooled: bool

    @property
    def rows(self) -> tuple[Index, ...]:
        """The axes without that of the outputs."""
        return self.axes if self.output is None else self.axes[:-1]


def open_block(block: Triangularise, pools: Sequence[Pool], tables: Tables) -> tuple[list[Assign], tuple[Centred, ...]]:
    """`log_root` and `residual` of a block as assignments from tables of product sums."""
    if block.outer:
        shown = ", ".join(column.variable for column in block.columns[: block.eliminated])
        raise Collapse(f"{shown} share {block.outer[0].variable}, unknown too: one element changes every cell of them")
    if wide := next((column for column in block.columns if column.dense), None):
        raise Collapse(f"`{wide.variable}` is a whole vector in each cell of `{block.name}`, not followed yet")
    if len(block.columns) > MOST_COLUMNS:
        raise Collapse(f"`{block.name}` has {len(block.columns)} unknowns in each cell, more than {MOST_COLUMNS}")
    by_name = {pool.name: pool for pool in pools}
    width = len(block.columns)
    too = None if block.output is None else Index(block.output.name + "'", block.output.plate)
    gram: dict[tuple[int, int], Expression] = {}
    centred: list[Centred] = []
    # Rows that a hidden variable shapes have no fit of their own that could be taken off beforehand.
    moving = any(mentions(feature.expression, tables.hidden) for source in block.sources for feature in source.features)
    for source in block.sources:
        rows = _rows(source, block, by_name)
        right = source.features[-1].expression
        if not moving:
            made = _centred(source, rows, block)
            centred.append(made)
            right = Reference(made.name, made.axes)
        features = [*rows.features, right]
        for a in range(width + 1):
            for b in range(a, width + 1):
                second = features[b]
                if b == width and a == width and too is not None and block.output is not None:
                    second = substitute(right, {block.output: too})
                value = multiply(rows.weight, features[a], second)
                label = f"{source.pool or block.name + '.' + source.owner}.{a}{b}"
                gram[a, b] = add(gram.get((a, b), ZERO), _sum(label, rows, value, block, tables))
    return _eliminated(block, gram, width, too), tuple(centred)


@dataclass(frozen=True)
class _Rows:
    """Rows of a source: what they run over, the batch each is in, a feature for each column, and their weight."""

    over: tuple[Index, ...]
    codes: tuple[Expression, ...]
    features: tuple[Expression, ...]
    weight: Expression


def _rows(source: Source, block: Triangularise, pools: dict[str, Pool]) -> _Rows:
    features: list[Expression] = [ZERO] * len(block.columns)
    for entry in source.entries:
        features[entry.column] = add(features[entry.column], source.features[entry.feature].expression)
    if source.pool is None:
        return _Rows(source.cells, block.batch, tuple(features), source.weight)
    pool = pools.get(source.pool)
    if pool is None:
        raise Collapse(f"the rows of `{source.owner}` in `{block.name}` are made from other results, not from data")
    return _Rows(pool.over, tuple(cell.code for cell in pool.cells), tuple(features), pool.weight)


def _centred(source: Source, rows: _Rows, block: Triangularise) -> Centred:
    output = () if block.output is None else (block.output,)
    name = f"{source.pool or f'{block.name}.{source.owner}'}.right"
    axes = (*rows.over, *output)
    right = source.features[-1].expression
    return Centred(name, axes, block.name, rows.features, right, block.output, source.pool is not None)


def _sum(label: str, rows: _Rows, value: Expression, block: Triangularise, tables: Tables) -> Expression:
    """A product sum: a table where rows move, else an expression of the batch."""
    if value == ZERO:
        return ZERO
    moving = mentions(value, tables.hidden) or any(mentions(code, tables.hidden) for code in rows.codes)
    if not moving and all(code == own for code, own in zip(rows.codes, block.batch, strict=True)):
        return totals(value, [index for index in rows.over if index not in block.batch])
    dense: tuple[Index, ...] = ()
    if block.output is not None:
        too = Index(block.output.name + "'", block.output.plate)
        free = free_indices(value)
        dense = tuple(index for index in (block.output, too) if index in free)
    table = tables.named(
        label,
        (*(index.plate for index in block.batch), *(index.plate for index in dense)),
        (*rows.over, *dense),
        (*rows.codes, *dense),
        value,
    )
    return Reference(table.name, (*block.batch, *dense))


def _eliminated(
    block: Triangularise, gram: dict[tuple[int, int], Expression], width: int, too: Index | None
) -> list[Assign]:
    """Columns one after another; each division is by a pivot that the priors keep above zero."""
    roots: list[Expression] = []

    def entry(a: int, b: int) -> Expression:
        return gram[min(a, b), max(a, b)]

    for c in range(width):
        pivot = gram[c, c]
        if pivot == ZERO:
            raise Collapse(f"`{block.columns[c].variable}` has no row in `{block.name}`")
        roots.append(multiply(0.5, log(pivot)))
        for a in range(c + 1, width + 1):
            for b in range(a, width + 1):
                second = entry(c, b)
                if a == width and too is not None and block.output is not None:
                    second = substitute(second, {block.output: too})
                gram[a, b] = add(gram[a, b], multiply(-1.0, entry(c, a), second, power(pivot, -1.0)))
    axes = block.batch if too is None or block.output is None else (*block.batch, block.output, too)
    return [
        Assign(f"{block.name}.log_root", block.batch, add(*roots)),
        Assign(f"{block.name}.residual", axes, gram[width, width]),
    ]
