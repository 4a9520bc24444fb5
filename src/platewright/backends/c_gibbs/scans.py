"""Print a scan as C: the arrays of its states are filled step by step, in the outermost loop that allows it.

for (int64_t t = 0; t < size_t; t++)
    state[t] = first[t] ? w : w + a * y[t - 1] * y[t - 1] + b * (t >= 1 ? state[t - 1] : 0.0);
"""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any, Protocol

from platewright.algebra.expression import Before, Expression, Index, Scan, names
from platewright.algebra.scanning import loop_of, steps_back

Extent = tuple[tuple[str, ...], ...]
"""A length as a sum of products of plates: `(("d",), ())` is `#d + 1`."""

_THEN = Index("then of scan", "")


@dataclass(frozen=True)
class Filled:
    """A scan with the arrays of its states and the variable of its step."""

    scan: Scan
    tables: tuple[str, ...]
    step: str


class Printer(Protocol):
    """What printing a scan asks of the printer of expressions."""

    depths: dict[Index, int]
    pinned: dict[str, int]
    scans: list[Filled]

    def line(self, text: str) -> None: ...
    def temporary(self, word: str) -> str: ...
    def size(self, plate: str) -> str: ...
    def code(self, expression: Expression) -> Any: ...
    def offset(self, indices: tuple[Expression, ...], sizes: list[str]) -> str: ...
    def room(self, word: str, *extents: Extent) -> str: ...
    def nested(self, head: str) -> AbstractContextManager[None]: ...
    def at(self, index: Index, variable: str) -> AbstractContextManager[None]: ...
    def loop(self, index: Index) -> AbstractContextManager[str]: ...
    def lifted(self, depth: int) -> AbstractContextManager[Any]: ...


def state_at(printer: Printer, look: Scan) -> str:
    """A state at a place."""
    number = look.states.index(look.state)
    table = _filled(printer, look.whole).tables[number]
    return f"{table}[{printer.offset(look.at, [printer.size(axis.plate) for axis in look.axes[number]])}]"


def _filled(printer: Printer, scan: Scan) -> Filled:
    """All states at all steps, computed once where they are the same."""
    around = [printer.depths.get(index, 0) for index in loop_of(scan).outer]
    around += [printer.pinned[name] for body in scan.bodies for name in names(body) if name in printer.pinned]
    with printer.lifted(max(around, default=0)) as scope:
        if scan not in scope.scans:
            tables = tuple(printer.room("state", *(((axis.plate,),) for axis in axes)) for axes in scan.axes)
            made = Filled(scan, tables, printer.temporary("step"))
            printer.scans.append(made)
            _fill(printer, made)
            printer.scans.pop()
            scope.scans[scan] = made
        found: Filled = scope.scans[scan]
        return found


def _fill(printer: Printer, made: Filled) -> None:
    scan, step, size = made.scan, made.step, printer.size(made.scan.step.plate)
    head = f"for (int64_t {step} = 0; {step} < {size}; {step}++)"
    if scan.backward:
        head = f"for (int64_t {step} = {size} - 1; {step} >= 0; {step}--)"
    with printer.nested(head), printer.at(scan.step, step):
        for table, axes, body in zip(made.tables, scan.axes, scan.bodies, strict=True):
            with ExitStack() as loops:
                for axis in axes:
                    if axis != scan.step:
                        loops.enter_context(printer.loop(axis))
                at = printer.offset(axes, [printer.size(axis.plate) for axis in axes])
                printer.line(f"{table}[{at}] = {printer.code(body).text};")


def state_before(printer: Printer, look: Before) -> str:
    """A state of the scan in the making, some steps ago; before its begin it is nought, and masked by the model."""
    made = printer.scans[-1]
    scan, number = made.scan, made.scan.states.index(look.state)
    place, size = scan.axes[number].index(scan.step), printer.size(scan.step.plate)
    back = steps_back(look.indices[place], scan.step)
    assert back is not None  # a state is looked at by its own step alone
    then = f"({made.step} {'+' if scan.backward else '-'} {back})" if back else made.step
    with printer.at(_THEN, then):
        indices = (*look.indices[:place], _THEN, *look.indices[place + 1 :])
        sizes = [printer.size(axis.plate) for axis in scan.axes[number]]
        found = f"{made.tables[number]}[{printer.offset(indices, sizes)}]"
    test = f"{then} < {size}" if scan.backward else f"{made.step} >= {back}"
    return f"({test} ? {found} : 0.0)" if back else found
