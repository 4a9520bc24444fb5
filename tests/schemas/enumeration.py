"""Everything about hidden discrete variables by listing all their values: the judge of EM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.schemas.em import EMPlan
from schemas.small_instance import Values, log_joint


def assignments(plan: EMPlan, sizes: Mapping[str, int]) -> Iterator[Values]:
    """All values of all hidden variables."""
    shapes = [tuple(sizes[axis.plate] for axis in item.axes) for item in plan.hidden]
    ranges = [range(sizes[item.level.plate]) for item in plan.hidden]
    spaces = [list(product(levels, repeat=int(np.prod(shape)))) for levels, shape in zip(ranges, shapes, strict=True)]
    for chosen in product(*spaces):
        yield {
            item.name: np.array(values).reshape(shape)
            for item, values, shape in zip(plan.hidden, chosen, shapes, strict=True)
        }


def weighed(
    plan: EMPlan, factors: tuple[Factor, ...], values: Values, sizes: Mapping[str, int]
) -> tuple[list[Values], Array, float]:
    """All assignments, their posterior probabilities, and the log of the sum of their joint densities."""
    every = list(assignments(plan, sizes))
    logs = np.array([log_joint(factors, {**values, **hidden}, sizes) for hidden in every])
    total = float(np.logaddexp.reduce(logs))
    return every, np.exp(logs - total), total


def expectations(plan: EMPlan, every: list[Values], share: Array, sizes: Mapping[str, int]) -> Values:
    """Posterior probabilities of single values, and of neighbours along a chain."""
    found: Values = {}
    for item in plan.hidden:
        levels = np.arange(sizes[item.level.plate])
        hot = np.array([hidden[item.name][..., None] == levels for hidden in every], dtype=float)
        found[item.probability] = np.tensordot(share, hot, axes=1)
        if item.chain:
            both = hot[:, :-1, :, None] * hot[:, 1:, None, :]
            pair = np.tensordot(share, both, axes=1)
            found[item.pair] = np.concatenate([np.zeros((1, len(levels), len(levels))), pair])
    return found
