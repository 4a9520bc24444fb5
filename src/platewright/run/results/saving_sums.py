"""Sums of draws that were not kept, as a saved fit holds them.

sums/0.npy ...   by unknown, the first axis numbers chains          counts/0.npy   how many draws each chain made
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.errors import FormatError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.door import LARGEST_WHOLE, Expected, admitted
from platewright.run.samplers.sums_of_draws import Sums

SUMS, COUNTS = "sums", "counts"
DRAWS = "draws="
"""The one array among the counts, under a name that no variable has."""


def sums_to_write(sums: Mapping[str, tuple[Sums, ...]]) -> dict[str, Mapping[str, Array]]:
    """The groups of arrays; none where all draws were kept."""
    if not sums:
        return {}
    counts = np.array([each.count for each in next(iter(sums.values()))])
    return {SUMS: {name: np.stack([each.values for each in chains]) for name, chains in sums.items()},
            COUNTS: {DRAWS: counts}}  # fmt: skip


def sums_of_file(
    graph: Graph, arrays: Mapping[str, Mapping[str, Array]], sizes: Mapping[str, int]
) -> dict[str, tuple[Sums, ...]]:
    """The sums of a file, each looked at."""
    if SUMS not in arrays:
        return {}
    found = arrays.get(COUNTS, {}).get(DRAWS)
    if found is None:
        raise FormatError("the file lacks the number of draws")
    counts = [int(count) for count in admitted(DRAWS, found, Expected((None,), "whole", 1, LARGEST_WHOLE))]
    sums = {}
    for name, values in arrays[SUMS].items():
        if name not in graph.nodes or graph.nodes[name].kind != "random":
            raise FormatError(f"sums of `{name}`, which the model does not have"[:80])
        if not counts or np.shape(values)[:1] != (len(counts),):
            raise FormatError(
                f"sums of `{name}` have the shape {np.shape(values)}"[:120], expected=f"{len(counts)} chains"
            )
        empty = Sums.of(graph.nodes[name], sizes)
        sums[name] = tuple(empty.admitted(name, count, each) for count, each in zip(counts, values, strict=True))
    return sums
