"""The pass of one hidden variable: coefficients from parameters, C over the rows, statistics from the sums.

    coefficient[p, k]  ->  sum[p, k] = sum over rows of basis[p] probability[k]  ->  tables and pools
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from platewright.algebra.build import substitute
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import ONE, Constant, Expression, Index
from platewright.backends.c_em import FusedPass, SoftPool, moment
from platewright.backends.c_em_split import Terms, canonical
from platewright.backends.twofold import two_sum
from platewright.family import Array
from platewright.run.native_em_layout import Doubles, Fused, Layout, Places, fuse

ROWS_IN_RANGE = 16_384
DOUBT = 1e-9
"""How far rounding may move a log weight before each level is taken about its own centre."""
LOSS = 1e-6
"""How much of a square must be left after the mean is taken off."""


class Doubtful(Exception):
    """Digits were lost; the message says where."""


@dataclass(frozen=True, eq=False)
class _Placed:
    """A coefficient, the axes it has beside the level, and where it goes."""

    coefficient: Expression
    axes: tuple[Index, ...]
    kind: str
    places: Places


@dataclass(frozen=True, eq=False)
class _Sums:
    """What a pass leaves: sums by function and level, counts by entry and level."""

    basis: Doubles
    entry: Doubles
    log_norm: float
    steepest: float
    environment: Environment
    doubt: str


class NativePass:
    """The pass of one hidden variable on given data."""

    def __init__(self, one: FusedPass, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
        self.one = one
        self.sizes = sizes
        self.level = one.item.level
        self.layout = Layout(one, columns, sizes)
        self.weights = self.placed(one.weights, ())
        self.sums = [(s, self.placed(s.terms, tuple(a for a in s.axes if a != self.level))) for s in one.sums]
        self.pools = [_PlacedPool(self, pool) for pool in one.pools]
        self.fused: Fused = fuse(self.layout)
        self.columns = columns
        self.pilot = self.layout.pilot()
        self.largest = self.layout.largest(self.layout.centre_rows(self.pilot))
        self.pairs = np.array(self.layout.pairs, dtype=np.int32)
        self.tiles = self.layout.tiles()

    def placed(self, terms: Terms, axes: tuple[Index, ...]) -> list[_Placed]:
        """Terms with their places; what they bind comes after `axes`."""
        found = []
        for term in terms:
            every = (*axes, *term.bound)
            kind, places = self.layout.places(term, every)
            found.append(_Placed(term.coefficient, every, kind, places))
        return found

    # -- one pass ------------------------------------------------------------------------------------------------------

    def run(
        self,
        function: Any,
        values: Mapping[str, Array],
        centres: Mapping[str, Doubles],
        apart: bool,
        threads: int,
        probability: Doubles | None = None,
    ) -> _Sums:
        """Coefficients, the rows, and the sums of all ranges merged in a fixed order."""
        environment = Environment({**self.columns, **values, **centres}, self.sizes)
        layout = self.layout
        coefficient, table = self.coefficients(environment)
        sizes = self.largest[1:] @ np.abs(coefficient[1:])
        doubt = not apart and np.finfo(float).eps * np.max(sizes, initial=0.0) > DOUBT
        pitch = -(-layout.levels // 4) * 4 if layout.levels <= 16 else -(-layout.levels // 8) * 8
        wide = np.zeros((self.fused.length, pitch))
        wide[:, : layout.levels] = self.fused.spread(table)
        given = np.ascontiguousarray(coefficient.T if apart else coefficient)
        parts = self.ranges(function, layout.centre_rows(centres), given, wide, apart, threads, probability)
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [_merged(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        sums, counts, tally = parts[0]
        if not np.isfinite(tally[0]):
            raise Doubtful(f"a log weight of {self.one.item.name} is not finite")
        because = f"the log weights of {self.one.item.name} are differences of large numbers"
        entry = self.fused.gathered(counts[:, : layout.levels], layout.entries)
        return _Sums(sums.T, entry, float(tally[0]), float(tally[1]), environment, because if doubt else "")

    def coefficients(self, environment: Environment) -> tuple[Doubles, Doubles]:
        """How each function of the row enters the log weight of each level, and the tables of look-ups."""
        basis = np.zeros((len(self.layout.pairs), self.layout.levels))
        entry = np.zeros((self.layout.entries, self.layout.levels))
        with np.errstate(all="ignore"):
            for placed in self.weights:
                value = evaluate(placed.coefficient, environment, (self.level, *placed.axes))
                target = basis if placed.kind == "basis" else entry
                np.add.at(target, placed.places.ravel(), value.reshape(self.layout.levels, -1).T)
        bad = not np.isfinite(basis[1:]).all() or not (basis[0] < np.inf).all() or not (entry < np.inf).all()
        if bad:
            raise Doubtful(f"a coefficient of the log weights of {self.one.item.name} is not finite")
        return basis, entry

    def ranges(
        self,
        function: Any,
        centre: Doubles,
        coefficient: Doubles,
        table: Doubles,
        apart: bool,
        threads: int,
        probability: Doubles | None,
    ) -> list[tuple[Doubles, Doubles, Doubles]]:
        """What each range of rows leaves; the cut depends on sizes only."""
        layout = self.layout
        step = max(ROWS_IN_RANGE, 4 * table.size // 64 * 64)
        starts = list(range(0, layout.rows, step)) or [0]
        results: list[Any] = [None] * len(starts)
        columns = (ctypes.c_void_p * max(len(self.tiles), 1))(*(tiles.ctypes.data for tiles in self.tiles))
        head = (layout.levels, len(layout.pairs), table.shape[1], self.fused.codes.shape[1])
        size = (ctypes.c_int64 * (len(head) + len(layout.values)))(*head, *(v.shape[1] for v in layout.values))
        arrays = (self.fused.codes, size, self.pairs, centre, coefficient, table)
        given = [a if isinstance(a, ctypes.Array) else ctypes.c_void_p(a.ctypes.data) for a in arrays]
        kept = None if probability is None else ctypes.c_void_p(probability.ctypes.data)
        waiting, lock, failed = iter(range(len(starts))), threading.Lock(), list[int]()

        def work() -> None:
            while True:
                with lock:
                    k = next(waiting, None)
                if k is None or failed:
                    return
                sums, counts = np.empty((layout.levels, len(layout.pairs))), np.zeros(table.shape)
                tally = np.empty(2)
                bounds = (int(apart), starts[k], min(starts[k] + step, layout.rows))
                out = [ctypes.c_void_p(a.ctypes.data) for a in (sums, counts, tally)]
                code = function(columns, *given, *map(ctypes.c_int64, bounds), *out, kept)
                results[k] = (sums, counts, tally)
                if code:
                    failed.append(code)

        others = [threading.Thread(target=work) for _ in range(min(threads, len(starts)) - 1)]
        for thread in others:
            thread.start()
        work()
        for thread in others:
            thread.join()
        if failed:
            raise MemoryError("no memory for the working space of a pass")
        return results

    # -- statistics ----------------------------------------------------------------------------------------------------

    def contracted(self, sums: _Sums, placed: list[_Placed], axes: tuple[Index, ...]) -> Doubles:
        """`axes` of the sum of all terms: coefficients times sums, summed over the level where it is not asked for."""
        kept = tuple(axis for axis in axes if axis != self.level)
        shape = tuple(self.sizes[axis.plate] for axis in kept)
        found = np.zeros((self.layout.levels, *shape))
        for one in placed:
            source = sums.basis if one.kind == "basis" else sums.entry
            value = np.moveaxis(source[one.places], -1, 0)
            if one.coefficient != ONE:
                value = value * evaluate(one.coefficient, sums.environment, (self.level, *one.axes))
            found += value.sum(axis=tuple(range(1 + len(kept), value.ndim)))
        if self.level not in axes:
            return found.sum(axis=0)
        return np.moveaxis(found, 0, axes.index(self.level))

    def statistics(self, sums: _Sums) -> dict[str, Any]:
        """As the NumPy module of the maximisation gives them, by name of statement."""
        found: dict[str, Any] = {s.statement.name: self.contracted(sums, placed, s.axes)[()] for s, placed in self.sums}
        return found | {pool.pool.statement.name: pool.result(sums) for pool in self.pools}

    def own_centres(self, sums: _Sums) -> dict[str, Doubles]:
        """Centres for each level: the mean of its rows, where it has any."""
        total = sums.basis[0]
        share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        found = {}
        shared = dict(self.one.shared)
        joined = {k for p in self.pools if self.level not in p.pool.cells for k in p.atoms}
        for atom, name in self.one.centres:
            held = found[name] = self.pilot[name]
            if atom in joined:
                continue
            start, width = self.layout.offset[atom], math.prod(self.layout.width(atom))
            moved = held + (sums.basis[start : start + width] * share).T.reshape(held.shape)
            for axis in shared.get(atom, ()):
                moved = np.broadcast_to(moved.mean(axis=axis + 1, keepdims=True), moved.shape)
            found[name] = np.ascontiguousarray(np.where(np.isfinite(moved), moved, held))
        return found


class _PlacedPool:
    """A pool whose moments are contractions of the sums of a pass."""

    def __init__(self, parent: NativePass, pool: SoftPool) -> None:
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
        self.first = [(f.inner, self.place(moment(pool.weight, f.expression), (*self.plain, *f.inner))) for f in features]
        self.second = {}
        for a, left in enumerate(features):
            for b, right in enumerate(features[a:], a):
                other = {i: Index(i.name + " again", i.plate) for i in right.inner}
                terms = moment(pool.weight, left.expression, substitute(right.expression, dict(other)))
                axes = (*left.inner, *other.values())
                self.second[a, b] = (axes, self.place(terms, (*self.plain, *axes)))

    def place(self, terms: Terms, axes: tuple[Index, ...]) -> list[_Placed]:
        """Over-indices that are no cell are summed."""
        return self.parent.placed(tuple(replace(t, bound=(*t.bound, *self.lost)) for t in terms), axes)

    def axes(self, inner: tuple[Index, ...]) -> tuple[Index, ...]:
        return (*self.pool.cells, *inner)

    def result(self, sums: _Sums) -> tuple[Doubles, Doubles, Doubles, Doubles]:
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

    def centre(self, sums: _Sums, expression: Expression, inner: tuple[Index, ...]) -> Doubles:
        """The centre of a feature in each cell; a cell that joins levels, or positions, has one for all of them."""
        atom = canonical(expression, self.parent.layout.row_set)
        name = dict(self.parent.one.centres)[atom.expression]
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


def _merged(left: tuple[Doubles, ...], right: tuple[Doubles, ...]) -> tuple[Doubles, Doubles, Doubles]:
    tally = np.array([left[2][0] + right[2][0], max(left[2][1], right[2][1])])
    return left[0] + right[0], left[1] + right[1], tally
