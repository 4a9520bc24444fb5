"""The scales that an unknown meets: all of its squares must share one unknown factor  (design, common factor).

-1/2 mu^2 - tau/2 (y - mu)^2        scales 1 and tau: nothing in common, so tau cannot be eliminated after mu
-tau/2 mu^2 - tau/2 (y - mu)^2      one scale, tau
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from platewright.algebra.build import multiply
from platewright.algebra.expression import ONE, Expression, Multiply, Reference, mentions, names, rebuild
from platewright.recognition.rows import Rows


def parted(weight: Expression, unknown: Set[str]) -> tuple[Expression, Expression]:
    """A weight as its known part and its unknown part."""
    factors = weight.factors if isinstance(weight, Multiply) else (weight,)
    known = [factor for factor in factors if not mentions(factor, unknown)]
    other = [factor for factor in factors if mentions(factor, unknown)]
    return multiply(*known), multiply(*other)


def scales_of(rows: Iterable[Rows], unknown: Set[str]) -> dict[Expression, str]:
    """The unknown scales of the rows that touch an unknown, wherever looked up, each with whose rows they are."""
    found: dict[Expression, str] = {}
    for each in rows:
        scale = parted(each.weight, unknown)[1]
        if each.matrix is not None and mentions(each.matrix, unknown):
            scale = multiply(scale, each.matrix)
        found.setdefault(_anywhere(scale), each.owner)
    return found


def _anywhere(expression: Expression) -> Expression:
    """An expression without the positions at which variables are looked up."""
    if isinstance(expression, Reference):
        return Reference(expression.name)
    return rebuild(expression, _anywhere)


def no_common_scale(group: Sequence[str], scales: Mapping[Expression, str], unknown: Set[str]) -> str:
    """The sentence that says which scales meet and what cannot be done therefore."""
    tied: list[str] = []
    parts = []
    for scale, owner in scales.items():
        what = "a fixed one" if scale == ONE else f"{scale}"
        parts.append(f"{what} {_where(owner, group)}")
        tied += [name for name in sorted(names(scale) & unknown) if name not in tied]
    shown = ", ".join(f"`{name}`" for name in group)
    verb, after = ("meet", "them") if len(group) > 1 else ("meets", "it")
    rest = " and ".join(f"`{name}`" for name in tied)
    listed = ", ".join(parts)
    return f"{shown} {verb} scales without a common factor: {listed}; so {rest} cannot be eliminated after {after}"


def _where(owner: str, group: Sequence[str]) -> str:
    if owner in group:
        return "in its own prior" if len(group) == 1 else f"in the prior of `{owner}`"
    return f"in `{owner}`"
