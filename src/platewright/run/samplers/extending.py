"""How long chains run where nobody said it: until their slowest quantity is worth draws enough.

    1000, 2000, 4000, 8000 draws of each chain         again while   size < 400  or  R-hat > 1.01
                                                       but not  16 x size x 1000 / draws < 400

The rule reads draws alone, so a seed gives the same draws on every machine, and those of a run that was
told the number. Chains that even eight times as many draws would hardly help stay as they are: they
are apart, and that is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.recognition.exchangeable import find_symmetries
from platewright.run.samplers.convergence import LEAST_SIZE, Slow, slowest, without_labels

FIRST = 1000
"""Draws of each chain after which it is looked at whether more are needed."""
MOST = 8 * FIRST
HOPE = 16
"""At most so many times the effective draws of the first are hoped for."""
MOST_NUMBERS = 50_000_000
"""Draws of all unknowns beyond which no more are made unasked."""

Longer = Callable[[Mapping[str, Array]], int]
"""How many draws each chain shall have, by those that there are."""


def as_told(chains: Mapping[str, Array]) -> int:
    """A number of draws that was given is obeyed."""
    return next(iter(chains.values())).shape[1] if chains else 0


def until_enough(graph: Graph, factors: Sequence[Factor], sizes: Mapping[str, int]) -> Longer:
    """The rule for one plan; labels that could be swapped have no part in it."""
    symmetries = find_symmetries(graph, factors, sizes)

    def longer(chains: Mapping[str, Array]) -> int:
        count = as_told(chains)
        numbers = sum(prod(values.shape) for values in chains.values())
        if count < FIRST or count >= MOST or 2 * numbers > MOST_NUMBERS:
            return count
        worst = slowest_of(graph, without_labels(symmetries, chains))
        if worst is None or not worst.is_amiss:
            return count
        return 2 * count if worst.size * HOPE * FIRST / count >= LEAST_SIZE else count

    return longer


def slowest_of(graph: Graph, chains: Mapping[str, Array]) -> Slow | None:
    """The slowest element of all unknowns."""
    found = (slowest(name, values, graph.nodes[name].domain.is_discrete) for name, values in chains.items())
    return max((slow for slow in found if slow is not None), key=lambda slow: slow.burden, default=None)


def reached(counts: Sequence[int]) -> int:
    """The number of draws at which the rule is asked next, for chains that have so many."""
    count = FIRST
    while count < max(counts, default=0):
        count *= 2
    return count
