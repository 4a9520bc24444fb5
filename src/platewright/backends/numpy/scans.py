"""Print a scan as NumPy: one call gives all states at all steps, each body a function of what it looks at.

scanned(size_t, 1, dict(input=w + a * y ** 2), dict(input_2=b), {"state": (0, 1)}, [((), lambda ...: input + ...)])
"""

from __future__ import annotations

from typing import Protocol

from platewright.algebra.expression import Expression, Index, Scan
from platewright.algebra.scanning import loop_of
from platewright.backends.naming import Names


class Printer(Protocol):
    """What printing a scan asks of the printer of expressions."""

    names: Names
    used: set[str]
    lines: list[str] | None
    tables: dict[Expression, str]

    def printed(self, expression: Expression, scope: tuple[Index, ...], full: bool = False) -> str: ...
    def size(self, plate: str) -> str: ...


def scan_text(printer: Printer, scan: Scan) -> tuple[tuple[Expression, ...], str]:
    """The place of a state in a table, and the table; where lines can be kept, it is computed in one of them."""
    number = scan.states.index(scan.state)
    place = scan.axes[number].index(scan.step)
    at = (scan.at[place], *loop_of(scan).outer, *scan.at[:place], *scan.at[place + 1 :])
    if printer.lines is None:
        return at, f"{_call(printer, scan)}[{number}]"
    if scan.whole not in printer.tables:
        text = _call(printer, scan)
        name = printer.names(f"scan {len(printer.tables)}")
        printer.lines.append(f"{name} = {text}")
        printer.tables[scan.whole] = name
    return at, f"{printer.tables[scan.whole]}[{number}]"


def _call(printer: Printer, scan: Scan) -> str:
    """A call that gives all states at all steps, with the step as their first axis."""
    printer.used.add("scanned")
    loop = loop_of(scan)
    shown = {one: printer.printed(one.expression, one.axes, full=True) for one in loop.inputs}
    moving, fixed = (
        ", ".join(
            f"{printer.names(one.name)}={text}" for one, text in shown.items() if (scan.step in one.axes) == moves
        )
        for moves in (True, False)
    )
    looks = ", ".join(f'"{printer.names(one.name)}": ({one.state}, {one.back})' for one in loop.looks)
    names = ", ".join(map(printer.names, loop.names))
    bodies = []
    lines, printer.lines = printer.lines, None  # what a body computes stands in it, for it is of one step
    for axes, body in zip(loop.axes, loop.bodies, strict=True):
        shape = "".join(f"{printer.size(axis.plate)}, " for axis in axes).rstrip()
        bodies.append(f"(({shape}), lambda {names}: {printer.printed(body, axes, full=bool(axes))})")
    printer.lines = lines
    begin = f"{printer.size(scan.step.plate)}, {-1 if scan.backward else 1}, dict({moving}), dict({fixed}), {{{looks}}}"
    return f"scanned({begin}, [{', '.join(bodies)}])"
