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


@dataclass(frozen=True)
class Plain:
    """An unknown that may take any real number, element by element: it is its own coordinate."""

    name: str
    shape: tuple[int, ...]
    is_count = False

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return int(np.prod(self.shape, dtype=int))

    def free(self, value: Array) -> Array:
        """The coordinates of a value."""
        return np.asarray(value, dtype=float).ravel()

    def value(self, u: Array) -> tuple[Array, float]:
        """The value, and the log of the volume factor."""
        return u.reshape(self.shape), 0.0

    def gradient(self, u: Array, value: Array, slope: Array) -> Array:
        """The gradient in the coordinates, volume factor included, from the gradient in the value."""
        return slope.ravel()


@dataclass(frozen=True)
class Above(Plain):
    """Numbers above an end: x = low + exp(u)."""

    low: float

    def free(self, value: Array) -> Array:
        return np.log(np.asarray(value, dtype=float) - self.low).ravel()

    def value(self, u: Array) -> tuple[Array, float]:
        return (self.low + np.exp(u)).reshape(self.shape), float(u.sum())

    def gradient(self, u: Array, value: Array, slope: Array) -> Array:
        return slope.ravel() * np.exp(u) + 1


@dataclass(frozen=True)
class Below(Plain):
    """Numbers below an end: x = high - exp(u)."""

    high: float

    def free(self, value: Array) -> Array:
        return np.log(self.high - np.asarray(value, dtype=float)).ravel()

    def value(self, u: Array) -> tuple[Array, float]:
        return (self.high - np.exp(u)).reshape(self.shape), float(u.sum())

    def gradient(self, u: Array, value: Array, slope: Array) -> Array:
        return -slope.ravel() * np.exp(u) + 1


@dataclass(frozen=True)
class Between(Plain):
    """Numbers between two ends: x = low + (high - low) logistic(u). An angle goes once round."""

    low: float
    high: float

    def free(self, value: Array) -> Array:
        return special.logit((np.asarray(value, dtype=float) - self.low) / (self.high - self.low)).ravel()

    def value(self, u: Array) -> tuple[Array, float]:
        width = self.high - self.low
        volume = float(np.sum(special.log_expit(u) + special.log_expit(-u))) + u.size * np.log(width)
        return (self.low + width * special.expit(u)).reshape(self.shape), volume

    def gradient(self, u: Array, value: Array, slope: Array) -> Array:
        share = special.expit(u)
        return slope.ravel() * (self.high - self.low) * share * (1 - share) + 1 - 2 * share


@dataclass(frozen=True)
class Counts(Plain):
    """Whole numbers: k is the interval from k to k + 1; outside the domain the volume is nothing."""

    low: float
    high: float
    is_count = True

    def value(self, u: Array) -> tuple[Array, float]:
        found = np.clip(np.floor(u), self.low, self.high)
        outside = (found != np.floor(u)).any()
        return found.astype(np.int64).reshape(self.shape), -np.inf if outside else 0.0


@dataclass(frozen=True)
class Shares(Plain):
    """Probabilities that sum to one: the softmax of all coordinates but the last, which is 0."""

    @property
    def size(self) -> int:
        return int(np.prod(self.shape[:-1], dtype=int)) * (self.shape[-1] - 1)

    def free(self, value: Array) -> Array:
        logs = np.log(np.maximum(np.asarray(value, dtype=float), 1e-300))
        return (logs[..., :-1] - logs[..., -1:]).ravel()

    def value(self, u: Array) -> tuple[Array, float]:
        rows = u.reshape(*self.shape[:-1], self.shape[-1] - 1)
        padded = np.concatenate([rows, np.zeros((*self.shape[:-1], 1))], axis=-1)
        logs = padded - special.logsumexp(padded, axis=-1, keepdims=True)
        return np.exp(logs), float(logs.sum())

    def gradient(self, u: Array, value: Array, slope: Array) -> Array:
        mean = np.sum(slope * value, axis=-1, keepdims=True)
        return (value[..., :-1] * (slope[..., :-1] - mean) + 1 - self.shape[-1] * value[..., :-1]).ravel()


@dataclass(frozen=True)
class Matrices(Plain):
    """Positive definite matrices S = L L': the entries of L, and the logs of its diagonal."""

    @property
    def size(self) -> int:
        return int(np.prod(self.shape[:-2], dtype=int)) * (self.shape[-1] * (self.shape[-1] + 1) // 2)

    def free(self, value: Array) -> Array:
        rows, columns = np.tril_indices(self.shape[-1])
        flat = np.linalg.cholesky(np.asarray(value, dtype=float))[..., rows, columns]
        return np.where(rows == columns, np.log(np.where(rows == columns, flat, 1.0)), flat).ravel()

    def value(self, u: Array) -> tuple[Array, float]:
        root, diagonal = self.root(u)
        weights = np.arange(self.shape[-1] + 1, 1, -1)
        volume = float((diagonal * weights).sum()) + diagonal.size * np.log(2.0)
        return root @ np.swapaxes(root, -1, -2), volume

    def gradient(self, u: Array, value: Array, slope: Array) -> Array:
        """dF = sum G dS with dS = dL L' + L dL', so that dF/dL = (G + G') L."""
        root, _ = self.root(u)
        rows, columns = np.tril_indices(self.shape[-1])
        on = rows == columns
        inner = ((slope + np.swapaxes(slope, -1, -2)) @ root)[..., rows, columns]
        weights = (self.shape[-1] + 1 - rows) * on
        scaled = np.where(on, inner * root[..., rows, columns], inner)
        return (scaled + weights).ravel()

    def root(self, u: Array) -> tuple[Array, Array]:
        """The triangular root, and the logs of its diagonal."""
        rows, columns = np.tril_indices(self.shape[-1])
        flat = u.reshape(*self.shape[:-2], len(rows))
        on = rows == columns
        root = np.zeros(self.shape)
        root[..., rows, columns] = np.where(on, np.exp(np.where(on, flat, 0.0)), flat)
        return root, flat[..., on]


def coordinates_kind(domain: Domain) -> tuple[str, tuple[float, ...]]:
    """The coordinates that a domain asks for, with its ends."""
    match domain.kind:
        case "simplex":
            return "Shares", ()
        case "matrix":
            return "Matrices", ()
        case "vector":
            return "Plain", ()
        case "integer":
            return "Counts", (domain.lower, domain.upper)
        case "circle":
            return "Between", (-3.141592653589793, 3.141592653589793)
    lower, upper = domain.lower > -float("inf"), domain.upper < float("inf")
    if lower and upper:
        return "Between", (domain.lower, domain.upper)
    if lower:
        return "Above", (domain.lower,)
    return ("Below", (domain.upper,)) if upper else ("Plain", ())


class Joined:
    """The coordinates of several unknowns, one after another."""

    def __init__(self, parts: Sequence[Plain]) -> None:
        self.parts = list(parts)
        counts = [np.full(part.size, part.is_count) for part in self.parts]
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
