"""Few-valued unknowns, element by element, each value weighed by what is left once others are integrated out.

p(k | rest without others)  proportional to  exp( log evidence with k known )

The others are no longer looked at: they are drawn right after, given the new values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.backends.kernels.sites import possible
from platewright.family import Array

Values = Mapping[str, Array]


class WeighedMover:
    """Some discrete unknowns of one chain: of each its name, shape, lowest value and number of values."""

    def __init__(
        self, unknowns: Sequence[tuple[str, tuple[int, ...], int, int]], log_weight: Callable[[Values], float]
    ) -> None:
        self.unknowns, self.log_weight = unknowns, log_weight

    def begin_warm_up(self, sweeps: int) -> None:
        """Nothing is learned."""

    def end_warm_up(self) -> None:
        """Nothing was learned."""

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """Every element once, each given those before it."""
        values = dict(values)
        for name, shape, lowest, levels in self.unknowns:
            for site in range(int(np.prod(shape, dtype=int))):
                scores = self.scores(values, name, site, lowest, levels)
                chosen = lowest + int(np.argmax(scores + generator.gumbel(size=levels)))
                values[name] = put_at(values[name], site, chosen)
        return {name: values[name] for name, *_ in self.unknowns}

    def scores(self, values: Values, name: str, site: int, lowest: int, levels: int) -> Array:
        """The log weight of each value of one element."""
        tried = [{**values, name: put_at(values[name], site, lowest + level)} for level in range(levels)]
        with np.errstate(all="ignore"):
            return possible(np.array([float(self.log_weight(one)) for one in tried]))


def put_at(values: Array, site: int, value: int) -> Array:
    """Whole numbers with one of them changed."""
    changed = np.array(values, dtype=np.int64)
    changed.flat[site] = value
    return changed
