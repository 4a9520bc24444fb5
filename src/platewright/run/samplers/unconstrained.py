"""Coordinates without constraints: where an unknown may take any real number, so that a step cannot leave its domain.

    positive          x = exp(u)                                     interval       x = low + (high - low) logistic(u)
    count             k = floor(u), of one height from k to k + 1
    simplex           x = softmax(u_1, ..., u_{K-1}, 0)              matrix         S = L L',  L_ii = exp(u_ii)

Each gives the value, the log of the volume factor |dx/du|, and the way of a gradient back from x to u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from platewright.algebra.domain import Domain
from platewright.algebra.lazy import special
from platewright.family import Array
from platewright.language.variable import Variable


@dataclass(frozen=True)
class Coordinates:
    """One unknown on the real line, element by element."""

    name: str
    domain: Domain
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        if self.domain.kind == "simplex":
            return int(np.prod(self.shape[:-1], dtype=int)) * (self.shape[-1] - 1)
        if self.domain.kind == "matrix":
            d = self.shape[-1]
            return int(np.prod(self.shape[:-2], dtype=int)) * (d * (d + 1) // 2)
        return int(np.prod(self.shape, dtype=int))

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the domain of one element; an angle goes once round."""
        if self.domain.kind == "circle":
            return -np.pi, np.pi
        return self.domain.lower, self.domain.upper

    def free(self, value: Array) -> Array:
        """The coordinates of a value."""
        x = np.asarray(value, dtype=float)
        match self.domain.kind:
            case "simplex":
                logs = np.log(np.maximum(x, 1e-300))
                return (logs[..., :-1] - logs[..., -1:]).ravel()
            case "matrix":
                root = np.linalg.cholesky(x)
                rows, columns = np.tril_indices(self.shape[-1])
                flat = root[..., rows, columns]
                return np.where(rows == columns, np.log(np.where(rows == columns, flat, 1.0)), flat).ravel()
            case "vector" | "integer":
                return x.ravel()
        low, high = self.ends
        if np.isfinite(low) and np.isfinite(high):
            return special.logit((x - low) / (high - low)).ravel()
        if np.isfinite(low):
            return np.log(x - low).ravel()
        return np.log(high - x).ravel() if np.isfinite(high) else x.ravel()

    def value(self, u: Array) -> tuple[Array, float]:
        """The value, and the log of the volume factor."""
        match self.domain.kind:
            case "simplex":
                return self._simplex(u)
            case "matrix":
                root, diagonal = self._root(u)
                d = self.shape[-1]
                weights = np.arange(d + 1, 1, -1)
                volume = float((diagonal * weights).sum()) + diagonal.size * np.log(2.0)
                return root @ np.swapaxes(root, -1, -2), volume
            case "vector":
                return u.reshape(self.shape), 0.0
            case "integer":
                return self._counts(u)
        low, high = self.ends
        if np.isfinite(low) and np.isfinite(high):
            share = special.expit(u)
            volume = float(np.sum(special.log_expit(u) + special.log_expit(-u))) + u.size * np.log(high - low)
            return (low + (high - low) * share).reshape(self.shape), volume
        if np.isfinite(low):
            return (low + np.exp(u)).reshape(self.shape), float(u.sum())
        if np.isfinite(high):
            return (high - np.exp(u)).reshape(self.shape), float(u.sum())
        return u.reshape(self.shape), 0.0

    def gradient(self, u: Array, value: Array, slope: Array) -> Array:
        """The gradient in the coordinates, volume factor included, from the gradient in the value."""
        match self.domain.kind:
            case "simplex":
                count = self.shape[-1]
                mean = np.sum(slope * value, axis=-1, keepdims=True)
                return (value[..., :-1] * (slope[..., :-1] - mean) + 1 - count * value[..., :-1]).ravel()
            case "matrix":
                return self._matrix_gradient(u, slope)
            case "vector":
                return slope.ravel()
        low, high = self.ends
        if np.isfinite(low) and np.isfinite(high):
            share = special.expit(u)
            return slope.ravel() * (high - low) * share * (1 - share) + 1 - 2 * share
        if np.isfinite(low):
            return slope.ravel() * np.exp(u) + 1
        if np.isfinite(high):
            return -slope.ravel() * np.exp(u) + 1
        return slope.ravel()

    def _counts(self, u: Array) -> tuple[Array, float]:
        """The count k is the interval from k to k + 1; outside the domain the volume is nothing."""
        found = np.clip(np.floor(u), self.domain.lower, self.domain.upper)
        outside = (found != np.floor(u)).any()
        return found.astype(np.int64).reshape(self.shape), -np.inf if outside else 0.0

    def _simplex(self, u: Array) -> tuple[Array, float]:
        rows = u.reshape(*self.shape[:-1], self.shape[-1] - 1)
        padded = np.concatenate([rows, np.zeros((*self.shape[:-1], 1))], axis=-1)
        logs = padded - special.logsumexp(padded, axis=-1, keepdims=True)
        return np.exp(logs), float(logs.sum())

    def _root(self, u: Array) -> tuple[Array, Array]:
        """The triangular root, and the logs of its diagonal."""
        d = self.shape[-1]
        rows, columns = np.tril_indices(d)
        flat = u.reshape(*self.shape[:-2], len(rows))
        on = rows == columns
        root = np.zeros(self.shape)
        root[..., rows, columns] = np.where(on, np.exp(np.where(on, flat, 0.0)), flat)
        return root, flat[..., on]

    def _matrix_gradient(self, u: Array, slope: Array) -> Array:
        """dF = sum G dS with dS = dL L' + L dL', so that dF/dL = (G + G') L."""
        root, _ = self._root(u)
        rows, columns = np.tril_indices(self.shape[-1])
        on = rows == columns
        inner = ((slope + np.swapaxes(slope, -1, -2)) @ root)[..., rows, columns]
        weights = (self.shape[-1] + 1 - rows) * on
        scaled = np.where(on, inner * root[..., rows, columns], inner)
        return (scaled + weights).ravel()


class Joined:
    """The coordinates of several unknowns, one after another."""

    def __init__(self, nodes: Sequence[Variable], sizes: Mapping[str, int]) -> None:
        self.parts = [Coordinates(n.name, n.domain, tuple(sizes[axis.plate] for axis in n.axes)) for n in nodes]
        counts = [np.full(part.size, part.domain.kind == "integer") for part in self.parts]
        self.is_count = np.concatenate(counts) if counts else np.zeros(0, dtype=bool)
        edges = np.cumsum([0, *(part.size for part in self.parts)])
        self.slices = [slice(int(a), int(b)) for a, b in pairwise(edges)]
        self.size = int(edges[-1])

    def free(self, values: Mapping[str, Array]) -> Array:
        """All coordinates as one vector."""
        if not self.parts:
            return np.zeros(0)
        return np.concatenate([part.free(values[part.name]) for part in self.parts])

    def values(self, u: Array) -> tuple[dict[str, Array], float]:
        """All values by name, and the log of the volume factor."""
        found: dict[str, Array] = {}
        volume = 0.0
        for part, place in zip(self.parts, self.slices, strict=True):
            found[part.name], more = part.value(u[place])
            volume += more
        return found, volume

    def gradient(self, u: Array, values: Mapping[str, Array], slopes: Mapping[str, Array]) -> Array:
        """The gradient in all coordinates."""
        parts = [
            part.gradient(u[place], values[part.name], slopes[part.name])
            for part, place in zip(self.parts, self.slices, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)
