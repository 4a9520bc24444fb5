"""Twofold numbers: a float and what rounding took from it, so that about 32 digits are kept (Dekker; Knuth).

    value = high + low,    |low| <= ulp(high) / 2

Plain functions of arrays, copied into emitted programs like those of `support.py`.
"""

from __future__ import annotations

import numpy as np

from platewright.family import Array

Twofold = tuple[Array, ...]


def two_sum(left: Array, right: Array) -> Twofold:
    """The rounded sum, and exactly what the rounding took."""
    total = left + right
    part = total - left
    return total, (left - (total - part)) + (right - part)


def two_product(left: Array, right: Array) -> Twofold:
    """The rounded product, and exactly what the rounding took."""
    product = left * right
    big_left, big_right = 134217729.0 * left, 134217729.0 * right  # 2^27 + 1 splits 53 bits into halves
    left_high = big_left - (big_left - left)
    right_high = big_right - (big_right - right)
    left_low, right_low = left - left_high, right - right_high
    error = ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low
    return product, error


def twofold_sum(left: Twofold, right: Twofold) -> Twofold:
    """Sum of twofold numbers."""
    high, low = two_sum(left[0], right[0])
    return two_sum(high, low + (left[1] + right[1]))


def twofold_product(left: Twofold, right: Twofold) -> Twofold:
    """Product of twofold numbers."""
    high, low = two_product(left[0], right[0])
    return two_sum(high, low + (left[0] * right[1] + left[1] * right[0]))


def twofold_quotient(left: Twofold, right: Twofold) -> Twofold:
    """Quotient of twofold numbers, by one step of long division after the first digit."""
    first = left[0] / right[0]
    whole = twofold_product((first, np.zeros_like(first)), right)
    rest = twofold_sum(left, (-whole[0], -whole[1]))
    return two_sum(first, rest[0] / right[0])
