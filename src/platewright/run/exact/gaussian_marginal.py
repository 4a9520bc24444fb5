"""Marginals of Gaussian unknowns, exact through any chain of blocks: Normal, or Student t under an unknown scale.

    u = R^-1 (right - cross v + noise / sqrt(phi))

Where the unknowns v that stay come from one block, their covariance is looked up in it; else it is followed through
the blocks (`chained_covariance.py`). Where many stay, the variance of each element is that of a linear form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from platewright.elimination.state import GaussianConditional
from platewright.families import FAMILY_BY_NAME
from platewright.family import Array
from platewright.run.exact.chained_covariance import chained_covariance
from platewright.run.exact.gaussian import MOST_COLUMNS, Block
from platewright.run.exact.later import Later
from platewright.run.exact.linear_forms import element_variances
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.scale import Scale

if TYPE_CHECKING:
    from platewright.run.exact.posterior import Posterior


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean, and when asked for unit variance and covariance, of all elements of a block (batch, columns, outputs)."""

    mean: Array
    spread: Callable[[], Array]
    covariance: Callable[[], Array | None]


def gaussian_marginal(posterior: Posterior, name: str, block: Block) -> Marginal | None:
    """The marginal of each element of an unknown; None where the scale has no closed form, or elements are too many."""
    scale = posterior.scale(block.conditional)
    moments = _moments(posterior, block) if scale is not None else None
    if scale is None or moments is None:
        return None
    axes = posterior.plan.graph.nodes[name].axes

    def own(values: Array) -> Array:
        whole = values if values.shape == moments.mean.shape else np.broadcast_to(values, moments.mean.shape)
        return block.variable_array(name, whole, axes)

    def precision() -> Array:
        return 1 / own(moments.spread() * _spread_of(scale))

    joint = JointCovariance(posterior, name, block)
    found = {"mean": lambda: own(moments.mean), "precision": precision}
    if scale.kind == "number":
        return Marginal(name, FAMILY_BY_NAME["Normal"], Later(found), axes=axes, joint=joint)
    found = {"degrees": lambda: own(_degrees_of(scale)[..., None, None]), **found}
    return Marginal(name, FAMILY_BY_NAME["StudentT"], Later(found), axes=axes, joint=joint)


@dataclass(frozen=True, eq=False)
class JointCovariance:
    """The covariance of all elements of an unknown, computed when it is asked for."""

    posterior: Posterior
    name: str
    block: Block

    def __call__(self) -> Array | None:
        scale, moments = self.posterior.scale(self.block.conditional), _moments(self.posterior, self.block)
        if scale is None or moments is None:
            return None
        return _joint_covariance(self.name, self.block, moments.covariance(), scale)


def _degrees_of(scale: Scale) -> Array:
    """Degrees of freedom under an unknown scale."""
    if scale.kind == "gamma":
        assert scale.shape is not None
        return 2 * scale.shape
    assert scale.degrees is not None and scale.inverse_scale is not None
    return scale.degrees - scale.inverse_scale.shape[-1] + 1


def _spread_of(scale: Scale) -> Array:
    """What the scale makes of a unit variance, over batch, columns and outputs."""
    match scale.kind:
        case "number":
            assert scale.value is not None
            return 1 / scale.value[..., None, None]
        case "gamma":
            assert scale.shape is not None and scale.rate is not None
            return (scale.rate / scale.shape)[..., None, None]
    assert scale.inverse_scale is not None
    diagonal = np.diagonal(scale.inverse_scale, axis1=-2, axis2=-1)
    return diagonal[..., None, :] / _degrees_of(scale)[..., None, None]


def _joint_covariance(name: str, block: Block, covariance: Array | None, scale: Scale) -> Array | None:
    """The covariance of all elements, where they are in one batch."""
    if covariance is None or block.conditional.statement.batch or block.outputs > 1:
        return None
    at = block.places(name)
    own = covariance[np.ix_(at, at)]
    if scale.kind == "number":
        assert scale.value is not None
        return own / scale.value
    if scale.kind != "gamma":
        return None
    assert scale.shape is not None and scale.rate is not None
    wide = np.where(scale.shape > 1, scale.rate / np.where(scale.shape > 1, scale.shape - 1, 1), np.inf)
    return own * wide


def _moments(posterior: Posterior, block: Block) -> Moments | None:
    """Mean and unit variance of all elements of a block, and their covariance if at hand."""
    outer = _outer_moments(posterior, block)
    if outer is None:
        return _moments_through_blocks(posterior, block)
    outer_mean, outer_covariance = outer

    def covariance() -> Array:
        own = block.unit_covariance()
        gain = block.gain()
        if gain is None or outer_covariance is None:
            return own
        return own + gain @ outer_covariance @ np.swapaxes(gain, -1, -2)

    later = Later({"covariance": covariance})
    if block.chain is not None:
        whole = (lambda: later["covariance"]) if block.right.shape[-2] <= MOST_COLUMNS else (lambda: None)
        return Moments(block.solved(outer_mean), lambda: _variance(block, outer_covariance), whole)

    def spread() -> Array:
        return np.diagonal(later["covariance"], axis1=-2, axis2=-1)[..., None]

    return Moments(block.solved(outer_mean), spread, lambda: later["covariance"])


def _variance(block: Block, outer_covariance: Array | None) -> Array:
    """The unit variance of each element, without the covariances of those that are far apart."""
    own, gain = block.unit_variance(), block.gain()
    if gain is not None and outer_covariance is not None:
        own = own + ((gain @ outer_covariance) * gain).sum(axis=-1)
    return own[..., None]


def _moments_through_blocks(posterior: Posterior, block: Block) -> Moments | None:
    """The same where unknowns of several blocks stay beside this one."""
    outer_mean = _outer_mean(posterior, block)
    if outer_mean is None:
        return None
    mean = block.solved(outer_mean)
    spreads = {name: element_variances(name, posterior) for name in block.conditional.variables}
    if any(spread is None for spread in spreads.values()):
        return None
    spread = block.stacked_array({name: spread for name, spread in spreads.items() if spread is not None})
    return Moments(mean, lambda: spread, lambda: None)


def _outer_moments(posterior: Posterior, block: Block) -> tuple[Array | None, Array | None] | None:
    """Mean and unit covariance of the outer columns in each batch; None when they have no closed form here."""
    if not block.conditional.statement.outer:
        return None, None
    mean = _outer_mean(posterior, block)
    covariance = None if mean is None else _outer_covariance(posterior, block)
    return None if covariance is None else (mean, covariance)


def _outer_mean(posterior: Posterior, block: Block) -> Array | None:
    """The mean of the outer columns in each batch, where all of them are Gaussian with the scale of the block."""
    means: dict[str, Array] = {}
    for column in block.conditional.statement.outer:
        owner = posterior.conditional(column.variable)
        if not isinstance(owner, GaussianConditional) or owner.scale != block.conditional.scale:
            return None
        found = posterior.marginal(column.variable)
        if found is None:
            return None
        means[column.variable] = found.parameters["mean"]
    return block.outer_values(means, {**posterior.data, **posterior.values})


def _outer_covariance(posterior: Posterior, block: Block) -> Array | None:
    """Unit covariance of the outer columns: looked up where they come from one block that nothing stays beside."""
    statement = block.conditional.statement
    owners = {id(posterior.conditional(column.variable)) for column in statement.outer}
    owner = posterior.conditional(statement.outer[0].variable)
    assert isinstance(owner, GaussianConditional)
    if len(owners) > 1 or owner.statement.batch or owner.statement.outer or owner.statement.output is not None:
        return chained_covariance(posterior, block)
    home = posterior.block(owner)
    every = np.arange(home.right.shape[-2])[:, None]
    nodes = posterior.plan.graph.nodes
    names = [column.variable for column in statement.outer]
    numbers = {name: home.variable_array(name, every, nodes[name].axes) for name in names}
    chosen = block.outer_values(numbers, {**posterior.data, **posterior.values})
    assert chosen is not None
    return home.unit_covariance_at(chosen.astype(int))
