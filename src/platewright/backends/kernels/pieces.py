"""An integral over one number whose integrand jumps: jumps are found by bisection, and what lies between is smooth.

    [a, b]  ->  [a, jump) (jump, b]

A piece is done when Lobatto's rule (Gauss's with both ends among its points, so that a jump close to an end is seen) on
it and on its halves agree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from platewright.family import Array

DEGREE = 8
NODES = np.concatenate([[-1.0], np.polynomial.legendre.Legendre.basis(DEGREE).deriv().roots(), [1.0]])
WEIGHTS = 2 / (DEGREE * (DEGREE + 1) * np.polynomial.legendre.Legendre.basis(DEGREE)(NODES) ** 2)
FIRST_PIECES = 24
AGREED = 1e-11
"""Of the whole, what the two rules on a piece may differ by."""
JUMP = 1e-10
"""Of the highest value, what two neighbouring numbers of the machine must differ by at a jump."""
EARLY = 8
"""After so many halvings a jump has been told from a slope."""
HALVINGS = 52
"""So many halvings leave nothing between two numbers."""


def by_lobatto(height: Callable[[float], float], low: float, high: float) -> float:
    """Lobatto's rule on one piece."""
    middle, half = (low + high) / 2, (high - low) / 2
    return float(half * sum(w * height(middle + half * x) for x, w in zip(NODES, WEIGHTS, strict=True)))


def jump_between(height: Callable[[float], float], low: float, high: float) -> tuple[float, float] | None:
    """The two neighbours between which the integrand jumps, by halving towards the larger change."""
    below, above = height(low), height(high)
    change = abs(above - below)
    for number in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if number == EARLY and abs(above - below) < change / EARLY:
            return None  # a slope, whose change halves with its length
        there = height(middle)
        if abs(there - below) >= abs(above - there):
            high, above = middle, there
        else:
            low, below = middle, there
    return (low, high) if abs(above - below) > JUMP else None


def in_pieces(height: Callable[[float], float], low: float, high: float, about: float) -> tuple[float, float]:
    """The integral of a function whose top is about one, and what the rules differed by; `about` is a first guess."""
    ends: Array = np.linspace(low, high, FIRST_PIECES + 1)
    waiting = [(float(ends[k]), float(ends[k + 1])) for k in range(FIRST_PIECES)]
    total = error = 0.0
    while waiting:
        a, b = waiting.pop()
        middle = (a + b) / 2
        whole, halves = by_lobatto(height, a, b), by_lobatto(height, a, middle) + by_lobatto(height, middle, b)
        if abs(halves - whole) <= AGREED * about or not a < middle < b:
            total, error = total + halves, error + abs(halves - whole)
            continue
        jump = jump_between(height, a, b)
        waiting += [(a, jump[0]), (jump[1], b)] if jump is not None else [(a, middle), (middle, b)]
    return total, error
