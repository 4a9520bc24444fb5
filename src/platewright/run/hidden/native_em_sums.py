"""From the sums of a fused pass to statistics: tables, and pools as the emitted NumPy module returns them.

statistic[i] = sum over k, p of coefficient[k, i, p] sum[place(i, p), k]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import ONE, Constant, Index
from platewright.algebra.node import Expression
from platewright.algebra.substitution import substitute
from platewright.backends.c_em.em import SoftPool, moment
from platewright.backends.c_em.split import Terms, canonical
from platewright.backends.numpy.twofold import two_sum
from platewright.family import Array
from platewright.run.hidden.native_em_layout import Doubles, Layout, Places

LOSS = 1e-6
"""How much of a square must be left after the mean is taken off."""


class Doubtful(Exception):
    """Digits were lost; the message says where."""


@dataclass(frozen=True, eq=False)
class Placed:
    """A coefficient, the axes it has beside the level, and where it goes."""

    coefficient: Expression
    axes: tuple[Index, ...]
    kind: str
    places: Places


@dataclass(frozen=True, eq=False)
class Sums:
    """What a pass leaves: sums by function and level, counts by entry and level; and the log weights it was given."""

    basis: Doubles
    entry: Doubles
    log_norm: float
    steepest: float
    environment: Environment
    logs: tuple[Doubles, Doubles]
    """How functions and entries enter the log weights."""

    def at(self, values: Mapping[str, Array]) -> Sums:
        """The same sums, to be contracted with coefficients at other values."""
        return replace(self, environment=self.environment.with_values(values))

    @property
    def mean_log_weight(self) -> float:
        """The sum over rows of expected log weights, which are sums of what was summed."""
        pairs = zip((self.basis, self.entry), self.logs, strict=True)
        return sum(float(np.sum(np.multiply(s, log, out=np.zeros_like(s), where=s != 0))) for s, log in pairs)

    @property
    def entropy(self) -> float:
        """The entropy of what is hidden: minus the expected log of weight over norm."""
        return self.log_norm - self.mean_log_weight


class Contraction:
    """Terms at their places in the sums of a pass."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.sizes = layout.sizes
        self.level = layout.one.item.level
        self.levels: tuple[Index, ...] = (self.level,)
        self.centres = dict(layout.one.centres)

    def placed(self, terms: Terms, axes: tuple[Index, ...]) -> list[Placed]:
        """Terms with their places; what they bind comes after `axes`."""
        found = []
        for term in terms:
            every = (*axes, *term.bound)
            kind, places = self.layout.places(term, every)
            found.append(Placed(term.coefficient, every, kind, places))
        return found

    def careful(self, sums: Sums, placed: list[Placed], axes: tuple[Index, ...], name: str) -> Doubles:
        """The same, where no more than digits enough are lost when large terms cancel."""
        found, size = self.contracted(sums, placed, axes), self.contracted(sums, placed, axes, absolute=True)
        if (np.abs(found) < LOSS * size).any():
            raise Doubtful(f"{name} is a difference of large squares")
        return found

    def contracted(self, sums: Sums, placed: list[Placed], axes: tuple[Index, ...], absolute: bool = False) -> Doubles:
        """`axes` of the sum of all terms: coefficients times sums, summed over the level where it is not asked for."""
        kept = tuple(axis for axis in axes if axis != self.level)
        shape = tuple(self.sizes[axis.plate] for axis in kept)
        found = np.zeros((self.layout.levels, *shape))
        for one in placed:
            source = sums.basis if one.kind == "basis" else sums.entry
            value = np.moveaxis(source[one.places], -1, 0)
            if one.coefficient != ONE:
                value = value * evaluate(one.coefficient, sums.environment, (self.level, *one.axes))
            value = np.abs(value) if absolute else value
            found += value.sum(axis=tuple(range(1 + len(kept), value.ndim)))
        if self.level not in axes:
            return np.asarray(found.sum(axis=0))
        return np.moveaxis(found, 0, axes.index(self.level))


class PlacedPool:
    """A pool whose moments are contractions of the sums of a pass."""

    def __init__(self, parent: Contraction, pool: SoftPool) -> None:
        self.parent = parent
        self.pool = pool
        layout, cells = parent.layout, pool.cells
        self.plain = tuple(index for index in cells if index != parent.level)
        over = {i for i in pool.statement.over if i not in layout.row_set and i != parent.level}
        self.lost = tuple(sorted(over - set(cells), key=str))
        self.widths = [math.prod(parent.sizes[i.plate] for i in f.inner) for f in pool.statement.features]
        features = [pool.statement.features[k] for k in pool.live]
        self.atoms = {canonical(f.expression, layout.row_set).expression for f in features}
        self.total = self.place(pool.weight, self.plain)
        self.first = [
            (f.inner, self.place(moment(pool.weight, f.expression), (*self.plain, *f.inner))) for f in features
        ]
        self.second = {}
        for a, left in enumerate(features):
            for b, right in enumerate(features[a:], a):
                other: dict[Expression, Expression] = {i: Index(i.name + " again", i.plate) for i in right.inner}
                terms = moment(pool.weight, left.expression, substitute(right.expression, other))
                axes = (*left.inner, *(Index(i.name + " again", i.plate) for i in right.inner))
                self.second[a, b] = (axes, self.place(terms, (*self.plain, *axes)))

    def place(self, terms: Terms, axes: tuple[Index, ...]) -> list[Placed]:
        """Over-indices that are no cell are summed."""
        return self.parent.placed(tuple(replace(t, bound=(*t.bound, *self.lost)) for t in terms), axes)

    def axes(self, inner: tuple[Index, ...]) -> tuple[Index, ...]:
        return (*self.pool.cells, *inner)

    def result(self, sums: Sums) -> tuple[Doubles, Doubles, Doubles, Doubles]:
        """Total, mean, scatter, and what the mean lost to rounding."""
        parent, features = self.parent, self.pool.statement.features
        total = parent.contracted(sums, self.total, self.pool.cells)
        edges = np.cumsum([0, *self.widths])
        width = int(edges[-1])
        centre, first = np.zeros((*total.shape, width)), np.zeros((*total.shape, width))
        square = np.zeros((*total.shape, width, width))
        spans = [slice(edges[k], edges[k + 1]) for k in self.pool.live]
        for k, feature in enumerate(features):
            if isinstance(feature.expression, Constant):
                centre[..., edges[k]] = feature.expression.value
        for span, k, (inner, placed) in zip(spans, self.pool.live, self.first):
            first[..., span] = parent.contracted(sums, placed, self.axes(inner)).reshape(*total.shape, -1)
            centre[..., span] = self.centre(sums, features[k].expression, inner).reshape(*total.shape, -1)
        for (a, b), (axes, placed) in self.second.items():
            found = parent.contracted(sums, placed, self.axes(axes))
            shape = (*total.shape, self.widths[self.pool.live[a]], self.widths[self.pool.live[b]])
            square[..., spans[a], spans[b]] = found.reshape(shape)
            square[..., spans[b], spans[a]] = np.swapaxes(found.reshape(shape), -1, -2)
        share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        offset = first * share[..., None]
        scatter = square - first[..., :, None] * offset[..., None, :]
        whole, left = (np.diagonal(array, axis1=-2, axis2=-1) for array in (square, scatter))
        if (left < LOSS * whole).any():
            raise Doubtful(f"{self.pool.statement.name} is a difference of large squares")
        mean, rest = two_sum(centre, offset)
        mean[total <= 0], rest[total <= 0] = 0.0, 0.0
        return total, mean, scatter, rest

    def centre(self, sums: Sums, expression: Expression, inner: tuple[Index, ...]) -> Doubles:
        """The centre of a feature in each cell; a cell that joins levels, or positions, has one for all of them."""
        atom = canonical(expression, self.parent.layout.row_set)
        name = self.parent.centres[atom.expression]
        held = sums.environment.values[name]
        if self.parent.level not in self.pool.cells:
            held = held[:1]
        axes = self.axes(inner)
        places = []
        for index, extent in zip((self.parent.level, *atom.at), held.shape):
            shape = [1] * len(axes)
            if index in axes:
                shape[axes.index(index)] = extent
                places.append(np.arange(extent).reshape(shape))
            else:
                places.append(np.zeros(shape, dtype=np.intp))
        return np.broadcast_to(held[tuple(places)], tuple(self.parent.sizes[axis.plate] for axis in axes))
