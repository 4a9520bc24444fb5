"""A slice sampler for one unknown, all its elements at once (Neal 2003): step out, then shrink.

The elements are independent given the rest, so each has its own slice and its own bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from platewright.family import Array

MOST_STEPS = 60
Values = Mapping[str, Array]


class SliceMover:
    """One unknown of one chain; the width of its brackets follows the spread of its draws during warm-up.

    `log_factors` gives, as a function of all values, the log density of each element, up to a constant. Of whole
    numbers (`counts`), k is the interval from k to k + 1, all of one height.
    """

    def __init__(
        self, name: str, lower: float, upper: float, log_factors: Callable[[Values], Array], counts: bool = False
    ) -> None:
        self.name, self.lower, self.upper, self.log_factors = name, lower, upper, log_factors
        self.counts = counts
        self.width: Array | None = None
        self.recent: list[Array] = []
        self.looks: tuple[int, ...] = ()

    def begin_warm_up(self, sweeps: int) -> None:
        """Learn the width from draws, at a quarter of these sweeps, at half of them and at their end."""
        self.looks = tuple(look for look in (sweeps // 4, sweeps // 2, sweeps - 1) if look > 4)
        self.recent = []

    def end_warm_up(self) -> None:
        """Keep the width as it is."""
        self.looks, self.recent = (), []

    def density(self, values: Values) -> Callable[[Array], Array]:
        """The log density of each element as a function of all elements at once."""

        def log_factors(value: Array) -> Array:
            return self.log_factors({**values, self.name: value})

        return within(log_factors, self.lower, self.upper, self.counts)

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """A slice step of every element."""
        value = np.asarray(values[self.name], dtype=float)
        if self.counts:
            value = value + generator.random(value.shape)
        if self.width is None:
            self.width = np.maximum(np.abs(value), 1.0)
        moved = slice_step(self.density(values), value, self.width, generator)
        if self.counts:
            moved = np.floor(moved).astype(np.int64)
        if self.looks:
            self.recent.append(moved)
            if len(self.recent) - 1 in self.looks:
                spread = np.std(self.recent[len(self.recent) // 2 :], axis=0)
                self.width = slice_widths(spread, moved, self.counts)
        return {self.name: moved}


def slice_widths(spread: Array, value: Array, counts: bool) -> Array:
    """Widths of brackets from the spread of recent draws: no smaller than rounding, or than one count."""
    return np.maximum(3.0 * spread, 1.0 if counts else 1e-8 * (1 + np.abs(value)))


def within(
    log_factors: Callable[[Array], Array], lower: float, upper: float, counts: bool = False
) -> Callable[[Array], Array]:
    """A log density that is minus infinity outside a domain, where its formula need not make sense."""
    if np.isfinite(lower) and np.isfinite(upper):
        inside = (lower + upper) / 2
    else:
        inside = lower + 1.0 if np.isfinite(lower) else (upper - 1.0 if np.isfinite(upper) else 0.0)

    def density(value: Array) -> Array:
        value = np.floor(value) if counts else value
        outside = (value < lower) | (value > upper)
        if lower == 0.0 and not counts:
            outside |= value <= 0.0
        safe = np.where(outside, inside, value)
        with np.errstate(all="ignore"):
            found = log_factors(safe.astype(np.int64) if counts else safe)
        return np.where(outside | np.isnan(found), -np.inf, found)

    return density


def slice_step(density: Callable[[Array], Array], value: Array, width: Array, generator: np.random.Generator) -> Array:
    """One update of every element."""
    value = possible_start(density, np.asarray(value, dtype=float), width, generator)
    level = density(value) - generator.exponential(size=value.shape)
    low = np.array(value - width * generator.random(value.shape))
    high = np.array(low + width)
    for side, sign in ((low, -1.0), (high, 1.0)):
        for _ in range(MOST_STEPS):
            out = density(side) > level
            if not out.any():
                break
            side += np.where(out, sign * width, 0.0)
    result = np.array(value)
    waiting = np.ones(value.shape, dtype=bool)
    for _ in range(10 * MOST_STEPS):
        trial = low + (high - low) * generator.random(value.shape)
        trial = np.where(waiting, trial, result)
        height = density(trial)
        good = waiting & (height >= level) & (height > -np.inf)  # a start of density zero must not leave the domain
        result = np.where(good, trial, result)
        waiting &= ~good
        if not waiting.any():
            return result
        low = np.where(waiting & (trial < value), trial, low)
        high = np.where(waiting & (trial >= value), trial, high)
    return result


def possible_start(
    density: Callable[[Array], Array], value: Array, width: Array, generator: np.random.Generator
) -> Array:
    """Elements of density zero are left for a possible place, looked for further and further away."""
    lost = ~(density(value) > -np.inf)
    for tries in range(2 * MOST_STEPS):
        if not lost.any():
            break
        reach = width * 2.0 ** (tries // 4)
        trial = np.where(lost, value + reach * (2.0 * generator.random(value.shape) - 1.0), value)
        found = lost & (density(trial) > -np.inf)
        value = np.where(found, trial, value)
        lost &= ~found
    return value
