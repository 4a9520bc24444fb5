"""Loops of a Stan text are named after indices; one inside another takes another name.

    for (i in 1:n) x[i] - sum_i x[i]      sum_i' x[i'], and i_too for its loop

In our expressions an inner index may hide an outer one; Stan refuses a name that is in use.
"""

from __future__ import annotations

from platewright.algebra.expression import Expression, Index, bound, rebuild
from platewright.algebra.substitution import rename_bound


def apart(whole: Expression, running: frozenset[Index]) -> Expression:
    """The same expression, with no bound index that is among those already running."""
    if clashing := [index for index in bound(whole) if index in running]:
        whole = rename_bound(whole, clashing, set(running))
    inside = running | frozenset(bound(whole))
    return rebuild(whole, lambda part: apart(part, inside))
