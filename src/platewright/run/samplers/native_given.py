"""What the C of a Gibbs plan is given: columns of data, and what is computed of data alone, once, by NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from platewright.algebra.expression import ONE, names
from platewright.backends.c.expression import Unprintable
from platewright.backends.c.pool import live_features
from platewright.backends.c_gibbs.function import Slot, length
from platewright.backends.c_gibbs.gibbs import GibbsSource
from platewright.backends.numpy.least_rows import edges_of
from platewright.backends.numpy.pooling import rows_of_pool
from platewright.family import Array
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Feature, Pool, Statistic
from platewright.run.execute import arguments, loaded
from platewright.schemas.gibbs import GibbsPlan


def data_given(
    plan: GibbsPlan, source: GibbsSource, columns: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """Columns and statistics of data alone, by key."""
    return {**_columns(source, columns, sizes), **_fixed(plan, source, columns, sizes)}


def _columns(source: GibbsSource, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    found = {}
    for slot in source.slots:
        if slot.role != "column":
            continue
        if slot.name not in columns:
            raise Unprintable(f"the data have no {slot.name}")
        found[slot.key] = plain(columns[slot.name], slot, sizes)
    return found


def plain(values: Any, slot: Slot, sizes: Mapping[str, int]) -> Array:
    """An array as C reads it: contiguous, int64 or double, of the right shape."""
    array = np.asarray(values)
    if slot.turned >= 0:
        array = np.moveaxis(array, slot.turned, -1)
    if array.size == 1 and not slot.extents:
        array = array.reshape(())  # a single number may come as a column of one row
    if array.shape != slot.shape(sizes):
        raise Unprintable(f"{slot.name} has shape {array.shape} instead of {slot.shape(sizes)}")
    return np.array(array, np.int64 if slot.integer else np.float64, order="C")


def _fixed(
    plan: GibbsPlan, source: GibbsSource, columns: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """Statistics that no unknown enters, all by one emitted NumPy module."""
    fixed = {f"{number}:{one.name}": one for number, split in source.splits.items() for one in split.fixed}
    few = {f"{number}:{one.pool.name}": one for number, split in source.splits.items() for one in split.few}
    passes: dict[str, Statistic | Pool] = {key: replace(one, name=key) for key, one in fixed.items()}
    holder: dict[str, str] = {}
    for key, rows in few.items():
        holder[key] = next((name for name, one in passes.items() if _holds(one, rows.pool)), key)
        passes.setdefault(holder[key], replace(rows.pool, name=key))
    if not passes:
        return {}
    small = _of_passes(plan.programs, tuple(passes.values()))
    module = loaded(small)
    with np.errstate(all="ignore"):
        found = module.statistics(*arguments(small, module, columns, sizes))
    values = dict(zip(passes, found.values(), strict=True))
    given: dict[str, Array] = {}
    for key, one in fixed.items():
        if isinstance(one, Pool):
            given[f"{key}.total"] = np.array(values[key][0], float, order="C")
            given[f"{key}.rows"] = np.array(_live_rows(one, values[key], sizes), order="C")
        else:
            given[key] = np.array(values[key], float, order="C")
    for key, rows in few.items():
        number = key.partition(":")[0]
        parts = _parts(passes[holder[key]], values[holder[key]], sizes)
        for feature, (name, axes) in zip(rows.pool.features, rows.arrays.items(), strict=True):
            shape = [length(extent, sizes) for extent in rows.extents(axes)]
            given[f"{number}:{name}"] = np.array(parts[feature], order="C").reshape(shape)
    return given


def _holds(one: Statistic | Pool, pool: Pool) -> bool:
    """Whether the same rows have the same columns in both, but for those that are constant."""
    if not isinstance(one, Pool) or one.weight != pool.weight or one.cells != pool.cells:
        return False
    live = [frozenset(each.features[number] for number in live_features(each)) for each in (one, pool)]
    return set(one.over) == set(pool.over) and live[0] == live[1]


def _of_passes(programs: Sequence[Program], passes: tuple[Statistic | Pool, ...]) -> Program:
    """A program of these passes alone, which may read what any of the programs reads."""
    first = programs[0]
    columns = {name: axes for each in programs for name, axes in each.columns.items()}
    codes = {name: plate for each in programs for name, plate in each.codes.items()}
    within = {inner: outer for each in programs for inner, outer in each.within.items()}
    whole = tuple(dict.fromkeys(name for each in programs for name in each.whole))
    read = {name for statement in passes for part in expressions_of(statement) for name in names(part)}
    kept = {name: axes for name, axes in columns.items() if name in read}
    return replace(first, columns=kept, passes=passes, body=(), results=(), codes=codes, within=within, whole=whole)


def _live_rows(pool: Pool, value: Any, sizes: Mapping[str, int]) -> Array:
    """Few rows with the squares of all; columns that differ from row to row."""
    edges = _edges(pool, sizes)
    live = [column for k in live_features(pool) for column in range(edges[k], edges[k + 1])]
    rows = rows_of_pool(*value)
    whole = rows[..., : value[1].shape[-1]] * rows[..., -1:]
    return whole[..., [0, *(1 + column for column in live)], :][..., live]


def _parts(pool: Statistic | Pool, value: Any, sizes: Mapping[str, int]) -> dict[Feature, Array]:
    """The same rows feature by feature, with a column for the ones that stand beside the data."""
    assert isinstance(pool, Pool)
    rows = _live_rows(pool, value, sizes)
    ones = np.zeros((*rows.shape[:-1], 1))
    ones[..., 0, 0] = np.sqrt(value[0])
    live = [pool.features[k] for k in live_features(pool)]
    edges = _edges(replace(pool, features=tuple(live)), sizes)
    return {Feature(ONE): ones, **{one: rows[..., edges[k] : edges[k + 1]] for k, one in enumerate(live)}}


def _edges(pool: Pool, sizes: Mapping[str, int]) -> list[int]:
    """Where the columns of each feature begin, and the number of all."""
    widths = [prod(sizes[index.plate] for index in feature.inner) for feature in pool.features]
    return edges_of(*widths)
