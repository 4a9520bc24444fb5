"""The log density of a model as a function: of coordinates, compiled, for samplers and optimisers of others.

    density = plan.log_density(data)
    density(u)                           log p(data, values) + log |d values / d u|
    density.with_gradient(u)             the same with its gradient, by C where there is a compiler

Derivatives in the values themselves, without coordinates, are those of `PointDerivatives`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.c.expression import Unprintable
from platewright.backends.kernels.coordinates import Joined
from platewright.backends.kernels.density import Density
from platewright.errors import BackendError, ShapeError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.operation import Declined, Step, refused
from platewright.run.point import read_values
from platewright.run.samplers.block_density import BlockDensity, Gathered
from platewright.run.samplers.native_choice import native_gibbs
from platewright.run.samplers.native_gibbs_moves import NativeDensity
from platewright.run.samplers.starting import starting_values
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.whole_density import WholeDensity, curvatures_of, whole_density

Numbers = NDArray[np.float64]
EVALUATIONS = 20_000
"""What a sampler asks for at least: so many pay for the machine's compiler."""


@dataclass(frozen=True, eq=False)
class LogDensity:
    """The log density of data and unknowns at coordinates without constraints, with its gradient.

    A positive unknown has its logarithm for a coordinate, probabilities have log ratios, a positive definite matrix
    the entries of its Cholesky factor: any vector of `size` numbers is a point. What has finitely many values is
    summed out. One object is for one thread.
    """

    whole: WholeDensity
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    backend: str = "auto"

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was done to the graph before its density was taken."""
        return self.whole.steps

    @property
    def names(self) -> tuple[str, ...]:
        """The unknowns whose coordinates lie one after another."""
        return self.whole.variables

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self._chart.size

    def __call__(self, u: object) -> float:
        """The log density at coordinates; minus infinity where it is not defined."""
        return self._function.log_density(self._vector(u)) + self._constant

    def with_gradient(self, u: object) -> tuple[float, Numbers]:
        """The log density at coordinates, and its gradient."""
        value, slope = self._function.with_gradient(self._vector(u))
        return value + self._constant, np.array(slope)

    def gradient(self, u: object) -> Numbers:
        """The gradient at coordinates."""
        return self.with_gradient(u)[1]

    def values(self, u: object) -> dict[str, Array]:
        """The values of the unknowns at coordinates, by name."""
        return {name: np.array(value) for name, value in self._chart.values(self._vector(u))[0].items()}

    def volume(self, u: object) -> float:
        """The log of the volume factor, which the density holds: without it stands `log p(data, values)`."""
        return float(self._chart.values(self._vector(u))[1])

    def coordinates(self, point: Mapping[str, Any]) -> Numbers:
        """The coordinates of given values."""
        return self._chart.free(read_values(self.whole.graph, self.names, point, self.sizes))

    def start(self, seed: int = 0) -> Numbers:
        """Coordinates to start from: moderate, and jittered by the seed."""
        return self._chart.free(self._begin(np.random.default_rng(seed)))

    @property
    def ran_by(self) -> str:
        """Whether C or NumPy computes it."""
        return "c" if isinstance(self._function, NativeDensity) else "numpy"

    # -- how ---

    def _vector(self, u: object) -> Numbers:
        found = np.array(u, dtype=float)
        if found.shape != (self.size,):
            raise ShapeError(f"coordinates of shape {found.shape}", expected=f"{self.size} numbers")
        return found

    def _begin(self, generator: np.random.Generator) -> dict[str, Array]:
        return starting_values(self.whole.graph, self.names, self.sizes, generator)

    @cached_property
    def _chart(self) -> Joined:
        return unconstrained([self.whole.graph.nodes[name] for name in self.names], self.sizes)

    @cached_property
    def _constant(self) -> float:
        """What no unknown enters."""
        environment = Environment(self.columns, self.sizes)
        with np.errstate(divide="ignore"):
            return float(sum(np.sum(evaluate(f.expression, environment, f.axes)) for f in self.whole.constant))

    @cached_property
    def _function(self) -> Density:
        if self.backend != "numpy" and self.names:
            try:
                return self._compiled()
            except (Unprintable, BackendError):
                if self.backend == "c":
                    raise
        return tape_of(self.whole, self.columns, self.sizes)

    def _compiled(self) -> NativeDensity:
        plan = self.whole.plan
        native = native_gibbs(plan, self.columns, self.sizes, EVALUATIONS, self._begin, 0)
        chain = native.chain(self._begin(np.random.default_rng(0)), np.random.default_rng(0))
        return NativeDensity(chain, 0, chain.coordinates_of(0))

    def __repr__(self) -> str:
        return f"<log density of {', '.join(self.names)}: {self.size} coordinates>"


def tape_of(whole: WholeDensity, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> BlockDensity:
    """The density by NumPy, on a tape that keeps what only the data enter."""
    block = whole.block
    density = BlockDensity(whole.graph, block.variables, block.factors, block.slopes, sizes)
    density.given(columns)
    return density


@dataclass(frozen=True, eq=False)
class PointDerivatives:
    """Slopes and curvatures of the log joint in the values of the unknowns themselves, at one point."""

    density: BlockDensity
    whole: WholeDensity
    values: Mapping[str, Array]
    columns: Mapping[str, Array]

    def gradient(self) -> dict[str, Numbers]:
        """The slope in each unknown, of its shape."""
        with np.errstate(all="ignore"):
            return self.density.slopes_at(self.values)

    def hessian(self) -> dict[tuple[str, str], Numbers]:
        """The second derivatives for each two unknowns: the axes of the one, then those of the other."""
        tape, shapes = self.density.tape, self.density.shapes
        found = {(a, b): np.zeros((*shapes[a], *shapes[b])) for a in shapes for b in shapes}
        gathered = [
            (pair, Gathered(tape, part, found[pair].shape))
            for pair, parts in curvatures_of(self.whole.block.slopes, self.whole.variables).items()
            for part in parts
        ]
        self.density.given(self.columns)
        with np.errstate(all="ignore"):
            self.density.run_carefully(self.values)
        for pair, part in gathered:
            part.add_to(found[pair], tape)
        return found


def point_derivatives(
    graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int], point: Mapping[str, Any]
) -> PointDerivatives:
    """Derivatives at a point; what has finitely many values is held where the point says, else summed out."""
    unknown = set(graph.unknown)
    if strangers := [name for name in point if name not in unknown]:
        raise UnknownName(strangers[0], unknown, where="point")
    held = [name for name in point if graph.nodes[name].domain.is_discrete]
    whole = whole_density(graph, held)
    if isinstance(whole, Declined):
        raise refused(whole)
    wanted = (*whole.variables, *held)
    values = read_values(whole.graph, wanted, {name: point[name] for name in point if name in wanted}, sizes)
    columns = {**columns, **{name: values[name] for name in held}}
    moving = {name: values[name] for name in whole.variables}
    return PointDerivatives(tape_of(whole, columns, sizes), whole, moving, columns)


def log_density_of(
    graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int], backend: str = "auto"
) -> LogDensity:
    """The log density of a graph for its data, or why there is none."""
    if backend not in ("auto", "numpy", "c"):
        raise UnknownName(backend, ("auto", "numpy", "c"), where="backend=")
    whole = whole_density(graph)
    if isinstance(whole, Declined):
        raise refused(whole)
    return LogDensity(whole, columns, sizes, backend)
