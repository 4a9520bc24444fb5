"""Interpret a sampler's C, assemble it, or compile it: the first sweeps are interpreted, and tell what all would take.

The count of their instructions decides, not a clock: the same model, data, seed and number of sweeps always go the
same way, and give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from platewright.algebra.expression import Index
from platewright.backends.c.compile import library, loaded_library
from platewright.backends.c_gibbs.apart import object_text
from platewright.backends.c_gibbs.gibbs import GibbsSource, gibbs_source
from platewright.backends.c_interpreted.interpreted import Interpreted, NotInterpreted
from platewright.family import Array
from platewright.run.samplers.native_gibbs import (
    NativeGibbs,
    compiled_gibbs,
    flags_for,
    integer_names,
    needed_compiler,
)
from platewright.run.samplers.native_given import data_given
from platewright.run.samplers.starting import Start
from platewright.schemas.blocks import HamiltonianBlock
from platewright.schemas.gibbs import GibbsPlan

PROBED = 2
"""Sweeps that are interpreted to see what they take."""

STEPS_OF_A_LINE = 125_000
"""Instructions that are interpreted in about the time that a compiler takes for one line."""

ASSEMBLED_OF_A_LINE = 600_000
"""The same for machine code of ours, which is made in no time and runs at a third to a half of a compiler's pace."""

PATHS_GROW = 3
"""How many times as long paths may become while their steps are learned."""


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
    source = gibbs_source(plan, integer_names(columns), moving)
    lines = source.body.count("\n")

    def in_blocks() -> GibbsSource:  # rows in blocks are for a compiler: nothing else takes several at once
        return gibbs_source(plan, integer_names(columns), moving, sizes)

    follows = any(isinstance(block, HamiltonianBlock) for block in plan.blocks)
    most = ASSEMBLED_OF_A_LINE // (PATHS_GROW if follows else 1) * lines
    if sweeps * rows_swept(plan, source, sizes) > most:  # a row takes at least one
        return compiled_gibbs(plan, columns, sizes, in_blocks())
    try:
        native = interpreted_gibbs(plan, columns, sizes, source)
    except NotInterpreted:
        return compiled_gibbs(plan, columns, sizes, in_blocks())
    steps = sweeps * steps_of_a_sweep(native, start, seed)
    if steps <= most and (native.shared.assemble() or steps <= STEPS_OF_A_LINE * lines):
        return native
    longer = in_blocks()
    if longer.body != source.body:
        return compiled_gibbs(plan, columns, sizes, longer)
    made = library(source.own, needed_compiler(), flags_for(plan, sizes), object_text())
    return replace(native, shared=loaded_library(made))


def rows_swept(plan: GibbsPlan, source: GibbsSource, sizes: Mapping[str, int]) -> int:
    """Rows that a sweep goes over: not those that few stand for, nor those that were summed up before."""
    found: list[tuple[Index, ...]] = []
    for number, block in enumerate(plan.blocks):
        if number in source.splits:
            found += [statement.over for statement in source.splits[number].moving]
        else:
            found += [factor.axes for factor in getattr(block, "factors", ())]
    return sum(prod(sizes.get(axis.plate, 1) for axis in axes) for axes in found)


def interpreted_gibbs(
    plan: GibbsPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], source: GibbsSource | None = None
) -> NativeGibbs:
    """The plan as C that is interpreted, with its data."""
    source = source or gibbs_source(plan, integer_names(columns))
    machine = Interpreted(source.body, needed_compiler())
    return NativeGibbs(plan, source, machine, sizes, data_given(plan, source, columns, sizes))


def steps_of_a_sweep(native: NativeGibbs, start: Start, seed: int) -> float:
    """Instructions of a sweep, seen in the first sweeps of the first chain; infinitely many where it has no room."""
    assert isinstance(native.shared, Interpreted)
    (generator,) = np.random.default_rng(seed).spawn(1)
    before = native.shared.steps
    try:
        native.chain(start(generator), generator).run(PROBED, 1)
    except NotInterpreted:
        return np.inf
    return (native.shared.steps - before) / PROBED
