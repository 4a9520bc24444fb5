"""Print the draw of few-valued unknowns that others are integrated out of: every value weighed by its log evidence.

The conditionals of `kernels/weighed.py`. What is integrated out has a function `prepare` of its own, as an exact block
has; the log evidence is the last thing that it computes.
"""

from __future__ import annotations

from platewright.backends.c_gibbs.function import Function
from platewright.backends.c_gibbs.sites import IMPOSSIBLE, draw_level, levels_of, room_for_levels
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.program.program import EVIDENCE


def draw_weighed(function: Function, graph: Graph, names: tuple[str, ...]) -> None:
    """Each element of each unknown once; with `found`, their log weights and no draw."""
    for name in names:
        with function.printer.nested(""):
            _unknown(function, graph.nodes[name])


def _unknown(function: Function, node: Variable) -> None:
    printer = function.printer
    sites = function.length_text((tuple(axis.plate for axis in node.axes),))
    levels, lowest = levels_of(function, node)
    array, evidence = printer.column(node.name), printer.column(EVIDENCE)
    room_for_levels(printer, node)
    with printer.nested(f"for (int64_t site = 0; site < {sites}; site++)"):
        printer.line(f"const int64_t held = {array}[site];")
        printer.line("double top = -INFINITY;")
        with printer.nested(f"for (int64_t level = 0; level < {levels}; level++)"):
            printer.line(f"{array}[site] = {lowest} + level;")
            printer.line(f"if ((bad = prepare_{function.block}(chain)))")
            printer.line("    return bad;")
            printer.line(f"weight[level] = {evidence}[0] > {IMPOSSIBLE} ? {evidence}[0] : {IMPOSSIBLE};")
            printer.line("top = weight[level] > top ? weight[level] : top;")
        draw_level(printer, array, levels, lowest)
    with printer.nested("if (found)"):
        printer.line(f"found += {sites} * {levels};")
