"""The docstring of an emitted program: what the model is, how the algorithm goes, what the table holds, how to run it.

theta ~ Beta(a=1.5, b=1.5)
heads[toss] ~ Bernoulli(p=theta)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from platewright.backends.naming import comment
from platewright.graph.declarations import declarations
from platewright.graph.graph import Graph
from platewright.language.variable import Variable

WIDTH = 116
INDENT = "    "


@dataclass(frozen=True)
class TableColumn:
    """One column of a table (or several side by side), as a reader of the program sees it."""

    name: str
    holds: str


def docstring(
    graph: Graph, algorithm: str, summary: str, columns: Sequence[TableColumn] | None, rows: str, learn: str
) -> str:
    """The docstring of a program; without columns the data do not fit one table."""
    lines = [f"{comment(graph.title)}: {algorithm}, derived and written by Platewright.", ""]
    if summary:
        lines += [*_folded(summary, ""), ""]
    lines += ["The model:", *model_lines(graph), ""]
    options = options_of(learn)
    if columns is None:
        lines += [
            "The data do not fit one table: import this file and call learn(data, size), with arrays in `data`",
            "and the sizes of plates in `size`, by name." + (" Options and their defaults:" if options else ""),
        ]
    else:
        lines += [f"Run:  python FILE data.csv{' [option=value ...]' if options else ''}", ""]
        lines.append(f"data.csv has a header and a row for each {comment(rows)}, with these columns:")
        width = max(len(column.name) for column in columns) if columns else 0
        lines += [f"{INDENT}{comment(column.name):<{width}}  {comment(column.holds)}" for column in columns]
        if options:
            lines += ["", "Options and their defaults:"]
    if options:
        lines.append(INDENT + "  ".join(f"{name}={value}" for name, value in options.items()))
    return "\n".join(['"""' + lines[0], *lines[1:], '"""'])


def options_of(learn: str) -> dict[str, str]:
    """The options of the emitted function `learn`, with their defaults as they are written."""
    function = next(
        node for node in ast.parse(learn).body if isinstance(node, ast.FunctionDef) and node.name == "learn"
    )
    given = function.args
    named = given.args[len(given.args) - len(given.defaults) :]
    return {found.arg: ast.unparse(default) for found, default in zip(named, given.defaults, strict=True)}


def model_lines(graph: Graph) -> list[str]:
    """The model in words, folded for a docstring."""
    return [part for line in declarations(graph) for part in _folded(line, INDENT)]


def _folded(text: str, indent: str) -> list[str]:
    return wrap(comment(text), WIDTH, initial_indent=indent, subsequent_indent=indent + INDENT, break_on_hyphens=False)


# -- columns ----------------------------------------------------------------------------------------------------------


def holds(node: Variable | None, labels: Mapping[str, tuple[object, ...]], holes: bool) -> str:
    """What the cells of a column are."""
    if node is None:
        return "a number"
    plate = str(node.domain.levels)
    shown = str(node.domain)
    if node.domain.kind == "levels" and plate in labels:
        shown = f"one of {', '.join(str(label) for label in labels[plate])}"
    shown = re.sub(r"\((-?\w+), inf\)", r"above \1", shown).replace("a real number in above", "a real number above")
    return f"{shown}; may be empty" if holes else shown
