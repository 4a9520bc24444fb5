"""Gibbs sampling by compiled C: the arrays of a chain, and calls of the emitted functions.

Statistics of data alone are computed once, by NumPy; a chain owns its unknowns, what its blocks compute, and its
random state, so that chains run side by side in threads and give the same bits whatever their number.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from platewright.backends.c.compile import AS_WRITTEN, LIGHT, Compiler, Functions, compiled, find_compiler
from platewright.backends.c.in_memory import compiled_in_memory
from platewright.backends.c_gibbs.apart import object_text
from platewright.backends.c_gibbs.coordinate_slices import ALONG
from platewright.backends.c_gibbs.gibbs import GibbsSource, gibbs_source
from platewright.backends.kernels.coordinates import Joined
from platewright.backends.kernels.hamiltonian import MOST_DOUBLINGS
from platewright.backends.kernels.hamiltonian_mover import FIRST_STEP
from platewright.backends.kernels.slices import slice_widths
from platewright.errors import BackendError, ImproperPosterior, PlatewrightError
from platewright.family import Array
from platewright.run.checks.sanity import check_finite
from platewright.run.samplers.native_given import data_given, plain
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.blocks import HamiltonianBlock
from platewright.schemas.gibbs import GibbsPlan

OUTSIDE, MEMORY, IMPROPER, NOT_FINITE, IMPOSSIBLE = 1, 2, 3, 4, 5
"""What the emitted functions return when something is wrong."""

MOST_LIGHT = 200
"""Rows in a sweep up to which its C is compiled lightly."""


@dataclass(frozen=True, eq=False)
class NativeGibbs:
    """A compiled plan with its data; chains are made from it."""

    plan: GibbsPlan
    source: GibbsSource
    shared: Functions
    sizes: Mapping[str, int]
    given: Mapping[str, Array]
    """Columns and statistics of data alone, by key."""

    def chain(self, values: Mapping[str, Array], generator: np.random.Generator) -> NativeChain:
        """A chain that starts at given values."""
        return NativeChain(self, values, generator)


def integer_names(columns: Mapping[str, Array]) -> frozenset[str]:
    """Columns that C reads as int64."""
    return frozenset(name for name, values in columns.items() if np.asarray(values).dtype.kind in "biu")


def compiled_gibbs(
    plan: GibbsPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], source: GibbsSource | None = None
) -> NativeGibbs:
    """The plan as loaded C, with its data; raises `Unprintable` or `BackendError` when there is none."""
    source, found = source or gibbs_source(plan, integer_names(columns), (), sizes), needed_compiler()
    with ThreadPoolExecutor(1) as beside:  # the compiler is another process; meanwhile the data are summed up
        made = beside.submit(compiled, source.own, found, flags_for(plan, sizes), object_text())
        given = data_given(plan, source, columns, sizes)
        shared = made.result()
    return NativeGibbs(plan, source, shared, sizes, given)


def gibbs_in_memory(
    plan: GibbsPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], source: GibbsSource | None = None
) -> NativeGibbs:
    """The same, compiled in memory at once; the same bits, in three to five times the time."""
    source = source or gibbs_source(plan, integer_names(columns), (), sizes)
    return NativeGibbs(plan, source, compiled_in_memory(source.text), sizes, data_given(plan, source, columns, sizes))


def needed_compiler() -> Compiler:
    """The compiler; raises `BackendError` when there is none."""
    found = find_compiler()
    if found is None:
        raise BackendError("no C compiler was found", hint='use backend="numpy"')
    return found


def flags_for(plan: GibbsPlan, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """Sweeps over few rows take microseconds; paths evaluate a gradient many times in each."""
    follows = any(isinstance(block, HamiltonianBlock) for block in plan.blocks)
    return AS_WRITTEN if follows or rows_in_a_sweep(plan, sizes) > MOST_LIGHT else LIGHT


def rows_in_a_sweep(plan: GibbsPlan, sizes: Mapping[str, int]) -> int:
    """Elements of all factors."""
    return sum(math.prod(sizes.get(axis.plate, 1) for axis in factor.axes) for factor in plan.factors)


RANDOM = "random numbers"
"""What the words of the random state are called in a stored state."""


class NativeChain:
    """One chain: its arrays, and calls that move them."""

    def __init__(self, owner: NativeGibbs, values: Mapping[str, Array], generator: np.random.Generator) -> None:
        self.owner = owner
        self.arrays: dict[str, Array] = {}
        for slot in owner.source.slots:
            match slot.role:
                case "unknown":
                    self.arrays[slot.key] = plain(values[slot.name], slot, owner.sizes)
                case "computed":
                    kind = np.int64 if slot.integer else np.float64
                    self.arrays[slot.key] = np.zeros(slot.shape(owner.sizes), kind)
                case _:
                    self.arrays[slot.key] = owner.given[slot.key]
        self.random = generator.integers(1, 2**64, 4, dtype=np.uint64)
        self.report = np.zeros(2, np.int64)
        self.places = tuple(ctypes.c_void_p(array.ctypes.data) for array in (self.random, self.report))
        self.order = {slot.key: place for place, slot in enumerate(owner.source.slots)}
        places = [self.arrays[slot.key].ctypes.data for slot in owner.source.slots]
        extents = [owner.sizes[plate] for plate in owner.source.sizes]
        self.pointers = (ctypes.c_void_p * max(len(places), 1))(*places)
        self.extents = (ctypes.c_int64 * max(len(extents), 1))(*extents)
        self.nowhere = self._places({})
        self.rooms: dict[int, tuple[Array, Array, tuple[Any, ...]]] = {}
        for number in owner.source.doors.scales:
            self.arrays[f"{number}:tuning"][0] = 1.0
        for number in owner.source.doors.coordinates:
            size = self.coordinates_of(number).size
            for word, first in zip(ALONG, (0.0, 1.0, 0.0), strict=True):
                self.replace(f"{number}:{word}", np.full(size, first))
        for number in owner.source.doors.paths:  # until something is learned: a step, and as many leaves as coordinates
            size = self.coordinates_of(number).size
            self.replace(f"{number}:curvature", np.ones(3 * size))
            self.replace(f"{number}:spread_sums", np.zeros(size))
            self.replace(f"{number}:places", np.arange(size))
            self.arrays[f"{number}:tuning"][:4] = FIRST_STEP, size, 0.0, MOST_DOUBLINGS
        for name, key in owner.source.sliced.items():
            self.arrays[key][...] = np.maximum(np.abs(self.arrays[name]), 1.0)

    def coordinates_of(self, number: int) -> Joined:
        """The coordinates that a block is moved along."""
        nodes = self.owner.plan.graph.nodes
        return unconstrained([nodes[name] for name in self.owner.plan.blocks[number].variables], self.owner.sizes)

    def replace(self, key: str, array: Array) -> None:
        """Another array for a slot whose length only tuning decides."""
        self.arrays[key] = array
        self.pointers[self.order[key]] = array.ctypes.data

    @property
    def values(self) -> dict[str, Array]:
        """The unknowns where they are now."""
        return {name: np.array(self.arrays[name]) for name in self.owner.source.unknown}

    def state(self) -> dict[str, Array]:
        """The unknowns, all that warm-up has set, and the random numbers: what is left is computed in each sweep."""
        source = self.owner.source
        words: dict[int, tuple[str, ...]] = dict.fromkeys(source.doors.scales, ("tuning",))
        words |= dict.fromkeys(source.doors.coordinates, ("tuning", *ALONG))
        words |= dict.fromkeys(source.doors.paths, ("tuning", "curvature", "places", "spread_sums"))
        tuned = [f"{number}:{word}" for number, each in words.items() for word in each]
        keys = (*source.unknown, *source.sliced.values(), *tuned)
        return {**{key: np.array(self.arrays[key]) for key in keys}, RANDOM: np.array(self.random)}

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Go on from a state that was looked at (`chain_state.py`)."""
        self.random[...] = state[RANDOM]
        for key, array in state.items():
            if key == RANDOM:
                continue
            if self.arrays[key].shape == array.shape:
                self.arrays[key][...] = array
            else:
                self.replace(key, np.array(array, self.arrays[key].dtype, order="C"))

    def run(self, count: int, thin: int, into: Mapping[str, Array] | None = None, only: int = -1) -> None:
        """`count` draws, every `thin` sweeps; those of some unknowns are written `into` arrays, draw after draw.

        `only` is the number of a block when no other is to be drawn (for laws).
        """
        pointers = self.nowhere if into is None else self._places(into)
        arguments = (ctypes.c_int64(count), ctypes.c_int64(thin), ctypes.c_int64(only), *self._state())
        self._check(self.owner.shared.sweeps(*arguments, pointers))

    def _places(self, out: Mapping[str, Array]) -> Any:
        """Where the draws of each unknown go; nowhere for those that are not kept."""
        places = [out[name].ctypes.data if name in out else None for name in self.owner.source.unknown]
        return (ctypes.c_void_p * max(len(places), 1))(*places)

    def statistics(self, block: int) -> dict[str, Array]:
        """What one block computes from the present values, by name (for laws)."""
        code = self.owner.shared.statistics(ctypes.c_int64(block), *self._state())
        if code > 0:
            self.report[0] = block
            self._check(code)
        slots = [slot for slot in self.owner.source.slots if slot.block == block]
        return {slot.name: np.array(self.arrays[slot.key]) for slot in slots}

    def densities(self, block: int, values: Array) -> Array:
        """Log densities of the elements of a sliced unknown at given values (for laws)."""
        at = np.array(values, float, order="C")
        return self._densities(block, at, np.empty_like(at))

    def density_along(self, block: int, at: float) -> float:
        """The log density of a block along its scale, given the noise in its array (for laws); the chain moves."""
        return float(self._densities(block, np.array([at]), np.empty(1))[0])

    def density_at(self, block: int, u: Array) -> float:
        """The log density of a block at its coordinates (for laws); the chain moves."""
        return float(self._densities(block, np.array(u, float), np.empty(1))[0])

    def log_weights(self, block: int, levels: int) -> Array:
        """Log weights of the levels of each element of a block that is one table (for laws)."""
        (name,) = self.owner.plan.blocks[block].variables
        return self._densities(block, np.zeros(1), np.empty((*self.arrays[name].shape, levels)))

    def weights_of_tables(self, block: int, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
        """Log weights of each table of a block at the present values, in the order of their draws (for laws)."""
        sizes = [int(np.prod(shape)) for shape in shapes]
        found = self._densities(block, np.zeros(1), np.empty(sum(sizes)))
        parts = np.split(found, np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def gradients(self, block: int, u: Array) -> Array:
        """Log density of a block at coordinates, its slopes, and the precision that the rest gives; the chain moves."""
        if block not in self.rooms:
            at, found = np.empty(len(u)), np.empty(1 + 2 * len(u))
            places = (ctypes.c_void_p(at.ctypes.data), ctypes.c_void_p(found.ctypes.data), ctypes.c_int64(len(at)))
            self.rooms[block] = at, found, (ctypes.c_int64(block), *self._state(), *places)
        at, found, arguments = self.rooms[block]
        at[...] = u
        found[...] = 0.0
        self._check(self.owner.shared.gradients(*arguments))
        return found.copy()

    def _densities(self, block: int, at: Array, found: Array) -> Array:
        places = (ctypes.c_void_p(at.ctypes.data), ctypes.c_void_p(found.ctypes.data))
        self._check(self.owner.shared.densities(ctypes.c_int64(block), *self._state(), *places))
        return found

    def tune(self, recent: Mapping[str, Array]) -> None:
        """Set slice widths from the spread of recent draws (during warm-up only)."""
        for name, key in self.owner.source.sliced.items():
            spread = np.std(recent[name], axis=0)
            counts = self.owner.plan.graph.nodes[name].domain.kind == "integer"
            self.arrays[key][...] = slice_widths(spread, self.arrays[name], counts)

    def _state(self) -> tuple[Any, ...]:
        return self.pointers, self.extents, *self.places

    def _check(self, code: int) -> None:
        """The error that NumPy's sampler would raise."""
        if code == 0:
            return
        block = self.owner.plan.blocks[int(self.report[0])]
        shown = ", ".join(f"`{name}`" for name in block.variables)
        if code == MEMORY:
            raise MemoryError(f"no memory for the working space of {shown}")
        if code == IMPROPER:
            missing = int(self.report[1])
            raise ImproperPosterior(
                f"the posterior is improper: at least {missing} more independent observations are needed for {shown}",
                hint="give proper priors, or more data",
            )
        if code == IMPOSSIBLE:
            raise PlatewrightError(
                f"the data have probability zero whatever {shown} is",
                expected="data that the model can produce",
                hint="look for probabilities of exactly 0 or 1 in the model",
            )
        if code == NOT_FINITE:
            check_finite({name: np.array(np.nan) for name in block.variables[:1]})
        raise PlatewrightError(
            f"a code is outside its plate, or a weight negative, for {shown}", hint='see what backend="numpy" says'
        )
