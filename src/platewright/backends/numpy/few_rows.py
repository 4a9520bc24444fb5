"""Print how rows are gathered before an algorithm iterates: a few with the same moments stand for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from platewright.algebra.expression import Index
from platewright.backends.naming import comment
from platewright.backends.numpy.program import Emitter
from platewright.schemas.em import EMPlan
from platewright.schemas.few_rows import FewRows, RowColumn
from platewright.schemas.mean_field import MeanFieldPlan

RESERVED = ("gather_rows", "rows", "kept")
"""Names that mean something in the function."""
WIDTH = 110
CALL = "data, size = gather_rows(data, size)"


def gather_function(emitter: Emitter, few: FewRows[EMPlan] | FewRows[MeanFieldPlan]) -> str:
    """The function from data and sizes to those of the few rows."""
    names, size = emitter.names, emitter.printer.size
    axes = {name: node.axes for name, node in few.plan.graph.nodes.items()}
    squared, kept = [names(column.name) for column in few.squared], [names(column.name) for column in few.kept]
    weight, short = names(few.weigher.weight), names(few.weigher.few)
    loads = [f'{name} = data["{name}"]' for name in (*squared, *kept)]
    inner = [_inner(axes[column.name], column) for column in few.squared]
    plates = dict.fromkeys(axis.plate for found in inner for axis in found)
    loads += [f'{size(plate)} = size["{names(plate)}"]' for plate in plates]
    flat = [
        f"({_first(names(c.name), c)}, {emitter.printer.width(i)})" for c, i in zip(few.squared, inner, strict=True)
    ]
    shapes = [_shape(emitter, found) for found in inner]
    lines = [
        f"rows, kept, {weight} = few_rows(rows_joined([{', '.join(flat)}]), [{', '.join(_firsts(few.kept, kept))}])",
        f"[{', '.join(squared)}] = parted(rows, [{', '.join(shapes)}])",
        *([f"[{', '.join(kept)}] = kept"] if kept else []),
        *(f"{names(c.name)} = np.moveaxis({names(c.name)}, 0, {c.axis})" for c in (*few.squared, *few.kept) if c.axis),
    ]
    found = ", ".join(f'"{name}": {name}' for name in (*squared, *kept, weight))
    lines.append(f'return {{**data, {found}}}, {{**size, "{short}": len({weight})}}')
    why = wrap(f"The {comment(few.because)}.", WIDTH)
    doc = ['"""A few rows with the same moments in the place of all.', "", *why, '"""']
    return "\n".join(["def gather_rows(data, size):", *(f"    {line}".rstrip() for line in doc + loads + lines)])


def gathering_first(learn: str) -> str:
    """The text of `learn` on few rows: they are gathered before all else."""
    doc = next(line for line in learn.splitlines() if line.strip().startswith('"""'))
    return learn.replace(doc, f"{doc}\n    {CALL}", 1)


def _inner(axes: Sequence[Index], column: RowColumn) -> tuple[Index, ...]:
    return tuple(axis for number, axis in enumerate(axes) if number != column.axis)


def _shape(emitter: Emitter, axes: Sequence[Index]) -> str:
    return "(" + "".join(f"{emitter.printer.size(axis.plate)}, " for axis in axes).rstrip() + ")"


def _first(name: str, column: RowColumn) -> str:
    return f"np.moveaxis({name}, {column.axis}, 0)" if column.axis else name


def _firsts(columns: Sequence[RowColumn], names: Sequence[str]) -> list[str]:
    return [_first(name, column) for name, column in zip(names, columns, strict=True)]
