"""Which data a result still needs once the pass over the rows is done.

For most plans none at all. Unknowns that live on the rows themselves, memberships of groups, functions of unknowns and
predicted nodes may look some columns up. It is all or nothing: with a part of the rows a fit could neither be updated
nor forget, and `not fit.columns` is how the rest of the room asks whether rows are there.
"""

from __future__ import annotations

from collections.abc import Mapping

from platewright.algebra.expression import Expression, names
from platewright.elimination.state import FamilyConditional, GaussianConditional, TableConditional
from platewright.family import Array
from platewright.program.program import expressions_of
from platewright.program.statements import Triangularise
from platewright.schema import Plan


def kept_columns(plan: Plan, columns: Mapping[str, Array]) -> dict[str, Array]:
    """All columns when marginals, draws or the work after the pass refer to any of them, else none."""
    used: set[str] = set()
    for expression in _after_the_pass(plan):
        used |= names(expression)
    return dict(columns) if used & set(columns) else {}


def _after_the_pass(plan: Plan) -> list[Expression]:
    found: list[Expression] = []
    for statement in plan.program.body:
        found += expressions_of(statement)
        if isinstance(statement, Triangularise):
            found += [at for column in statement.columns for at in column.at]
    for conditional in plan.conditionals:
        match conditional:
            case FamilyConditional():
                found += conditional.parameters.values()
            case TableConditional():
                found.append(conditional.log_weights)
            case GaussianConditional(_, scale, matrix):
                found += [scale] if matrix is None else [scale, matrix]
    for name, node in plan.graph.nodes.items():
        if node.definition is not None and not plan.graph.is_known(name):
            found.append(node.definition)
        if name in plan.barren:
            found += [node.log_density, *(value for _, value in node.parameters)]
    return found
