"""Numbers for a fused pass of EM: where each function of a row and each code stands, for given data and sizes.

basis    0: one    1 ..: columns less their centre    then: products of two that stand before
entry    one for each value of each code of a row; small codes share a table: (a, b) has entry a * sizes + b
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, Reference, free_indices
from platewright.algebra.node import Expression
from platewright.backends.c.expression import Unprintable
from platewright.backends.c_em.em import FusedPass
from platewright.backends.c_em.split import Term, canonical
from platewright.backends.c_em.text import BLOCK, STRIDE
from platewright.family import Array

Doubles = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_FUNCTIONS = 4096
MOST_ENTRIES = 2**24
CACHE_LINE = 64
MOST_FUSED = 64
"""Codes share a table of at most so many entries: it stays in the first cache."""


@dataclass(frozen=True, eq=False)
class Codes:
    """A look-up: for each inner position a column of codes, and the entry at which its values begin."""

    inner: tuple[Index, ...]
    extents: tuple[int, ...]
    first: Places
    values: NDArray[np.int64]


@dataclass(eq=False)
class Layout:
    """Columns, centres, products and codes of one pass."""

    one: FusedPass
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    values: list[Doubles] = field(default_factory=list)
    inner: dict[Expression, tuple[Index, ...]] = field(default_factory=dict)
    offset: dict[Expression, int] = field(default_factory=dict)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    rows_of: dict[tuple[int, ...], int] = field(default_factory=dict)
    codes: dict[tuple[Expression, tuple[str, ...]], Codes] = field(default_factory=dict)
    entries: int = 0

    def __post_init__(self) -> None:
        self.axes = self.one.item.axes
        self.row_set = frozenset(self.axes)
        self.rows = math.prod(self.sizes[axis.plate] for axis in self.axes)
        self.levels = self.sizes[self.one.item.level.plate]
        self.environment = Environment(self.columns, self.sizes)
        self.pairs.append((0, 0))
        self.rows_of[()] = 0
        for atom in self.one.atoms:
            self.add_column(atom)
        self.singles = len(self.pairs)

    # -- columns -------------------------------------------------------------------------------------------------------

    def add_column(self, atom: Expression) -> None:
        """A function of the row: the column itself, or computed once for all iterations."""
        order = sorted(free_indices(atom) - self.row_set, key=lambda index: index.name)
        inner = tuple(sorted(order, key=lambda index: int(index.name.split()[1])))
        found = self.plain(atom, inner)
        if found is None:
            with np.errstate(all="ignore"):
                found = np.asarray(evaluate(atom, self.environment, (*self.axes, *inner)), dtype=float)
        wide = math.prod(self.sizes[index.plate] for index in inner)
        found = np.ascontiguousarray(found, dtype=float).reshape(self.rows, wide)
        if not np.isfinite(found).all():
            raise Unprintable(f"{atom} is not finite in every row")
        self.inner[atom], self.offset[atom] = inner, len(self.pairs)
        for _ in range(found.shape[1]):
            self.rows_of[(len(self.pairs),)] = len(self.pairs)
            self.pairs.append((0, 0))
        self.values.append(found)

    def plain(self, atom: Expression, inner: tuple[Index, ...]) -> Array | None:
        match atom:
            case Reference(name, indices) if indices == (*self.axes, *inner):
                return np.asarray(self.columns[name])
        return None

    def tiles(self, centre: Doubles) -> Doubles:
        """All columns less their centre, block by block, rows side by side; the last block repeats its last row."""
        full, blocks = self.rows // BLOCK, -(-self.rows // BLOCK)
        found = in_lines((blocks, self.singles - 1, STRIDE))
        start = 0
        for values in self.values:
            held = found[:, start : start + values.shape[1], :BLOCK]
            middle = centre[start : start + values.shape[1], None]
            start += values.shape[1]
            whole = values[: full * BLOCK].reshape(full, BLOCK, values.shape[1]).transpose(0, 2, 1)
            np.subtract(whole, middle, out=held[:full])
            if full < blocks:
                rest = values[full * BLOCK :].T
                held[full, :, : rest.shape[1]] = rest - middle
                held[full, :, rest.shape[1] :] = rest[:, -1:] - middle
        return found

    def width(self, atom: Expression) -> tuple[int, ...]:
        return tuple(self.sizes[index.plate] for index in self.inner[atom])

    def pilot(self) -> dict[str, Doubles]:
        """The mean of each centred column, the same for every level."""
        found = {}
        shared = dict(self.one.shared)
        for atom, name in self.one.centres:
            values = self.values[self.one.atoms.index(atom)]
            mean = values.mean(axis=0).reshape(self.width(atom)) if self.rows else np.zeros(self.width(atom))
            for axis in shared.get(atom, ()):
                mean = np.broadcast_to(mean.mean(axis=axis, keepdims=True), mean.shape)
            if not np.isfinite(mean).all():
                raise Unprintable(f"the mean of {atom} is not finite")
            found[name] = np.array(np.broadcast_to(mean, (self.levels, *mean.shape)))
        return found

    def centre_rows(self, centres: Mapping[str, Doubles]) -> Doubles:
        """Centres by level and function; functions without one have centre 0."""
        found = np.zeros((self.levels, len(self.pairs)))
        for atom, name in self.one.centres:
            values = centres[name].reshape(self.levels, -1)
            found[:, self.offset[atom] : self.offset[atom] + values.shape[1]] = values
        return found

    def largest(self, centres: Doubles) -> Doubles:
        """The largest size of each function in any row."""
        found = np.ones(len(self.pairs))
        for atom, values in zip(self.one.atoms, self.values):
            start = self.offset[atom]
            place = slice(start, start + values.shape[1])
            if self.rows:
                middle = centres[0, place]
                found[place] = np.maximum(values.max(axis=0) - middle, middle - values.min(axis=0))
        for k in range(self.singles, len(self.pairs)):
            left, right = self.pairs[k]
            found[k] = found[left] * found[right]
        return found

    # -- where terms stand ---------------------------------------------------------------------------------------------

    def places(self, term: Term, axes: tuple[Index, ...]) -> tuple[str, Places]:
        """`basis` or `entry`, and the places of a term for each position of `axes`."""
        shape = tuple(self.sizes[axis.plate] for axis in axes)
        if term.codes:
            return "entry", np.broadcast_to(self.entry(term, axes), shape)
        slots = []
        for expression in term.atoms:
            atom = canonical(expression, self.row_set)
            flat = self.flat(atom.at, self.width(atom.expression), axes)
            slots.append(np.broadcast_to(self.offset[atom.expression] + flat, shape).ravel())
        found = [self.function(tuple(sorted(int(s) for s in key))) for key in zip(*slots)]
        places = np.array(found, dtype=np.intp) if slots else np.zeros(math.prod(shape), dtype=np.intp)
        return "basis", places.reshape(shape)

    def flat(self, at: tuple[Index, ...], extents: tuple[int, ...], axes: tuple[Index, ...]) -> Places:
        """The position in C order of indices that are among `axes`."""
        found = np.zeros((1,) * len(axes), dtype=np.intp)
        for index, extent in zip(at, extents):
            if index not in axes:
                raise Unprintable(f"index {index.name} is neither kept nor summed")
            shape = [1] * len(axes)
            shape[axes.index(index)] = extent
            found = found * extent + np.arange(extent).reshape(shape)
        return found

    def function(self, key: tuple[int, ...]) -> int:
        """The place of a product of columns; made when it is first asked for."""
        if key in self.rows_of:
            return self.rows_of[key]
        if len(self.pairs) >= MOST_FUNCTIONS:
            raise Unprintable(f"more than {MOST_FUNCTIONS} functions of a row")
        left = self.function(key[:-1])
        self.rows_of[key] = len(self.pairs)
        self.pairs.append((left, key[-1]))
        return self.rows_of[key]

    def filled_up(self) -> None:
        """Three functions or at least six, as the C takes three, then no fewer at a time: ones that nothing needs."""
        self.pairs += [(0, 0)] * ((3 if len(self.pairs) <= 3 else 6) - len(self.pairs))

    def entry(self, term: Term, axes: tuple[Index, ...]) -> Places:
        """The entry of a look-up for each position of `axes`."""
        bundle = canonical(Reference("codes", tuple(code for code, _ in term.codes)), self.row_set)
        plates = tuple(value.plate for _, value in term.codes)
        key = (bundle.expression, plates)
        if key not in self.codes:
            self.codes[key] = self.coded(bundle.expression, bundle.inner, plates)
        found = self.codes[key]
        widths = tuple(self.sizes[index.plate] for index in bundle.inner)
        column = self.flat(bundle.at, widths, axes)
        value = self.flat(tuple(value for _, value in term.codes), found.extents, axes)
        return found.first[column] + value

    def coded(self, bundle: Expression, inner: tuple[Index, ...], plates: tuple[str, ...]) -> Codes:
        """The codes of all rows, checked."""
        assert isinstance(bundle, Reference)
        extents = tuple(self.sizes[plate] for plate in plates)
        whole = np.zeros((self.rows, math.prod(self.sizes[index.plate] for index in inner)), dtype=np.int64)
        for code, extent in zip(bundle.indices, extents):
            values = np.asarray(evaluate(code, self.environment, (*self.axes, *inner))).reshape(whole.shape)
            inside = (values >= 0) & (values < extent) & (values == np.floor(values))
            if not inside.all():
                raise Unprintable(f"{code} has codes outside its plate")
            whole = whole * extent + values.astype(np.int64)
        size = math.prod(extents)
        first = self.entries + size * np.arange(whole.shape[1], dtype=np.intp)
        self.entries += size * whole.shape[1]
        if self.entries > MOST_ENTRIES:
            raise Unprintable(f"more than {MOST_ENTRIES} values of codes")
        return Codes(inner, extents, first, whole)


def in_lines(shape: tuple[int, ...]) -> Doubles:
    """An empty array that begins a cache line: a register of eight doubles is then loaded from one line, not two."""
    count = math.prod(shape)
    held = np.empty(count + CACHE_LINE // 8)
    first = -held.ctypes.data % CACHE_LINE // 8
    return held[first : first + count].reshape(shape)


@dataclass(frozen=True, eq=False)
class Fused:
    """Small codes that share one table: fewer look-ups for each row."""

    codes: NDArray[np.int32]
    groups: tuple[tuple[tuple[int, int], ...], ...]
    """For each table the first entry and size of the codes that share it."""
    length: int

    def spread(self, table: Doubles) -> Doubles:
        """Values of shared entries from those of single codes: their sum."""
        parts = []
        for group in self.groups:
            found = np.zeros((1, table.shape[1]))
            for first, size in group:
                found = (found[:, None] + table[None, first : first + size]).reshape(-1, table.shape[1])
            parts.append(found)
        return np.concatenate(parts) if parts else np.zeros((0, table.shape[1]))

    def gathered(self, shared: Doubles, entries: int) -> Doubles:
        """Sums over shared entries for each single code."""
        found = np.zeros((entries, shared.shape[1]))
        start = 0
        for group in self.groups:
            shape = tuple(size for _, size in group)
            block = shared[start : start + math.prod(shape)].reshape(*shape, -1)
            start += math.prod(shape)
            for k, (first, size) in enumerate(group):
                others = tuple(axis for axis in range(len(shape)) if axis != k)
                found[first : first + size] = block.sum(axis=others)
        return found


def fuse(layout: Layout) -> Fused:
    """Group the codes of a row so that no shared table is large."""
    columns = [
        (int(first), math.prod(codes.extents), codes.values[:, k])
        for codes in layout.codes.values()
        for k, first in enumerate(codes.first)
    ]
    groups: list[list[tuple[int, int, NDArray[np.int64]]]] = []
    for column in columns:
        if groups and math.prod(size for _, size, _ in groups[-1]) * column[1] <= MOST_FUSED:
            groups[-1].append(column)
        else:
            groups.append([column])
    codes = np.empty((layout.rows, len(groups)), dtype=np.int32)
    start = 0
    for k, group in enumerate(groups):
        whole = np.zeros(layout.rows, dtype=np.int64)
        for _, size, values in group:
            whole = whole * size + values
        codes[:, k] = start + whole
        start += math.prod(size for _, size, _ in group)
    pure = tuple(tuple((first, size) for first, size, _ in group) for group in groups)
    return Fused(codes, pure, start)
