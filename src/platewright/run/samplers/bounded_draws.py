"""Draw an unknown between its bounds: invert the cumulative distribution of its conditional.

Where the bounds leave so little of the family that inversion loses its digits, a slice step is taken instead.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.families.bounded import drawn_between
from platewright.family import Array, Family
from platewright.graph.graph import Graph
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.samplers.slicing import element_density, slice_step
from platewright.schemas.blocks import BoundedBlock


class BoundedMover:
    """One unknown of one chain."""

    def __init__(self, graph: Graph, block: BoundedBlock, sizes: Mapping[str, int]) -> None:
        self.block = block
        self.node = graph.nodes[block.variables[0]]
        self.sizes = sizes
        self.module = loaded(block.plan.program) if block.plan is not None else None

    def begin_warm_up(self, sweeps: int) -> None:
        """Nothing is learned."""

    def end_warm_up(self) -> None:
        """Nothing was learned."""

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """A draw of every element, each between its own bounds."""
        lower, upper = self.bounds(values)
        conditional = self.conditional(values)
        if conditional is None:
            return {self.node.name: self._sliced(values, lower, upper, generator)}
        family, parameters = conditional
        found, sure = drawn_between(family, parameters, lower, upper, generator.random(lower.shape))
        if not sure.all():
            found = np.where(sure, found, self._sliced(values, lower, upper, generator))
        return {self.node.name: found}

    def bounds(self, values: Mapping[str, Array]) -> tuple[Array, Array]:
        """The tightest bounds of each element."""
        environment = Environment(values, self.sizes)
        shape = tuple(self.sizes[axis.plate] for axis in self.node.axes)
        lower, upper = np.full(shape, -np.inf), np.full(shape, np.inf)
        for bound in self.block.lower:
            lower = np.maximum(lower, evaluate(bound, environment, self.node.axes))
        for bound in self.block.upper:
            upper = np.minimum(upper, evaluate(bound, environment, self.node.axes))
        return lower, upper

    def conditional(self, values: Mapping[str, Array]) -> tuple[Family, dict[str, Array]] | None:
        """The family of the conditional without its bounds, with its parameters."""
        if self.block.family is not None:
            environment = Environment(values, self.sizes)
            axes = self.node.axes
            return self.block.family, {n: np.array(evaluate(e, environment, axes)) for n, e in self.block.parameters}
        if self.block.plan is None or self.module is None:
            return None
        program = self.block.plan.program
        others = {name: value for name, value in values.items() if name != self.node.name}
        statistics = self.module.statistics(*arguments(program, self.module, others, self.sizes))
        computed = finish(program, self.module, statistics, others, self.sizes)
        found = Posterior(self.block.plan, computed, others, self.sizes).marginal(self.node.name)
        assert found is not None  # all else is known
        return found.family, dict(found.parameters)

    def _sliced(self, values: Mapping[str, Array], lower: Array, upper: Array, generator: np.random.Generator) -> Array:
        """A slice step from the nearest place between the bounds."""
        inside = np.where(np.isfinite(lower) & np.isfinite(upper), 0.5 * (lower + upper), np.clip(0.0, lower, upper))
        inside = np.where(np.isfinite(lower) & ~np.isfinite(upper), lower + 1e-3 * (1 + np.abs(lower)), inside)
        inside = np.where(~np.isfinite(lower) & np.isfinite(upper), upper - 1e-3 * (1 + np.abs(upper)), inside)
        now = np.asarray(values[self.node.name], dtype=float)
        start = np.where((now > lower) & (now < upper), now, inside)
        density = element_density(self.node, self.block.factors, Environment(values, self.sizes))
        width = np.maximum(np.minimum(upper - lower, 1 + np.abs(start)), 1e-8)
        return slice_step(density, start, width, generator)
