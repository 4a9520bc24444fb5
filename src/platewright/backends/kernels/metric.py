"""The precision of coordinates most of which meet only a few others, and a root of its inverse.

    leaves   D   B        d = sqrt(D)      G = B / d      C C' = A - G' G
    trunk    B'  A        L = (d 0; G' C),  precision = L L',  R = inverse of L'

A leaf meets no other leaf, so D is a diagonal, and a leaf holds only the places of the trunk that it meets. Without a
trunk this is a scale for each coordinate, without leaves a full table. Steps cost what the numbers in B and A cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.family import Array


@dataclass(frozen=True, eq=False)
class Metric:
    """`R` with R R' = the inverse of a precision."""

    order: Array
    """All coordinates, leaves first."""
    leaves: Array
    """d of the formulas above."""
    ties: Array
    """For each leaf the places in the trunk that it meets."""
    across: Array
    """G, at those places."""
    inverse: Array
    """The inverse of C."""

    def along(self, r: Array) -> Array:
        """R r."""
        count = len(self.leaves)
        trunk = r[count:] @ self.inverse
        found = np.empty(len(r))
        found[self.order[count:]] = trunk
        found[self.order[:count]] = (r[:count] - (self.across * trunk[self.ties]).sum(axis=1)) / self.leaves
        return found

    def back(self, gradient: Array) -> Array:
        """R' gradient."""
        count = len(self.leaves)
        leaves = gradient[self.order[:count]] / self.leaves
        pulled = (self.across * leaves[:, None]).ravel()
        trunk = gradient[self.order[count:]] - np.bincount(self.ties.ravel(), pulled, len(self.inverse))
        return np.concatenate([leaves, self.inverse @ trunk])

    def whitened(self, draws: Array) -> tuple[Array, Array]:
        """Rows u as L' u, leaves and trunk apart."""
        count = len(self.leaves)
        trunk = draws[:, self.order[count:]]
        met = np.einsum("iv,niv->ni", self.across, trunk[:, self.ties])
        return draws[:, self.order[:count]] * self.leaves + met, trunk @ np.linalg.inv(self.inverse)


@dataclass(frozen=True, eq=False)
class Curvature:
    """What is learned about the precision of the coordinates.

    A metric may depend on the rest, which stands still while the block moves; so it follows the scales outside: each
    coordinate is as precise as its `free` part and what the rest fixes, and its correlations stay.
    """

    order: Array
    leaves: Array
    """D of the formulas above."""
    ties: Array
    across: Array
    """B, at the ties."""
    trunk: Array
    """A."""
    free: Array
    fixed: Array
    """The parts of the precision of each coordinate that the rest does not fix, and does on the whole."""

    def metric(self, more: Array | float = 0.0) -> Metric:
        """A root of the inverse of the precision, with more for each coordinate."""
        ordered = np.broadcast_to(more, self.order.shape)[self.order]
        count, size = len(self.leaves), len(self.trunk)
        leaves = np.sqrt(self.leaves + ordered[:count])
        across = self.across / leaves[:, None]
        left = self.trunk + np.diag(ordered[count:]) - crossed_ties(self.ties, across, size)
        return Metric(self.order, leaves, self.ties, across, np.linalg.inv(np.linalg.cholesky(left)))

    @cached_property
    def root(self) -> Metric:
        """The metric on the whole: the rest moves at every sweep, this root stays until more is learned."""
        return self.metric()

    def stretches(self) -> tuple[Array, Array]:
        """a and b, where a coordinate of which the rest fixes f is sqrt(a + b f) times as precise as on the whole."""
        whole = self.free + self.fixed
        return self.free / whole, 1 / whole

    def metric_given(self, fixed: Array) -> Metric:
        """The metric where the rest fixes so much of each coordinate: the rows of L are stretched."""
        whole, (free, weight) = self.root, self.stretches()
        stretch = np.sqrt(free + weight * np.clip(np.nan_to_num(fixed), 0.0, 1e12))[self.order]
        leaves, trunk = stretch[: len(self.leaves)], stretch[len(self.leaves) :]
        across, inverse = whole.across * trunk[self.ties], whole.inverse / trunk
        return Metric(self.order, whole.leaves * leaves, self.ties, across, inverse)


def crossed_ties(ties: Array, across: Array, size: int) -> Array:
    """G' G as a table of the trunk."""
    places = (ties[:, :, None] * size + ties[:, None, :]).ravel()
    found = np.bincount(places, (across[:, :, None] * across[:, None, :]).ravel(), size * size)
    return found.reshape(size, size)


def curvature_apart(precision: Array) -> Curvature:
    """Coordinates that do not meet."""
    none = np.zeros((len(precision), 0))
    return Curvature(
        np.arange(len(precision)), precision, none.astype(int), none, np.zeros((0, 0)), precision, 0 * precision
    )


def curvature_together(precision: Array) -> Curvature:
    """Coordinates that all meet."""
    none = np.zeros((0, 0))
    own = np.diag(precision)
    return Curvature(np.arange(len(precision)), np.zeros(0), none.astype(int), none, precision, own, 0 * own)


def in_range(precision: Array) -> Array:
    """Precisions as numbers: at a wild start some are infinite. Any metric keeps the target, so this is no bias."""
    return np.clip(np.nan_to_num(precision), -1e12, 1e12)
