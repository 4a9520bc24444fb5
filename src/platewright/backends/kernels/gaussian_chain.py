"""A chain of Gaussian blocks: eliminate every other step at once, round after round, and go back for the moments.

    D_t = now_t + earlier_{t+1}            the blocks on the diagonal of the precision
    O_t                                    the block of steps t-1 and t
    D_l - O_t D_t^-1 O_t'                  of the step l below t, once t is gone; likewise of the step u above it
    - O_t D_t^-1 O_u                       the block of l and u, which meet now

Each step meets two neighbours only, so a round takes half of those that are left, all at once: as many rounds as the
number of steps has binary digits. Sequences lie behind each other; where one begins, nothing comes from before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from platewright.family import Array


@dataclass(frozen=True, eq=False)
class ChainSystem:
    """The eliminated system: `left[t]` the precision of step t when its turn came, and its pull on its neighbours."""

    first: Array
    left: Array
    below: Array
    above: Array

    @staticmethod
    def eliminated(now: Array, earlier: Array, across: Array, first: Array) -> ChainSystem:
        """Eliminate forwards."""
        follows = np.flatnonzero(~first)
        diagonal, link = _spaced(now), _spaced(across * ~first[:, None, None])
        diagonal[follows] += earlier[follows]
        left, below, above = np.empty_like(now), np.empty_like(now), np.empty_like(now)
        for stride, count in _rounds(len(now)):
            here, lower, upper = _places(stride, count)
            place = slice(stride - 1, None, 2 * stride)
            left[place], down, up = diagonal[here], link[here], link[upper]
            below[place] = _quotient(left[place], np.swapaxes(down, -1, -2))
            above[place] = _quotient(left[place], up)
            diagonal[lower] -= _product(down, below[place])
            diagonal[upper] -= _product(np.swapaxes(up, -1, -2), above[place])
            link[upper] = -_product(down, above[place])
        _root(left)  # raises unless every one is positive definite
        return ChainSystem(first, left, below, above)

    @property
    def log_root(self) -> Array:
        """Half of log |D_t|, step by step: added up over a sequence, half of the log determinant of its precision."""
        if self.left.shape[-1] == 1:
            return 0.5 * np.log(self.left[:, 0, 0])
        return 0.5 * np.linalg.slogdet(self.left)[1]

    def earlier(self, values: Array) -> Array:
        """The values of the step before; at the beginning of a sequence, zeros that nobody reads."""
        moved = np.concatenate([np.zeros_like(values[:1]), values[:-1]])
        return np.where(self.first.reshape(-1, *(1,) * (values.ndim - 1)), 0.0, moved)

    def solved(self, now: Array, earlier: Array) -> Array:
        """The solution for a gradient, given for each step about itself and about the step before."""
        follows = np.flatnonzero(~self.first)
        right = _spaced(now[..., None])
        right[follows] += earlier[follows][..., None]
        rounds = list(_rounds(len(now)))
        for stride, count in rounds:
            here, lower, upper = _places(stride, count)
            place = slice(stride - 1, None, 2 * stride)
            right[lower] -= _product(np.swapaxes(self.below[place], -1, -2), right[here])
            right[upper] -= _product(np.swapaxes(self.above[place], -1, -2), right[here])
        found = _spaced(_quotient(self.left, right[1 : len(now) + 1]))
        for stride, count in reversed(rounds):
            here, lower, upper = _places(stride, count)
            place = slice(stride - 1, None, 2 * stride)
            found[here] -= _product(self.below[place], found[lower]) + _product(self.above[place], found[upper])
        return found[1 : len(now) + 1, :, 0]

    def covariances(self) -> tuple[Array, Array]:
        """The covariance of each step, and of the step before it (rows) with it (columns)."""
        steps, width = self.left.shape[:2]
        inverse = _quotient(self.left, np.broadcast_to(np.eye(width), self.left.shape))
        own, across = _spaced(inverse), np.zeros((1, width, width))
        for stride, count in reversed(list(_rounds(steps))):
            here, lower, upper = _places(stride, count)
            place = slice(stride - 1, None, 2 * stride)
            below, above, between = self.below[place], self.above[place], across[:count]
            with_lower = -_product(below, own[lower]) - _product(above, np.swapaxes(between, -1, -2))
            with_upper = -_product(below, between) - _product(above, own[upper])
            own[here] -= _product(with_lower, np.swapaxes(below, -1, -2))
            own[here] -= _product(with_upper, np.swapaxes(above, -1, -2))
            across = np.zeros((len(own) // stride, width, width))
            across[0 : 2 * count : 2] = np.swapaxes(with_lower, -1, -2)
            across[1 : 2 * count : 2] = with_upper
        return own[1 : steps + 1], across[:steps]

    def pair_root(self) -> Array:
        """A root of the covariance of (step, step before); at the beginning of a sequence, of the step alone.

        The step has a root S of its covariance, and the step before is a multiple of it with noise of its own.
        """
        steps, width = self.left.shape[:2]
        covariance, across = self.covariances()
        root = _root(covariance)
        whole = np.zeros((steps, 2 * width, 2 * width))
        whole[:, :width, :width] = root
        whole[:, width:, :width] = np.swapaxes(_quotient(root, np.swapaxes(across, -1, -2)), -1, -2)
        shared = whole[:, width:, :width]
        rest = self.earlier(covariance) - _product(shared, np.swapaxes(shared, -1, -2))
        if width == 1:
            whole[:, width:, width:] = np.sqrt(np.maximum(rest, 0.0))
            return whole
        values, vectors = np.linalg.eigh(rest)
        whole[:, width:, width:] = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        return whole


def _spaced(values: Array) -> Array:
    """Step t at t + 1, with zeros before the first step and after the last up to a power of two."""
    space = np.zeros(((1 << len(values).bit_length()) + 1, *values.shape[1:]))
    space[1 : len(values) + 1] = values
    return space


def _rounds(steps: int) -> Iterator[tuple[int, int]]:
    """For each round how far apart neighbours are, and how many steps go."""
    stride = 1
    while stride <= steps:
        yield stride, (steps // stride + 1) // 2
        stride *= 2


def _places(stride: int, count: int) -> tuple[slice, slice, slice]:
    """Where the steps of a round lie in a spaced array, and their neighbours below and above."""
    last = 2 * stride * count
    return slice(stride, last, 2 * stride), slice(0, last, 2 * stride), slice(2 * stride, last + 1, 2 * stride)


def _product(left: Array, right: Array) -> Array:
    """Matrix products; many of width one are one product of arrays."""
    return left * right if left.shape[-1] == 1 else left @ right


def _quotient(left: Array, right: Array) -> Array:
    """Solutions of matrix equations; many of width one are one quotient of arrays."""
    return right / left if left.shape[-1] == 1 else np.linalg.solve(left, right)


def _root(matrices: Array) -> Array:
    """Lower triangular roots; raises unless all matrices are positive definite."""
    if matrices.shape[-1] > 1 or not (matrices > 0).all():
        return np.asarray(np.linalg.cholesky(matrices))
    return np.sqrt(matrices)
