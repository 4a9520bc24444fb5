"""The bounds of an unknown, and the family of its conditional without them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.kernels.bounded_draws import BoundedMover
from platewright.families.bounded import drawn_between
from platewright.family import Array, Family
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.samplers.slicing import element_density
from platewright.schemas.blocks import BoundedBlock

Values = Mapping[str, Array]


class BlockWithinBounds(BoundedMover):
    """The draws of a block."""

    def __init__(self, graph: Graph, block: BoundedBlock, sizes: Mapping[str, int]) -> None:
        self.block = block
        self.node = graph.nodes[block.variables[0]]
        self.sizes = sizes
        self.module = loaded(block.plan.program) if block.plan is not None else None
        has_family = block.family is not None or block.plan is not None
        ends = self.node.domain.lower, self.node.domain.upper
        inverted = self._inverted if has_family else None
        super().__init__(self.node.name, *ends, self._log_factors, self._bounds, inverted)

    def density(self, values: Values) -> Callable[[Array], Array]:
        """The log conditional of each element; where the rows of a factor belong is looked up once."""
        return element_density(self.node, self.block.factors, Environment(values, self.sizes))

    def conditional(self, values: Values) -> tuple[Family, dict[str, Array]]:
        """The family of the conditional without its bounds, with its parameters."""
        if self.block.family is not None:
            environment = Environment(values, self.sizes)
            axes = self.node.axes
            return self.block.family, {n: np.array(evaluate(e, environment, axes)) for n, e in self.block.parameters}
        assert self.block.plan is not None and self.module is not None
        program = self.block.plan.program
        others = {name: value for name, value in values.items() if name != self.node.name}
        statistics = self.module.statistics(*arguments(program, self.module, others, self.sizes))
        computed = finish(program, self.module, statistics, others, self.sizes)
        found = Posterior(self.block.plan, computed, others, self.sizes).marginal(self.node.name)
        assert found is not None  # all else is known
        return found.family, dict(found.parameters)

    def _log_factors(self, values: Values) -> Array:
        return self.density(values)(np.asarray(values[self.name], dtype=float))

    def _inverted(self, values: Values, lower: Array, upper: Array, share: Array) -> tuple[Array, Array]:
        if self.block.log_beyond is not None:
            family, parameters = self.conditional(values)
            assert family.tail is not None
            log_mass = evaluate(self.block.log_beyond, Environment(values, self.sizes), self.node.axes)
            found = family.tail(log_mass + np.log1p(-share), parameters)
            return np.maximum(lower, found), np.full(share.shape, True)
        return drawn_between(*self.conditional(values), lower, upper, share)

    def _bounds(self, values: Values) -> tuple[Array, Array]:
        return bounds_of(self.block, self.node, Environment(values, self.sizes))


def bounds_of(block: BoundedBlock, node: Variable, environment: Environment) -> tuple[Array, Array]:
    """The tightest bounds of each element."""
    shape = tuple(environment.sizes[axis.plate] for axis in node.axes)
    lower, upper = np.full(shape, node.domain.lower), np.full(shape, node.domain.upper)
    for bound in block.lower:
        lower = np.maximum(lower, evaluate(bound, environment, node.axes))
    for bound in block.upper:
        upper = np.minimum(upper, evaluate(bound, environment, node.axes))
    return lower, upper
