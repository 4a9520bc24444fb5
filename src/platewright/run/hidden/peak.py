"""The top of an objective: how it bends there, and whether it is a top at all.

    f(u + h e) ~ f(u) - h^2 H / 2        standard errors: the roots of the diagonal of  J H^-1 J',   J = d values / d u

`f` is `log p(data, parameters)` with all that is hidden integrated out, on coordinates without constraints, without
their volume factor; the second derivatives of its values follow, for at a top the slope is nought. A direction in which
it does not fall, however far, is one without a maximum: outcomes that a column separates, columns that follow from each
other under flat priors, a scale that shrinks to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from platewright.backends.kernels.coordinates import Joined
from platewright.errors import NotLearned
from platewright.family import Array

NEAR = 0.05
"""The step of differences, in widths of the top along a coordinate: what is left out grows with its fourth power."""
FALLS = (0.02, 2.0)
"""Between which falls of the log density a first step finds the width."""
MOST_STEPS = 60
MOST_CLIMBS = 50
SMALL = 1e-12
"""What a step may promise, in log units, to be the last."""
FURTHER = 4.0
FAR = (1.0, 3.0, 10.0, 100.0, 1e3, 1e4)
"""How far a run is followed, in units of a coordinate."""
BENT = 200.0
"""And as far where the coordinate is a logarithm or its like."""
ENOUGH = 3.0
"""So far it must have gone to count as a run."""
LEVEL = 1e-12
"""What a log density may lose by rounding, relative to its size."""
CLEAR = 1e-8
"""A fall that is no rounding, relative to the height."""
MOST_STEEP = 1.5
"""Between a slope, 1, and a curvature alone, 2."""
STIRRED = 1e-10
ROUNDED = 20.0
"""And in units of what it changes when its place is stirred so much: large terms may cancel in it."""
MOST_ROUNDING = 0.05
"""Where it changes more than so much, no digit of a rise is left."""


@dataclass(frozen=True, eq=False)
class Peak:
    """A log density as a function of coordinates, and the place of its top."""

    density: Callable[[Mapping[str, Array]], float]
    coordinates: Joined
    top: Array
    known: Callable[[], Array | None] = lambda: None
    """Minus the second derivatives, where they are derived and not to be found by differences."""
    with_volume: bool = False
    """Whether the density is one of the coordinates themselves, whose top is another place."""

    def height(self, u: Array) -> float:
        """The log density; minus infinity where it is no number."""
        with np.errstate(all="ignore"):
            try:
                values, volume = self.coordinates.values(u)
                found = float(self.density(values)) + (volume if self.with_volume else 0.0)
            except (ArithmeticError, np.linalg.LinAlgError):
                return -np.inf
        return -np.inf if np.isnan(found) else found

    @cached_property
    def summit(self) -> float:
        """The height at the top."""
        return self.height(self.top)

    # -- how it bends ---

    @cached_property
    def covariance(self) -> Array:
        """The inverse of minus the second derivatives, in coordinates."""
        derived = None if self.with_volume else self.known()
        if derived is not None:
            return self._inverse(derived, np.maximum(np.abs(np.diag(derived)), 1e-300) ** -0.5)
        count = len(self.top)
        widths = np.array([self._width(place) for place in range(count)])
        if not np.isfinite(widths).all():
            raise _flat(self._name(int(np.argmin(np.isfinite(widths)))))
        table = np.zeros((count, count))
        for place in range(count):
            table[place, place] = self._bend(widths, (place,))
        for one, two in combinations(range(count), 2):
            both = self._bend(widths, (one, two))
            table[one, two] = table[two, one] = (both - table[one, one] - table[two, two]) / 2
        return self._inverse(table / np.outer(widths, widths), widths)

    def _inverse(self, curvature: Array, widths: Array) -> Array:
        """The inverse of a curvature that bends down in every direction, in units of widths for the sake of digits."""
        table = widths[:, None] * curvature * widths
        try:
            root = np.linalg.inv(np.linalg.cholesky(table))
        except np.linalg.LinAlgError as error:
            raise _flat(self._name(int(np.argmin(np.linalg.eigh(table)[1][:, 0])))) from error
        scaled = root.T @ root
        return np.asarray(widths[:, None] * scaled * widths)

    @cached_property
    def slope(self) -> Array:
        """The first derivatives, in coordinates."""
        widths = np.sqrt(np.diag(self.covariance))
        found = np.zeros(len(self.top))
        for place, width in enumerate(widths):
            way = NEAR * width * np.eye(len(self.top))[place]
            near, far = (self.height(self.top + k * way) - self.height(self.top - k * way) for k in (1, 2))
            found[place] = (8 * near - far) / (12 * NEAR * width)
        return found

    def climbed(self) -> Peak:
        """The top itself: a search without slopes brings near it, Newton's steps by differences do the rest."""
        from scipy.optimize import minimize

        found = minimize(lambda u: -np.clip(self.height(u), -1e300, 1e300), self.top, method="BFGS")
        here = replace(self, top=found.x) if self.height(found.x) > self.summit else self
        for _ in range(MOST_CLIMBS):
            step = here.covariance @ here.slope
            gain = float(here.slope @ step)
            if not gain > SMALL:
                return here
            length = 1.0
            while here.height(here.top + length * step) < here.summit and length > 1e-6:
                length /= 2
            here = replace(here, top=here.top + length * step)
        return here

    def draws(self, count: int, seed: int) -> dict[str, Array]:
        """Draws of the values whose coordinates are Gaussian about the top; the first axis numbers them."""
        root = np.linalg.cholesky(self.covariance)
        noise = np.random.default_rng(seed).standard_normal((count, len(self.top)))
        points = [self.coordinates.values(self.top + root @ one)[0] for one in noise]
        return {part.name: np.array([point[part.name] for point in points]) for part in self.coordinates.parts}

    def _width(self, place: int) -> float:
        """The step along a coordinate at which the log density has fallen by a half, roughly."""
        step, short, long = 1e-3 * (1 + abs(self.top[place])), 0.0, np.inf
        way = np.eye(len(self.top))[place]
        for _ in range(MOST_STEPS):
            ends = [self.height(self.top + step * way), self.height(self.top - step * way)]
            fall = self.summit - 0.5 * sum(ends)
            if FALLS[0] < fall < FALLS[1]:
                return float(step / np.sqrt(2 * fall))
            if fall <= FALLS[0]:
                short = step
                step = np.sqrt(short * long) if np.isfinite(long) else step * FURTHER
            else:
                long = step
                step = np.sqrt(short * long) if short > 0 else step / FURTHER
        return np.inf

    def _bend(self, widths: Array, places: tuple[int, ...]) -> float:
        """Minus the second derivative along the sum of some coordinates, each in units of its width."""
        way = np.zeros(len(widths))
        way[list(places)] = NEAR * widths[list(places)]
        near, far = (self.height(self.top + k * way) + self.height(self.top - k * way) for k in (1, 2))
        return float((30 * self.summit - 16 * near + far) / (12 * NEAR**2))

    @cached_property
    def errors(self) -> dict[str, Array]:
        """The standard error of every parameter, element by element."""
        values = self.coordinates.values(self.top)[0]
        flat = {name: np.zeros_like(value, dtype=float) for name, value in values.items()}
        volume = self.coordinates.gradient(self.top, values, flat)
        found = {}
        for name, value in values.items():
            variance = np.zeros(np.size(value))
            for place in range(np.size(value)):
                unit = np.zeros(np.size(value))
                unit[place] = 1.0
                slope = self.coordinates.gradient(self.top, values, {**flat, name: unit.reshape(np.shape(value))})
                slope = slope - volume
                variance[place] = slope @ self.covariance @ slope
            found[name] = np.sqrt(np.maximum(variance, 0.0)).reshape(np.shape(value))
        return found

    # -- whether it is a top ---

    def run(self, way: Array, most: float) -> bool:
        """Whether the log density does not fall along a direction, as far as it is a number."""
        before, gone = self.summit, 0.0
        for far in FAR:
            if far > most:
                break
            there = self.top + far * way
            ahead = self.height(there)
            if np.isfinite(ahead) and ahead < before - LEVEL * (1 + abs(before)) - ROUNDED * MOST_ROUNDING:
                return False  # by more than any rounding that is let pass
            again = self.height(there + STIRRED * way)
            rounding = abs(ahead - again) if np.isfinite(ahead) and np.isfinite(again) else 0.0
            if rounding > MOST_ROUNDING or (ahead == -np.inf and gone >= ENOUGH):
                break
            if ahead < before - LEVEL * (1 + abs(before)) - ROUNDED * rounding:
                return False
            before, gone = ahead, far
        return gone >= ENOUGH

    def is_at_an_edge(self, way: Array) -> bool:
        """Whether a run ends at an edge with a slope: the density falls from it as the value does, not as its square.

            fall ~ (value - edge)^k,  value - edge ~ e^u:     k = log(fall at u + 1) - log(fall at u)

        There the edge itself is the maximum, and the estimate is as near to it as numbers are.
        """
        edge = self.height(self.top + BENT * way)
        if not np.isfinite(edge):
            return False
        for back in np.arange(0.0, 60.0):
            falls = [edge - self.height(self.top - (back + more) * way) for more in (0.0, 1.0)]
            if falls[0] > CLEAR * (1 + abs(edge)):
                return bool(0 < falls[1] < falls[0] * np.e**MOST_STEEP)
        return False

    def _name(self, at: int) -> str:
        for part, place in zip(self.coordinates.parts, self.coordinates.slices, strict=True):
            if place.start <= at < place.stop:
                return part.name
        return ""


def _flat(name: str) -> NotLearned:
    return NotLearned(
        f"the density is flat in `{name}` at the estimate, or bent upwards: it has no standard error",
        hint="give it a proper prior, or learn with goal='posterior'",
    )
