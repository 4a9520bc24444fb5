"""The pass of one hidden chain: coefficients from parameters, C over bundles of sequences, statistics from the sums.

coefficients  ->  weights of steps and of neighbours  ->  forward, backward (C)  ->  sums  ->  tables and pools
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.backends.c.expression import Unprintable
from platewright.backends.c_chain.chain import ChainPass
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.run.heard import in_threads
from platewright.run.hidden.native_chain_layout import ChainSums, bundles_of
from platewright.run.hidden.native_chain_part import ChainPart, Weights
from platewright.run.hidden.native_em_layout import Doubles
from platewright.run.hidden.native_em_pass import DOUBT, LOG_2
from platewright.run.hidden.native_em_sums import Doubtful, Sums
from platewright.run.hidden.ruled_out import IMPOSSIBLE

BLOCKS_IN_RANGE = 64
KEPT = 2**22
"""A bundle whose weights take more numbers than this has them made again on the way back."""
LEAST = 1e-100
"""A step that leaves less of the chains than this has lost digits to underflow."""
PEAK = 1e150
"""What has vanished below the smallest number is at most this many times more probable afterwards."""


class NativeChain(ChainPart):
    """The pass of one hidden chain on given data."""

    def __init__(self, chain: ChainPass, columns: Mapping[str, Array], sizes: Mapping[str, int], width: int) -> None:
        first = np.asarray(columns[beginning(chain.item.axes[0].plate)])
        if not len(first):
            raise Unprintable("there are no steps")
        self.chain = chain
        super().__init__(chain.single, False, chain.marker, bundles_of(first, width), columns, sizes)
        self.moves = ChainPart(chain.pairs, True, chain.marker, self.bundles, columns, sizes)
        self.later = int(np.sum(first == 0))

    @property
    def function(self) -> str:
        return self.chain.function

    def run(
        self,
        function: Any,
        values: Mapping[str, Array],
        threads: int,
        centres: Mapping[str, Doubles] | None = None,
        probability: Doubles | None = None,
    ) -> Sums:
        """Coefficients, the sequences, and the sums of all ranges merged in a fixed order; see `NativePass.run`."""
        apart = centres is not None
        centres = self.pilot if centres is None else centres
        given = {**self.columns, **values}
        weights = self.weighed(Environment({**given, **centres}, self.sizes), apart)
        pairs = self.moves.weighed(Environment({**given, **self.moves.pilot}, self.sizes), False)
        matrix, log_matrix = self.matrix(pairs)
        own = self.chain.moves_change
        single = self.weighing(weights, centre := self.layout.centre_rows(centres), apart)
        other = self.moves.weighing(pairs, self.moves.middle, False)
        held = None if probability is None else np.empty((len(self.bundles.rows), self.layout.levels))
        first = (ctypes.byref(single), ctypes.byref(other) if own else None, _pointer(matrix))
        places = (_pointer(self.bundles.blocks), _pointer(self.bundles.lengths))
        results = self.ranges_of(
            function, (*first, *places, ctypes.c_int64(apart), ctypes.c_int64(KEPT)), threads, held
        )
        del centre
        sums, counts, pair_sums, pair_counts, moves, tally = _merged(results)
        tally[:3] *= LOG_2
        log_norm = float(tally[0]) + weights.log_top + (pairs.log_top if own else log_matrix * self.later)
        self.check(log_norm, tally, apart, (sums, counts, pair_sums, pair_counts, moves))
        if probability is not None and held is not None:
            probability.reshape(-1, self.layout.levels)[self.bundles.rows[self.bundles.counted]] = held[
                self.bundles.counted
            ]
        if not own:
            pair_sums = np.zeros((2, self.moves.layout.levels, len(self.moves.layout.pairs)))
            pair_counts = np.zeros(self.moves.room()[1])
            pair_sums[1, :, 0] = (moves[:, : self.layout.levels] * matrix[0]).ravel()
        found = self.summed(weights, sums, counts, log_norm, max(float(tally[1]), weights.steepest))
        return replace(found, moves=self.moves.summed(pairs, pair_sums, pair_counts, 0.0, -np.inf))

    def matrix(self, pairs: Weights) -> tuple[Doubles, float]:
        """Weights of neighbouring values where no step changes them, and turned; relative to the largest."""
        size = self.layout.levels
        logs = pairs.coefficient[1][0].reshape(size, size)
        top = float(np.max(logs))
        if not np.isfinite(top):
            raise Doubtful(f"no move of {self.one.item.name} is possible")
        found = np.exp2(logs - top)
        return np.array([found, found.T]), top * LOG_2

    def check(self, log_norm: float, tally: Doubles, apart: bool, sums: tuple[Doubles, ...]) -> None:
        """Digits that were lost are NumPy's to find again."""
        name = self.one.item.name
        if not log_norm > -IMPOSSIBLE or not all(np.isfinite(part).all() for part in sums):
            raise Doubtful(f"a log weight of {name} is not finite")
        if apart and np.finfo(float).eps * tally[2] > DOUBT:
            raise Doubtful(self.because)
        if not tally[3] >= LEAST or not tally[4] <= PEAK:
            raise Doubtful(f"chains of {name} differ by more than the range of numbers")

    def ranges_of(self, function: Any, given: tuple[Any, ...], threads: int, held: Doubles | None) -> list[Any]:
        """What each range of bundles leaves; the cut depends on sizes only."""
        blocks, levels = self.bundles.blocks, self.layout.levels
        own = self.chain.moves_change
        step = max(BLOCKS_IN_RANGE, self.room()[1][1] * levels // 64)
        cuts = sorted({0, self.bundles.count, *np.searchsorted(blocks, np.arange(step, blocks[-1], step)).tolist()})
        shapes = (*self.room(), *self.moves.room(), (levels, max(levels, 3)), (5,))
        results: list[Any] = [None] * (len(cuts) - 1)
        kept = None if held is None else _pointer(held)

        def work(k: int) -> int:
            out = results[k] = [np.zeros(shape if own or n not in (2, 3) else (0,)) for n, shape in enumerate(shapes)]
            bounds = (ctypes.c_int64(cuts[k]), ctypes.c_int64(cuts[k + 1]))
            return int(function(*given, *bounds, *map(_pointer, out), kept))

        if any(in_threads(len(results), threads, work)):
            raise MemoryError("no memory for the working space of a pass")
        return results

    def statistics(self, sums: Sums, wanted: Collection[str] | None = None) -> dict[str, Any]:
        """As the NumPy module of the maximisation gives them, by name of statement: all, or those wanted."""
        assert isinstance(sums, ChainSums) and sums.moves is not None
        return super().statistics(sums, wanted) | self.moves.statistics(sums.moves, wanted)


def _pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _merged(parts: list[Any]) -> list[Doubles]:
    """Neighbours merged in turn, as a tree that depends on their number only."""
    while len(parts) > 1:
        pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
        parts = [_joined(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    found: list[Doubles] = parts[0]
    return found


def _joined(left: list[Doubles], right: list[Doubles]) -> list[Doubles]:
    one, other = left[-1], right[-1]
    tally = np.array([one[0] + other[0], *np.maximum(one[1:], other[1:])])
    tally[3] = np.minimum(one[3], other[3])
    return [*(a + b for a, b in zip(left[:-1], right[:-1])), tally]
