"""Coordinates that fill the whole space: every continuous unknown as a vector of free numbers, and back.

real        x                         half line   log(x - lower)          interval  log((x - lower) / (upper - x))
simplex     log(p_k / p_last)         matrix      Cholesky factor, with the logs of its diagonal

Densities on the free numbers carry the Jacobian; gradients are carried over by the chain rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from platewright.algebra.lazy import special
from platewright.family import Array
from platewright.language.variable import Variable


@dataclass(frozen=True, eq=False)
class Chart:
    """The unknowns of a problem, one after another."""

    nodes: tuple[Variable, ...]
    sizes: Mapping[str, int]

    @property
    def dimension(self) -> int:
        """How many free numbers there are."""
        return sum(self._count(node) for node in self.nodes)

    def _shape(self, node: Variable) -> tuple[int, ...]:
        return tuple(self.sizes[axis.plate] for axis in node.axes)

    def _count(self, node: Variable) -> int:
        shape = self._shape(node)
        match node.domain.kind:
            case "simplex":
                return prod(shape[:-1]) * (shape[-1] - 1)
            case "matrix":
                return prod(shape[:-2]) * (shape[-1] * (shape[-1] + 1) // 2)
        return prod(shape, start=1)

    def free(self, values: Mapping[str, Array]) -> Array:
        """The coordinates of given values."""
        parts = [np.ravel(_free(node, np.asarray(values[node.name], dtype=float))) for node in self.nodes]
        return np.concatenate(parts) if parts else np.zeros(0)

    def values(self, free: Array) -> dict[str, Array]:
        """The values at given coordinates."""
        return {node.name: _value(node, part, self._shape(node)) for node, part in self._parts(free)}

    def log_jacobian(self, free: Array) -> float:
        """The log determinant of the derivative of the values with respect to the coordinates."""
        return float(sum(_log_jacobian(node, part, self._shape(node)) for node, part in self._parts(free)))

    def gradient(self, free: Array, slopes: Mapping[str, Array]) -> Array:
        """The gradient of `function + log Jacobian` on the coordinates, from that of the function on the values."""
        parts = [
            np.ravel(_pulled(node, part, np.asarray(slopes[node.name]), self._shape(node)))
            for node, part in self._parts(free)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _parts(self, free: Array) -> Sequence[tuple[Variable, Array]]:
        ends = np.cumsum([self._count(node) for node in self.nodes])
        return list(zip(self.nodes, np.split(free, ends[:-1]), strict=True)) if self.nodes else []


def _bounds(node: Variable) -> tuple[bool, bool]:
    return bool(np.isfinite(node.domain.lower)), bool(np.isfinite(node.domain.upper))


def _lower_places(size: int) -> tuple[Array, Array]:
    return np.tril_indices(size)


def _free(node: Variable, value: Array) -> Array:
    lower, upper = node.domain.lower, node.domain.upper
    match node.domain.kind:
        case "simplex":
            return np.log(value[..., :-1]) - np.log(value[..., -1:])
        case "matrix":
            root = np.linalg.cholesky(value)
            rows, columns = _lower_places(value.shape[-1])
            flat = root[..., rows, columns]
            diagonal = rows == columns
            return np.where(diagonal, np.log(np.where(diagonal, flat, 1.0)), flat)
    match _bounds(node):
        case (True, True):
            return np.log(value - lower) - np.log(upper - value)
        case (True, False):
            return np.log(value - lower)
        case (False, True):
            return -np.log(upper - value)
    return value


def _value(node: Variable, free: Array, shape: tuple[int, ...]) -> Array:
    lower, upper = node.domain.lower, node.domain.upper
    match node.domain.kind:
        case "simplex":
            return _shares(free, shape)
        case "matrix":
            root = _root(free, shape)
            return root @ np.swapaxes(root, -1, -2)
    free = free.reshape(shape)
    match _bounds(node):
        case (True, True):
            return lower + (upper - lower) * special.expit(free)
        case (True, False):
            return lower + np.exp(free)
        case (False, True):
            return upper - np.exp(-free)
    return free


def _shares(free: Array, shape: tuple[int, ...]) -> Array:
    part = free.reshape(*shape[:-1], shape[-1] - 1)
    whole = np.concatenate([part, np.zeros((*shape[:-1], 1))], axis=-1)
    found: Array = special.softmax(whole, axis=-1)
    return found


def _root(free: Array, shape: tuple[int, ...]) -> Array:
    size = shape[-1]
    rows, columns = _lower_places(size)
    part = free.reshape(*shape[:-2], len(rows))
    diagonal = rows == columns
    root = np.zeros(shape)
    root[..., rows, columns] = np.where(diagonal, np.exp(np.where(diagonal, part, 0.0)), part)
    return root


def _log_jacobian(node: Variable, free: Array, shape: tuple[int, ...]) -> float:
    match node.domain.kind:
        case "simplex":
            return float(np.log(_shares(free, shape)).sum())
        case "matrix":
            logs = np.log(np.diagonal(_root(free, shape), axis1=-2, axis2=-1))
            size = shape[-1]
            return float(((size - np.arange(size) + 1) * logs).sum() + logs.size * np.log(2.0))
    match _bounds(node):
        case (True, True):
            width = np.log(node.domain.upper - node.domain.lower)
            return float((width + special.log_expit(free) + special.log_expit(-free)).sum())
        case (True, False):
            return float(free.sum())
        case (False, True):
            return float(-free.sum())
    return 0.0


def _pulled(node: Variable, free: Array, slope: Array, shape: tuple[int, ...]) -> Array:
    """Chain rule, plus the gradient of the log Jacobian."""
    lower, upper = node.domain.lower, node.domain.upper
    match node.domain.kind:
        case "simplex":
            share = _shares(free, shape)
            centred = slope - (share * slope).sum(axis=-1, keepdims=True)
            return (share * centred + 1 - shape[-1] * share)[..., :-1]
        case "matrix":
            root = _root(free, shape)
            rows, columns = _lower_places(shape[-1])
            inner = ((slope + np.swapaxes(slope, -1, -2)) @ root)[..., rows, columns]
            diagonal = rows == columns
            powers = shape[-1] - rows + 1
            return np.where(diagonal, inner * root[..., rows, columns] + powers, inner)
    free = free.reshape(shape)
    match _bounds(node):
        case (True, True):
            share = special.expit(free)
            return slope * (upper - lower) * share * (1 - share) + 1 - 2 * share
        case (True, False):
            return slope * np.exp(free) + 1
        case (False, True):
            return slope * np.exp(-free) - 1
    return slope
