"""Nested lists of numbers, from JSON or from Python, as arrays; null and None are NaN."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from platewright.errors import BugsError
from platewright.language.bugs.complaint import complain

Array = np.ndarray
MOST_LEVELS = 30


def as_array(name: str, value: Any) -> Array:
    """A number or a nested list of numbers as a float array; ragged lists are refused."""
    try:
        found = np.array(_filled(value, 0), dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise BugsError(f"`{name}` is not an array of numbers", expected="equal rows of numbers, null for NA") from None
    return found


def _filled(value: Any, depth: int) -> Any:
    if depth > MOST_LEVELS:
        raise BugsError("the data are nested too deeply", expected=f"at most {MOST_LEVELS} levels")
    if isinstance(value, (list, tuple)):
        return [_filled(item, depth + 1) for item in value]
    if value is None:
        return math.nan
    if isinstance(value, (str, bytes)):
        raise TypeError("text")
    return value


def parse_json(text: str) -> dict[str, Array]:
    """A JSON object of numbers and nested lists."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise BugsError("the data are nested too deeply") from None
    except ValueError as trouble:
        line, column = getattr(trouble, "lineno", 0), getattr(trouble, "colno", 0)
        raise complain(text, (line, column), "this is not JSON", expected=str(getattr(trouble, "msg", ""))) from None
    return {str(name): as_array(str(name), value) for name, value in found.items()}
