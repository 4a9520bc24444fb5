"""Choose how the passes of a program run: by the emitted NumPy module, or by compiled C with the same results."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from platewright.backends.c.compile import find_compiler
from platewright.errors import UnknownName
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.program.program import Program
from platewright.program.scatter import scatter
from platewright.program.statements import Pool, Statistic
from platewright.run.exact.native import NativePart, NativePasses, choose_backend, native_passes
from platewright.run.exact.row_batches import ROWS_IN_A_BATCH, Batches, Rows, Tree, batch_plate
from platewright.run.execute import Loaded, Statistics, arguments, loaded


@dataclass(frozen=True, eq=False)
class Passed:
    """The statistics that a pass left, and whether one look has shown that they are finite and keep their digits."""

    module: Loaded
    statistics: Statistics
    is_sound: bool = False

    @property
    def is_finite(self) -> bool:
        """Whether no NaN or infinity came in (the maximum of no rows is minus infinity, and allowed)."""
        return self.is_sound or all_finite(self.statistics)

    @property
    def ill_conditioned(self) -> list[str]:
        """Names of the pools that have lost too many digits."""
        if self.is_sound or self.module.ill_conditioned is None:
            return []
        with np.errstate(over="ignore", invalid="ignore"):
            return self.module.ill_conditioned(self.statistics)


@dataclass(frozen=True, eq=False)
class Runner:
    """The way a program's passes are run: by the emitted NumPy module, or by compiled code with the same results."""

    program: Program
    module: Loaded
    backend: str
    why: str
    compiled: NativePasses | None = None

    @property
    def told(self) -> dict[str, Any]:
        """Who ran the passes, after they were run: the compiler may have refused them."""
        if self.compiled is not None and self.compiled.refused:
            return {"backend": f"numpy: {self.compiled.refused}"}
        return {"backend": self.backend, "made_by": self.compiled.made_by if self.compiled is not None else ""}

    def statistics(self, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Statistics:
        """One pass over all rows; a second makes pools exact that have lost too many digits."""
        found = self.passed(columns, sizes)
        again = found.ill_conditioned
        return self.passed(columns, sizes, again).statistics if again else found.statistics

    def passed(self, columns: Mapping[str, Array], sizes: Mapping[str, int], exact: Collection[str] = ()) -> Passed:
        """One pass over rows that are all there; the pools named in `exact` are in twofold precision."""
        row = batch_plate(self.program, columns)
        if row is None or sizes[row] <= ROWS_IN_A_BATCH:
            return self._passed(self._part(columns, sizes, exact))
        if self.compiled is not None and not exact and beginning(row) not in columns and self.compiled.in_order(row):
            found = self._part(columns, sizes, exact)  # in one piece, which gives the bits of batches
            if isinstance(found, NativePart) and not found.left:
                return self._passed(found)
        return self.gathered([(columns, sizes)], row, exact)

    def gathered(self, pieces: Iterable[Rows], row: str, exact: Collection[str] = ()) -> Passed:
        """One pass over rows along a plate that come piece by piece: the same bits for any pieces."""
        logical: Batches | None = None
        tree: Tree[NativePart | Statistics] = Tree(self._merged)
        for columns, sizes in pieces:
            logical = logical or Batches(self.program, row, self._length(sizes))
            for batch in logical.take(columns, sizes):
                tree.add(self._part(*batch, exact))
        for batch in logical.rest() if logical is not None else ():
            tree.add(self._part(*batch, exact))
        return self._passed(tree.whole() or {})

    def _passed(self, part: NativePart | Statistics) -> Passed:
        is_sound = isinstance(part, NativePart) and self.compiled is not None and self.compiled.is_sound(part)
        return Passed(self.module, self._shown(part), is_sound)

    def _length(self, sizes: Mapping[str, int]) -> int:
        """The rows of a logical batch: whole blocks of every compiled pass."""
        return ROWS_IN_A_BATCH if self.compiled is None else max(ROWS_IN_A_BATCH, self.compiled.longest_block(sizes))

    def _merged(self, first: NativePart | Statistics, second: NativePart | Statistics) -> NativePart | Statistics:
        if isinstance(first, NativePart) and isinstance(second, NativePart) and self.compiled is not None:
            found = self.compiled.merged(first, second)
            if found is not None:
                return found
        with np.errstate(over="ignore", invalid="ignore"):
            return self.module.merged(self._shown(first), self._shown(second))

    def _shown(self, part: NativePart | Statistics) -> Statistics:
        if not isinstance(part, NativePart):
            return part
        assert self.compiled is not None
        return self.compiled.shown(part)

    def _part(
        self, columns: Mapping[str, Array], sizes: Mapping[str, int], exact: Collection[str]
    ) -> NativePart | Statistics:
        given = arguments(self.program, self.module, columns, sizes)
        with np.errstate(over="ignore", invalid="ignore"):  # who asks looks for what is not finite
            if exact:
                return self.module.statistics(*given, exact)
            found = self.compiled.part(*given) if self.compiled is not None else None
            return self.module.statistics(*given) if found is None else found


def choose_runner(program: Program, backend: str, rows: int) -> Runner:
    """The runner asked for, or the one that suits the size."""
    if backend not in ("auto", "numpy", "c"):
        raise UnknownName(backend, ("auto", "numpy", "c"), where="backend=")
    chosen, why = _chosen(program, rows) if backend == "auto" else (backend, "asked for")
    if backend == "c" and find_compiler() is None:
        compiled_passes(program)  # warns, once
        chosen, why = "numpy", "no C compiler was found"
    if chosen == "numpy":
        return Runner(program, loaded(program), "numpy", why)
    return Runner(program, loaded(program), "c", why, compiled_passes(program))


_chosen = lru_cache(maxsize=256)(choose_backend)
"""Looking for C in a program takes longer than a pass over few rows."""


@lru_cache(maxsize=64)
def compiled_passes(program: Program) -> NativePasses | None:
    """The compiled passes of a program, made once; none without a compiler."""
    return native_passes(program)


def most_rows(program: Program, sizes: Mapping[str, int]) -> int:
    """How often the longest pass adds something up: elements of crossed plates, and of columns that it walks along."""
    return max((_additions(statement, sizes) for statement in program.passes), default=0)


def _additions(statement: Statistic | Pool, sizes: Mapping[str, int]) -> int:
    indices = statement.over
    if isinstance(statement, Statistic):
        found = scatter(statement)
        indices = (*indices, *found.walked, *found.others)
    return math.prod(sizes.get(index.plate, 1) for index in indices)


def all_finite(found: Statistics) -> bool:
    """Whether no NaN or infinity came into the statistics (the maximum of no rows is minus infinity, and allowed)."""
    for value in found.values():
        for part in value if isinstance(value, tuple) else (value,):
            array = np.asarray(part)
            good = np.isfinite(array) if isinstance(value, tuple) else array == array
            if array.dtype.kind == "f" and not good.all():
                return False
    return True
