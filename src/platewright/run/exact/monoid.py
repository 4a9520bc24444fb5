"""Statistics as a monoid: parts of the rows add up, and rows can be taken away again.

Counts and sums subtract; a pool is taken apart by Chan's rule read backwards; a maximum cannot be undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from platewright.backends.numpy.pooling import without_pool
from platewright.operation import Declined
from platewright.program.program import Program
from platewright.program.statements import Pool, Statistic

Statistics = Mapping[str, Any]


def without(program: Program, whole: Statistics, part: Statistics, names: Mapping[str, str]) -> Statistics | Declined:
    """The statistics of the rows that are left when a part of them is taken away."""
    result: dict[str, Any] = {}
    for statement in program.passes:
        name = names[statement.name]
        match statement:
            case Statistic(kind="sum"):
                result[name] = whole[name] - part[name]
            case Pool():
                result[name] = without_pool(whole[name], part[name])
            case _:
                return Declined("forget", f"{statement.name} is a {statement.kind}, which cannot be undone")
    return result
