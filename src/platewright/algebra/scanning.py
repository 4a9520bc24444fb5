"""A scan taken apart: what is computed for all steps at once, and what each step makes of the steps before.

    h[t] = w + a (y[t-1] - m)^2 + b h[t-1]      inputs  w + a (y[t-1] - m)^2  and  b,  body  in + in' h1

Whoever runs or prints a scan goes by these parts; states outside their range are nought, and masked by the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.algebra.expression import (
    Before,
    Constant,
    Expression,
    Index,
    Lag,
    Reference,
    Scan,
    children,
    free_indices,
    rebuild,
)
from platewright.algebra.kept import kept

Axes = tuple[Index, ...]
Array = np.ndarray


@dataclass(frozen=True)
class Input:
    """A part of a body that no state enters, over its axes: the step comes first where it differs between steps."""

    name: str
    axes: Axes
    expression: Expression


@dataclass(frozen=True)
class Look:
    """The name under which a body sees a state, and how many steps ago; none for the same step."""

    name: str
    state: int
    back: int


@dataclass(frozen=True)
class Loop:
    """The bodies of all states as functions of inputs and looks; `outer` are indices from around the scan."""

    outer: Axes
    inputs: tuple[Input, ...]
    looks: tuple[Look, ...]
    axes: tuple[Axes, ...]
    """Of each state: the outer indices and its own, without the step."""
    bodies: tuple[Expression, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All that bodies may refer to."""
        return (*(one.name for one in self.inputs), *(one.name for one in self.looks))


@kept
def is_open(expression: Expression) -> bool:
    """Whether a state of a scan around the expression enters it."""
    parts = expression.at if isinstance(expression, Scan) else children(expression)
    return isinstance(expression, Before) or any(map(is_open, parts))


def steps_back(position: Expression, step: Index) -> int | None:
    """How many lags stand before a step; None for another position."""
    count = 0
    while isinstance(position, Lag):
        position, count = position.index, count + 1
    return count if position == step else None


@kept
def loop_of(scan: Scan) -> Loop:
    """The parts of a scan."""
    outer = tuple(sorted(_around(scan), key=lambda index: (index.name, index.plate)))
    cutting = _Cutting(scan, outer)
    bodies = tuple(cutting.cut(body) for body in scan.bodies)
    axes = tuple((*outer, *(index for index in own if index != scan.step)) for own in scan.axes)
    return Loop(outer, tuple(cutting.inputs.values()), tuple(cutting.looks.values()), axes, bodies)


def _around(scan: Scan) -> frozenset[Index]:
    found: frozenset[Index] = frozenset()
    for body, own in zip(scan.bodies, scan.axes, strict=True):
        found |= free_indices(body) - {*own}
    return found


class _Cutting:
    def __init__(self, scan: Scan, outer: Axes) -> None:
        self.scan, self.outer = scan, outer
        self.inputs: dict[Expression, Input] = {}
        self.looks: dict[tuple[str, int], Look] = {}

    def cut(self, part: Expression) -> Expression:
        """A body with all that no state enters as one name."""
        if isinstance(part, Constant):
            return part
        if isinstance(part, Before):
            return self.look(part)
        if is_open(part):
            return rebuild(part, self.cut)
        if part not in self.inputs:
            free = sorted(free_indices(part), key=lambda index: (index != self.scan.step, index.name, index.plate))
            self.inputs[part] = Input(f"input@{len(self.inputs)}", tuple(free), part)
        found = self.inputs[part]
        return Reference(found.name, tuple(index for index in found.axes if index != self.scan.step))

    def look(self, part: Before) -> Reference:
        number = self.scan.states.index(part.state)
        place = self.scan.axes[number].index(self.scan.step)
        back = steps_back(part.indices[place], self.scan.step)
        assert back is not None  # a state is looked at by its own step alone
        name = f"state@{number}@{back}"
        self.looks.setdefault((part.state, back), Look(name, number, back))
        return Reference(name, (*self.outer, *part.indices[:place], *part.indices[place + 1 :]))


def run_scan(
    scan: Scan,
    sizes: Mapping[str, int],
    inputs: Sequence[Array],
    bodies: Sequence[Callable[[Mapping[str, Array]], Array]],
) -> list[Array]:
    """All states at all steps, over the outer indices and then their axes; bodies find values under their names."""
    loop, steps = loop_of(scan), sizes[scan.step.plate]
    kind = np.result_type(float, *inputs)
    shapes = [tuple(sizes[axis.plate] for axis in axes) for axes in loop.axes]
    tables = [np.zeros((steps, *shape), kind) for shape in shapes]
    fixed = {one.name: value for one, value in zip(loop.inputs, inputs) if scan.step not in one.axes}
    moving = [(one.name, value) for one, value in zip(loop.inputs, inputs) if scan.step in one.axes]
    nought = [np.zeros(shape, kind) for shape in shapes]
    way = -1 if scan.backward else 1
    with np.errstate(all="ignore"):  # what the model masks at the first steps may be anything
        for step in range(steps)[::way]:
            values = {**fixed, **{name: value[step] for name, value in moving}}
            for look in loop.looks:
                at = step - way * look.back
                values[look.name] = tables[look.state][at] if 0 <= at < steps else nought[look.state]
            for number, body in enumerate(bodies):
                tables[number][step] = body(values)
                values |= {one.name: tables[number][step] for one in loop.looks if one.state == number and not one.back}
    return [
        np.moveaxis(table, 0, len(loop.outer) + own.index(scan.step))
        for table, own in zip(tables, scan.axes, strict=True)
    ]
