"""Spread an unknown that rows look up by a bound index over the whole of its axis.

    sum_k w[k] b[table[n, k]]      becomes      sum_j (sum_k w[k] [table[n, k] = j]) b[j]

A row that touches several elements, which ones a table says, is a row over all of them with a sum of indicators as the
coefficient of each. Positions that are bound indices themselves are spread already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from platewright.algebra.build import equal, multiply
from platewright.algebra.expression import Expression, Index, all_indices, free_indices, fresh
from platewright.language.variable import Variable
from platewright.recognition.linear import Part, merged, without_idle
from platewright.recognition.rows import Rows


def spread(rows: Rows, nodes: Mapping[str, Variable]) -> Rows:
    """The same rows, in which every position that a bound index moves is such an index."""
    if not any(_is_moved(part, nodes[part.variable]) for part in rows.parts):
        return rows
    return replace(rows, parts=merged([_spread_part(part, rows, nodes[part.variable]) for part in rows.parts]))


def _is_moved(part: Part, variable: Variable) -> bool:
    return any(_moved(at, axis, part) for axis, at in zip(variable.axes, part.at, strict=True))


def _moved(at: Expression, axis: Index, part: Part) -> bool:
    """Whether a bound index moves a position without running along the axis itself."""
    is_axis = isinstance(at, Index) and at.plate == axis.plate
    return not is_axis and not free_indices(at).isdisjoint(part.inner)


def _spread_part(part: Part, rows: Rows, variable: Variable) -> Part:
    taken = {*rows.axes, *(rows.outputs or ()), *part.inner, *all_indices(part.coefficient)}
    positions: list[Expression] = []
    coefficient, inner = part.coefficient, part.inner
    for axis, at in zip(variable.axes, part.at, strict=True):
        if not _moved(at, axis, part):
            positions.append(at)
            continue
        place = fresh(axis, taken | all_indices(at))
        taken.add(place)
        positions.append(place)
        coefficient = multiply(coefficient, equal(at, place))
        inner = (*inner, place)
    return without_idle(Part(part.variable, tuple(positions), coefficient, inner))
