"""The bounds of an unknown."""

from __future__ import annotations

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.family import Array
from platewright.language.variable import Variable
from platewright.schemas.blocks import BoundedBlock


def bounds_of(block: BoundedBlock, node: Variable, environment: Environment) -> tuple[Array, Array]:
    """The tightest bounds of each element."""
    shape = tuple(environment.sizes[axis.plate] for axis in node.axes)
    lower, upper = np.full(shape, node.domain.lower), np.full(shape, node.domain.upper)
    for bound in block.lower:
        lower = np.maximum(lower, evaluate(bound, environment, node.axes))
    for bound in block.upper:
        upper = np.minimum(upper, evaluate(bound, environment, node.axes))
    return lower, upper
