"""The pass of one hidden variable: coefficients from parameters, C over the rows, statistics from the sums.

coefficient[p, k]  ->  sum[p, k] = sum over rows of basis[p] probability[k]  ->  tables and pools
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.c_em.em import FusedPass, SoftSum
from platewright.family import Array
from platewright.run.heard import in_threads
from platewright.run.hidden.native_em_layout import Doubles, Fused, Layout, fuse
from platewright.run.hidden.native_em_sums import Contraction, Doubtful, Placed, PlacedPool, Sums
from platewright.run.hidden.ruled_out import IMPOSSIBLE, RulesOut, moderate

ROWS_IN_RANGE = 32_768
LOG_2 = math.log(2)
"""The rows are weighed to base 2, whose powers are the cheapest."""
DOUBT = 1e-9
"""How far rounding may move a log weight before each level is taken about its own centre."""


class NativePass:
    """The pass of one hidden variable on given data."""

    def __init__(self, one: FusedPass, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
        self.one = one
        self.sizes = sizes
        self.level = one.item.level
        self.columns = columns
        self.layout = self.new_layout()
        self.contraction = self.new_contraction()
        self.weights = self.contraction.placed(one.weights, ())
        held = self.contraction.levels
        self.sums = [(s, self.contraction.placed(s.terms, tuple(a for a in s.axes if a not in held))) for s in one.sums]
        self.pools = [PlacedPool(self.contraction, pool) for pool in one.pools]
        self.layout.filled_up()
        self.rules = RulesOut(self.layout)
        self.fused: Fused = fuse(self.layout)
        self.pilot = self.layout.pilot()
        self.middle = self.layout.centre_rows(self.pilot)
        self.largest = self.layout.largest(self.middle)
        self.pairs = np.array(self.layout.pairs, dtype=np.int32)
        self.tiles = self.layout.tiles(self.middle[0, 1 : self.layout.singles])

    @cached_property
    def raw_tiles(self) -> Doubles:
        """Tiles for a pass in which each level has its own centre; few data need one."""
        return self.layout.tiles(np.zeros(self.layout.singles - 1))

    def new_layout(self) -> Layout:
        """Where functions and codes of the rows stand."""
        return Layout(self.one, self.columns, self.sizes)

    def new_contraction(self) -> Contraction:
        """How statistics are made of sums."""
        return Contraction(self.layout)

    # -- one pass ------------------------------------------------------------------------------------------------------

    def run(
        self,
        function: Any,
        values: Mapping[str, Array],
        threads: int,
        centres: Mapping[str, Doubles] | None = None,
        probability: Doubles | None = None,
    ) -> Sums:
        """Coefficients, the rows, and the sums of all ranges merged in a fixed order.

        Without `centres` all levels share those of the columns; with them each level is taken apart, about its own.
        """
        apart = centres is not None
        centres = self.pilot if centres is None else centres
        environment = Environment({**self.columns, **values, **centres}, self.sizes)
        layout = self.layout
        coefficient, table = self.coefficients(environment)
        because = f"the log weights of {self.one.item.name} are differences of large numbers"
        sizes = self.largest[1:] @ np.abs(moderate(coefficient[1:]))
        if not apart and np.finfo(float).eps * np.max(sizes, initial=0.0) > DOUBT:
            raise Doubtful(because)
        pitch = -(-layout.levels // 4) * 4 if layout.levels <= 16 else -(-layout.levels // 8) * 8
        wide = np.zeros((self.fused.length, pitch))
        wide[:, : layout.levels] = self.fused.spread(table) / LOG_2
        given = np.ascontiguousarray(coefficient.T if apart else coefficient) / LOG_2
        found = self.ranges(function, layout.centre_rows(centres), given, wide, apart, threads, probability)
        sums, counts, tally = merged(found[0]), merged(found[1]), found[2].max(axis=0)
        tally[0] = merged(found[2])[0]
        tally *= LOG_2
        if not np.isfinite(tally[0]) or tally[0] < -IMPOSSIBLE:
            raise Doubtful(f"a log weight of {self.one.item.name} is not finite")
        if apart and np.finfo(float).eps * tally[2] > DOUBT:
            raise Doubtful(because)
        entry = self.fused.gathered(counts[:, : layout.levels], layout.entries)
        return Sums(sums.T, entry, float(tally[0]), float(tally[1]), environment, (coefficient, table))

    def coefficients(self, environment: Environment) -> tuple[Doubles, Doubles]:
        """How each function of the row enters the log weight of each level, and the tables of look-ups."""
        basis = np.zeros((len(self.layout.pairs), self.layout.levels))
        entry = np.zeros((self.layout.entries, self.layout.levels))
        with np.errstate(all="ignore"):
            for placed in self.weights:
                value = evaluate(placed.coefficient, environment, (self.level, *placed.axes))
                target = basis if placed.kind == "basis" else entry
                np.add.at(target, placed.places.ravel(), value.reshape(self.layout.levels, -1).T)
        return self.rules.checked(basis, entry)

    def ranges(
        self,
        function: Any,
        centre: Doubles,
        coefficient: Doubles,
        table: Doubles,
        apart: bool,
        threads: int,
        probability: Doubles | None,
    ) -> tuple[Doubles, Doubles, Doubles]:
        """What each range of rows leaves, range by range; the cut depends on sizes only."""
        layout = self.layout
        step = max(ROWS_IN_RANGE, 4 * table.size // 64 * 64)
        starts = list(range(0, layout.rows, step)) or [0]
        sums = np.empty((len(starts), layout.levels, len(layout.pairs)))
        counts = np.zeros((len(starts), *table.shape))
        tally = np.empty((len(starts), 3))
        places = [(array.ctypes.data, array.strides[0]) for array in (sums, counts, tally)]
        head = (layout.levels, len(layout.pairs), table.shape[1], self.fused.codes.shape[1], layout.singles - 1)
        size = (ctypes.c_int64 * len(head))(*head)
        tiles = self.raw_tiles if apart else self.tiles
        arrays = (tiles, self.fused.codes, size, self.pairs, centre, coefficient, table)
        given = [a if isinstance(a, ctypes.Array) else ctypes.c_void_p(a.ctypes.data) for a in arrays]
        kept = None if probability is None else ctypes.c_void_p(probability.ctypes.data)

        def work(k: int) -> int:
            bounds = (int(apart), starts[k], min(starts[k] + step, layout.rows))
            out = [ctypes.c_void_p(first + k * stride) for first, stride in places]
            return int(function(*given, *map(ctypes.c_int64, bounds), *out, kept))

        if any(in_threads(len(starts), threads, work)):
            raise MemoryError("no memory for the working space of a pass")
        return sums, counts, tally

    # -- statistics ----------------------------------------------------------------------------------------------------

    def statistics(self, sums: Sums, wanted: Collection[str] | None = None) -> dict[str, Any]:
        """As the NumPy module of the maximisation gives them, by name of statement: those wanted.

        Without a wish all that parameters have no part in: others wait for the turn of their block.
        """
        found: dict[str, Any] = {
            s.statement.name: self.total(s, placed, sums)[()]
            for s, placed in self.sums
            if (not s.changes if wanted is None else s.statement.name in wanted)
        }
        for pool in self.pools:
            if wanted is None or pool.pool.statement.name in wanted:
                found[pool.pool.statement.name] = pool.result(sums)
        return found

    def total(self, one: SoftSum, placed: list[Placed], sums: Sums) -> Doubles:
        """A table of sums; one of several products must not be a difference of large numbers."""
        products = one.changes or any(len(term.atoms) > 1 for term in one.terms)
        if len(placed) > 1 and products:
            return self.contraction.careful(sums, placed, one.axes, one.statement.name)
        return self.contraction.contracted(sums, placed, one.axes)

    def peaks(self, values: Mapping[str, Array]) -> dict[str, Doubles]:
        """Centres for each level: where its log weight is largest, as far as the columns with squares go."""
        layout, slots = self.layout, self.slots
        coefficient, _ = self.coefficients(Environment({**self.columns, **values, **self.pilot}, self.sizes))
        square = np.zeros((layout.levels, len(slots), len(slots)))
        for a, one in enumerate(slots):
            for b, other in enumerate(slots[a:], a):
                if (place := layout.rows_of.get((one, other))) is not None:
                    square[:, a, b] += coefficient[place]
                    square[:, b, a] += coefficient[place]
        slope = coefficient[slots].T[..., None]
        move = np.zeros((layout.levels, len(layout.pairs)))
        move[:, slots] = -(np.linalg.pinv(square, hermitian=True) @ slope)[..., 0] if slots else 0.0
        return self.moved(self.pilot, move)

    def means(self, sums: Sums, centres: Mapping[str, Doubles]) -> dict[str, Doubles]:
        """Centres for each level: the mean of its rows, where it has any."""
        total = sums.basis[0]
        share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
        return self.moved(centres, (sums.basis * share).T)

    def moved(self, centres: Mapping[str, Doubles], move: Doubles) -> dict[str, Doubles]:
        """Centres moved by level and function; a pool that joins levels keeps one for all of them."""
        joined = {k for p in self.pools if self.level not in p.pool.cells for k in p.atoms}
        found = {}
        for atom, name in self.one.centres:
            held = found[name] = centres[name]
            if atom in joined:
                continue
            start, width = self.layout.offset[atom], math.prod(self.layout.width(atom))
            there = held + move[:, start : start + width].reshape(held.shape)
            for axis in dict(self.one.shared).get(atom, ()):
                there = np.broadcast_to(there.mean(axis=axis + 1, keepdims=True), there.shape)
            found[name] = np.ascontiguousarray(np.where(np.isfinite(there), there, held))
        return found

    @property
    def slots(self) -> list[int]:
        """Places of columns that have centres."""
        ranges = ((self.layout.offset[a], math.prod(self.layout.width(a))) for a, _ in self.one.centres)
        return [start + k for start, width in ranges for k in range(width)]


def merged(parts: Doubles) -> Doubles:
    """The sum of all ranges, pairwise in a fixed tree: ((r0 r1) (r2 r3)) r4."""
    while len(parts) > 1:
        pairs = parts[0:-1:2] + parts[1::2]
        parts = np.concatenate([pairs, parts[-1:]]) if len(parts) % 2 else pairs
    return parts[0]
