"""Put expressions in for others wherever they stand, also inside sums whose index they use."""

from __future__ import annotations

from collections.abc import Mapping

from platewright.algebra.expression import Expression, rebuild


def put_in(expression: Expression, changes: Mapping[Expression, Expression]) -> Expression:
    """The expression with parts replaced, also those at positions that a sum inside binds.

    Only for changes that keep the positions of what they replace: nothing is renamed, so anything else could be
    captured. `substitute` is the careful way.
    """
    if expression in changes:
        return changes[expression]
    return rebuild(expression, lambda part: put_in(part, changes))
