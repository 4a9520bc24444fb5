"""One compiled pass over rows in blocks of fixed length: threads take the next block, and blocks merge in a fixed tree.

    ((b0 b1) (b2 b3)) ((b4 b5) b6)

The length of a block follows from the program and the sizes of its tables, never from the number of rows or threads. A
batch of rows that is a power of two of blocks long is a branch of the tree, so batches merge to the same bits.
"""

from __future__ import annotations

import ctypes
import math
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.expression import Call, walk
from platewright.backends.c.compile import compiled, find_compiler
from platewright.backends.c.driver import DRIVER, FLAGS, KINDS
from platewright.backends.c.pool import live_features
from platewright.backends.c.program import CPass, Output
from platewright.errors import BackendError
from platewright.program.program import expressions_of
from platewright.program.statements import Pool
from platewright.run.heard import heard

Words = NDArray[np.float64]
"""What some rows leave for all outputs of a pass, one array after the other, in words of eight bytes."""

ROWS_IN_BLOCK = 16_384
WORK_FOR_A_THREAD = 1_000_000
"""Operations (numbers read, and ten for each function call) that are worth a thread of their own."""
WORTH_LISTENING = 100
"""So many times the work for a thread takes so long that Ctrl-C must be heard meanwhile."""


class OutsidePlate(Exception):
    """A code outside its plate, or a negative weight: NumPy says what it thinks of it."""


@dataclass(frozen=True, eq=False)
class Cut:
    """How the rows of a pass are cut into blocks, and where in its words each output of a block lies."""

    rows: int
    step: int
    blocks: int
    worth: int
    """How many threads the work is worth."""
    shapes: tuple[tuple[tuple[int, ...], ...], ...]
    words: int
    places: NDArray[np.int64]
    """Bytes from the first word to each array of each block."""
    described: NDArray[np.int64]
    """Kind, length and width of each output."""
    widest: int


class _Work(ctypes.Structure):
    """`struct work` of the driver."""

    _fields_ = [(name, ctypes.c_int64) for name in ("rows", "step", "blocks", "arrays", "next", "done", "failed")]


@lru_cache(maxsize=256)
def cut_rows(one: CPass, known: tuple[tuple[str, int], ...], numbers: int) -> Cut:
    """The cut depends on sizes only, so it is made once for them."""
    sizes = dict(known)
    rows = math.prod(sizes[index.plate] for index in one.over)
    step = block_rows(one, sizes) * math.prod(sizes[index.plate] for index in one.over[1:])
    blocks = max(-(-rows // max(step, 1)), 1)
    shapes = tuple(_shapes(output, sizes) for output in one.outputs)
    lengths = [math.prod(shape) for group in shapes for shape in group]
    offsets = np.cumsum([0, *lengths])
    wholes = [whole for output in one.outputs for whole in expressions_of(output.statement)]
    calls = sum(isinstance(part, Call) for whole in wholes for part in walk(whole))
    worth = (numbers + 10 * calls * rows) // WORK_FOR_A_THREAD
    words = int(offsets[-1])
    places = 8 * (words * np.arange(max(blocks, 2))[:, None] + offsets[:-1])
    described = np.array([_described(output, group) for output, group in zip(one.outputs, shapes)], np.int64)
    widest = int(described[:, 2].max(initial=1))
    return Cut(rows, step, blocks, worth, shapes, words, places, described, widest)


def block_rows(one: CPass, sizes: Mapping[str, int]) -> int:
    """The rows of a block, a power of two: enough for the tables that it fills, and few where a row is long."""
    inner = math.prod(sizes[index.plate] for index in one.over[1:])
    filled = sum(math.prod(shape) for output in one.outputs for shape in _shapes(output, sizes))
    wanted = max(ROWS_IN_BLOCK // max(inner, 1), 1)
    least = -(-4 * filled // max(inner, 1))
    return int(max(2 ** (wanted.bit_length() - 1), 2 ** max(least - 1, 0).bit_length()))


def run_pass(
    one: CPass, function: Any, columns: Mapping[str, NDArray[Any]], sizes: Mapping[str, int], threads: int | None
) -> Words:
    """What all rows leave."""
    arrays = [columns[name] for name in one.columns]
    cut = cut_rows(one, tuple(sizes.items()), sum(array.size for array in arrays))
    pointers = (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))
    pitches = (columns[name].strides[1] // columns[name].itemsize for name in one.pitches)
    extents = (ctypes.c_int64 * max(len(one.sizes) + len(one.pitches), 1))(
        *(sizes[name] for name in one.sizes), *pitches
    )
    space = np.empty(cut.blocks * cut.words)
    out = cut.places + space.ctypes.data
    given = function, pointers, extents, out.ctypes.data
    work = _Work(cut.rows, cut.step, cut.blocks, out.shape[1], 0, 0, 0)
    drive = _driver().drive
    left: SimpleQueue[None] = SimpleQueue()

    def take_part(
        held: object = (space, out, columns),
    ) -> None:  # one who comes late still finds all that it could touch
        drive(*given, ctypes.byref(work))
        left.put(None)

    wanted = min(threads or thread_count(), cut.blocks, cut.worth) if cut.worth > 1 and cut.blocks > 1 else 1
    for _ in range(wanted - 1):
        _helpers().put(take_part)

    def all_parts(held: object = (space, out, columns)) -> int:
        return int(drive(*given, ctypes.byref(work)))

    try:
        done = heard(all_parts) if cut.worth > WORTH_LISTENING else all_parts()
    except KeyboardInterrupt:
        work.next = cut.blocks  # those at work find nothing more to do
        raise
    while done < cut.blocks:  # blocks are waited for, not helpers: one that comes late finds nothing to do
        left.get()
        done = drive(*given, ctypes.byref(work))
    if work.failed & 2:
        raise MemoryError("no memory for the working space of a pass")
    if work.failed:
        raise OutsidePlate
    if cut.blocks > 1:
        _fold(cut, out, cut.blocks)
    return space[: cut.words]


def merge_words(one: CPass, sizes: Mapping[str, int], first: Words, second: Words) -> Words:
    """What the rows of two neighbours leave together."""
    cut = cut_rows(one, tuple(sizes.items()), 0)
    space = np.concatenate([first, second])
    _fold(cut, cut.places[:2] + space.ctypes.data, 2)
    return space[: cut.words]


def arrays_of(one: CPass, sizes: Mapping[str, int], words: Words) -> list[tuple[NDArray[Any], ...]]:
    """The words by output: a table, or the four arrays of a pool."""
    cut = cut_rows(one, tuple(sizes.items()), 0)
    found, at = [], 0
    for output, group in zip(one.outputs, cut.shapes):
        part = []
        for shape in group:
            length = math.prod(shape)
            held = words[at : at + length].reshape(shape)
            part.append(held.view(np.int64) if output.kind == "int64" else held)
            at += length
        found.append(tuple(part))
    return found


def widths_of(pool: Pool, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """How many columns each feature of a pool has."""
    return tuple(math.prod(sizes[index.plate] for index in feature.inner) for feature in pool.features)


def _shapes(output: Output, sizes: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
    """The shapes of the arrays that C fills for one statement."""
    statement = output.statement
    if not isinstance(statement, Pool):
        return (tuple(sizes[index.plate] for index in statement.indices),)
    cells = tuple(sizes[cell.index.plate] for cell in statement.cells)
    widths = widths_of(statement, sizes)
    width = sum(widths[k] for k in live_features(statement))
    return cells, (*cells, width), (*cells, width), (*cells, width, width)


def _described(output: Output, shapes: tuple[tuple[int, ...], ...]) -> tuple[int, int, int]:
    """Kind, length and width, as the driver reads them."""
    statement = output.statement
    if isinstance(statement, Pool):
        return KINDS.index("pool"), math.prod(shapes[0]), shapes[1][-1]
    kind = "count" if output.kind == "int64" else statement.kind
    return KINDS.index(kind), math.prod(shapes[0]), 1


def is_sound(one: CPass, sizes: Mapping[str, int], words: Words, asked: float, last: float, far: float) -> bool:
    """Whether every number is finite and every pool so far from collinear that nobody need look closer.

    `asked` is the share of a column that must be left after those before it, `last` that of the last column; the square
    of a mean may be `far` times the variance.
    """
    cut = cut_rows(one, tuple(sizes.items()), 0)
    out, room = cut.places[0] + words.ctypes.data, np.empty(cut.widest**2)
    described = cut.described
    given = len(described), described.ctypes.data, out.ctypes.data, asked, last, far, room.ctypes.data
    return bool(_driver().all_sound(*given))


def _fold(cut: Cut, out: NDArray[np.int64], blocks: int) -> None:
    room, described = np.empty(cut.widest), cut.described
    _driver().fold(len(described), described.ctypes.data, out.shape[1], out.ctypes.data, blocks, room.ctypes.data)


@lru_cache(maxsize=1)
def _driver() -> ctypes.CDLL:
    compiler = find_compiler()
    if compiler is None:
        raise BackendError("no C compiler was found")
    found = compiled(DRIVER, compiler, FLAGS)
    address, number, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    found.drive.restype = number
    found.drive.argtypes = [address] * 5
    found.fold.argtypes = [number, address, number, address, number, address]
    found.all_sound.argtypes = [number, address, address, real, real, real, address]
    return found


def thread_count() -> int:
    """`PLATEWRIGHT_THREADS`, or as many as this process may use. The numbers do not depend on it."""
    for variable in ("PLATEWRIGHT_THREADS", "OMP_NUM_THREADS"):
        asked = os.environ.get(variable, "")
        if asked.isdigit() and int(asked) > 0:
            return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _helpers() -> SimpleQueue[Callable[[], None]]:
    """Work for threads that wait for it: to start one takes longer than to wake it."""
    tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
    for number in range(os.cpu_count() or 1):
        threading.Thread(target=_help, args=(tasks,), name=f"platewright_{number}", daemon=True).start()
    return tasks


def _help(tasks: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        tasks.get()()
