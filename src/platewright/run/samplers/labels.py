"""Match the labels of draws: where labels are exchangeable, every draw may use its own, and chains switch between them.

Each draw is relabelled so that its hidden values agree best with those of all others (Stephens 2000, with assignments
in place of probabilities): the share of draws in which row n has label k, then for each draw the relabelling of highest
log share, by linear assignment; again until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.family import Array
from platewright.recognition.exchangeable import Symmetry

MOST_CELLS = 2_000
"""Hidden values that draws are compared by; more of them say nothing new."""
MOST_ROUNDS = 25


@dataclass(frozen=True, eq=False)
class Matching:
    """For each symmetry the relabelling of every draw (chain, draw, label): label k becomes `to[k]`."""

    symmetries: tuple[Symmetry, ...]
    to: tuple[Array, ...]

    def moved(self, chains: Mapping[str, Array]) -> dict[str, Array]:
        """Draws (chain, draw, then the axes of a variable) under the new labels."""
        found = {name: self.with_axes(name, values) for name, values in chains.items()}
        for symmetry, to in zip(self.symmetries, self.to, strict=True):
            for name in set(symmetry.levelled) & set(found):
                flat = found[name].reshape(*to.shape[:2], math.prod(found[name].shape[2:]))
                found[name] = np.take_along_axis(to, flat, axis=2).reshape(found[name].shape)
        return found

    def with_axes(self, name: str, chains: Array) -> Array:
        """Numbers for each element of a variable, its axes under the new labels."""
        for symmetry, to in zip(self.symmetries, self.to, strict=True):
            for axis in symmetry.along.get(name, ()):
                chains = _taken(chains, np.argsort(to, axis=-1), 2 + axis)
        return chains

    def with_levels(self, name: str, chains: Array) -> Array:
        """Numbers for each level of a hidden variable, along the last axis, under the new labels."""
        for symmetry, to in zip(self.symmetries, self.to, strict=True):
            if name in symmetry.levelled:
                chains = _taken(chains, np.argsort(to, axis=-1), chains.ndim - 1)
        return chains

    @property
    def switched(self) -> bool:
        """Whether any two draws used different labels."""
        return any((to != to[:1, :1]).any() for to in self.to)


def _taken(values: Array, back: Array, axis: int) -> Array:
    """`values` with the elements of one axis chosen anew, draw by draw."""
    shape = [1] * values.ndim
    shape[0], shape[1], shape[axis] = back.shape
    return np.take_along_axis(values, back.reshape(shape), axis=axis)


def match(symmetries: Sequence[Symmetry], chains: Mapping[str, Array]) -> Matching:
    """The relabelling of every draw that makes all draws agree best."""
    usable = tuple(symmetry for symmetry in symmetries if any(name in chains for name in symmetry.levelled))
    return Matching(usable, tuple(_matched(symmetry, chains) for symmetry in usable))


def _matched(symmetry: Symmetry, chains: Mapping[str, Array]) -> Array:
    parts = [chains[name] for name in symmetry.levelled if name in chains]
    count, draws = parts[0].shape[:2]
    hidden = np.concatenate([part.reshape(count * draws, math.prod(part.shape[2:])) for part in parts], axis=1)
    if hidden.shape[1] > MOST_CELLS:
        hidden = hidden[:, np.linspace(0, hidden.shape[1] - 1, MOST_CELLS).astype(int)]
    to = np.broadcast_to(np.arange(symmetry.size), (len(hidden), symmetry.size)).copy()
    shares = _shares(hidden[-1:], symmetry.size)
    for _ in range(MOST_ROUNDS):
        before = to
        to = _best(symmetry, hidden, np.log(shares))
        if (to == before).all():
            break
        shares = _shares(np.take_along_axis(to, hidden, axis=1), symmetry.size)
    return to.reshape(count, draws, symmetry.size)


def _shares(hidden: Array, size: int) -> Array:
    """For each cell the share of draws with each label, one draw spread evenly added so that none is zero."""
    counts = np.stack([(hidden == label).sum(axis=0) for label in range(size)], axis=-1)
    found: Array = (counts + 1.0 / size) / (len(hidden) + 1.0)
    return found


def _best(symmetry: Symmetry, hidden: Array, logs: Array) -> Array:
    """For each draw the relabelling under which its hidden values are likeliest."""
    from scipy.optimize import linear_sum_assignment

    found = np.empty((len(hidden), symmetry.size), dtype=np.int64)
    found[:] = np.arange(symmetry.size)
    for number, values in enumerate(hidden):
        gain = np.zeros((symmetry.size, symmetry.size))
        np.add.at(gain, values, logs)
        for members in symmetry.classes:
            chosen = np.array(members)
            rows, columns = linear_sum_assignment(gain[np.ix_(chosen, chosen)], maximize=True)
            found[number, chosen[rows]] = chosen[columns]
    return found
