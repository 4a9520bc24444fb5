"""The set of values a variable can take.

real line, half line, interval, circle      continuous
naturals, integer range                     counts
levels of a plate                           categories, usable as an index
simplex, positive definite matrix           with event axes
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import Literal

Kind = Literal["real", "integer", "levels", "simplex", "matrix", "circle", "vector"]


@dataclass(frozen=True, slots=True)
class Domain:
    """Where values live. `levels` names the plate whose elements are the values of a category."""

    kind: Kind
    lower: float = -inf
    upper: float = inf
    levels: str | None = None

    @property
    def is_discrete(self) -> bool:
        """Whether the values can be counted."""
        return self.kind in ("integer", "levels")

    @property
    def is_unbounded(self) -> bool:
        """Whether the values fill the whole real line, or a space of such."""
        return self.kind == "vector" or (self.kind == "real" and self.lower == -inf and self.upper == inf)

    @property
    def has_volume(self) -> bool:
        """Whether a constant density over all values can be made one that sums to one."""
        ends = self.lower > -inf and self.upper < inf
        return self.is_finite or self.kind in ("simplex", "circle") or (self.kind == "real" and ends)

    @property
    def is_finite(self) -> bool:
        """Whether the values can be listed."""
        return self.kind == "levels" or (self.kind == "integer" and self.upper < inf and self.lower > -inf)

    @property
    def listed(self) -> int:
        """How many values a finite range of integers is listed with: from nought on, whatever its lower end."""
        return int(self.upper) + 1

    @property
    def open_ends(self) -> tuple[float, float]:
        """The open range of a number that is integrated over."""
        return (-pi, pi) if self.kind == "circle" else (self.lower, self.upper)

    def __str__(self) -> str:
        if self.kind == "levels":
            return f"a level of {self.levels}"
        if self.kind == "integer":
            return (
                f"an integer in [{self.lower:g}, {self.upper:g}]"
                if self.upper < inf
                else f"an integer >= {self.lower:g}"
            )
        if self.kind == "real" and (self.lower, self.upper) != (-inf, inf):
            return f"a real number in ({self.lower:g}, {self.upper:g})"
        return {
            "real": "a real number",
            "simplex": "a probability vector",
            "matrix": "a positive definite matrix",
            "circle": "an angle",
            "vector": "a real vector",
        }[self.kind]


REAL = Domain("real")
POSITIVE = Domain("real", 0.0)
UNIT = Domain("real", 0.0, 1.0)
CIRCLE = Domain("circle")
NATURAL = Domain("integer", 0.0)
BINARY = Domain("integer", 0.0, 1.0)
SIMPLEX = Domain("simplex", 0.0, 1.0)
MATRIX = Domain("matrix")
VECTOR = Domain("vector")
