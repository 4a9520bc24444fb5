"""Statistics as a monoid: parts of the rows add up, and rows can be taken away again.

Counts and sums subtract; a pool is taken apart by Chan's rule read backwards; a maximum cannot be undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from platewright.family import Array
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
                result[name] = _without_pool(whole[name][:3], part[name][:3])
            case _:
                return Declined("forget", f"{statement.name} is a {statement.kind}, which cannot be undone")
    return result


def _without_pool(whole: tuple[Array, ...], part: tuple[Array, ...]) -> tuple[Array, Array, Array]:
    total = np.asarray(whole[0] - part[0], dtype=float)
    nothing = total <= 1e-12 * np.maximum(whole[0], 1e-300)
    total = np.where(nothing, 0.0, total)
    safe = np.where(nothing, 1.0, total)
    # in terms of the shift, which does not cancel when both means are large
    shift = part[1] - whole[1]
    mean = np.where(nothing[..., None], 0.0, whole[1] - shift * (part[0] / safe)[..., None])
    apart = part[1] - mean
    share = total * part[0] / np.maximum(whole[0], 1e-300)
    between = share[..., None, None] * apart[..., :, None] * apart[..., None, :]
    scatter = np.where(nothing[..., None, None], 0.0, whole[2] - part[2] - between)
    return total, mean, scatter
