"""Whether a log density has one hill and a top, proved from its second derivatives in predictors.

    f(e, row),   e = offset + sum_j c_j(row) w[j]        f'' <= 0 for any e and any row:  concave in w
    - c w[j]^2,  c > 0, for every w                      and it falls in every direction: there is one mode

A sum of functions that bend down in a linear predictor each bends down; signs are read off the span of a second
derivative, whatever the data are that the model allows. What is not proved counts as not so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from platewright.algebra.expression import (
    Expression,
    LogSumExp,
    Maximum,
    Reference,
    Size,
    Sum,
    Where,
    names,
    parts,
)
from platewright.algebra.span import ANYTHING, Span, span, span_of_domain
from platewright.language.variable import Variable
from platewright.program.derivatives import Bend, Bent


def has_one_top(bent: Sequence[Bent], variables: Sequence[str], nodes: Mapping[str, Variable]) -> bool:
    """Whether log factors are concave together in some unknowns, and have a mode."""
    if not bent or not all(nodes[name].domain.is_unbounded for name in variables):
        return False
    if not all(_bends_down(rows, bend, nodes) for rows in bent for bend in rows.bends):
        return False
    return set(variables) <= {name for rows in bent for name in _held_down(rows, nodes)}


def _bends_down(rows: Bent, bend: Bend, nodes: Mapping[str, Variable]) -> bool:
    """Whether a second derivative is that of one predictor in itself, row by row, and nowhere above zero."""
    predictor = rows.predictors[bend.first]
    if bend.first != bend.second or not set(predictor.axes) <= set(rows.axes):
        return False
    return _most(rows, bend.expression, nodes) <= 0.0


def _held_down(rows: Bent, nodes: Mapping[str, Variable]) -> list[str]:
    """Unknowns each element of which has a square of its own with a weight that is known to be negative."""
    found = []
    for bend in rows.bends:
        predictor = rows.predictors[bend.first]
        part = predictor.expression
        if bend.first != bend.second or not isinstance(part, Reference):
            continue
        is_whole = part.indices == nodes[part.name].axes and set(part.indices) == set(rows.axes)
        if is_whole and _most(rows, bend.expression, nodes) < 0.0 and not names(bend.expression):
            found.append(part.name)
    return found


def _most(rows: Bent, expression: Expression, nodes: Mapping[str, Variable]) -> float:
    """What an expression is never above, whatever the predictors are."""
    if any(isinstance(part, Size | Sum | LogSumExp | Maximum | Where) for part in parts(expression)):
        return float("inf")
    spans: dict[str, Span] = {name: span_of_domain(nodes[name].domain) for name in names(expression) if name in nodes}
    spans |= {predictor.mark.name: ANYTHING for predictor in rows.predictors}
    if not names(expression) <= spans.keys():
        return float("inf")
    return float(span(expression, spans, {})[1].max())
