"""The covariance of the unknowns that stay beside each copy of a block, followed through the blocks that hold them.

    u = R^-1 (right - cross v + noise / sqrt(phi))

    Cov(u_i, u_j) = (R'R)^-1_ij [same copy]  +  gain_i Cov(v, v) gain_j'          gain = R^-1 cross
    Cov(u_i, w)   = -gain_i Cov(v, w)                                              w: eliminated after u

Entries of the block that was eliminated first are replaced by the entries of v, until no block is left. All copies are
worked on at once, so that ten thousand groups within a thousand others take a few arrays of that length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from platewright.elimination.state import GaussianConditional
from platewright.family import Array
from platewright.run.exact.gaussian import MOST_COLUMNS, Block

if TYPE_CHECKING:
    from platewright.run.exact.posterior import Posterior

MOST_ENTRIES = 48
"""The most unknowns beside each copy whose covariance is followed."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One unknown beside each copy: a variable, and for each copy which of its elements."""

    variable: str
    elements: Array


def chained_covariance(posterior: Posterior, block: Block) -> Array | None:
    """Unit covariance of the outer columns in each batch; None where they are too many."""
    batch = block.right.shape[:-2]
    entries = [
        Entry(name, elements)
        for name, found in outer_elements(posterior, block)
        for elements in found.reshape(int(np.prod(batch)), -1).T
    ]
    found = _covariance(posterior, entries)
    return None if found is None else found.reshape(*batch, *found.shape[-2:])


def outer_elements(posterior: Posterior, block: Block) -> list[tuple[str, Array]]:
    """For each outer column of a block its variable, and over batch and dense axes which element stands there."""
    found = []
    tables = {**posterior.data, **posterior.values}
    for column in block.conditional.statement.outer:
        shape = tuple(posterior.sizes[axis.plate] for axis in posterior.plan.graph.nodes[column.variable].axes)
        numbers = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
        found.append((column.variable, block.looked_up(column, numbers, tables).astype(int)))
    return found


def _covariance(posterior: Posterior, entries: list[Entry]) -> Array | None:
    """Covariances of the entries, copy by copy."""
    if len(entries) > MOST_ENTRIES:
        return None
    if not entries:
        return np.zeros((1, 0, 0))
    held = {entry.variable for entry in entries}
    owner = next(c for c in posterior.plan.conditionals if held & set(c.variables))
    if not isinstance(owner, GaussianConditional) or owner.matrix is not None:
        return None
    block = posterior.block(owner)
    if block.chain is not None and block.right.shape[-2] > MOST_COLUMNS:
        return None
    size, gain, own = block.root.shape[-1], block.gain(), block.unit_covariance().reshape(-1, *block.root.shape[-2:])
    mine = {k: _places(posterior, block, entry) for k, entry in enumerate(entries) if entry.variable in owner.variables}
    later: list[Entry] = [entry for k, entry in enumerate(entries) if k not in mine]
    moves: list[tuple[int, int, Array]] = []  # entry, entry among the later ones, weight in each copy
    moves += [(k, number, np.ones(1)) for number, k in enumerate(k for k in range(len(entries)) if k not in mine)]
    if gain is not None:
        flat = gain.reshape(len(own), size, -1)
        outer = [(name, part) for name, found in outer_elements(posterior, block) for part in _by_column(found, own)]
        for k, (copy, column) in mine.items():
            for j, (name, elements) in enumerate(outer):
                slot = _slot(later, Entry(name, elements[copy]))
                moves.append((k, slot, -flat[copy, column, j]))
    below = _covariance(posterior, later)
    if below is None:
        return None
    count = len(entries[0].elements)
    step = np.zeros((count, len(entries), len(later)))
    for k, slot, weight in moves:
        step[:, k, slot] += weight
    total = step @ below @ np.swapaxes(step, -1, -2)
    for k, (copy, column) in mine.items():
        for other, (copy_too, column_too) in mine.items():
            total[:, k, other] += np.where(copy == copy_too, own[copy, column, column_too], 0.0)
    return total


def _by_column(found: Array, own: Array) -> Array:
    """The elements of one outer column, first along its dense positions and then along the copies of the block."""
    return found.reshape(len(own), -1).T


def _places(posterior: Posterior, block: Block, entry: Entry) -> tuple[Array, Array]:
    """In which copy of its block an entry lies, and in which column."""
    shape = block.right.shape[:-1]
    size = shape[-1]
    stacked = np.arange(int(np.prod(shape))).reshape(*shape, 1)
    axes = posterior.plan.graph.nodes[entry.variable].axes
    found = block.variable_array(entry.variable, stacked, axes).ravel()[entry.elements]
    return found // size, found % size


def _slot(entries: list[Entry], wanted: Entry) -> int:
    """The number of an entry, which is added where it is new."""
    for number, entry in enumerate(entries):
        if entry.variable == wanted.variable and np.array_equal(entry.elements, wanted.elements):
            return number
    entries.append(wanted)
    return len(entries) - 1
