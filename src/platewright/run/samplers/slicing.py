"""The log density of each element of an unknown whose elements do not meet, and the slice sampler on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Reference, walk
from platewright.backends.kernels.slices import SliceMover, within
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.schemas.blocks import SliceBlock


class BlockSlices(SliceMover):
    """The slice sampler of a block."""

    def __init__(self, graph: Graph, block: SliceBlock, sizes: Mapping[str, int]) -> None:
        (name,) = block.variables
        self.node, self.factors, self.sizes = graph.nodes[name], block.factors, sizes
        domain = self.node.domain
        super().__init__(name, domain.lower, domain.upper, self._log_factors, domain.kind == "integer")

    def density(self, values: Mapping[str, Array]) -> Callable[[Array], Array]:
        """The log conditional of each element; where the rows of a factor belong is looked up once."""
        return element_density(self.node, self.factors, Environment(values, self.sizes))

    def _log_factors(self, values: Mapping[str, Array]) -> Array:
        return self.density(values)(np.asarray(values[self.name], dtype=float))


def element_density(node: Variable, factors: Sequence[Factor], environment: Environment) -> Callable[[Array], Array]:
    """The log conditional of each element as a function of all elements at once; a count k is that of [k, k + 1)."""
    shape = tuple(environment.sizes[axis.plate] for axis in node.axes)
    codes = [_codes(node, factor, environment) for factor in factors]

    def log_factors(value: Array) -> Array:
        here = environment.with_values({node.name: value})
        total = np.zeros(shape)
        for factor, code in zip(factors, codes, strict=True):
            terms = np.array(evaluate(factor.expression, here, factor.axes))
            if not node.axes:
                total = total + terms.sum()
            else:
                np.add.at(total, code, terms)
        return total

    return within(log_factors, node.domain.lower, node.domain.upper, node.domain.kind == "integer")


def _codes(node: Variable, factor: Factor, environment: Environment) -> tuple[Array, ...]:
    """For each row of a factor the element of the variable that it touches."""
    place = next(p.indices for p in walk(factor.expression) if isinstance(p, Reference) and p.name == node.name)
    return tuple(np.array(evaluate(at, environment, factor.axes)).astype(int) for at in place)
