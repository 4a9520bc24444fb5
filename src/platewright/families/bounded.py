"""A family within bounds: truncated to them, with the probability between them as its normaliser, or censored.

    truncated    p(x) / (F(upper) - F(lower))        lower <= x <= upper:   values outside were never counted
    censored     p(x)                                lower <= x <= upper:   x is known to lie there; its integral over
                                                                            the interval is the interval's probability

F is the cumulative distribution of the family, stated with it. Draws invert F between its values at the bounds. Of
counts the lower bound belongs to the interval: its probability begins at F(lower - 1).
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.build import call, log, where
from platewright.algebra.domain import REAL
from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import ONE, ZERO, Call, Expression
from platewright.algebra.substitution import substitute
from platewright.families.inverting import between, within_ends
from platewright.family import Array, Family, Parameter, Values, X

LOWER = Parameter("lower", REAL)
UPPER = Parameter("upper", REAL)


def bounded(name: str, family: Family, below: bool, above: bool) -> Family:
    """The family `Truncated...` or `Censored...` with those of the two bounds that are given."""
    extra = (*((LOWER,) if below else ()), *((UPPER,) if above else ()))
    density = family.log_density
    if name == "Truncated":
        density = density - log_mass(family, below, above)
    words = "".join(f"@{parameter.name}" for parameter in extra)
    return Family(
        name=f"{name}{family.name}{words}",
        parameters=(*family.parameters, *extra),
        domain=family.domain,
        statistics=(),
        natural=(),
        log_normaliser=ZERO,
        stable_log_density=density,
        base=density,
        spelled=family.spelled,
        defaults=family.defaults,
        lower=_tighter("maximum", LOWER.symbol if below else None, family.lower),
        upper=_tighter("minimum", UPPER.symbol if above else None, family.upper),
        draw=lambda generator, p, size: _drawn(family, generator, p, size),
        # What is censored has the mass of its interval, which tells of the parameters: it is no leaf to cut.
        proper=name == "Truncated" and family.proper,
        within=family,
    )


def log_mass(family: Family, below: bool, above: bool) -> Expression:
    """log(F(upper) - F(lower)), in the tail that does not cancel where only one end is given."""
    assert family.cumulative is not None
    at_high = substitute(family.cumulative, {X: UPPER.symbol})
    if below and not above:
        at_low = substitute(family.cumulative, {X: LOWER.symbol})
        tail = _normal_tail(at_low, upper=True)
        return log(_from_lower(family)) if tail is None else tail
    if below:
        return log(at_high - (ONE - _from_lower(family)))
    tail = _normal_tail(at_high, upper=False)
    return log(at_high) if tail is None else tail


def _from_lower(family: Family) -> Expression:
    """The probability of the lower bound and all above it; of counts, all from the first whole number on."""
    assert family.cumulative is not None
    if not family.domain.is_discrete:
        return ONE - substitute(family.cumulative, {X: LOWER.symbol})
    first = family.domain.lower
    before = call("maximum", -call("floor", -LOWER.symbol) - 1, first)
    above = ONE - substitute(family.cumulative, {X: before})
    return where(call("less", first, LOWER.symbol), above, ONE)


def _normal_tail(value: Expression, upper: bool) -> Expression | None:
    if not isinstance(value, Call) or value.function != "normal_cdf":
        return None
    (z,) = value.arguments
    return call("log_normal_cdf", -z if upper else z)


def _tighter(function: str, given: Expression | None, own: Expression | None) -> Expression | None:
    """A bound that is given and one that the family has of itself: both hold."""
    if given is None or own is None:
        return own if given is None else given
    return call(function, given, own)


def _drawn(family: Family, generator: np.random.Generator, p: Values, size: tuple[int, ...]) -> Array:
    """Independent draws; where the bounds leave almost nothing, the end nearer to the mass."""
    lower, upper = p.get("lower", np.array(-np.inf)), p.get("upper", np.array(np.inf))
    own = {name: value for name, value in p.items() if name not in ("lower", "upper")}
    return drawn_between(family, own, lower, upper, generator.random(size))[0]


def drawn_between(family: Family, p: Values, lower: Array, upper: Array, share: Array) -> tuple[Array, Array]:
    """The point of a family that leaves `share` of the mass between the bounds below it, and where to trust it."""
    assert family.quantile is not None
    inverse = family.quantile
    centre = p["mean"] if is_symmetric(family) else None
    if family.domain.is_discrete:
        lower, upper = np.ceil(lower), np.floor(upper)
        found, sure = between(
            lambda x: _cumulative(family, p, x), lambda q: np.asarray(inverse(q, p)), lower - 1, upper, share
        )
        return np.maximum(found, lower), sure
    return between(
        lambda x: _cumulative(family, p, x),
        lambda q: np.asarray(inverse(q, p), dtype=float),
        lower,
        upper,
        share,
        centre,
    )


def is_symmetric(family: Family) -> bool:
    """Whether a family is symmetric about its mean: all families on the line with a mean are."""
    return family.domain == REAL and any(parameter.name == "mean" for parameter in family.parameters)


def _cumulative(family: Family, p: Values, x: Array) -> Array:
    """F at x, with 0 and 1 at and beyond the ends of the domain."""
    assert family.cumulative is not None
    expression = family.cumulative
    return within_ends(
        lambda at: np.asarray(elementwise(expression, {**p, "x": at}), dtype=float),
        x,
        # A count has mass at the end of its domain.
        family.domain.lower - family.domain.is_discrete,
        family.domain.upper,
    )
