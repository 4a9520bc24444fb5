"""Find Gaussian unknowns that form a chain: along an ordered plate, rows touch them at one step and at the one before.

    z[t] - phi z[t-1],   y[t] - z[t],   y[n] - z[day[n]]       a chain over t: each step meets its neighbours only
    z[t] - w x[t]                                              w stays beside the chain, for the same w meets all steps
    z[t] - z[day[n]]                                           no chain: any two steps may meet

Unknowns of the same plate that meet a chain are part of its state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from platewright.algebra.expression import Expression, Index, Lag, free_indices
from platewright.language.variable import Variable
from platewright.recognition.rows import Rows


@dataclass(frozen=True)
class Chain:
    """Unknowns that are the state of a chain, and the plate of its steps."""

    plate: str
    variables: tuple[str, ...]


def chain_of(name: str, rows: Sequence[Rows], block: Sequence[str], nodes: Mapping[str, Variable]) -> Chain | None:
    """The chain that an unknown of a block belongs to, if any."""
    for axis in nodes[name].axes:
        members = _meeting(name, axis.plate, rows, block, nodes)
        touching = [found for found in rows if members & found.variables]
        if not all(_is_step(found, members, axis.plate, nodes) for found in touching):
            continue
        if any(isinstance(at, Lag) for found in touching for at in _positions(found, members, axis.plate, nodes)):
            return Chain(axis.plate, tuple(other for other in block if other in members))
    return None


def _meeting(
    name: str, plate: str, rows: Sequence[Rows], block: Sequence[str], nodes: Mapping[str, Variable]
) -> frozenset[str]:
    """The unknown with all those on the plate that meet it in a row, or meet one of these."""
    members = {name}
    on_plate = {other for other in block if any(axis.plate == plate for axis in nodes[other].axes)}
    while True:
        met = {other for found in rows if members & found.variables for other in found.variables & on_plate}
        if met <= members:
            return frozenset(members)
        members |= met


def _positions(rows: Rows, members: frozenset[str], plate: str, nodes: Mapping[str, Variable]) -> list[Expression]:
    """Where rows touch the members along the plate; a member that has it twice is touched at both places."""
    return [
        at
        for part in rows.parts
        if part.variable in members
        for axis, at in zip(nodes[part.variable].axes, part.at, strict=True)
        if axis.plate == plate
    ]


def _is_step(rows: Rows, members: frozenset[str], plate: str, nodes: Mapping[str, Variable]) -> bool:
    """Whether each row touches the members at one step, or at one and the one before."""
    if any(sum(axis.plate == plate for axis in nodes[name].axes) != 1 for name in members):
        return False
    if sum(axis.plate == plate for axis in rows.axes) > 1:
        return False
    bound = {index for part in rows.parts for index in part.inner} | set(rows.outputs or ())
    positions = set(_positions(rows, members, plate, nodes))
    steps = {at.index if isinstance(at, Lag) else at for at in positions}
    if len(steps) != 1 or any(free_indices(at) & bound for at in positions):
        return False
    (step,) = steps
    is_number = not free_indices(step)
    return step in rows.axes if isinstance(step, Index) else not is_number and len(positions) == 1
