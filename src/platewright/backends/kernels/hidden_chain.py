"""Hidden chains along an ordered plate: forward and backward recursions on log weights, for many sequences at once.

forward[t, j]  = log p(data up to t, z_t = j)          backward sampling draws z_T, then z_{t-1} given z_t

The sums take any axes between step and values: a chain for each class that its sequence may have. Where products of
probabilities keep their digits they take the place of log sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.backends.kernels.impossible import NEVER, check_possible
from platewright.family import Array

LEAST_PRODUCT = 1e-250
"""Products of probabilities below this may have lost digits: log sums take their place."""


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """Log weights of a chain: `single[t, ..., j]`, and `pair[t, ..., i, j]` for steps that have a previous one.

    Weights of neighbours that are the same at all steps stand in `pair` once.
    """

    single: Array
    pair: Array
    first: Array

    @property
    def length(self) -> int:
        """Number of steps of all sequences together."""
        return len(self.single)

    def into(self, at: Array) -> Array:
        """The log weights of neighbours of some steps with those before them."""
        return self.pair[at] if len(self.pair) == self.length else self.pair

    @cached_property
    def all_shares(self) -> tuple[Array, Array]:
        """The weights of neighbours relative to the largest of their step, and the log of that."""
        top = np.max(self.pair, axis=(-2, -1), keepdims=True, initial=-np.inf)
        return np.exp(relative_to(self.pair, top)), np.squeeze(np.where(np.isneginf(top), 0.0, top), -1)

    def shares(self, at: Array) -> tuple[Array, Array]:
        """The weights of neighbours of some steps relative to the largest, and the log of that."""
        whole, top = self.all_shares
        return (whole[at], top[at]) if len(whole) == self.length else (whole, top)


@dataclass(frozen=True, eq=False)
class Lanes:
    """Sequences side by side, the longest first, so that those still running at a time are the first few."""

    starts: Array
    running: Array
    """At each time how many sequences have that many steps."""

    def at(self, time: int, ahead: int = 0) -> Array:
        """Places of step `time` of the sequences that run for `ahead` steps more."""
        last = time + ahead
        return self.starts[: self.running[last] if last < len(self.running) else 0] + time


def lanes_of(first: Array) -> Lanes:
    """The sequences of a long column, from the flags on their first steps."""
    starts = np.flatnonzero(first)
    lengths = np.diff(np.append(starts, len(first)))
    order = np.argsort(-lengths, kind="stable")
    ended = np.cumsum(np.bincount(lengths))[:-1] if len(starts) else np.zeros(0, dtype=np.int64)
    return Lanes(starts[order], len(starts) - ended)


def log_sum(values: Array, axis: int) -> Array:
    """The log of a sum of exponentials; minus infinity where all are."""
    top = np.max(values, axis=axis, keepdims=True)
    safe = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(divide="ignore"):
        found: Array = np.log(np.sum(np.exp(values - safe), axis=axis)) + np.squeeze(safe, axis)
    return found


def forward(weights: ChainWeights) -> tuple[Array, Array]:
    """Filtered log weights (normalised at each step), and what each step adds to the log of the total weight."""
    lanes = lanes_of(weights.first)
    filtered = np.full_like(weights.single, -np.inf)
    added = np.zeros(weights.single.shape[:-1])
    for time in range(len(lanes.running)):
        at = lanes.at(time)
        row = weights.single[at]
        if time:
            row = row + arrived(weights, filtered[at - 1], at)
        added[at] = log_sum(row, axis=-1)
        filtered[at] = relative_to(row, added[at][..., None])  # impossible chains stay so to their end
    return filtered, added


def arrived(weights: ChainWeights, before: Array, at: Array) -> Array:
    """The log weights of values, from those of the values before: a product, and log sums where it lost digits."""
    share, top = weights.shares(at)
    product = row_products(np.exp(before), share)
    with np.errstate(divide="ignore"):
        found: Array = np.log(product) + top
    lost = np.flatnonzero((product < LEAST_PRODUCT).reshape(len(at), -1).any(axis=1))
    if len(lost):
        found[lost] = log_sum(before[lost][..., :, None] + weights.into(at[lost]), axis=-2)
    return found


def row_products(rows: Array, matrices: Array) -> Array:
    """The product of each row with its matrix, or with the one that all have."""
    if len(matrices) > 1:
        return np.einsum("...i,...ij->...j", rows, matrices)
    return np.moveaxis(np.moveaxis(rows, 0, -2) @ matrices[0], -2, 0)


def relative_to(values: Array, norm: Array) -> Array:
    """Log weights less their norm, where there is one."""
    found: Array = values - np.where(np.isneginf(norm), 0.0, norm)
    return found


def forward_best(weights: ChainWeights) -> tuple[Array, Array]:
    """As `forward` with the largest in place of sums: log weights of the best chain up to each value."""
    lanes = lanes_of(weights.first)
    reached = np.full_like(weights.single, -np.inf)
    added = np.zeros(weights.single.shape[:-1])
    for time in range(len(lanes.running)):
        at = lanes.at(time)
        row = weights.single[at]
        if time:
            row = row + np.max(reached[at - 1][..., :, None] + weights.into(at), axis=-2)
        added[at] = np.max(row, axis=-1)
        reached[at] = relative_to(row, added[at][..., None])
    return reached, added


def backward_sample(weights: ChainWeights, filtered: Array, generator: np.random.Generator | None) -> Array:
    """One draw of all chains given the filtered weights; without a generator the likeliest values."""
    lanes = lanes_of(weights.first)
    noise = np.zeros(filtered.shape) if generator is None else generator.gumbel(size=filtered.shape)
    values = np.empty(weights.length, dtype=np.int64)
    for time in reversed(range(len(lanes.running))):
        at, going = lanes.at(time), lanes.at(time, ahead=1)
        row = filtered[at] + noise[at]
        row[: len(going)] += weights.pair[going + 1, :, values[going + 1]]
        values[at] = np.argmax(row, axis=1)
    return values


def drawn_path(generator: np.random.Generator, name: str, single: Array, pair: Array, first: Array) -> Array:
    """One draw of all chains: filtered forwards, sampled backwards; a chain begins where `first[t]` is 1."""
    weights = ChainWeights(single, pair, np.asarray(first) != 0)
    filtered, added = forward(weights)
    check_possible(name, added.sum())
    return backward_sample(weights, filtered, generator)


def smooth(weights: ChainWeights, filtered: Array) -> tuple[Array, Array]:
    """Posterior probabilities of each value, and of each pair of neighbouring values; zeros where none is possible."""
    lanes = lanes_of(weights.first)
    ahead = np.zeros(filtered.shape)
    pairs = np.zeros((*filtered.shape, filtered.shape[-1]))
    for time in reversed(range(len(lanes.running) - 1)):
        at = lanes.at(time, ahead=1)
        beyond = weights.single[at + 1] + ahead[at + 1]
        beyond = relative_to(beyond, np.max(beyond, axis=-1, keepdims=True))
        share, chances, later = weights.shares(at + 1)[0], np.exp(filtered[at]), np.exp(beyond)
        row = row_products(later, np.swapaxes(share, -1, -2))
        whole = np.einsum("...i,...i->...", chances, row)
        with np.errstate(all="ignore"):
            pairs[at + 1] = (chances / whole[..., None])[..., :, None] * share * later[..., None, :]
            ahead[at] = np.log(row) - np.log(np.sum(row, axis=-1, keepdims=True))
        lost = (row < LEAST_PRODUCT).any(axis=-1) | (whole < LEAST_PRODUCT)
        again = np.flatnonzero(lost.reshape(len(at), -1).any(axis=1))
        if len(again):
            pairs[at[again] + 1], ahead[at[again]] = log_back(weights, filtered, beyond[again], at[again])
    marginal = filtered + ahead
    return np.exp(relative_to(marginal, log_sum(marginal, axis=-1)[..., None])), pairs


def log_back(weights: ChainWeights, filtered: Array, beyond: Array, at: Array) -> tuple[Array, Array]:
    """A step back by log sums: pairs of neighbours, and the log weight of what is ahead."""
    arriving = weights.into(at + 1) + beyond[..., None, :]
    joint = filtered[at][..., :, None] + arriving
    whole = log_sum(joint.reshape(*joint.shape[:-2], -1), axis=-1)
    row = log_sum(arriving, axis=-1)
    return np.exp(relative_to(joint, whole[..., None, None])), relative_to(row, log_sum(row, axis=-1)[..., None])


def log_possible(weights: ChainWeights, filtered: Array) -> Array:
    """Minus infinity where no value is possible though some was at the step before, else 0."""
    ruled_out = np.asarray(np.isneginf(filtered).all(axis=tuple(range(1, filtered.ndim))))
    reached = np.concatenate([[True], ~ruled_out[:-1]]) | weights.first
    return np.where(ruled_out & reached, -np.inf, 0.0)


def viterbi(weights: ChainWeights) -> Array:
    """The most probable chains."""
    return backward_sample(weights, forward_best(weights)[0], None)


def forward_backward(
    name: str, single: Array, pair: Array, first: Array, chains: int = 1
) -> tuple[Array, Array, Array]:
    """Probabilities of values and of pairs of neighbours along chains, and the log weight that each step adds.

    `single[t, ..., j]` and `pair[t, ..., i, j]` are log weights, `pair` of length 1 where all steps have the same; a
    chain begins where `first[t]` is 1. Several chains have an axis each and count as one.
    """
    shape, count = single.shape, int(np.prod(single.shape[single.ndim - chains :]))
    single = single.reshape(*shape[: single.ndim - chains], count)
    pair = pair.reshape(*pair.shape[: pair.ndim - 2 * chains], count, count)
    weights = ChainWeights(ruled_out(single), ruled_out(pair), np.asarray(first) != 0)
    filtered, added = forward(weights)
    check_possible(name, log_possible(weights, filtered))
    probability, pairs = smooth(weights, filtered)
    pairs[weights.first, ..., 0, :] = probability[weights.first]  # before a first step the first value stands for any
    return probability.reshape(shape), pairs.reshape(*shape, *shape[len(shape) - chains :]), added


def ruled_out(weights: Array) -> Array:
    """Messages about values that cannot be are large numbers, for the sake of differences; here they are infinite."""
    return np.where(weights <= NEVER, -np.inf, weights)
