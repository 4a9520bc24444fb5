"""Who compiles a sampler: libtcc at once, or the machine's compiler where the run is long enough to repay it.

Both draw the same bits, so a clock may decide: a few sweeps of what libtcc made say how long all would take. What the
machine's compiler has made before is taken at once; where one of the two is missing, the other does it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.backends.c.compile import Compiler, Functions, compiled, find_compiler, is_compiled
from platewright.backends.c.in_memory import compiled_in_memory, has_memory_compiler
from platewright.backends.c_gibbs.apart import object_text
from platewright.backends.c_gibbs.gibbs import gibbs_source
from platewright.errors import BackendError, NoCompilerWarning
from platewright.family import Array
from platewright.run.samplers.native_gibbs import NativeGibbs, flags_for, integer_names
from platewright.run.samplers.native_given import data_given
from platewright.run.samplers.starting import Start
from platewright.schemas.gibbs import GibbsPlan

PROBED = 2
"""Times that some sweeps are made to see what they take; the shortest counts."""

MANY_AT_ONCE = 16
"""Sweeps of one call, so that what every call takes does not count."""

LONG = 0.02
"""Seconds from which on sweeps are not looked at again."""

SECONDS_OF_A_LINE = 0.0008
"""What the machine's compiler takes for a line, about, in processor time; the run must take longer than for all."""

SECONDS_OF_ANY_TEXT = 0.1
"""What it takes for the shortest."""


@dataclass(frozen=True)
class Text:
    """A text that stands alone, and as it is compiled by the machine's compiler."""

    alone: str
    own: str
    flags: tuple[str, ...]
    shared: str = ""

    @property
    def seconds_to_compile(self) -> float:
        """About what the machine's compiler takes."""
        return SECONDS_OF_ANY_TEXT + SECONDS_OF_A_LINE * self.own.count("\n")

    def compiled(self, compiler: Compiler) -> Functions:
        """By the machine's compiler."""
        return compiled(self.own, compiler, self.flags, self.shared)


def functions_for(text: Text, seconds: Callable[[Functions], float]) -> Functions:
    """The compiled text; `seconds` says how long the run would take by given functions.

    Raises `BackendError` where neither compiler is there, or neither takes the text.
    """
    compiler = find_compiler()
    if compiler is None and not has_memory_compiler():
        raise BackendError("no C compiler was found", hint='use backend="numpy"')
    if compiler is not None and is_compiled(text.own, compiler, text.flags, text.shared):
        return text.compiled(compiler)
    if not has_memory_compiler():
        assert compiler is not None
        return text.compiled(compiler)
    try:
        quick = compiled_in_memory(text.alone)
    except BackendError:
        if compiler is None:
            raise
        return text.compiled(compiler)
    if compiler is None or seconds(quick) < text.seconds_to_compile:
        return quick
    try:
        return text.compiled(compiler)
    except BackendError as error:
        warnings.warn(f"{error.found}; libtcc compiled the sampler", NoCompilerWarning, stacklevel=2)
        return quick


def native_gibbs(
    plan: GibbsPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    sweeps: int,
    start: Start,
    seed: int,
    moving: Sequence[str] = (),
) -> NativeGibbs:
    """The plan as C for so many sweeps of all chains; raises `Unprintable` or `BackendError` when there is none.

    `moving` are unknowns that no block of the plan moves.
    """
    source = gibbs_source(plan, integer_names(columns), moving, sizes)
    text = Text(source.text, source.own, flags_for(plan, sizes), object_text())
    given = data_given(plan, source, columns, sizes)

    def made(functions: Functions) -> NativeGibbs:
        return NativeGibbs(plan, source, functions, sizes, given)

    return made(functions_for(text, lambda quick: sweeps * seconds_of_a_sweep(made(quick), start, seed)))


def seconds_of_a_sweep(native: NativeGibbs, start: Start, seed: int) -> float:
    """The shortest of a few sweeps of the first chain, which is thrown away."""
    (generator,) = np.random.default_rng(seed).spawn(1)
    chain = native.chain(start(generator), generator)
    return seconds_of(lambda count: chain.run(count, 1))


def seconds_of(sweep: Callable[[int], object]) -> float:
    """What a sweep takes: as many as are made in no time, less what a call takes; or one, where it is long."""
    found = np.inf
    for count in (1, *[MANY_AT_ONCE] * PROBED):
        begun = time.perf_counter()
        sweep(count)
        found = min(found, (time.perf_counter() - begun) / count)
        if found * MANY_AT_ONCE > LONG:
            break
    return found
