"""The log weights of a hidden chain of a model: its factors, evaluated with the values of the chain put in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.algebra.build import substitute, totals
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Lag, Reference, free_indices, walk
from platewright.backends.kernels.hidden_chain import ChainWeights
from platewright.family import Array
from platewright.graph.graph import Factor


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
