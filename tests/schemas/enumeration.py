"""Everything about hidden discrete variables by listing all their values: the judge of EM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from platewright.algebra.expression import Reference, walk
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.language.plate import beginning
from platewright.schemas.chain_group import ChainGroup
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


def expectations(plan: EMPlan, every: list[Values], share: Array, sizes: Mapping[str, int], columns: Values) -> Values:
    """Posterior probabilities of single values, and of values together that the statistics of chains need."""
    found: Values = {}
    for item in plan.hidden:
        hot = np.array([_hot(hidden[item.name], sizes[item.level.plate]) for hidden in every])
        found[item.probability] = np.tensordot(share, hot, axes=1)
    for chain in plan.latent.chains:
        for scope in chain.scopes:
            counts = [sizes[chain.group.levels[name].plate] for name in scope]
            total: Array | float = 0.0
            for hidden, weight in zip(every, share, strict=True):
                seen = [_seen(chain.group, name, hidden, columns) for name in scope]
                whole = np.asarray(weight)
                for number, (values, count) in enumerate(zip(seen, counts, strict=True)):
                    wide = values.reshape(*values.shape, *[1] * (max(v.ndim for v in seen) - values.ndim))
                    ones = _hot(wide, count)
                    whole = whole * ones.reshape(*wide.shape, *[1] * number, count, *[1] * (len(scope) - number - 1))
                total = total + whole
            found[chain.group.array(scope)] = np.asarray(total)
    return found


def _hot(values: Array, count: int) -> Array:
    return (values[..., None] == np.arange(count)).astype(float)


def _seen(group: ChainGroup, name: str, hidden: Values, columns: Values) -> Array:
    """A variable as each step sees it; before a first step the first value."""
    step = group.step.plate
    if name in group.above:
        codes, inner = np.arange(len(columns[beginning(step)])), step
        for part in reversed([part for part in walk(group.place[0]) if isinstance(part, Reference)]):
            assert part.name.endswith(f"@{inner}")
            codes, inner = columns[part.name][codes], part.name.split("@")[0]
        return hidden[name][codes]
    if name in group.before:
        values = hidden[group.now[group.before.index(name)]]
        return np.where(columns[beginning(step)] != 0, 0, np.concatenate([values[:1], values[:-1]]))
    return hidden[name]
