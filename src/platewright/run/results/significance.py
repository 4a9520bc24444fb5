"""Numbers with the digits that mean something: three of the standard deviation, and the same places for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, isfinite, log10

MOST_PLACES = 8
MOST_DIGITS = 15


def alike(values: Sequence[float], spread: float) -> tuple[str, ...]:
    """Numbers as text, all to the place of the third digit of their spread; without a spread, to about four digits."""
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    if isfinite(spread) and spread > 0:
        places = 2 - floor(log10(spread))
    else:
        places = 3 - (floor(log10(largest)) if 0 < largest < 1e-2 or largest >= 1 else 0)
    if places > MOST_PLACES or places < -3 or largest >= 1e9:
        digits = min(MOST_DIGITS, max(3, places + floor(log10(largest or 1.0)) + 1))
        return tuple(_short(value, digits) for value in values)
    return tuple(_plain(value, max(0, places)) for value in values)


def _plain(value: float, places: int) -> str:
    if value != value:
        return ""
    if not isfinite(value):
        return str(value)
    shown = f"{value:.{places}f}"
    return shown.removeprefix("-") if float(shown) == 0 else shown


def _short(value: float, digits: int) -> str:
    return "" if value != value else f"{value:.{digits}g}"
