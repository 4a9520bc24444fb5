"""Evidence by Laplace's method: the printed objective, its modes, and the Gaussian around one of them.

The program is `backends/numpy/laplace.py`, the algorithm `backends/kernels/laplace.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels import laplace as kernel
from platewright.backends.kernels.density import Density
from platewright.errors import PlatewrightError, SizeError, Unbounded
from platewright.family import Array
from platewright.recognition.exchangeable import Symmetry
from platewright.run.checks.sanity import check_counts
from platewright.run.evidence.evidence import Evidence
from platewright.run.hidden.printed import Printed, printed_laplace
from platewright.schemas.evidence import EvidencePlan

MOST_COORDINATES = 2_000
MOST_COPIES = 5_040
Values = Mapping[str, Array]


class Climb:
    """The printed objective of a plan on given data."""

    def __init__(self, plan: EvidencePlan, columns: Values, sizes: Mapping[str, int]) -> None:
        self.printed: Printed = printed_laplace(plan, sizes)
        self.data, self.size = self.printed.named(columns), self.printed.sized(sizes)
        self.density: Density = self.printed("objective")(self.data, self.size)
        if self.density.coordinates.size > MOST_COORDINATES:
            count = self.density.coordinates.size
            raise SizeError(f"{count:,} coordinates", expected=f"at most {MOST_COORDINATES:,}", hint='by="chib"')

    def coordinates(self, values: Values) -> Array:
        """The coordinates of values."""
        return self.density.coordinates.free(self.printed.named(values))

    def values(self, u: Array) -> dict[str, Array]:
        """The values at coordinates."""
        return self.printed.back(self.density.coordinates.values(u)[0])

    def start(self, generator: np.random.Generator) -> Array:
        """Coordinates to climb from."""
        return self.density.coordinates.free(self.printed("start")(self.data, self.size, generator))

    def symmetries(self) -> list[Symmetry]:
        """The labels that may be exchanged; refused where a mode has too many copies to be told apart."""
        found: list[Symmetry] = self.printed("symmetries")()
        for symmetry in found:
            if symmetry.order > MOST_COPIES:
                raise SizeError(f"{symmetry.order:,} relabellings of a mode", expected=f"at most {MOST_COPIES:,}")
        return found


def laplace(
    plan: EvidencePlan,
    columns: Values,
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
    restarts: int = 8,
    start: Values | None = None,
) -> tuple[Evidence, dict[str, Array]]:
    """The log evidence by Laplace's method, and the mode it was taken at: near `start`, or the best of several."""
    check_counts(restarts=restarts)
    climb = Climb(plan, columns, sizes)
    symmetries = climb.symmetries()
    generators = np.random.default_rng(seed).spawn(restarts)
    starts = [climb.start(one) for one in generators] if start is None else [climb.coordinates(start)]
    try:
        u, value = kernel.highest(climb.density, starts)
        modes = kernel.modes_alike(climb.density, u, symmetries)
        total = value + kernel.volume_about(climb.density, u) + float(np.log(modes))
    except kernel.Unbounded as error:
        raise Unbounded from error
    except kernel.NoMode as error:
        raise PlatewrightError(str(error), hint="give proper priors, more restarts=, or use by='chib'") from error
    detail = f"{len(u)} coordinate{'' if len(u) == 1 else 's'}"
    if modes > 1:
        detail += f", {modes} modes that differ by labels"
    detail += "; the error of the approximation is not known"
    return Evidence(total, "laplace", None, detail, plan.proper), climb.values(u)


def draws_about(
    plan: EvidencePlan, columns: Values, sizes: Mapping[str, int], start: Values, count: int, seed: int
) -> dict[str, Array]:
    """Draws from the Gaussian of Laplace's method about the mode near `start`: the spread of an estimate."""
    climb = Climb(plan, columns, sizes)
    u, _ = kernel.top_near(climb.density, climb.coordinates(start))
    try:
        curvature, turn = kernel.bends(climb.density, u)
    except kernel.NoMode as error:
        raise PlatewrightError(str(error)) from error
    noise = np.random.default_rng(seed).standard_normal((count, len(u))) / np.sqrt(curvature)
    points = [climb.values(u + turn @ one) for one in noise]
    return {name: np.array([point[name] for point in points]) for name in points[0]}
