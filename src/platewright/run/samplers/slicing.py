"""A slice sampler for one unknown, all its elements at once (Neal 2003): step out, then shrink.

The elements are independent given the rest, so each has its own slice and its own bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Reference, walk
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.language.variable import Variable

MOST_STEPS = 60


def element_density(node: Variable, factors: Sequence[Factor], environment: Environment) -> Callable[[Array], Array]:
    """The log conditional of each element as a function of all elements at once; a count k is that of [k, k + 1)."""
    shape = tuple(environment.sizes[axis.plate] for axis in node.axes)
    counts = node.domain.kind == "integer"
    codes = [_codes(node, factor, environment) for factor in factors]

    def density(value: Array) -> Array:
        value = np.floor(value) if counts else value
        outside = (value < node.domain.lower) | (value > node.domain.upper)
        if node.domain.lower == 0.0 and not counts:
            outside |= value <= 0.0
        safe = np.where(outside, _inside(node), value)
        safe = safe.astype(np.int64) if counts else safe
        here = environment.with_values({node.name: safe})
        total = np.zeros(shape)
        with np.errstate(all="ignore"):
            for factor, code in zip(factors, codes, strict=True):
                terms = np.array(evaluate(factor.expression, here, factor.axes))
                if not node.axes:
                    total = total + terms.sum()
                else:
                    np.add.at(total, code, terms)
        return np.where(outside | np.isnan(total), -np.inf, total)

    return density


def _inside(node: Variable) -> float:
    lower, upper = node.domain.lower, node.domain.upper
    if np.isfinite(lower) and np.isfinite(upper):
        return (lower + upper) / 2
    return lower + 1.0 if np.isfinite(lower) else (upper - 1.0 if np.isfinite(upper) else 0.0)


def _codes(node: Variable, factor: Factor, environment: Environment) -> tuple[Array, ...]:
    """For each row of a factor the element of the variable that it touches."""
    place = next(p.indices for p in walk(factor.expression) if isinstance(p, Reference) and p.name == node.name)
    return tuple(np.array(evaluate(at, environment, factor.axes)).astype(int) for at in place)


def slice_widths(node: Variable, spread: Array, value: Array) -> Array:
    """Widths of brackets from the spread of recent draws: no smaller than rounding, or than one count."""
    least = 1.0 if node.domain.kind == "integer" else 1e-8 * (1 + np.abs(value))
    return np.maximum(3.0 * spread, least)


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
