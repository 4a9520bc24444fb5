"""Fold numbers as they are written: `0.1 - 1 + 1` is `0.1`, not `0.09999999999999998`.

People write decimals. Where the decimal result is much shorter than the binary one, it is the one they meant; terms
that cancel on paper then cancel here too, and what is printed reads as it was written.
"""

from __future__ import annotations

from decimal import Decimal
from math import isfinite

FEWER_DIGITS = 4


def added(left: float, right: float) -> float:
    """The sum of two written numbers."""
    plain = left + right
    if _is_whole(left, right) or not isfinite(plain):
        return plain
    return _shorter(float(Decimal(repr(left)) + Decimal(repr(right))), plain)


def multiplied(left: float, right: float) -> float:
    """The product of two written numbers."""
    plain = left * right
    if abs(left) == 1.0 or abs(right) == 1.0 or _is_whole(left, right) or not isfinite(plain):
        return plain
    return _shorter(float(Decimal(repr(left)) * Decimal(repr(right))), plain)


def _is_whole(left: float, right: float) -> bool:
    return float(left).is_integer() and float(right).is_integer()


def _shorter(decimal: float, binary: float) -> float:
    """Logarithms and the like have all their digits either way, and keep those of binary arithmetic."""
    return decimal if len(repr(decimal)) + FEWER_DIGITS <= len(repr(binary)) else binary
