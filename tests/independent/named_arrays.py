"""Arrays whose axes have names: they meet by name, and one axis, `POINT`, numbers the points of a sum or integral.

mu (point, k) at z (point, n)     ->     mu[z] (point, n)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

POINT = "~point"


@dataclass(frozen=True, eq=False)
class Named:
    """Values, and the name of each axis; `POINT`, where it is there, comes first."""

    values: np.ndarray
    dims: tuple[str, ...]

    def __post_init__(self) -> None:
        assert self.values.ndim == len(self.dims), (self.values.shape, self.dims)

    def size(self, dim: str) -> int:
        """How many elements an axis has."""
        return self.values.shape[self.dims.index(dim)]

    def along(self, dims: Sequence[str]) -> np.ndarray:
        """The values with just these axes in this order; an axis that is not there has one element."""
        assert set(self.dims) <= set(dims), (self.dims, dims)
        kept = [dim for dim in dims if dim in self.dims]
        turned = self.values.transpose([self.dims.index(dim) for dim in kept])
        return turned.reshape([turned.shape[kept.index(dim)] if dim in kept else 1 for dim in dims])

    def summed(self, dim: str) -> Named:
        """The sum over an axis."""
        return Named(self.values.sum(axis=self.dims.index(dim)), tuple(d for d in self.dims if d != dim))

    def rolled(self, dim: str) -> Named:
        """Each element holds the one before it."""
        return Named(np.roll(self.values, 1, axis=self.dims.index(dim)), self.dims)

    def at(self, dim: str, codes: np.ndarray, inner: str) -> Named:
        """The elements `codes` of an axis, along another axis, which may be there already."""
        key = Named(np.asarray(codes), (inner,))
        return self[tuple(key if own == dim else slice(None) for own in self.dims if own != POINT)]

    def __getitem__(self, keys: Any) -> Named:
        """Looked up at one key an axis: a number, `:`, or an array of codes whose axes meet the others by name."""
        keys = keys if isinstance(keys, tuple) else (keys,)
        own = [dim for dim in self.dims if dim != POINT]
        at = dict(zip(own, [*keys, *[slice(None)] * (len(own) - len(keys))], strict=True))
        codes = {dim: key for dim, key in at.items() if isinstance(key, Named)}
        whole = [dim for dim in self.dims if dim == POINT or isinstance(at[dim], slice)]
        dims = together(*(key.dims for key in codes.values()), tuple(whole))
        places = []
        for dim in self.dims:
            if dim in codes:
                places.append(codes[dim].along(dims).astype(int))
            elif dim in whole:
                places.append(Named(np.arange(self.size(dim)), (dim,)).along(dims))
            else:
                places.append(np.asarray(at[dim]))
        return Named(np.asarray(self.values[tuple(places)]), dims)

    def __array_ufunc__(self, function: Callable[..., Any], method: str, *inputs: Any, **words: Any) -> Any:
        if method != "__call__" or words:
            return NotImplemented
        return apply(function, *inputs)

    def __add__(self, other: Any) -> Named:
        return apply(np.add, self, other)

    def __radd__(self, other: Any) -> Named:
        return apply(np.add, other, self)

    def __sub__(self, other: Any) -> Named:
        return apply(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Named:
        return apply(np.subtract, other, self)

    def __mul__(self, other: Any) -> Named:
        return apply(np.multiply, self, other)

    def __rmul__(self, other: Any) -> Named:
        return apply(np.multiply, other, self)

    def __truediv__(self, other: Any) -> Named:
        return apply(np.divide, self, other)

    def __rtruediv__(self, other: Any) -> Named:
        return apply(np.divide, other, self)

    def __pow__(self, other: Any) -> Named:
        return apply(_power, self, other)

    def __rpow__(self, other: Any) -> Named:
        return apply(_power, other, self)

    def __neg__(self) -> Named:
        return apply(np.negative, self)


def _power(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return np.power(np.asarray(base, dtype=float), exponent)


def together(*several: tuple[str, ...]) -> tuple[str, ...]:
    """All names of axes, each once, as they come; `POINT` first."""
    found = list(dict.fromkeys(dim for dims in several for dim in dims))
    return tuple(sorted(found, key=lambda dim: dim != POINT))


def apply(function: Callable[..., Any], *inputs: Any) -> Named:
    """A function of numbers, element by element, where axes meet by name."""
    dims = together(*(value.dims for value in inputs if isinstance(value, Named)))
    arrays = [value.along(dims) if isinstance(value, Named) else value for value in inputs]
    return Named(np.asarray(function(*arrays)), dims)
