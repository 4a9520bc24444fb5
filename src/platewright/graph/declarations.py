"""A model as its writer would say it: one line for each variable and potential, in the order of writing.

    theta ~ Beta(a=1.5, b=1.5)
    heads[toss] ~ Bernoulli(p=theta)

Columns that only the machine needs (memberships, beginnings of sequences) are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.expression import Call, Expression, Index
from platewright.graph.graph import Graph
from platewright.language.variable import Variable


def declarations(graph: Graph) -> tuple[str, ...]:
    """The lines; none for what was made by us."""
    found = [line for node in graph.nodes.values() if (line := _declaration(node))]
    for potential in graph.potentials.values():
        sort = "an optional log factor" if potential.optional else "a log factor"
        found.append(f"{_at(potential.name, potential.axes)}: {sort} {potential.expression}")
    return tuple(found)


def _declaration(node: Variable) -> str:
    shown = _at(node.name, node.axes)
    if "@" in node.name:
        return ""  # made by us: memberships and beginnings follow from the table
    if node.role == "action":
        knowing = f", knowing {', '.join(node.knows)}" if node.knows else ""
        return f"{shown}: to be decided{knowing}"
    if node.definition is not None:
        return f"{shown} = {node.definition}{', a utility' if node.role else ''}"
    if node.family is not None:
        return f"{shown} ~ {node.family.name}({', '.join(_parameter(*pair) for pair in node.parameters)})"
    return {"undirected": f"{shown}: {node.domain}, tied by log factors", "input": f"{shown}: given"}.get(node.kind, "")


def _at(name: str, axes: Sequence[Index]) -> str:
    return f"{name}[{', '.join(axis.name for axis in axes)}]" if axes else name


def _parameter(name: str, value: Expression) -> str:
    """`log_probabilities=log(p)` reads better as `probabilities=p`."""
    match value:
        case Call("log", (inside,)) if name.startswith("log_"):
            return f"{name.removeprefix('log_')}={inside}"
    return f"{name}={value}"
