"""`pw.Truncated(pw.Normal(...), lower=0)`, `pw.Censored(pw.Weibull(...), lower=m.seen)`: distributions within bounds.

Truncated: values outside the bounds are never counted, so the density is divided by the probability between them.
Censored: a value is known to lie between the bounds, and no more; it is not divided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from platewright.algebra.build import expression
from platewright.algebra.expression import Constant
from platewright.errors import ParameterError
from platewright.families import FAMILIES, family_named
from platewright.language.distribution import Distribution, as_plates
from platewright.language.plate import Plate


def Truncated(
    distribution: Distribution, *, lower: object = None, upper: object = None, plates: Plate | Sequence[Plate] = ()
) -> Distribution:
    """A distribution cut off at bounds, and made one again. Plates may be given here or inside."""
    return _bounded("Truncated", distribution, lower, upper, as_plates(plates))


def Censored(
    distribution: Distribution, *, lower: object = None, upper: object = None, plates: Plate | Sequence[Plate] = ()
) -> Distribution:
    """A value of a distribution of which only bounds are known. Plates may be given here or inside."""
    return _bounded("Censored", distribution, lower, upper, as_plates(plates))


def _bounded(
    word: str, distribution: Distribution, lower: object, upper: object, plates: tuple[Plate, ...]
) -> Distribution:
    if not isinstance(distribution, Distribution):
        raise ParameterError(f"pw.{word}({distribution!r})", expected=f"pw.{word}(pw.Normal(...), lower=, upper=)")
    if plates and distribution.plates:
        raise ParameterError(f"pw.{word} was given plates twice, outside and inside", expected="plates once")
    distribution = replace(distribution, plates=plates or distribution.plates)
    family = distribution.family
    if family.cumulative is None:
        able = ", ".join(other.name for other in FAMILIES if other.cumulative is not None)
        raise ParameterError(f"{family.name} has no cumulative distribution here", expected=f"one of: {able}")
    if distribution.start is not None:
        raise ParameterError(f"pw.{word} of a distribution with a start", expected="one density for all elements")
    given: dict[str, object] = {}
    for name, value, end in (("lower", lower, family.domain.lower), ("upper", upper, family.domain.upper)):
        if value is not None and not _is_no_bound(value, name, end):
            given[name] = _whole(value, name) if family.domain.is_discrete else value
    if not given:
        return distribution
    chosen = family_named("".join([word, family.name, *(f"@{name}" for name in given)]))
    assert chosen is not None  # it has a cumulative distribution
    return replace(distribution, family=chosen, given=_numbers({**distribution.given, **given}))


def _whole(value: object, side: str) -> object:
    """A number that bounds counts, as the first count within."""
    found = expression(value)
    if not isinstance(found, Constant) or not math.isfinite(found.value):
        return value
    return Constant(float(math.ceil(found.value) if side == "lower" else math.floor(found.value)))


def _is_no_bound(value: object, side: str, end: float) -> bool:
    """Whether a number lies at or beyond the end of the domain, so that it bounds nothing."""
    found = expression(value)
    if not isinstance(found, Constant):
        return False
    return found.value <= end if side == "lower" else found.value >= end


def _numbers(given: Mapping[str, object]) -> dict[str, object]:
    """Constants as plain numbers, so that bounds the wrong way round are noticed."""
    return {name: value.value if isinstance(value, Constant) else value for name, value in given.items()}
