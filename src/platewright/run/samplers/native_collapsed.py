"""A collapsed sampler as compiled C: the same draws as the plain one, element for element.

Elements are visited in the order of the code that the emitted file keeps a row for; the plate is renumbered so that the
data are read from front to back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import partial
from time import perf_counter

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Literal, LogDeterminant, free_indices, mentions, walk
from platewright.backends.c.compile import AS_WRITTEN, Functions
from platewright.backends.c_collapsed.collapsed import CollapsedSource, collapsed_source
from platewright.backends.c_collapsed.printer import padded
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.backends.numpy.learning import Visited
from platewright.errors import BackendError, PlatewrightError
from platewright.family import Array
from platewright.run.heard import heard
from platewright.run.samplers.collapsed import HIDDEN, RANDOM
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.native_choice import Text, functions_for, seconds_of

MOST_COUNT = 2**31 - 1
SECONDS_IN_A_CALL = 0.1
LONG = 0.3
"""Seconds from which on a call is made beside the main thread."""
SECONDS_FOR_A_LEVEL = 2e-8
"""About what it takes to weigh one level of one element."""


def choose_functions(
    data: CollapsedData,
    hidden: Mapping[str, Array],
    source: CollapsedSource,
    visited: Visited,
    sweeps: int,
) -> Functions:
    """The compiled sampler for so many sweeps of all chains; raises `BackendError` where nobody compiles it."""

    def seconds(functions: Functions) -> float:
        tried = NativeCollapsed(data, hidden, Xoshiro.seeded(np.random.SeedSequence(0)), source, visited, functions)
        return sweeps * seconds_of(tried.sweep)

    return functions_for(Text(source.text, source.text, AS_WRITTEN), seconds)


class NativeCollapsed:
    """One chain, run by C."""

    def __init__(
        self,
        data: CollapsedData,
        hidden: Mapping[str, Array],
        random: Xoshiro,
        source: CollapsedSource,
        visited: Visited,
        functions: Functions,
    ) -> None:
        self.data = data
        self.random = random
        self.source = source
        self.visited, self.order = visited, ordered(data, visited)
        self.inverse = {plate: np.argsort(places) for plate, places in self.order.items()}
        self.made_by = functions.made_by
        self.function = functions.sweep
        self.function.restype = ctypes.c_int
        self.columns = [self._column(name) for name in self.source.columns]
        self.values = [np.ascontiguousarray(self._moved(n, hidden[n]), np.int32) for n in self.source.hidden]
        self.tables = [self._table(hidden, number) for number in range(len(self.source.tables))]
        self.members = [part for members in self.source.members for part in data.members[members]]
        self.sizes = np.array([data.sizes[plate] for plate in self.source.sizes], dtype=np.int64)
        self.longest = max(padded(data.sizes[move.level.plate]) for move in data.plan.moves)
        self.pace, self.seconds = 1, self._guessed()
        self.work = _aligned(4 * self.longest + _largest_matrix(data))

    def sweep(self, count: int = 1) -> None:
        """Every element once, so many times over, in calls of about the same time; long ones hear Ctrl-C."""
        left = count
        while left:
            many = min(self.pace, left)
            begin = perf_counter()
            call = partial(self._sweeps, many)
            failed = heard(call) if self.seconds * many > LONG else call()
            took = perf_counter() - begin
            self.seconds = took / many
            self.pace = int(np.clip(SECONDS_IN_A_CALL / max(self.seconds, 1e-9), 1, 4 * self.pace))
            left -= many
            if failed:
                name = self.data.plan.moves[failed - 1].hidden
                raise PlatewrightError(
                    f"no level of `{name}` has a positive probability",
                    hint="look for probabilities of exactly 0 or 1 in the model, and for data of extreme size",
                )

    def _guessed(self) -> float:
        """About how long the first sweep may take: few elements need no thread that listens."""
        levels = max((self.data.sizes[move.level.plate] for move in self.data.plan.moves), default=1)
        return sum(values.size for values in self.values) * levels * SECONDS_FOR_A_LEVEL

    def _sweeps(self, count: int) -> int:
        """One call."""
        found: int = self.function(
            *(_pointers(arrays) for arrays in (self.columns, self.values, self.tables, self.members)),
            _pointer(self.sizes),
            _pointer(self.random.state),
            _pointer(self.work),
            ctypes.c_int64(self.longest),
            ctypes.c_int64(count),
        )
        return found

    def state(self) -> dict[str, Array]:
        """All that the next sweep follows from; tables follow from the hidden variables, and those of reals are filled
        anew before each sweep."""
        found = {f"{HIDDEN}{name}": values for name, values in self.hidden.items()}
        return {**found, RANDOM: self.random.state.copy()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Go on from a state that was looked at."""
        hidden = {name: state[f"{HIDDEN}{name}"] for name in self.source.hidden}
        for name, values in zip(self.source.hidden, self.values, strict=True):
            values[...] = self._moved(name, hidden[name])
        for number, table in enumerate(self.tables):
            table[...] = self._table(hidden, number)
        self.random.state[...] = state[RANDOM]

    @property
    def hidden(self) -> dict[str, Array]:
        """The hidden variables as they stand, in the user's order."""
        return {name: self._back(name, values) for name, values in zip(self.source.hidden, self.values, strict=True)}

    def _back(self, name: str, values: Array) -> Array:
        """A hidden variable with its elements where the user has them."""
        back = np.array(values, dtype=np.int64)
        for number, axis in enumerate(self.data.plan.graph.nodes[name].axes):
            if axis.plate in self.order:
                back = np.take(back, self.inverse[axis.plate], axis=number)
        return back

    def _moved(self, name: str, values: Array) -> Array:
        """A column with its renumbered plates in the order of the visit."""
        plan = self.data.plan
        for number, axis in enumerate(plan.columns[name] if name in plan.columns else plan.graph.nodes[name].axes):
            if axis.plate in self.order:
                values = np.take(values, self.order[axis.plate], axis=number)
        return values

    def _column(self, name: str) -> Array:
        values = np.asarray(self._moved(name, np.asarray(self.data.columns[name])))
        return np.ascontiguousarray(values, column_type(values))

    def _table(self, hidden: Mapping[str, Array], number: int) -> Array:
        layout = self.source.tables[number]
        filled = self.data.filled(self.data.plan.tables[number], hidden)
        shape = layout.shape(self.data.sizes)
        found = np.zeros(shape, np.int32 if layout.type == "int32_t" else np.float64)
        stored = np.transpose(filled, layout.order)
        found[tuple(slice(extent) for extent in stored.shape)] = stored
        return found


def emitted(data: CollapsedData) -> CollapsedSource:
    """The source for these data: integer columns and tables in the narrowest type that holds them."""
    types = {}
    for name in data.plan.columns:
        kind = column_type(np.asarray(data.columns[name]))
        if kind.kind == "i":
            types[name] = f"{kind.name}_t"
    whole = []
    for table in data.plan.tables:
        _check_codes(data, table.codes)
        if data.is_whole(table.value) and not mentions(table.value, frozenset(data.plan.hidden)):
            size = np.abs(evaluate(table.value, Environment(data.columns, data.sizes), table.over)).sum()
            whole += [table.name] if size <= MOST_COUNT else []
    return collapsed_source(data.plan, types, frozenset(whole), data.sizes)


def column_type(values: Array) -> np.dtype[np.generic]:
    """int32 where integers fit, int64 where they do not, else double."""
    if values.dtype.kind not in "biu":
        return np.dtype(np.float64)
    fits = not values.size or (values.max() <= MOST_COUNT and values.min() >= -MOST_COUNT)
    return np.dtype(np.int32 if fits else np.int64)


def _check_codes(data: CollapsedData, codes: tuple[Expression, ...]) -> None:
    """C does not look where it writes, so codes are looked at here."""
    for name, axes in data.plan.complete.program.columns.items():
        plate = data.plan.complete.program.codes.get(name)
        if plate is None or name not in data.columns or not any(mentions(code, {name}) for code in codes):
            continue
        values = np.asarray(data.columns[name])
        if values.size and (values.min() < 0 or values.max() >= data.sizes[plate]):
            raise BackendError(f"`{name}` holds a code outside its plate `{plate}`")
        if values.shape != tuple(data.sizes[axis.plate] for axis in axes):
            raise BackendError(f"`{name}` has the shape {values.shape}")


def visiting_order(data: CollapsedData, source: CollapsedSource) -> Visited:
    """For each plate that may be renumbered the codes in whose order its elements are visited."""
    found: dict[str, tuple[Index, tuple[Expression, ...]]] = {}
    for move in data.plan.moves:
        key = source.sorted_by.get(move.hidden, ())
        if len(move.axes) != 1 or not key or any(mentions(code, frozenset(data.plan.hidden)) for code in key):
            continue
        plate = move.axes[0].plate
        if plate in found or not _may_be_renumbered(data, plate):
            continue
        found[plate] = move.axes[0], tuple(code for code in key if free_indices(code))
    return found


def ordered(data: CollapsedData, visited: Visited) -> dict[str, Array]:
    """By plate its elements in the order of the visit."""
    environment = Environment(data.columns, data.sizes)
    return {
        plate: np.lexsort([evaluate(code, environment, (axis,)) for code in reversed(codes)])
        for plate, (axis, codes) in visited.items()
    }


def _may_be_renumbered(data: CollapsedData, plate: str) -> bool:
    """Nothing may know the numbers of the elements: no table, no code, no literal, no list of rows."""
    plan = data.plan
    if any(plate in table.plates for table in plan.tables) or data.members:
        return False
    if plate in plan.complete.program.codes.values() or any(p.within == plate for p in plan.graph.plates.values()):
        return False
    return not any(isinstance(part, Literal) and plate in part.plates for part in _expressions(data))


def _expressions(data: CollapsedData) -> list[Expression]:
    found: list[Expression] = []
    for table in data.plan.tables:
        found += [node for part in (*table.codes, table.value) for node in walk(part)]
    for move in data.plan.moves:
        for change in (*move.changes, *(change for stage in move.stages for change in stage.changes)):
            found += walk(change.expression)
    return found


def _largest_matrix(data: CollapsedData) -> int:
    sides = [data.sizes[part.row.plate] for part in _expressions(data) if isinstance(part, LogDeterminant)]
    return max((side * side for side in sides), default=0)


def _aligned(count: int) -> Array:
    """Doubles that begin at a cache line."""
    space = np.zeros(count + 8)
    return space[(-space.ctypes.data % 64) // 8 :][:count]


def _pointer(array: Array) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


def _pointers(arrays: list[Array]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))
