"""Truncation and censoring: `T(l, u)` divides by the probability of the interval, `C(l, u)` and `I(l, u)` do not.

x ~ dnorm(m, t) T(l, u)      log p(x) + log [l <= x <= u] - log(F(u) - F(l))
x ~ dnorm(m, t) C(l, u)      log p(x) + log [l <= x <= u]        (x unknown in the interval: its integral is the
                                                                  probability of the interval)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from platewright.algebra import build
from platewright.algebra.expression import Constant, Expression
from platewright.language.bounding import Censored, Truncated
from platewright.language.bugs.expressions import scalar
from platewright.language.bugs.frame import Frame
from platewright.language.bugs.syntax import Bounds, Density
from platewright.language.constructors import Flat, HalfCauchy, HalfNormal
from platewright.language.distribution import Distribution

Cumulative = Callable[..., Expression]


CUMULATIVE: dict[str, Cumulative] = {
    "dunif": lambda x, lower, upper: (x - lower) / (upper - lower),
    "dpar": lambda x, shape, scale: 1 - build.power(scale / x, shape),
}
"""P(X <= x) of families that have bounds of their own; others state theirs (see `families/bounded.py`)."""


def absorbed(name: str, density: Density, frame: Frame, base: Distribution) -> Distribution | None:
    """A family that holds the bounds itself: flat on an interval, the half of a normal or of a Cauchy about 0."""
    bounds = density.bounds
    assert bounds is not None
    ends = _ends(bounds, frame)
    if name == "dflat":
        given: dict[str, Any] = {word: end for word, end in zip(("lower", "upper"), ends) if end is not None}
        return Flat(plates=base.plates, **given)
    mean = base.given.get("mean")
    at_zero = mean == Constant(0.0) and ends == (Constant(0.0), None)
    if name == "dnorm" and bounds.kind == "T" and at_zero:
        return HalfNormal(precision=base.given["precision"], plates=base.plates)
    if name == "dt" and bounds.kind == "T" and at_zero and base.given["degrees"] == Constant(1.0):
        return HalfCauchy(scale=build.power(build.expression(base.given["precision"]), -0.5), plates=base.plates)
    if base.family.cumulative is None or base.family.lower is not None or base.start is not None:
        return None
    cut = Truncated if bounds.kind == "T" else Censored
    return cut(base, lower=ends[0], upper=ends[1])


def factor(name: str, density: Density, frame: Frame, x: Expression) -> Expression:
    """The log factor that the bounds add to the density of x."""
    bounds = density.bounds
    assert bounds is not None
    lower, upper = _ends(bounds, frame)
    parts: list[Expression] = []
    if lower is not None:
        parts.append(build.at_most(lower, x))
    if upper is not None:
        parts.append(build.at_most(x, upper))
    if bounds.kind == "T" and (lower is not None or upper is not None):
        parts.append(-_log_probability(name, density, frame, lower, upper))
    return build.add(*parts)


def _ends(bounds: Bounds, frame: Frame) -> tuple[Expression | None, Expression | None]:
    lower = None if bounds.lower is None else scalar(bounds.lower, frame)
    upper = None if bounds.upper is None else scalar(bounds.upper, frame)
    return lower, upper


def _log_probability(
    name: str, density: Density, frame: Frame, lower: Expression | None, upper: Expression | None
) -> Expression:
    """log(F(upper) - F(lower))."""
    if name not in CUMULATIVE:
        assert density.bounds is not None
        raise frame.complain(
            density.bounds.place,
            f"`T(,)` on `{density.name}` is declined: its cumulative distribution is not in our algebra",
            expected="a distribution whose cumulative distribution is known, such as dnorm, dgamma or dpois",
        )
    arguments = [scalar(argument, frame) for argument in density.arguments]
    cumulative = CUMULATIVE[name]
    high = Constant(1.0) if upper is None else cumulative(upper, *arguments)
    low = Constant(0.0) if lower is None else cumulative(lower, *arguments)
    return build.log(high - low)
