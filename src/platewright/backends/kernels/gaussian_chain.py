"""A chain of Gaussian blocks: eliminate them forwards in each sequence, and go back for means and covariances.

    D_t = now_t + earlier_{t+1}            the blocks on the diagonal of the precision
    O_t                                    the block of steps t-1 and t
    G_t = L_{t-1}^-1 O_t                   the gain
    L_t = D_t - O_t' G_t                   filtering;  log |precision| = sum of log |L_t|

Sequences lie behind each other; where one begins, nothing comes from before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from platewright.family import Array


@dataclass(frozen=True, eq=False)
class ChainSystem:
    """The eliminated system: `left[t]` the precision of step t given all before, `gain[t]` its pull on step t - 1."""

    first: Array
    left: Array
    gain: Array
    order: tuple[Array, ...]
    """Steps that can be treated side by side: the first of all sequences, the second of those that have one, ..."""

    @staticmethod
    def eliminated(now: Array, earlier: Array, across: Array, first: Array) -> ChainSystem:
        """Filter forwards."""
        left = np.array(now)
        follows = np.flatnonzero(~first)
        left[follows - 1] += earlier[follows]
        order = _side_by_side(first)
        gain = np.zeros_like(across)
        for steps in order[1:]:
            gain[steps] = np.linalg.solve(left[steps - 1], across[steps])
            left[steps] -= np.swapaxes(across[steps], -1, -2) @ gain[steps]
        np.linalg.cholesky(left)  # raises unless every one is positive definite
        return ChainSystem(first, left, gain, order)

    @property
    def log_root(self) -> Array:
        """Half of log |L_t|, step by step."""
        return 0.5 * np.linalg.slogdet(self.left)[1]

    def earlier(self, values: Array) -> Array:
        """The values of the step before; at the beginning of a sequence, zeros that nobody reads."""
        moved = np.concatenate([np.zeros_like(values[:1]), values[:-1]])
        return np.where(self.first.reshape(-1, *(1,) * (values.ndim - 1)), 0.0, moved)

    def solved(self, now: Array, earlier: Array) -> Array:
        """The solution for a gradient, given for each step about itself and about the step before."""
        right = np.array(now)
        follows = np.flatnonzero(~self.first)
        right[follows - 1] += earlier[follows]
        for steps in self.order[1:]:
            right[steps] -= np.einsum("...ij,...i->...j", self.gain[steps], right[steps - 1])
        found = np.linalg.solve(self.left, right[..., None])[..., 0]
        for steps in reversed(self.order[1:]):
            found[steps - 1] -= np.einsum("...ij,...j->...i", self.gain[steps], found[steps])
        return found

    def pair_root(self) -> Array:
        """A root of the covariance of (step, step before); at the beginning of a sequence, of the step alone."""
        width = self.left.shape[-1]
        covariance = np.linalg.inv(self.left)
        cross = np.zeros_like(covariance)
        for steps in reversed(self.order[1:]):
            gain = self.gain[steps]
            cross[steps] = -gain @ covariance[steps]
            covariance[steps - 1] += gain @ covariance[steps] @ np.swapaxes(gain, -1, -2)
        whole = np.zeros((len(covariance), 2 * width, 2 * width))
        whole[:, :width, :width] = covariance
        whole[:, width:, width:] = self.earlier(covariance)
        whole[:, width:, :width] = cross
        whole[:, :width, width:] = np.swapaxes(cross, -1, -2)
        values, vectors = np.linalg.eigh(whole)
        return vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]


def _side_by_side(first: Array) -> tuple[Array, ...]:
    """Places of the k-th step of every sequence that has one."""
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], len(first))
    lengths = ends - starts
    longest = int(lengths.max(initial=0))
    return tuple(starts[lengths > time] + time for time in range(longest))
