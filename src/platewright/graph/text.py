"""A graph as text: its plates, its nodes with their conditionals, and the joint density they make.

graph coin
  plate toss (?)
  unknown theta ~ Beta(a = 1.5, b = 1.5)
  known   heads[toss] ~ Bernoulli(p = theta)
  joint   p(theta) prod_toss p(heads[toss] | theta)
"""

from __future__ import annotations

from platewright.graph.equation import joint_equation
from platewright.graph.graph import Graph
from platewright.language.variable import Variable


def graph_text(graph: Graph) -> str:
    """The stable text form, one line for each thing."""
    lines = [f"graph {graph.title}"]
    lines += [f"  {plate}" for plate in graph.plates.values()]
    for name, node in graph.nodes.items():
        mark = "action " if node.role == "action" else "known  " if graph.is_known(name) else "unknown"
        lines.append(f"  {mark} {node.symbol}{_conditional(node)}")
    for potential in graph.potentials.values():
        over = "".join(f"[{axis.name}]" for axis in potential.axes)
        lines.append(
            f"  factor  {potential.name}{over} = {potential.expression}{', optional' if potential.optional else ''}"
        )
    return "\n".join([*lines, f"  joint   {joint_equation(graph)}"])


def _conditional(node: Variable) -> str:
    if node.definition is not None:
        return f" = {node.definition}{', a utility' if node.role else ''}"
    if node.reads:
        return f", computed from {', '.join(node.reads)}"
    if node.role == "action":
        return f": {node.domain}{', chosen knowing ' + ', '.join(node.knows) if node.knows else ''}"
    if node.family is None:
        return f": {node.label}, {node.domain}"
    given = ", ".join(f"{name} = {value}" for name, value in node.parameters)
    start = "" if "first@" not in str(node.log_density) else "; another at the start"
    optional = f"; optional: {', '.join(node.optional)}" if node.optional else ""
    return f" ~ {node.family.name}({given}{start}{optional})"
