"""Hidden chains along an ordered plate: forward and backward recursions on log weights, for many sequences at once.

forward[t, j]  = log p(data up to t, z_t = j)          backward sampling draws z_T, then z_{t-1} given z_t
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from platewright.algebra.build import substitute, totals
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Lag, Reference, free_indices, walk
from platewright.family import Array
from platewright.graph.graph import Factor


@dataclass(frozen=True, eq=False)
class ChainWeights:
    """Log weights of a chain: `single[t, j]`, and `pair[t, i, j]` for steps that have a previous one."""

    single: Array
    pair: Array
    first: Array

    @property
    def length(self) -> int:
        """Number of steps of all sequences together."""
        return len(self.single)


def chain_weights(
    name: str, factors: Sequence[Factor], levels: str, first: Array, environment: Environment
) -> ChainWeights:
    """Evaluate the factors of a chain with its values put in: those with a previous value, and those without."""
    now, before = Index(f"{name}.now", levels), Index(f"{name}.before", levels)
    size = environment.sizes[levels]
    steps = len(first)
    single = np.zeros((steps, size))
    pair = np.zeros((steps, size, size))
    for factor in factors:
        step = _step(name, factor)
        others = [axis for axis in factor.axes if axis != step]
        changes: dict[Expression, Expression] = {
            Reference(name, (step,)): now,
            Reference(name, (Lag(step),)): before,
        }
        whole = totals(substitute(factor.expression, changes), others)
        has_before = before in free_indices(whole)
        with np.errstate(divide="ignore"):
            if has_before:
                table = np.array(evaluate(whole, environment, (step, before, now)))
                pair += np.where(first[:, None, None] != 0, 0.0, table)
                single += np.where(first[:, None] != 0, table[:, 0, :], 0.0)
            else:
                single += np.array(evaluate(whole, environment, (step, now)))
    return ChainWeights(single, pair, np.asarray(first) != 0)


def _step(name: str, factor: Factor) -> Index:
    """The axis of a factor that runs along the chain."""
    at = next(p.indices[0] for p in walk(factor.expression) if isinstance(p, Reference) and p.name == name)
    found = at.index if isinstance(at, Lag) else at
    assert isinstance(found, Index)  # `schemas/gibbs.py` lets no other place pass
    return found


def forward(weights: ChainWeights) -> tuple[Array, float]:
    """Filtered log weights (normalised at each step) and the log of the total weight."""
    filtered = np.empty_like(weights.single)
    total = 0.0
    for t in range(weights.length):
        if weights.first[t]:
            row = weights.single[t]
        else:
            row = weights.single[t] + np.logaddexp.reduce(filtered[t - 1][:, None] + weights.pair[t], axis=0)
        norm = np.logaddexp.reduce(row)
        if np.isneginf(norm):  # no chain is possible: nothing to normalise
            return filtered, -np.inf
        filtered[t] = row - norm
        total += float(norm)
    return filtered, total


def backward_sample(weights: ChainWeights, filtered: Array, generator: np.random.Generator) -> Array:
    """One draw of the whole chain given the filtered weights."""
    steps = weights.length
    noise = generator.gumbel(size=filtered.shape)
    values = np.empty(steps, dtype=np.int64)
    for t in range(steps - 1, -1, -1):
        ends = t == steps - 1 or weights.first[t + 1]
        row = filtered[t] if ends else filtered[t] + weights.pair[t + 1][:, values[t + 1]]
        values[t] = int(np.argmax(row + noise[t]))
    return values


def smooth(weights: ChainWeights, filtered: Array) -> tuple[Array, Array]:
    """Posterior probabilities of each value, and of each pair of neighbouring values."""
    steps, size = filtered.shape
    ahead = np.zeros((steps, size))
    pairs = np.zeros((steps, size, size))
    for t in range(steps - 1, -1, -1):
        if t < steps - 1 and not weights.first[t + 1]:
            arriving = weights.pair[t + 1] + (weights.single[t + 1] + ahead[t + 1])[None, :]
            joint = filtered[t][:, None] + arriving
            pairs[t + 1] = np.exp(joint - np.logaddexp.reduce(joint, axis=None))
            row = np.logaddexp.reduce(arriving, axis=1)
            ahead[t] = row - np.logaddexp.reduce(row)
    marginal = filtered + ahead
    marginal = np.exp(marginal - np.logaddexp.reduce(marginal, axis=1, keepdims=True))
    return marginal, pairs


def viterbi(weights: ChainWeights) -> Array:
    """The most probable chain."""
    steps, size = weights.single.shape
    best = np.empty((steps, size))
    came = np.zeros((steps, size), dtype=np.int64)
    for t in range(steps):
        if weights.first[t]:
            best[t] = weights.single[t]
            continue
        table = best[t - 1][:, None] + weights.pair[t]
        came[t] = np.argmax(table, axis=0)
        best[t] = weights.single[t] + np.max(table, axis=0)
    values = np.empty(steps, dtype=np.int64)
    for t in range(steps - 1, -1, -1):
        ends = t == steps - 1 or weights.first[t + 1]
        values[t] = int(np.argmax(best[t])) if ends else came[t + 1][values[t + 1]]
    return values
