"""Run a group of chains: log weights, recursions along its sequences, joint probabilities, and its entropy.

All chains of a group count as one, whose values are those of its chains together; each value of the classes of a
sequence has a chain of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from platewright.backends.kernels.hidden_chain import ChainWeights, forward, log_possible, ruled_out, smooth
from platewright.errors import SizeError
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.run.checks.sanity import check_possible
from platewright.run.execute import finish, loaded
from platewright.schemas.chain_group import MOST_STATES, ChainGroup
from platewright.schemas.latent import Chain

Sizes = Mapping[str, int]
Values = Mapping[str, Array]
MOST_ELEMENTS = 2**31
"""Numbers in the table of neighbours of all steps."""


@dataclass(frozen=True, eq=False)
class Recursed:
    """Probabilities given the classes and what they leave to these, with the log weights that they came from."""

    weights: ChainWeights
    arrays: dict[str, Array]
    computed: Values
    """What inner variables have left."""
    log_possible: Array
    """Minus infinity at steps up to which the data have probability zero whatever is hidden, else 0."""

    @property
    def steepest(self) -> float:
        """The largest log weight of a step."""
        return float(np.max(self.weights.single, initial=-np.inf))


def possible(chain: Chain, everything: Values, sizes: Sizes) -> Recursed:
    """Both recursions, on data that can be."""
    found = recursed(chain, everything, sizes)
    check_possible(", ".join(item.name for item in chain.group.members), found.log_possible)
    return found


def weighed(chain: Chain, everything: Values, sizes: Sizes) -> tuple[Values, ChainWeights]:
    """What inner variables leave, and the log weights of all states and neighbours."""
    computed = finish(chain.weights, loaded(chain.weights), {}, everything, sizes)
    return computed, _weights(chain, computed, everything, sizes)


def recursed(chain: Chain, everything: Values, sizes: Sizes) -> Recursed:
    """Both recursions."""
    group = chain.group
    computed, weights = weighed(chain, everything, sizes)
    filtered, added = forward(weights)
    single, pair = smooth(weights, filtered)
    pair[weights.first, ..., 0, :] = single[weights.first]  # before a first step the first value stands for any
    shape = single.shape[:-1]
    values = _counts(group, sizes)
    arrays = {
        group.norm: added,
        group.single_share: single.reshape(*shape, *values),
        group.pair_share: pair.reshape(*shape, *values, *values),
    }
    return Recursed(weights, arrays, computed, log_possible(weights, filtered))


def _counts(group: ChainGroup, sizes: Sizes) -> list[int]:
    return [sizes[item.level.plate] for item in group.states]


def _weights(chain: Chain, computed: Values, everything: Values, sizes: Sizes) -> ChainWeights:
    """Log weights with all chains of a group as one; classes stand between step and values."""
    group = chain.group
    first = np.asarray(everything[beginning(group.step.plate)]) != 0
    classes = [item.level for item in group.classes]
    count = prod(_counts(group, sizes))
    outside = [sizes[axis.plate] for axis in (group.step, *classes)]
    check_counts_of_states(chain, sizes)
    single = computed[group.single].reshape(*outside, count)
    held = [size if axis in chain.move_axes else 1 for axis, size in zip((group.step, *classes), outside, strict=True)]
    pair = computed[group.moves].reshape(*held, count, count)
    return ChainWeights(ruled_out(single), ruled_out(pair), first)


def check_counts_of_states(chain: Chain, sizes: Sizes) -> None:
    """Refuse chains whose states together, or tables of neighbours, are too many."""
    group = chain.group
    count = prod(_counts(group, sizes))
    outside = prod(sizes[axis.plate] for axis in (group.step, *(item.level for item in group.classes)))
    if len(group.states) > 1 and count > MOST_STATES:
        raise SizeError(
            f"the chains {', '.join(group.now)} have {count} values together", expected=f"at most {MOST_STATES}"
        )
    if outside * count**2 > MOST_ELEMENTS:
        raise SizeError(
            f"{outside * count**2} probabilities of neighbours of {', '.join(group.now)}",
            expected=f"at most {MOST_ELEMENTS}",
            hint="take fewer values or shorter data",
        )


def shared(chain: Chain, found: Recursed, everything: Values, sizes: Sizes) -> dict[str, Array]:
    """Joint probabilities, by name; the posterior of the classes is among `everything`."""
    known = {**everything, **found.computed, **found.arrays}
    if chain.shares.body:
        known |= finish(chain.shares, loaded(chain.shares), {}, known, sizes)
    return {name: known[name] for name in chain.results}
