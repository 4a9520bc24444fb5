"""The rows of a file, batch by batch, as often as an iterative schema asks for them.

A first pass counts the rows, checks every cell, and draws some rows to start from. Where all rows take little memory
they stay there; else each later pass reads the file again, and memory does not grow with its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.data.stream import batches
from platewright.errors import SourceError
from platewright.family import Array
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph
from platewright.language.plate import beginning
from platewright.run.checks.given import Checks, check_given, checks_of
from platewright.run.execute import columns_of

HELD_BYTES = 2**27
"""Rows that take no more are kept between passes: to read them again would cost more than the pass itself."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows: their columns, the sizes of all plates, and how many rows come before them."""

    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    start: int = 0


@dataclass(frozen=True, eq=False)
class RowFile:
    """A file whose rows lie on plate `row`, or data in memory, cut at the same rows so that sums are the same."""

    graph: Graph
    signature: Signature
    source: object
    length: int
    """Rows in a batch; series of an ordered plate stay whole."""
    row: str
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Sizes of all plates over the whole file."""
    sample: Rows = field(default_factory=lambda: Rows({}, {}))
    """Rows drawn at random, in the order of the file."""
    held: tuple[Rows, ...] = ()
    count: int = 0
    """Number of batches."""

    def __iter__(self) -> Iterator[Rows]:
        """Batch after batch, from memory where all rows are held."""
        if self.held:
            yield from self.held
            return
        stop = 0
        for batch, _ in self.read():
            stop = batch.start + batch.sizes[self.row]
            yield batch
        if stop != self.sizes[self.row]:
            raise SourceError(
                f"the file has {stop} rows now, and had {self.sizes[self.row]} before",
                where=str(self.source),
                hint="leave the file as it is while it is learned from",
            )

    def read(self) -> Iterator[tuple[Rows, Dataset]]:
        """Batches from the file, every cell checked."""
        start = 0
        for dataset in batches(self.signature, self.source, rows=self.length, labels=self.labels):
            sizes = {**fixed_sizes(self.graph), **dataset.sizes}
            # Sums over an array depend on how it lies in memory: here all lie alike, wherever they come from.
            columns = {name: np.ascontiguousarray(v) for name, v in columns_of(self.graph, dataset).items()}
            yield Rows(columns, sizes, start), dataset
            start += sizes[self.row]

    @property
    def on_disk(self) -> bool:
        """Whether rows are read from a file."""
        return isinstance(self.source, (str, Path))

    def along(self, name: str) -> int | None:
        """The axis of a column that runs over the rows."""
        plates = [axis.plate for axis in self.graph.nodes[name].axes]
        return plates.index(self.row) if self.row in plates else None


def surveyed(file: RowFile, count: int, generator: np.random.Generator) -> RowFile:
    """The file after a first pass, with `count` of its rows drawn at random; series are taken from their beginning."""
    drawn = _Drawn(file, count, generator)
    held: list[Rows] | None = []
    sizes: Mapping[str, int] = {}
    labels: Mapping[str, tuple[object, ...]] = {}
    weight = number = 0
    checks: Checks | None = None
    for batch, dataset in file.read():
        number += 1
        if file.on_disk:  # what was in memory has been looked at
            checks = checks or checks_of(file.graph, dataset.known)
            check_given(checks, batch.columns, batch.sizes, (), {file.row: batch.start})
        drawn.add(batch)
        sizes, labels = {**batch.sizes, file.row: batch.start + batch.sizes[file.row]}, dataset.labels
        weight += sum(np.asarray(values).nbytes for values in batch.columns.values())
        held = [*held, batch] if held is not None and (weight <= HELD_BYTES or not file.on_disk) else None
    few = {**sizes, file.row: len(drawn.keys)}
    # Labels that are known need no pass of their own before each later one.
    return replace(
        file, labels=labels, sizes=sizes, sample=Rows(drawn.columns, few), held=tuple(held or ()), count=number
    )


class _Drawn:
    """Every row (or series) gets a random number in the order of the file; those with the smallest are kept.

    The choice does not depend on where batches begin.
    """

    def __init__(self, file: RowFile, count: int, generator: np.random.Generator) -> None:
        self.file, self.count, self.generator = file, count, generator
        self.keys = np.zeros(0)
        self.places = np.zeros(0, dtype=np.int64)
        self.columns: dict[str, Array] = {}

    def add(self, batch: Rows) -> None:
        """Draw from one more batch."""
        rows = batch.sizes[self.file.row]
        first = batch.columns.get(beginning(self.file.row))
        unit = np.arange(rows) if first is None else np.cumsum(np.asarray(first) != 0) - 1
        own = self.generator.random(int(unit[-1]) + 1)[unit] if rows else np.zeros(0)
        keys = np.concatenate([self.keys, own])
        places = np.concatenate([self.places, batch.start + np.arange(rows)])
        chosen = np.sort(np.lexsort((places, keys))[: self.count])
        old, new = chosen[chosen < len(self.keys)], chosen[chosen >= len(self.keys)] - len(self.keys)
        for name, values in batch.columns.items():
            axis = self.file.along(name)
            if axis is None:
                self.columns[name] = values
                continue
            added = np.take(values, new, axis=axis)
            kept = np.take(self.columns[name], old, axis=axis) if name in self.columns else added[:0]
            self.columns[name] = np.concatenate([kept, added], axis=axis) if len(kept) else added
        self.keys, self.places = keys[chosen], places[chosen]
