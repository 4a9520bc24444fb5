"""The decimal that a float was written as: 0.1 is stored as 0.1000000000000000055, and 0.1 was meant.

    decimal = float + rest,    |rest| <= ulp(float) / 2

No two decimals of at most 15 digits round to the same float, so where one rounds to the float at hand, the float came
from it if it came from text at all. Of computed floats one in twenty to fifty looks so by chance: a column is read as
decimals only where all of it can be, and in no case is a float moved by more than it was rounded by. Plain functions of
arrays, copied into emitted programs like those of `support.py`.
"""

from __future__ import annotations

import numpy as np

from platewright.backends.numpy.twofold import two_product, twofold_quotient
from platewright.family import Array

DIGITS_OF_DECIMAL = 15
"""Every decimal of so many digits is the only one of its length that rounds to its float."""
DIGITS_OF_POWER = 22
"""Powers of ten up to here are floats."""


def decimal_rest(values: Array) -> Array:
    """What the decimal of at most 15 digits that rounds to a float has beyond it; NaN where there is none."""
    with np.errstate(all="ignore"):  # what is too large or small for these powers is looked at on its own
        digits = 1 + np.floor(np.log10(np.abs(values).max(axis=0, initial=0.0)))
        places = np.clip(np.nan_to_num(DIGITS_OF_DECIMAL - digits), 0, DIGITS_OF_POWER).astype(int)
        power = np.array([10**k for k in range(DIGITS_OF_POWER + 1)], dtype=float)[places]
        whole = np.rint(values * power)  # most columns have all their numbers on one grid
        near = whole / power
        product, error = two_product(near, power)
        rest = np.asarray(((whole - product) - error) / power)
        odd = (near != values) | ~(np.abs(whole) < 10.0**DIGITS_OF_DECIMAL) | np.isnan(rest)
    if odd.any():
        rest[odd] = decimal_rest_of_each(values[odd])
    return rest


def decimal_rest_of_each(values: Array) -> Array:
    """The same for numbers of any size, each on a grid of its own."""
    size = np.abs(values)
    fraction = size != np.floor(size)  # whole numbers stand for themselves
    scale = np.floor(np.log10(np.where(fraction, size, 1.0)))
    scale -= size < 10.0**scale
    rest = np.where(fraction, np.nan, 0.0)
    for length in np.unique(scale[fraction]):
        places = DIGITS_OF_DECIMAL - 1 - int(length)  # after the point
        if not 0 < places < 300:
            continue
        chosen = fraction & (scale == length)
        found = values[chosen]
        power = np.array(float(10**places))
        whole = np.rint(found * power)
        power_rest = np.array(float(10**places - int(power)))
        near, beyond = twofold_quotient((whole, np.zeros_like(whole)), (power, power_rest))
        rest[chosen] = np.where(near == found, beyond, np.nan)
    return rest
