"""Integrals, sums and maxima over one variable of a small graph, by brute force: what eliminations are judged by.

`density` is the log density as a function of all values. Elements of a plate are taken one at a time, which is right
where they do not meet; a Gaussian block is taken as a whole, by the one quadratic that goes through its values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, product

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import logsumexp

Values = Mapping[str, np.ndarray]
Density = Callable[[Values], float]
MOST_STATES = 4_096


def summed(density: Density, values: Values, name: str, levels: int, lowest: int = 0) -> float:
    """The log sum over all values of all elements of a discrete variable."""
    shape = np.shape(values[name])
    count = int(np.prod(shape))
    assert levels**count <= MOST_STATES
    states = product(range(lowest, lowest + levels), repeat=count)
    return float(logsumexp([density({**values, name: np.reshape(np.array(state), shape)}) for state in states]))


def gaussian(density: Density, values: Values, names: tuple[str, ...], maximum: bool = False) -> float:
    """The log integral over unbounded variables in which the log density is quadratic, or its maximum."""
    shapes = [np.shape(values[name]) for name in names]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])

    def at(point: np.ndarray) -> float:
        parts = {n: np.reshape(point[a:b], s) for n, a, b, s in zip(names, ends, ends[1:], shapes)}
        return density({**values, **parts})

    size, start = int(ends[-1]), np.concatenate([np.ravel(np.asarray(values[name], dtype=float)) for name in names])
    unit, middle = np.eye(size), at(start)
    ups, downs = [at(start + e) for e in unit], [at(start - e) for e in unit]
    slope = np.array([(up - down) / 2 for up, down in zip(ups, downs)])
    bend = np.diag([up + down - 2 * middle for up, down in zip(ups, downs)])
    for i in range(size):
        for j in range(i):
            bend[i, j] = bend[j, i] = at(start + unit[i] + unit[j]) - ups[i] - ups[j] + middle
    elsewhere = np.linspace(-1.3, 1.7, size)
    expected = middle + slope @ elsewhere + elsewhere @ bend @ elsewhere / 2
    np.testing.assert_allclose(at(start + elsewhere), expected, rtol=1e-7, atol=1e-7)
    top = middle + slope @ np.linalg.solve(-bend, slope) / 2
    if maximum:
        return float(top)
    return float(top + size / 2 * np.log(2 * np.pi) - np.linalg.slogdet(-bend)[1] / 2)


def integrated(density: Density, values: Values, name: str, low: float, high: float) -> float:
    """The log integral over real elements that do not meet."""
    middle = density(values)
    total = middle
    for place in elements(values[name]):
        here = float(np.asarray(values[name])[place])

        def relative(x: float, place: tuple[int, ...] = place) -> float:
            return density(_changed(values, name, place, x)) - middle

        total += _line(relative, low, high, here)
    return total


def over_simplices(density: Density, values: Values, name: str) -> float:
    """The log integral over probability vectors of two or three entries that do not meet."""
    middle = density(values)
    total = middle
    nodes, weights = leggauss(40)
    u, w = _squashed(nodes), weights / 2
    for place in elements(np.asarray(values[name])[..., 0]):
        count = np.shape(values[name])[-1]
        assert count in (2, 3)
        terms = []
        for (a, slope_a), wa in zip(u, w):
            for (b, slope_b), wb in zip(u, w) if count == 3 else [((0.0, 1.0), 1.0)]:
                vector = [a, (1 - a) * b, (1 - a) * (1 - b)] if count == 3 else [a, 1 - a]
                volume = (1 - a) if count == 3 else 1.0
                height = density(_changed(values, name, place, np.array(vector))) - middle
                terms.append(height + np.log(wa * wb * slope_a * slope_b * volume))
        total += float(logsumexp(terms))
    return total


def _squashed(nodes: np.ndarray) -> list[tuple[float, float]]:
    """Points of the unit interval that lie dense at its ends, where densities may be infinite, with their slopes."""
    t = (nodes + 1) / 2
    return [(float(x**4 * (35 - 84 * x + 70 * x**2 - 20 * x**3)), float(140 * x**3 * (1 - x) ** 3)) for x in t]


def elements(value: np.ndarray) -> Iterator[tuple[int, ...]]:
    """All places of an array."""
    return iter(np.ndindex(np.shape(value)))


def _changed(values: Values, name: str, place: tuple[int, ...], new: object) -> Values:
    array = np.array(values[name], dtype=float)
    array[place] = new
    return {**values, name: array}


def _line(relative: Callable[[float], float], low: float, high: float, here: float) -> float:
    """The log integral of one element: on a finite scale of the whole line, cut where its mass may lie."""
    inner, outer = _map(low, high)

    def height(t: float) -> float:
        x, slope = outer(t)
        if not low < x < high:
            return -np.inf
        with np.errstate(all="ignore"):
            found = relative(x) + np.log(slope)
        return float(found) if np.isfinite(found) else -np.inf

    grid = np.linspace(-30, 30, 121) + inner(here)
    heights = [height(t) for t in grid]
    around = [t for t, found in zip(grid, heights) if found > max(heights) - 45]
    cuts = np.linspace(min(around) - 0.5, max(around) + 0.5, 13)
    nodes, weights = leggauss(20)
    terms = []
    for a, b in pairwise(cuts):
        terms += [height((a + b) / 2 + (b - a) / 2 * x) + np.log(w * (b - a) / 2) for x, w in zip(nodes, weights)]
    return float(logsumexp(terms))


def _map(low: float, high: float) -> tuple[Callable[[float], float], Callable[[float], tuple[float, float]]]:
    """To the line and back with the slope of the way back: itself, a logarithm or a logit."""
    if np.isinf(low) and np.isinf(high):
        return (lambda x: x), (lambda t: (t, 1.0))
    if np.isinf(high):
        return (lambda x: float(np.log(x - low))), (lambda t: (low + float(np.exp(t)), float(np.exp(t))))
    if np.isinf(low):
        return (lambda x: float(np.log(high - x))), (lambda t: (high - float(np.exp(t)), float(np.exp(t))))
    width = high - low

    def back(t: float) -> tuple[float, float]:
        share = 1 / (1 + np.exp(-t))
        return low + width * float(share), width * float(share * (1 - share))

    return (lambda x: float(np.log((x - low) / (high - x)))), back
