"""Choose which Gaussian unknowns to eliminate together, and over which plates they fall apart into independent copies.

mu[k] with rows at mu[z[n]]                 independent over k: one small problem for each k
w[j] with rows sum_j x[n, j] w[j]           coupled over j: one problem with all j as columns
theta[school] and mu                        theta first, school by school; what is left speaks about mu
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platewright.algebra.expression import Expression, free_indices
from platewright.language.variable import Variable
from platewright.recognition.rows import Rows


@dataclass(frozen=True)
class Group:
    """Unknowns that are eliminated together, independently for each position of the batch plates."""

    variables: tuple[str, ...]
    batch: tuple[str, ...]


def choose_group(rows: Sequence[Rows], block: Sequence[str], nodes: Mapping[str, Variable]) -> Group:
    """The unknowns with most independent plates, with all that share these plates row by row."""
    places = {name: _single_places(name, rows, nodes) for name in block}
    first = max(block, key=lambda name: len(places[name]))
    batch = tuple(axis.plate for axis in nodes[first].axes if axis.plate in places[first])
    chosen = [first]
    for name in block:
        if name == first or not set(batch) <= set(places[name]):
            continue
        if all(_agree(name, other, batch, rows, nodes) for other in chosen):
            chosen.append(name)
    return Group(tuple(name for name in block if name in chosen), batch)


def place(rows: Rows, name: str, plate: str, nodes: Mapping[str, Variable]) -> Expression | None:
    """The one position at which these rows touch `name` along a plate; None when there are several, or all."""
    axis = [axis.plate for axis in nodes[name].axes].index(plate)
    outputs = set(rows.outputs or ())
    found = set()
    for part in rows.parts:
        if part.variable != name:
            continue
        at = part.at[axis]
        if free_indices(at) & (set(part.inner) | outputs):
            return None
        found.add(at)
    return found.pop() if len(found) == 1 else None


def _single_places(name: str, rows: Sequence[Rows], nodes: Mapping[str, Variable]) -> frozenset[str]:
    touching = [found for found in rows if name in found.variables]
    plates = [axis.plate for axis in nodes[name].axes]
    return frozenset(
        plate for plate in plates if all(place(found, name, plate, nodes) is not None for found in touching)
    )


def _agree(one: str, two: str, batch: tuple[str, ...], rows: Sequence[Rows], nodes: Mapping[str, Variable]) -> bool:
    for found in rows:
        if not {one, two} <= found.variables:
            continue
        if any(place(found, one, plate, nodes) != place(found, two, plate, nodes) for plate in batch):
            return False
    return True
