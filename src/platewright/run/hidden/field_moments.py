"""Moments of parameters under their mean-field distribution: what the other updates need of it.

    families     expectations of their statistics (Lemma 4.2)
    Gaussians    means, and loadings on independent noises of unit scale

A value in place of a distribution has moments too: its statistics, itself as the mean, and no loadings. Runs start from
such values, and plain mean updates (Equation 26) never leave them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Reference
from platewright.elimination.expected import Expecter, moment_name
from platewright.elimination.loadings import (
    direction,
    direction_sizes,
    loading_name,
    mean_name,
    source_name,
    sources_of,
    without_output,
)
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.recognition.moments import expected_statistics
from platewright.recognition.transform import IDENTITY
from platewright.run.exact.gaussian import Block
from platewright.run.exact.marginal import evaluate_at, scalar
from platewright.run.exact.posterior import Posterior


def field_moments(posterior: Posterior, conditionals: Sequence[Conditional]) -> dict[str, Array]:
    """The moments of one block of parameters; `posterior` may hold several blocks."""
    found: dict[str, Array] = {}
    for conditional in reversed(conditionals):
        match conditional:
            case FamilyConditional(variable, recognised, _):
                marginal = posterior.marginal(variable)
                assert marginal is not None
                batch = marginal.shape[: len(marginal.shape) - recognised.family.rank]
                for number, moment in enumerate(expected_statistics(recognised.family)):
                    found[moment_name(variable, number)] = evaluate_at(moment, marginal.parameters, batch)
            case GaussianConditional():
                found |= _gaussian_moments(posterior, conditional, conditionals, found)
    return found


def _gaussian_moments(
    posterior: Posterior, conditional: GaussianConditional, chain: Sequence[Conditional], later: Mapping[str, Array]
) -> dict[str, Array]:
    """Means and loadings of a Gaussian block, from those of the blocks eliminated after it."""
    block = posterior.block(conditional)
    tables = {**posterior.data, **posterior.values}
    outer = conditional.statement.outer
    means = {column.variable: later[mean_name(column.variable)] for column in outer}
    mean = block.solved(block.outer_values(means, tables))
    own = np.linalg.solve(block.root, np.broadcast_to(np.eye(block.root.shape[-1]), block.root.shape))
    loadings = {source_name(conditional): own}
    gain = block.gain()
    if gain is not None:
        for source in dict.fromkeys(s for column in outer for s in sources_of(chain, column.variable)):
            loadings[source] = -gain @ _beside(block, source, chain, later, tables)
    found: dict[str, Array] = {}
    for name in conditional.variables:
        found[mean_name(name)] = block.variable_array(name, mean, posterior.plan.graph.nodes[name].axes)
        for source, stacked in loadings.items():
            found[loading_name(name, source)] = _in_axes(block, name, stacked)
    return found


def _beside(
    block: Block, source: str, chain: Sequence[Conditional], later: Mapping[str, Array], tables: Mapping[str, Array]
) -> Array:
    """Loadings of the unknowns beside each copy of a block, over batch, outer columns and directions."""
    statement = block.conditional.statement
    along = direction(source)
    sizes = {**block.sizes, **direction_sizes(chain, block.sizes)}
    batch = block.root.shape[:-2]
    parts = []
    for column in statement.outer:
        name = loading_name(column.variable, source)
        shape = (*batch, *(sizes[index.plate] for index in column.dense), sizes[along.plate])
        if name in later:
            environment = Environment({**tables, name: later[name]}, sizes)
            at = Reference(name, (*column.at, along))
            values = np.array(evaluate(at, environment, (*statement.batch, *column.dense, along)))
        else:
            values = np.zeros(shape)
        parts.append(values.reshape(*batch, -1, shape[-1]))
    return np.concatenate(parts, axis=-2)


def _in_axes(block: Block, name: str, stacked: Array) -> Array:
    """The rows of a stacked array (batch, columns, directions) of one variable, in its axes without outputs."""
    column = next(column for column in block.columns if column.variable == name)
    start, stop = block.spans()[name]
    batch = block.conditional.statement.batch
    dense = tuple(block.sizes[index.plate] for index in column.dense)
    part = stacked[..., start:stop, :].reshape(*stacked.shape[:-2], *dense, stacked.shape[-1])
    order = [*batch, *column.dense]
    places = [order.index(column.at[number]) for number in without_output(block.conditional, name)]  # type: ignore[arg-type]
    return np.transpose(part, (*places, len(places)))


def value_moments(expecter: Expecter, values: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """The moments of parameters that are single values."""
    found: dict[str, Array] = {}
    everywhere = {**sizes, **direction_sizes(expecter.conditionals, sizes)}
    for conditional in expecter.conditionals:
        match conditional:
            case FamilyConditional(variable, recognised, _):
                transform, family = recognised.transform, recognised.family
                value = np.asarray(values[variable], dtype=float)
                value = value if transform is IDENTITY else scalar(transform.forward, {"x": value})
                batch = value.shape[: value.ndim - family.rank]
                for number, statistic in enumerate(family.statistics):
                    found[moment_name(variable, number)] = evaluate_at(statistic, {"x": value}, batch)
            case GaussianConditional():
                for name in conditional.variables:
                    found[mean_name(name)] = np.asarray(values[name], dtype=float)
    for name, axes in expecter.arrays.items():
        if name not in found:
            found[name] = np.zeros(tuple(everywhere[axis.plate] for axis in axes))
    return found


def mean_values(posterior: Posterior, conditionals: Sequence[Conditional]) -> dict[str, Array]:
    """The mean of every parameter of a block, each by itself."""
    found: dict[str, Array] = {}
    for name in (name for conditional in conditionals for name in conditional.variables):
        marginal = posterior.marginal(name)
        mean = None if marginal is None else np.asarray(marginal.mean)
        if mean is None or not np.isfinite(mean).all():
            raise PlatewrightError(
                f"the mean of `{name}` given the other unknowns does not exist or has no closed form",
                expected="a conditional with a mean, for plain mean updates",
                hint="leave update= away for mean field with a lower bound",
            )
        found[name] = mean
    return found
