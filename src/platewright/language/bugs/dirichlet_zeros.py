"""A Dirichlet with known zeros among its numbers lives on the other categories, as JAGS has it.

p[1:3] ~ ddirch(a[])  with a = (1, 0, 2)      p.positive[1:2] ~ ddirch((1, 2)),   p = (p.positive[1], 0, p.positive[2])

A limit: as a concentration goes to zero, so does its share. Where p itself is in the data it stays as it was written.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from platewright.errors import BugsError
from platewright.language.bugs.arithmetic import NotKnown, Scope, compute
from platewright.language.bugs.folding import Folded
from platewright.language.bugs.relations import Relation, lay_out, unroll
from platewright.language.bugs.syntax import Assignment, Draw, Element, Empty, Expression, Index, Number, Range

Array = np.ndarray


def without_zeros(folded: Folded, source: str) -> Folded:
    """The statements and constants with every such Dirichlet on its positive categories."""
    relations: list[Relation] = []
    constants = dict(folded.constants)
    for relation in folded.relations:
        statement = relation.statement
        is_dirichlet = isinstance(statement, Draw) and statement.density.name in ("ddirich", "ddirch")
        if not is_dirichlet or relation.name in folded.observed:
            relations.append(relation)
            continue
        rows = _rows(relation, folded.scope, source)
        numbers = [_concentration(row, folded.scope) for row in rows]
        if all(values is None or (values > 0).all() for values in numbers):
            relations.append(relation)
            continue
        for row, values in zip(rows, numbers):
            if values is None or (values > 0).all() or not (values > 0).any():
                relations.append(row)
                continue
            name = f"{relation.name}.positive{len(constants)}"
            constants[f"{name}.a"] = values[values > 0]
            relations += _split(row, values, name, folded.scope)
    return replace(folded, relations=tuple(relations), constants=constants)


def _rows(relation: Relation, scope: Scope, source: str) -> list[Relation]:
    """A relation with its loops unrolled, as every row may have zeros of its own."""
    rows = [relation]
    for head in relation.loops:
        rows = [
            part
            for row in rows
            for part in unroll(row, head.variable, np.unique(lay_out(row, scope, source).loops[head.variable]).tolist())
        ]
    return rows


def _concentration(row: Relation, scope: Scope) -> Array | None:
    """The numbers of a row, where they are known and there are several."""
    assert isinstance(row.statement, Draw)
    try:
        values = np.asarray(compute(row.statement.density.arguments[0], scope), dtype=float)
    except (NotKnown, BugsError, IndexError):
        return None
    return values if values.ndim == 1 and np.isfinite(values).all() and (values >= 0).all() else None


def _split(row: Relation, values: Array, name: str, scope: Scope) -> list[Relation]:
    """The positive categories drawn together under a name of their own, and every category as what it is."""
    assert isinstance(row.statement, Draw)
    statement, place = row.statement, row.place
    positive = np.flatnonzero(values > 0)
    inside = (Range(Number(1.0, place), Number(float(len(positive)), place), place),)
    density = replace(statement.density, arguments=(Element(f"{name}.a", inside, place),))
    drawn = Draw(Element(name, inside, place), density, place)
    is_alone = len(positive) == 1
    found = [] if is_alone else [replace(row, statement=drawn)]
    for k in range(len(values)):
        value: Expression = Number(0.0, place)
        if k in positive:
            at = Number(float(np.searchsorted(positive, k)) + 1, place)
            value = Number(1.0, place) if is_alone else Element(name, (at,), place)
        share = _category(statement.target, k, scope)
        found.append(replace(row, statement=Assignment(share, value, None, place)))
    return found


def _category(target: Element, k: int, scope: Scope) -> Element:
    """One category of the left side, counted from 0."""
    indices: tuple[Index, ...] = target.indices if target.indices is not None else (Empty(),)
    at = next(d for d, part in enumerate(indices) if isinstance(part, (Empty, Range)))
    part = indices[at]
    first = float(compute(part.first, scope)) if isinstance(part, Range) else 1.0
    return replace(target, indices=(*indices[:at], Number(first + k, target.place), *indices[at + 1 :]))
