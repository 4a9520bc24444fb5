"""The curvature of a log density in a few looks, and its correction by draws.

    H[:, t] = -(gradient(u + h e_t) - gradient(u - h e_t)) / 2h          t in the trunk
    D       = the same along all leaves at once, for leaves do not meet

The mean of H over looks is the precision of a Gaussian; draws say how much wider the target really is. Any metric keeps
the target, so all of this decides about speed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from platewright.backends.kernels.coordinates import Joined
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.metric import Curvature, in_range
from platewright.family import Array

MOST_DENSE = 100
"""Trunks with at most so many coordinates are held as a table; without one each coordinate has a scale of its own."""
MOST_PROBED = 200
WIDTH = 1e-5
LEAST = 1e-9
"""Part of the precision of a coordinate that every direction has."""


@dataclass(frozen=True, eq=False)
class Split:
    """The coordinates of a block, leaves first, and how many leaves there are."""

    order: Array
    leaves: int


def coordinates_of(coordinates: Joined, unknowns: Sequence[str]) -> Array:
    """Which coordinates belong to some unknowns."""
    found = np.zeros(coordinates.size, dtype=bool)
    for part, place in zip(coordinates.parts, coordinates.slices, strict=True):
        found[place] = part.name in unknowns
    return found


def split_of(coordinates: Joined, leaves: Sequence[str] = ()) -> Split:
    """Leaves are the coordinates of unknowns whose elements do not meet; a trunk that is too wide is cut to leaves."""
    inside = coordinates_of(coordinates, leaves)
    order = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)])
    count = int(inside.sum())
    return Split(order, count if len(inside) - count <= MOST_DENSE else len(inside))


@dataclass(frozen=True, eq=False)
class Bends:
    """Minus the second derivatives at a point, or their mean: of leaves, between leaves and trunk, of the trunk."""

    leaves: Array
    across: Array
    trunk: Array


def mean_of(looks: Sequence[Bends], split: Split, rests: Sequence[Array], fixed: Array) -> Bends:
    """The mean of several looks, as they would be if the rest fixed so much of each coordinate in all of them.

    Else a look where the scales outside were tight would outweigh all others.
    """
    given = [in_range(rest)[split.order] for rest in rests]
    owns = [np.concatenate([look.leaves, np.diag(look.trunk)]) for look in looks]
    own = np.clip(np.abs(np.mean(owns, axis=0)), 1e-6, 1e12)
    free = np.maximum(np.mean(owns, axis=0) - np.mean(given, axis=0), 1e-3 * own)
    leaves, across, trunk = [], [], []
    for look, rest in zip(looks, given, strict=True):
        stretch = np.sqrt((free + in_range(fixed)[split.order]) / (free + rest))
        leaf, inner = stretch[: split.leaves], stretch[split.leaves :]
        leaves.append(leaf**2 * look.leaves)
        across.append(leaf[:, None] * look.across * inner)
        trunk.append(inner[:, None] * look.trunk * inner)
    return Bends(np.mean(leaves, axis=0), np.mean(across, axis=0), np.mean(trunk, axis=0))


def bends_at(density: Density, u: Array, split: Split, generator: np.random.Generator) -> Bends:
    """A look at a point."""
    every, leaves, trunk = np.arange(len(u)), split.order[: split.leaves], split.order[split.leaves :]

    def bent(direction: Array) -> Array:
        ahead, behind = density.with_gradient(u + WIDTH * direction), density.with_gradient(u - WIDTH * direction)
        # A guess only: where the gradient has no number, any positive precision keeps the target as it is.
        with np.errstate(invalid="ignore", over="ignore"):
            return (behind[1] - ahead[1]) / (2 * WIDTH)

    if len(trunk):
        rows = _settled([bent((every == place).astype(float)) for place in trunk])
        inner = rows[:, trunk]
        own = _settled(bent(np.isin(every, leaves).astype(float))[leaves]) if len(leaves) else np.zeros(0)
        return Bends(own, rows[:, leaves].T, 0.5 * (inner + inner.T))
    if len(u) <= MOST_PROBED:
        own = np.array([bent(direction) @ direction for direction in np.eye(len(u))])
    else:  # the mean of v * (H v) over random signs v is the diagonal of H
        signs = np.sign(generator.random((30, len(u))) - 0.5)
        own = np.mean([sign * bent(sign) for sign in signs], axis=0)
    return Bends(_settled(own[leaves]), np.zeros((len(u), 0)), np.zeros((0, 0)))


def _settled(found: Array | list[Array]) -> Array:
    """Numbers without the digits that rounding made, so that programs which add up in another order learn the same."""
    part, power = np.frexp(np.nan_to_num(found))
    return np.ldexp(np.round(part * 2.0**24) / 2.0**24, power)


def curvature_from(bends: Bends, split: Split, fixed: Array) -> Curvature:
    """A precision near the bends, of which the rest fixes a part; signs are set aside, no direction is left without."""
    bends = Bends(in_range(bends.leaves), in_range(bends.across), in_range(bends.trunk))
    size = np.clip(np.abs(np.diag(bends.trunk)), 1e-6, 1e12)
    own = np.clip(np.abs(bends.leaves), 1e-6, 1e12)
    needed = (bends.across**2 / size).max(axis=1, initial=0.0)
    leaves = np.maximum(own, needed)
    ties, across = _tied(bends.across)
    taken = bends.across.T @ (bends.across / leaves[:, None])
    scale = np.sqrt(size)
    inner = in_range((bends.trunk - taken) / np.outer(scale, scale))
    trunk = _positive(inner) * np.outer(scale, scale) + taken
    whole = np.empty(len(split.order))
    whole[split.order] = np.concatenate([leaves, np.diag(trunk)])
    given = np.maximum(in_range(fixed), 0.0)
    return Curvature(split.order, leaves, ties, across, trunk, np.maximum(whole - given, 1e-3 * whole), given)


def _positive(table: Array) -> Array:
    """The table itself where it is positive, but for what rounding took; else without the signs of directions."""
    for more in (LEAST, 10 * LEAST, 100 * LEAST):  # roots are found much faster than directions
        try:
            np.linalg.cholesky(table + 0.5 * more * np.eye(len(table)))
        except np.linalg.LinAlgError:
            continue
        return table + more * np.eye(len(table))
    values, vectors = np.linalg.eigh(table)
    return (vectors * np.maximum(np.abs(values), LEAST)) @ vectors.T


def _tied(across: Array) -> tuple[Array, Array]:
    """For each leaf the places where it meets the trunk, as many for all, and what stands there."""
    meets = across != 0
    wide = int(meets.sum(axis=1).max(initial=0))
    ties = np.argsort(~meets, axis=1, kind="stable")[:, :wide]
    return ties, np.take_along_axis(across, ties, axis=1)


def corrected(bends: Bends, split: Split, draws: Array, fixed: Array) -> Curvature:
    """The curvature of looks, corrected by how draws spread where the rest fixed so much on the whole.

    With L' u as coordinates the precision L L' is one; what the spread of L' u says instead stands between L and L'.
    """
    metric = curvature_from(bends, split, fixed).metric()
    leaves, trunk = metric.whitened(draws - draws.mean(axis=0))
    own = 1 / _shrunk_variances(leaves)
    across = np.zeros(bends.across.shape)
    np.put_along_axis(across, metric.ties, metric.across, axis=1)
    root = np.linalg.inv(metric.inverse)
    inner = root @ np.linalg.inv(_shrunk_spread(trunk)) @ root.T + across.T @ (own[:, None] * across)
    changed = Bends(own * metric.leaves**2, (own * metric.leaves)[:, None] * across, 0.5 * (inner + inner.T))
    return curvature_from(changed, split, fixed)


def _shrunk_spread(white: Array) -> Array:
    """The spread of draws that should have spread one, drawn towards it as far as their number asks (Ledoit & Wolf)."""
    count, size = white.shape
    spread = white.T @ white / count
    noise = (np.sum(np.sum(white**2, axis=1) ** 2) / count - np.sum(spread**2)) / count
    share = _share(count, noise, np.sum((spread - np.eye(size)) ** 2))
    return share * np.eye(size) + (1 - share) * spread


def _shrunk_variances(white: Array) -> Array:
    """The same for each coordinate by itself."""
    count = len(white)
    spread = np.mean(white**2, axis=0)
    noise = np.sum(np.mean(white**4, axis=0) - spread**2) / count
    share = _share(count, noise, np.sum((spread - 1) ** 2))
    return share + (1 - share) * spread


def _share(count: int, noise: float, gap: float) -> float:
    return max(min(1.0, noise / gap) if gap > 0 else 1.0, 5.0 / (count + 5.0))
