"""The functions of an emitted elimination at points, on bound data: the text that is shown is the text that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from platewright.algebra.lazy import special
from platewright.backends.kernels import eliminated
from platewright.backends.naming import Names
from platewright.backends.numpy.pointwise import PointwiseEmitter
from platewright.errors import ImproperPosterior
from platewright.family import Array
from platewright.program.pointwise import Pointwise
from platewright.run.execute import CARRIED

Found = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LoadedPoints:
    """The three functions, and how things are named in them."""

    statistics: Callable[[Mapping[str, Array], Mapping[str, int]], Found]
    scales: Callable[[Mapping[str, Array]], Array]
    log_density: Callable[[Found, Mapping[str, Array], Mapping[str, int], Mapping[str, Array]], Array]
    names: Names


@lru_cache(maxsize=64)
def loaded_points(program: Pointwise) -> LoadedPoints:
    """Compile what the emitter prints; names in it are made by `backends/naming.py`."""
    emitter = PointwiseEmitter(program)
    source = "\n\n\n".join(emitter.pointwise_functions())
    kernels = {name: value for name, value in vars(eliminated).items() if callable(value)}
    space: dict[str, Any] = {"__name__": "learned", "np": np, "special": special, **CARRIED, **kernels}
    exec(compile(source, "<platewright>", "exec"), space)
    return LoadedPoints(space["statistics"], space["scales"], space["log_density"], emitter.names)


@dataclass(frozen=True, eq=False)
class Eliminated:
    """An elimination at points with the statistics of its data."""

    program: Pointwise
    loaded: LoadedPoints
    found: Found
    data: Mapping[str, Array]
    sizes: Mapping[str, int]

    def point(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Held unknowns under the names of the emitted functions."""
        return {self.loaded.names(name): values[name] for name in self.program.held}

    def log_density(self, values: Mapping[str, Array]) -> Array:
        """`log p(data, held)` at each point."""
        return np.asarray(self.loaded.log_density(self.found, self.data, self.sizes, self.point(values)))

    def scales(self, values: Mapping[str, Array]) -> Array:
        """The scale of each family of rows, at each point."""
        return np.asarray(self.loaded.scales(self.point(values)))


def eliminated_on(program: Pointwise, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Eliminated:
    """One pass over the data."""
    loaded = loaded_points(program)
    data = {loaded.names(name): columns[name] for name in program.columns}
    size = {loaded.names(plate): sizes[plate] for plate in program.plates}
    try:
        found = loaded.statistics(data, size)
    except ArithmeticError as error:
        raise ImproperPosterior(
            f"the posterior is improper: {str(error).removeprefix('improper: ')}",
            hint="give proper priors, or more data",
        ) from error
    return Eliminated(program, loaded, found, data, size)
