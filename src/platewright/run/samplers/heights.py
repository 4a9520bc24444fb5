"""The log density of a plan at draws, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression
from platewright.family import Array
from platewright.run.exact.posterior import lift
from platewright.run.samplers.monitoring import DRAW, MOST_CELLS
from platewright.run.samplers.native_gibbs import rows_in_a_sweep
from platewright.schemas.gibbs import GibbsPlan


def heights_of(
    plan: GibbsPlan, columns: Mapping[str, Array], sizes: Mapping[str, int]
) -> Callable[[Mapping[str, Array]], Array]:
    """A function of draws, whose first axis numbers them: their log densities, up to what no unknown enters."""

    @lru_cache(maxsize=1)
    def summed_over(unknown: frozenset[str]) -> list[Expression]:
        return [lift(factor.summed, unknown, DRAW) for factor in plan.factors if factor.names & unknown]

    def heights(draws: Mapping[str, Array]) -> Array:
        summed = summed_over(frozenset(draws))
        count = len(next(iter(draws.values())))
        some = max(1, MOST_CELLS // max(rows_in_a_sweep(plan, sizes), 1))
        found = np.zeros(count)
        for begin in range(0, count, some):
            part = {name: values[begin : begin + some] for name, values in draws.items()}
            many = {**sizes, DRAW.plate: min(some, count - begin)}
            with np.errstate(all="ignore"):
                for expression in summed:
                    found[begin : begin + some] += evaluate(expression, Environment({**columns, **part}, many), (DRAW,))
        return found

    return heights
