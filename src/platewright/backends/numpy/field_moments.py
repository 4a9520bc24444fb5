"""Print the moments of Gaussian parameters for mean field: means, and loadings on independent noises of unit scale.

    u = E u + sum over sources s, sum_m loading(u, s)[m] noise_s[m]        (`elimination/loadings.py`)

A block has a noise of its own, shaped by its triangle, and moves with the blocks that are eliminated after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.expression import Expression, Reference
from platewright.backends.naming import comment
from platewright.backends.numpy.modes import gaussian_lines
from platewright.backends.numpy.program import Emitter
from platewright.elimination.loadings import direction, loading_name, mean_name, source_name, sources_of, without_output
from platewright.elimination.state import Conditional, GaussianConditional


def moment_lines(
    emitter: Emitter, found: GaussianConditional, chain: Sequence[Conditional], moments: list[str]
) -> list[str]:
    """Statements that compute the moments of a block, those of the blocks after it being there; adds to `moments`."""
    statement, named = found.statement, emitter.names
    root = named(f"{statement.name}.root")
    shown = comment(", ".join(found.variables))
    lines = [f"# {shown}: mean, and loadings on independent noises", *gaussian_lines(emitter, found, ending=".mean")]
    moments += [mean_name(name) for name in found.variables]
    stacked = named(f"{statement.name}.loading")
    lines.append(f"{stacked} = np.linalg.inv({root})")
    lines += _split(emitter, found, source_name(found), stacked, moments)
    later = dict.fromkeys(s for column in statement.outer for s in sources_of(chain, column.variable))
    for source in later:
        parts = []
        for number, column in enumerate(statement.outer):
            cross = named(f"{statement.name}.cross_{number}")
            if source in sources_of(chain, column.variable):
                parts.append(
                    f"np.reshape({cross}, (*{root}.shape[:-1], -1)) @ {_beside(emitter, found, number, source)}"
                )
        lines.append(f"{stacked} = -np.linalg.solve({root}, {' + '.join(parts)})")
        lines += _split(emitter, found, source, stacked, moments)
    return lines


def _beside(emitter: Emitter, found: GaussianConditional, number: int, source: str) -> str:
    """Loadings of the unknowns of an outer column beside each copy of a block, over batch, column and direction."""
    statement, along = found.statement, direction(source)
    column = statement.outer[number]
    at = Reference(loading_name(column.variable, source), (*column.at, along))
    value = emitter.printer.printed(at, (*statement.batch, *column.dense, along), full=True)
    root = emitter.names(f"{statement.name}.root")
    return f"np.reshape({value}, (*{root}.shape[:-2], -1, {emitter.printer.size(along.plate)}))"


def _split(emitter: Emitter, found: GaussianConditional, source: str, stacked: str, moments: list[str]) -> list[str]:
    """The part of stacked loadings (batch, columns, directions) that is each variable's, in its axes."""
    statement, printer = found.statement, emitter.printer
    columns = f"{emitter.names(statement.name)}_columns"
    lines = []
    for number, column in enumerate(statement.columns[: statement.eliminated]):
        order: list[Expression] = [*statement.batch, *column.dense]
        sizes = "".join(f"{printer.size(index.plate)}, " for index in (*statement.batch, *column.dense))
        part = f"np.reshape({stacked}[..., {columns}[{number}] : {columns}[{number + 1}], :], ({sizes}-1))"
        places = [order.index(column.at[k]) for k in without_output(found, column.variable)]
        if places != sorted(places):
            part = f"np.transpose({part}, ({', '.join(map(str, places))}, {len(places)}))"
        name = loading_name(column.variable, source)
        moments.append(name)
        lines.append(f"{emitter.names(name)} = {part}")
    return lines
