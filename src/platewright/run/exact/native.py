"""The passes of a program as compiled C, with the same answer for any number of threads (`native_blocks.py`)."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.expression import Call, Constant, walk
from platewright.backends.c.compile import compiled as compiled_library
from platewright.backends.c.compile import find_compiler
from platewright.backends.c.pool import OUTPUTS, live_features
from platewright.backends.c.program import CProgram, Output, c_program
from platewright.backends.numpy.pooling import FAR_OUT
from platewright.backends.numpy.twofold import two_sum
from platewright.data.cells import is_upright
from platewright.errors import BackendError, NoCompilerWarning
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Pool
from platewright.run.exact.native_blocks import (
    OutsidePlate,
    Words,
    arrays_of,
    block_rows,
    is_sound,
    merge_words,
    run_pass,
    widths_of,
)
from platewright.run.execute import Loaded, Statistics, arguments, loaded

Doubles = NDArray[np.float64]
Part = tuple[NDArray[Any], ...]
"""What rows leave for one statement: a table, or the four arrays of a pool."""

MANY_ROWS = 50_000
"""From here on a pass is worth a compilation, which is kept for the next time."""
MANY_PLAIN_ADDITIONS = 10_000_000
"""The same for counts and plain sums, at which NumPy is good."""


def choose_backend(program: Program, additions: int) -> tuple[str, str]:
    """`c` or `numpy` for passes that add something up so often, and why."""
    if not program.passes:
        return "numpy", "there is no pass over rows"
    wholes = [whole for statement in program.passes for whole in expressions_of(statement)]
    plain = not any(isinstance(statement, Pool) for statement in program.passes)
    plain &= not any(isinstance(part, Call) for whole in wholes for part in walk(whole))
    if additions < (MANY_PLAIN_ADDITIONS if plain else MANY_ROWS):
        return "numpy", f"{additions:,} additions are too few to compile for"
    compiler = find_compiler()
    if compiler is None:
        return "numpy", "no C compiler was found"
    written = c_program(program)
    left = written.left
    if plain and any(output.kind == "double" for one in written.passes for output in one.outputs):
        return "numpy", "plain sums: NumPy is good at them, and adds up a file in the same order"
    if len(left) == len(program.passes):
        return "numpy", f"no pass has C: {left[0][1]}"
    return "c", f"{additions:,} additions, compiled by {compiler.version}"


@dataclass(frozen=True, eq=False)
class NativePart:
    """What some rows leave: words for each compiled pass, and the statistics that stay with NumPy, by name."""

    compiled: CProgram
    sizes: Mapping[str, int]
    words: tuple[Words, ...]
    left: Statistics


FEATURES_LEFT, RESPONSE_LEFT = 1e-3, 1e-6
"""What `is_collinear` asks to be left of a column after those before it, and of the last."""
ROOM_TO_SPARE = 4.0
"""A pool that keeps so much more than is asked is sound, whatever rounding did to either look at it."""


class NativePasses:
    """The compiled passes of a program; parts of the rows merge to the same bits, however the rows were cut."""

    def __init__(self, program: Program, threads: int | None = None) -> None:
        self.program, self.threads = program, threads
        self.module = loaded(program)
        self._keys = dict(zip((statement.name for statement in program.passes), _keys(self.module)))
        self._emitted: dict[tuple[frozenset[str], frozenset[str]], CProgram] = {}
        self._functions: dict[CProgram, tuple[Any, ...]] = {}
        self.made_by, self.refused = "", ""
        """Who compiled the passes, or why nobody did."""

    def part(self, data: Mapping[str, Any], size: Mapping[str, int]) -> NativePart | None:
        """The passes over some rows; None where C cannot read them or does not like what it reads."""
        module, program = self.module, self.program
        columns = {name: _plain(data[key]) for name in program.columns if (key := module.names[name]) in data}
        sizes = {plate: int(size[module.names[plate]]) for plate in program.plates}
        if any(columns[name].shape != tuple(sizes[axis.plate] for axis in program.columns[name]) for name in columns):
            return None
        compiled = self._for(columns)
        if any(name not in columns for one in compiled.passes for name in one.columns):
            return None
        try:
            passes = zip(compiled.passes, self._loaded(compiled))
            words = tuple(run_pass(one, function, columns, sizes, self.threads) for one, function in passes)
        except BackendError as error:
            self.refused = error.found
            _warn_once(f"{error.found}; NumPy runs the program")
            return None
        except OutsidePlate:
            return None
        return NativePart(compiled, sizes, words, _left_to_numpy(program, compiled, columns, sizes))

    def merged(self, first: NativePart, second: NativePart) -> NativePart | None:
        """What the rows of two neighbours leave together; None where their columns are of different types."""
        if _kinds(first.compiled) != _kinds(second.compiled):
            return None
        pairs = zip(first.compiled.passes, first.words, second.words)
        words = tuple(merge_words(one, first.sizes, left, right) for one, left, right in pairs)
        return replace(first, words=words, left=_left_merged(self.program, first, second))

    def shown(self, part: NativePart) -> Statistics:
        """As the emitted NumPy module gives it."""
        found = dict(part.left)
        for one, words in zip(part.compiled.passes, part.words):
            for output, arrays in zip(one.outputs, arrays_of(one, part.sizes, words)):
                found[output.statement.name] = _result(output, arrays, part.sizes)
        return {self._keys[statement.name]: found[statement.name] for statement in self.program.passes}

    def is_sound(self, part: NativePart) -> bool:
        """Whether all numbers are finite and no pool is anywhere near `is_ill_conditioned`, at the cost of one look."""
        last = RESPONSE_LEFT if self._has_response else FEATURES_LEFT
        asked = ROOM_TO_SPARE * FEATURES_LEFT, ROOM_TO_SPARE * last, FAR_OUT**2 / ROOM_TO_SPARE
        pairs = zip(part.compiled.passes, part.words)
        return not part.left and all(is_sound(one, part.sizes, words, *asked) for one, words in pairs)

    @cached_property
    def _has_response(self) -> bool:
        """Whether the last feature of every pool differs from row to row."""
        pools = [statement for statement in self.program.passes if isinstance(statement, Pool)]
        return all(len(pool.features) - 1 in live_features(pool) for pool in pools)

    def __call__(self, data: Mapping[str, Any], size: Mapping[str, int]) -> Statistics:
        """`statistics(data, size)` of the emitted module, by C where it can."""
        part = self.part(data, size)
        return self.module.statistics(data, size) if part is None else self.shown(part)

    def in_order(self, row: str) -> bool:
        """Whether rows may come in one piece and give the bits of batches: all passes are C, one row after another."""
        compiled = self._any
        return not compiled.left and all(one.over and one.over[0].plate == row for one in compiled.passes)

    def longest_block(self, sizes: Mapping[str, int]) -> int:
        """The rows of the longest block."""
        return max((block_rows(one, sizes) for one in self._any.passes), default=1)

    @cached_property
    def _any(self) -> CProgram:
        """The C for columns of some types; what is left to NumPy may be more for others."""
        return next(iter(self._emitted.values()), None) or c_program(self.program)

    def _for(self, columns: Mapping[str, NDArray[Any]]) -> CProgram:
        integers = frozenset(name for name, values in columns.items() if values.dtype == np.int64)
        made_for = integers, frozenset(name for name, values in columns.items() if not values.flags.c_contiguous)
        if made_for not in self._emitted:
            self._emitted[made_for] = c_program(self.program, *made_for)
        return self._emitted[made_for]

    def _loaded(self, compiled: CProgram) -> tuple[Any, ...]:
        if compiled not in self._functions:
            compiler = find_compiler()
            assert compiler is not None  # who has none gets the NumPy module
            shared = compiled_library(compiled.source, compiler)
            self.made_by = shared.made_by
            self._functions[compiled] = tuple(getattr(shared, one.function) for one in compiled.passes)
        return self._functions[compiled]


def _kinds(compiled: CProgram) -> list[list[str]]:
    return [[output.kind for output in one.outputs] for one in compiled.passes]


def native_passes(program: Program, threads: int | None = None) -> NativePasses | None:
    """The compiled passes; none, and a warning, where there is no compiler."""
    if find_compiler() is not None:
        return NativePasses(program, threads)
    _warn_once("no C compiler was found (CC, cc, gcc, clang or the package ziglang), so NumPy runs the program")
    return None


def native_statistics(program: Program, threads: int | None = None) -> Callable[..., Statistics]:
    """`statistics(data, size)` of the emitted module, computed by C; by NumPy where there is no compiler."""
    return native_passes(program, threads) or loaded(program).statistics


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
    small = _small(program, tuple(name for name, _ in compiled.left))
    module = loaded(small)
    found = module.statistics(*arguments(small, module, columns, sizes))
    return dict(zip((statement.name for statement in small.passes), found.values()))


def _left_merged(program: Program, first: NativePart, second: NativePart) -> Statistics:
    """What NumPy found in two parts of the rows, merged."""
    if not first.left:
        return {}
    small = _small(program, tuple(first.left))
    module = loaded(small)
    keys = _keys(module)
    merged = module.merged(dict(zip(keys, first.left.values())), dict(zip(keys, second.left.values())))
    return dict(zip(first.left, merged.values()))


@lru_cache(maxsize=64)
def _small(program: Program, names: tuple[str, ...]) -> Program:
    """A program of some of the passes alone."""
    return replace(program, passes=tuple(s for s in program.passes if s.name in names), body=(), results=())


# -- what comes back -------------------------------------------------------------------------------------------------


def _result(output: Output, part: Part, sizes: Mapping[str, int]) -> Any:
    """As the emitted NumPy module gives it: a number or table, or total, mean, scatter and what the mean lost."""
    statement = output.statement
    if not isinstance(statement, Pool):
        return part[0][()]
    assert len(part) == len(OUTPUTS)
    total, centre, offset, scatter = part
    constant, down, across = _places(output, widths_of(statement, sizes))
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
