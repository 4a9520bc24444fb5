"""Emitted code for the posterior means of Gaussian unknowns: back substitution, those eliminated last first.

E u = R^-1 (right - cross E v)        v: the unknowns that were eliminated after u
"""

from __future__ import annotations

from collections.abc import Callable

from platewright.algebra.expression import Expression, Index, Reference
from platewright.backends.numpy.expression import NumpyPrinter
from platewright.program.program import Program
from platewright.program.statements import Column, Triangularise

DOC = "Posterior means of the Gaussian unknowns from what was learned, those eliminated last first."


def means_text(program: Program, printer: NumpyPrinter, function: Callable[[str, str, list[str]], str]) -> str:
    """The emitted function `means`; nothing where no unknown is Gaussian."""
    lines: list[str] = []
    names: list[str] = []
    for step in reversed(program.body):
        if isinstance(step, Triangularise):
            lines += _solved(step, printer)
            for column in step.columns[: step.eliminated]:
                lines += _split(step, column, printer)
                names.append(f"{column.variable}.mean")
    if not lines:
        return ""
    shown = [f'    "{name}": {printer.names(name)},' for name in reversed(names)]
    return function("means(found, data, size)", DOC, [*lines, "return {", *shown, "}"])


def _solved(step: Triangularise, printer: NumpyPrinter) -> list[str]:
    """The unknowns of a block side by side, given the means of those that stay."""
    right = f"{printer.names(step.name)}_right"
    lines = [f'{right} = found["{step.name}.right"]']
    for number, column in enumerate(step.outer):
        axes = (*step.batch, *column.dense)
        value = printer.printed(Reference(f"{column.variable}.mean", column.at), axes, full=True)
        inner = tuple(range(-len(column.dense), 0))
        cross = f'found["{step.name}.cross_{number}"]'
        beside = ", ".join([":"] * len(step.batch) + ["None"] + [":"] * len(column.dense))
        product = f"{cross} * {value}" if beside == "None" else f"{cross} * ({value})[{beside}]"
        if inner:
            product = f"np.sum({product}, axis={inner if len(inner) > 1 else inner[0]})"
        lines.append(f"{right} = {right} - ({product})[..., None]")
    name = printer.names(step.name)
    if step.along is None:
        return [*lines, f'{name} = np.linalg.solve(found["{step.name}.root"], {right})']
    printer.used.add("solved_along")
    parts = ", ".join(f'"{part}": found["{step.name}.{part}"]' for part in ("root", "before", "after"))
    sizes = "".join(f"{printer.size(index.plate)}, " for index in (*step.batch, Index(step.along, step.along)))
    lines.append(f"{name} = solved_along({{{parts}}}, {right})")
    return [*lines, f'{name} = np.reshape({name}, ({sizes}*found["{step.name}.root"].shape[-1:], -1))']


def _split(step: Triangularise, column: Column, printer: NumpyPrinter) -> list[str]:
    """The part of a block that belongs to one unknown, with the axes of the unknown in their order."""
    every = step.columns[: step.eliminated]
    widths = [printer.width(step.inside(other)) for other in every[: every.index(column) + 1]]
    start, stop = " + ".join(widths[:-1]), "" if column == every[-1] else " + ".join(widths)
    steps = [axis for axis in column.dense if axis.plate == step.along]
    outputs = () if step.output is None else (step.output,)
    order: list[Expression] = [*step.batch, *steps, *step.inside(column), *outputs]
    shape = ", ".join(printer.size(index.plate) for index in order if isinstance(index, Index))
    label = printer.names(f"{column.variable}.mean")
    comma = "," if len(order) == 1 else ""
    block = printer.names(step.name) + (f"[..., {start}:{stop}, :]" if len(every) > 1 else "")
    text = f"np.reshape({block}, ({shape}{comma}))"
    turned = [order.index(at) for at in column.at]
    if turned != sorted(turned):
        text = f"np.transpose({text}, ({', '.join(map(str, turned))}))"
    return [f"{label} = {text}"]
