"""Coefficients, tables and sums of a pass over hidden chains: of the value of a step, or of two neighbouring steps.

First steps and later ones have coefficients and sums of their own; see `backends/c_chain/chain.py`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.c_em.em import FusedPass
from platewright.family import Array
from platewright.run.hidden.native_chain_layout import Bundles, ChainContraction, ChainLayout, ChainSums
from platewright.run.hidden.native_em_layout import Doubles
from platewright.run.hidden.native_em_pass import DOUBT, LOG_2, NativePass
from platewright.run.hidden.native_em_sums import Contraction, Doubtful, Sums
from platewright.run.hidden.ruled_out import moderate


class Weighing(ctypes.Structure):
    """`weighing` of the emitted C."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("levels", "functions", "columns", "codes", "pitch", "ready")),
        *((name, ctypes.c_void_p) for name in ("tiles", "centre", "coefficient", "table", "code", "pair")),
    ]


@dataclass(frozen=True, eq=False)
class Weights:
    """Coefficients and tables at first steps and later ones, of logs to base 2; tables that are all hold no logs."""

    environments: tuple[Environment, Environment]
    logs: tuple[tuple[Doubles, Doubles], ...]
    """Natural ones, of functions and of entries, as they were made."""
    coefficient: Doubles
    table: Doubles
    log_top: float
    steepest: float
    ready: bool


class ChainPart(NativePass):
    """What depends on the value of a step, or on those of two neighbouring steps."""

    def __init__(
        self,
        one: FusedPass,
        pairs: bool,
        marker: str,
        bundles: Bundles,
        columns: Mapping[str, Array],
        sizes: Mapping[str, int],
    ) -> None:
        self.bundles = bundles
        self.marker = marker
        self.levels = (one.item.before, one.item.level) if pairs else (one.item.level,)
        super().__init__(one, columns, sizes)
        later = np.where(bundles.first[bundles.rows], 0, self.fused.length)  # entries of later steps come after
        self.codes = np.ascontiguousarray(self.fused.codes[bundles.rows] + later[:, None], dtype=np.int32)
        count = self.fused.codes.shape[1]
        self.only_codes = self.layout.singles == 1 and count == 1
        self.seen = np.zeros((2, self.fused.length), dtype=np.int64)
        if self.only_codes:
            for phase, chosen in enumerate((bundles.first & (not pairs), ~bundles.first)):  # no move ends a first step
                self.seen[phase] = np.bincount(self.fused.codes[chosen, 0], minlength=self.fused.length)

    def new_layout(self) -> ChainLayout:
        return ChainLayout(self.one, self.columns, self.sizes, bundles=self.bundles, levels_of=self.levels)

    def new_contraction(self) -> Contraction:
        assert isinstance(self.layout, ChainLayout)
        return ChainContraction(self.layout)

    def coefficients(self, environment: Environment) -> tuple[Doubles, Doubles]:
        """How each function of the row enters the log weight of each level, and the tables of look-ups."""
        if self.marker not in environment.values:
            environment = self.at_phase(environment, 0.0)
        basis = np.zeros((len(self.layout.pairs), self.layout.levels))
        entry = np.zeros((self.layout.entries, self.layout.levels))
        with np.errstate(all="ignore"):
            for placed in self.weights:
                value = evaluate(placed.coefficient, environment, (*self.levels, *placed.axes))
                target = basis if placed.kind == "basis" else entry
                np.add.at(target, placed.places.ravel(), value.reshape(self.layout.levels, -1).T)
        return self.rules.checked(basis, entry)

    def at_phase(self, environment: Environment, first: float) -> Environment:
        return Environment({**environment.values, self.marker: np.asarray(first)}, environment.sizes)

    def weighed(self, environment: Environment, apart: bool) -> Weights:
        """Coefficients and tables of both phases."""
        phases = (self.at_phase(environment, 1.0), self.at_phase(environment, 0.0))
        found = [self.coefficients(phase) for phase in phases]
        largest = max(np.max(self.largest[1:] @ np.abs(moderate(basis[1:])), initial=0.0) for basis, _ in found)
        if not apart and np.finfo(float).eps * largest > DOUBT:
            raise Doubtful(self.because)
        levels = self.layout.levels
        tables = np.zeros((2, self.fused.length, self.pitch))
        log_top, steepest = 0.0, -np.inf
        for k, (basis, entry) in enumerate(found):
            tables[k, :, :levels] = self.fused.spread(entry)
            if self.only_codes:
                tables[k, :, :levels] += basis[0]
                top = tables[k, :, :levels].max(axis=1)
                met = self.seen[k] > 0
                log_top += float(self.seen[k][met] @ top[met])
                steepest = max(steepest, float(np.max(top[met], initial=-np.inf)))
                with np.errstate(invalid="ignore"):
                    tables[k, :, :levels] = np.nan_to_num(np.exp(tables[k, :, :levels] - top[:, None]), nan=0.0)
        coefficient = np.array([basis.T if apart else basis for basis, _ in found]) / LOG_2
        tables /= 1.0 if self.only_codes else LOG_2
        return Weights(phases, tuple(found), coefficient, tables, log_top, steepest, self.only_codes)

    @property
    def because(self) -> str:
        return f"the log weights of {self.one.item.name} are differences of large numbers"

    def weighing(self, weights: Weights, centre: Doubles, apart: bool) -> Weighing:
        """The same for the emitted C; what it points to must be kept by the caller."""
        functions = 0 if self.only_codes else len(self.layout.pairs)
        head = (self.layout.levels, functions, self.layout.singles - 1, self.codes.shape[1], weights.table.shape[2])
        arrays = (
            self.raw_tiles if apart else self.tiles,
            centre,
            weights.coefficient,
            weights.table,
            self.codes,
            self.pairs,
        )
        return Weighing(*head, int(weights.ready), *(array.ctypes.data for array in arrays))

    def room(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes of sums and of counts."""
        functions = 0 if self.only_codes else len(self.layout.pairs)
        levels = self.layout.levels
        return (2, levels, functions), (2, self.fused.length, self.pitch)

    @property
    def pitch(self) -> int:
        """From one row of a table to the next: whole registers of any machine."""
        return -(-self.layout.levels // 8) * 8

    def summed(self, weights: Weights, sums: Doubles, counts: Doubles, log_norm: float, steepest: float) -> ChainSums:
        """Sums of both phases as contractions want them."""
        phases = []
        for k, environment in enumerate(weights.environments):
            basis = sums[k].T
            if self.only_codes:  # every row has one code: what the codes count is all there is
                basis = np.zeros((len(self.layout.pairs), self.layout.levels))
                basis[0] = counts[k, :, : self.layout.levels].sum(axis=0)
            entry = self.fused.gathered(counts[k, :, : self.layout.levels], self.layout.entries)
            phases.append(Sums(basis, entry, log_norm, steepest, environment, weights.logs[k]))
        first, later = phases
        whole = first.basis + later.basis
        entry = first.entry + later.entry
        return ChainSums(whole, entry, log_norm, steepest, later.environment, later.logs, (first, later))
