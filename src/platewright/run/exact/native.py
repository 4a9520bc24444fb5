"""Run the passes of a program as compiled C, with the same answer for any number of threads.

Rows are cut into fixed ranges; each range is one call (threads take the next one), and the results merge pairwise in a
fixed tree:     ((r0 r1) (r2 r3)) ((r4 r5) r6)
"""

from __future__ import annotations

import ast
import ctypes
import math
import os
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.expression import Call, Constant, walk
from platewright.backends.c.compile import find_compiler, library, loaded_library
from platewright.backends.c.pool import OUTPUTS, live_features
from platewright.backends.c.program import CPass, CProgram, Output, c_program
from platewright.backends.c.support import BLOCK
from platewright.backends.numpy.twofold import two_sum
from platewright.data.cells import is_upright
from platewright.errors import BackendError, NoCompilerWarning
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Pool
from platewright.run.execute import Loaded, Statistics, arguments, loaded

Doubles = NDArray[np.float64]
Part = tuple[NDArray[Any], ...]
"""What one range of rows leaves for one statement: a table, or the four arrays of a pool."""

MANY_ROWS = 50_000
"""From here on a pass is worth a compilation, which is kept for the next time."""
MANY_PLAIN_ROWS = 10_000_000
"""The same for counts and plain sums, at which NumPy is good."""
ROWS_IN_RANGE = 131_072
WORK_IN_RANGE = 1_000_000
"""Operations (numbers read, and ten for each function call) that are worth a thread of their own."""
MANY_RANGES = 8
"""Few rows are cut into so many ranges at most: merging takes time too."""


class OutsidePlate(Exception):
    """A code outside its plate, or a negative weight: NumPy says what it thinks of it."""


def choose_backend(program: Program, rows: int) -> tuple[str, str]:
    """`c` or `numpy` for so many rows, and why."""
    if not program.passes:
        return "numpy", "there is no pass over rows"
    wholes = [whole for statement in program.passes for whole in expressions_of(statement)]
    plain = not any(isinstance(statement, Pool) for statement in program.passes)
    plain &= not any(isinstance(part, Call) for whole in wholes for part in walk(whole))
    if rows < (MANY_PLAIN_ROWS if plain else MANY_ROWS):
        return "numpy", f"{rows:,} rows are too few to compile for"
    compiler = find_compiler()
    if compiler is None:
        return "numpy", "no C compiler was found"
    left = c_program(program).left
    if len(left) == len(program.passes):
        return "numpy", f"no pass has C: {left[0][1]}"
    return "c", f"{rows:,} rows, compiled by {compiler.version}"


def native_statistics(program: Program, threads: int | None = None) -> Callable[..., Statistics]:
    """`statistics(data, size)` of the emitted module, computed by C; by NumPy where there is no compiler."""
    module = loaded(program)
    compiler = find_compiler()
    if compiler is None:
        _warn_once("no C compiler was found (CC, cc, gcc, clang or the package ziglang), so NumPy runs the program")
        return module.statistics
    keys = dict(zip((statement.name for statement in program.passes), _keys(module)))
    emitted: dict[tuple[frozenset[str], frozenset[str]], CProgram] = {}
    libraries: dict[tuple[frozenset[str], frozenset[str]], ctypes.CDLL] = {}

    def statistics(data: Mapping[str, Any], size: Mapping[str, int]) -> Statistics:
        columns = {name: _plain(data[key]) for name in program.columns if (key := module.names[name]) in data}
        sizes = {plate: int(size[module.names[plate]]) for plate in program.plates}
        if any(columns[name].shape != tuple(sizes[axis.plate] for axis in program.columns[name]) for name in columns):
            return module.statistics(data, size)
        integers = frozenset(name for name, values in columns.items() if values.dtype == np.int64)
        made_for = integers, frozenset(name for name, values in columns.items() if not values.flags.c_contiguous)
        if made_for not in emitted:
            emitted[made_for] = c_program(program, *made_for)
        compiled = emitted[made_for]
        if any(name not in columns for one in compiled.passes for name in one.columns):
            return module.statistics(data, size)
        try:
            if made_for not in libraries:
                libraries[made_for] = loaded_library(library(compiled.source, compiler))
            found = _run(compiled, libraries[made_for], columns, sizes, threads)
        except BackendError as error:
            _warn_once(f"{error.found}; NumPy runs the program")
            return module.statistics(data, size)
        except OutsidePlate:
            return module.statistics(data, size)
        found |= _left_to_numpy(program, compiled, columns, sizes)
        return {keys[statement.name]: found[statement.name] for statement in program.passes}

    return statistics


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


@lru_cache(maxsize=64)
def _warn_once(text: str) -> None:
    warnings.warn(text, NoCompilerWarning, stacklevel=3)


def _plain(values: Any) -> NDArray[Any]:
    """A column as C reads it: int64 or double, contiguous; a matrix of doubles may lie column by column."""
    array = np.asarray(values)
    if is_upright(array):
        return array
    return np.ascontiguousarray(array, np.int64 if array.dtype.kind in "biu" else np.float64).reshape(array.shape)


@lru_cache(maxsize=64)
def _keys(module: Loaded) -> tuple[str, ...]:
    """The names under which the emitted `statistics` returns its results, in the order of the passes."""
    for node in ast.parse(module.source).body:
        if isinstance(node, ast.FunctionDef) and node.name == "statistics":
            last = node.body[-1]
            assert isinstance(last, ast.Return) and isinstance(last.value, ast.Dict)
            return tuple(ast.literal_eval(key) for key in last.value.keys if key is not None)
    raise BackendError("the emitted module has no function `statistics`")


def _left_to_numpy(
    program: Program, compiled: CProgram, columns: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]
) -> Statistics:
    """Statements without C, by the NumPy module of a program that has only them."""
    if not compiled.left:
        return {}
    names = {name for name, _ in compiled.left}
    passes = tuple(statement for statement in program.passes if statement.name in names)
    small = replace(program, passes=passes, body=(), results=())
    module = loaded(small)
    found = module.statistics(*arguments(small, module, columns, sizes))
    return dict(zip((statement.name for statement in passes), found.values()))


# -- calls -----------------------------------------------------------------------------------------------------------


def _run(
    compiled: CProgram,
    shared: ctypes.CDLL,
    columns: Mapping[str, NDArray[Any]],
    sizes: Mapping[str, int],
    threads: int | None,
) -> dict[str, Any]:
    """The results of all passes, by name of statement."""
    found: dict[str, Any] = {}
    for one in compiled.passes:
        parts = _ranges(one, getattr(shared, one.function), columns, sizes, threads)
        while len(parts) > 1:
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [_merged(one, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        for output, part in zip(one.outputs, parts[0]):
            found[output.statement.name] = _result(output, part, sizes)
    return found


@dataclass(frozen=True)
class Cut:
    """How the rows of a pass are cut into ranges, and the shapes of the arrays that each range fills."""

    rows: int
    step: int
    starts: tuple[int, ...]
    threads: int
    """How many threads the work is worth."""
    shapes: tuple[list[tuple[int, ...]], ...]


@lru_cache(maxsize=256)
def _cut(one: CPass, known: tuple[tuple[str, int], ...], numbers: int) -> Cut:
    """The cut depends on sizes only, never on the number of threads, so it is made once for them."""
    sizes = dict(known)
    rows = math.prod(sizes[index.plate] for index in one.over)
    shapes = tuple(_shapes(output, sizes) for output in one.outputs)
    filled = sum(math.prod(shape) for group in shapes for shape in group)
    wholes = [whole for output in one.outputs for whole in expressions_of(output.statement)]
    calls = sum(isinstance(part, Call) for whole in wholes for part in walk(whole))
    worth = max((numbers + 10 * calls * rows) // WORK_IN_RANGE, 1)
    ranges = max(math.ceil(rows / ROWS_IN_RANGE), min(worth, MANY_RANGES))
    step = max(BLOCK * math.ceil(rows / (ranges * BLOCK)), 4 * filled, 1)
    return Cut(rows, step, tuple(range(0, rows, step)) or (0,), worth, shapes)


def _ranges(
    one: CPass, function: Any, columns: Mapping[str, NDArray[Any]], sizes: Mapping[str, int], threads: int | None
) -> list[list[Part]]:
    """What each range of rows leaves."""
    arrays = [columns[name] for name in one.columns]
    cut = _cut(one, tuple(sizes.items()), sum(array.size for array in arrays))
    results: list[list[Part]] = [[] for _ in cut.starts]
    pointers = (ctypes.c_void_p * max(len(arrays), 1))(*(array.ctypes.data for array in arrays))
    pitches = (columns[name].strides[1] // columns[name].itemsize for name in one.pitches)
    extents = (ctypes.c_int64 * max(len(one.sizes) + len(one.pitches), 1))(
        *(sizes[name] for name in one.sizes), *pitches
    )
    waiting, lock = iter(range(len(cut.starts))), threading.Lock()
    codes: set[int] = set()
    failed: list[BaseException] = []
    finished: SimpleQueue[None] = SimpleQueue()  # a semaphore is written in Python, and ten times as slow

    def work() -> None:
        while True:
            with lock:
                k = next(waiting, None)
            if k is None:
                return
            try:
                results[k] = [_empty(output, group) for output, group in zip(one.outputs, cut.shapes)]
                filled = [array for part in results[k] for array in part]
                out = (ctypes.c_void_p * len(filled))(*(array.ctypes.data for array in filled))
                start = cut.starts[k]
                stop = min(start + cut.step, cut.rows)
                codes.add(function(pointers, extents, ctypes.c_int64(start), ctypes.c_int64(stop), out))
            except BaseException as error:  # told to the caller below, whichever thread met it
                failed.append(error)
            finally:
                finished.put(None)

    if len(cut.starts) > 1 and cut.threads > 1:
        for _ in range(min(threads or thread_count(), len(cut.starts), cut.threads) - 1):
            _helpers().put(work)
    work()
    for _ in cut.starts:  # ranges are waited for, not helpers: one that comes late finds nothing to do
        finished.get()
    if failed:
        raise failed[0]
    if 2 in codes:
        raise MemoryError("no memory for the working space of a pass")
    if 1 in codes:
        raise OutsidePlate
    return results


# -- what comes back -------------------------------------------------------------------------------------------------


def _shapes(output: Output, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """The shapes of the arrays that C fills for one statement."""
    statement = output.statement
    if not isinstance(statement, Pool):
        return [tuple(sizes[index.plate] for index in statement.indices)]
    cells = tuple(sizes[cell.index.plate] for cell in statement.cells)
    widths = _widths(statement, sizes)
    width = sum(widths[k] for k in live_features(statement))
    return [cells, (*cells, width), (*cells, width), (*cells, width, width)]


def _empty(output: Output, shapes: list[tuple[int, ...]]) -> Part:
    return tuple(np.empty(shape, np.int64 if output.kind == "int64" else np.float64) for shape in shapes)


def _widths(pool: Pool, sizes: Mapping[str, int]) -> list[int]:
    return [math.prod(sizes[index.plate] for index in feature.inner) for feature in pool.features]


def _merged(one: CPass, left: list[Part], right: list[Part]) -> list[Part]:
    """The results of two ranges as those of one."""
    found: list[Part] = []
    for output, one_part, other in zip(one.outputs, left, right):
        if isinstance(output.statement, Pool):
            found.append(merged_centred(one_part, other))
        elif output.statement.kind == "sum":
            found.append((one_part[0] + other[0],))
        else:
            pick = np.maximum if output.statement.kind == "max" else np.minimum
            found.append((pick(one_part[0], other[0]),))
    return found


def merged_centred(left: Part, right: Part) -> Part:
    """Chan's rule for pools that carry a centre: means are offsets from it, and their difference keeps its digits."""
    total, centre, first = left[0] + right[0], left[1], left[2]
    some = total
    if not (np.minimum(left[0], right[0]) > 0).all():  # a part without rows takes the mean of the other
        empty, absent = (left[0] == 0)[..., None], (right[0] == 0)[..., None]
        centre, first = np.where(empty, right[1], centre), np.where(empty, right[2], first)
        right = right[0], np.where(absent, centre, right[1]), np.where(absent, first, right[2]), right[3]
        some = np.where(total > 0, total, 1.0)
    shift = (right[1] - centre) + (right[2] - first)
    share = (right[0] / some)[..., None]
    pull = left[0][..., None] * share * shift
    return total, centre, first + share * shift, left[3] + right[3] + pull[..., :, None] * shift[..., None, :]


def _result(output: Output, part: Part, sizes: Mapping[str, int]) -> Any:
    """As the emitted NumPy module gives it: a number or table, or total, mean, scatter and what the mean lost."""
    statement = output.statement
    if not isinstance(statement, Pool):
        return part[0][()]
    assert len(part) == len(OUTPUTS)
    total, centre, offset, scatter = part
    constant, down, across = _places(output, tuple(_widths(statement, sizes)))
    mean = np.zeros((*total.shape, len(constant))) + constant
    rest = np.zeros(mean.shape)
    mean[..., across], rest[..., across] = two_sum(centre, offset)
    if (total <= 0).any():
        mean[total <= 0], rest[total <= 0] = 0.0, 0.0
    full = np.zeros((*mean.shape, len(constant)))
    full[..., down, across] = scatter
    return total, mean, full, rest


@lru_cache(maxsize=256)
def _places(output: Output, widths: tuple[int, ...]) -> tuple[Doubles, Any, Any]:
    """The constant features in their places, and where the live ones go, down and across the scatter."""
    pool = output.statement
    assert isinstance(pool, Pool)
    edges = np.cumsum([0, *widths])
    constant = np.zeros(int(edges[-1]))
    for k, feature in enumerate(pool.features):
        if isinstance(feature.expression, Constant):
            constant[edges[k] : edges[k + 1]] = feature.expression.value
    live = np.array([column for k in live_features(pool) for column in range(edges[k], edges[k + 1])], dtype=int)
    if len(live) and live[-1] - live[0] + 1 == len(live):  # side by side: much the usual case, and much faster
        span = slice(int(live[0]), int(live[-1]) + 1)
        return constant, span, span
    return constant, live[:, None], live
