"""The log density of any graph at one point, also where eliminations have left computed arrays in it.

log p(point) = sum over log factors, with the arrays of `graph.statements` computed from the known first
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import names
from platewright.algebra.kept import kept
from platewright.family import Array
from platewright.graph.computed import SOURCES, sources_of
from platewright.graph.graph import Graph, topological
from platewright.program.program import Program
from platewright.run.execute import finish, loaded
from platewright.schemas.exact import program_of


def log_density(graph: Graph, values: Mapping[str, Array], sizes: Mapping[str, int]) -> float:
    """The sum of all log factors of a graph (undirected parts up to their normaliser) at given values of its nodes."""
    environment = environment_of(graph, values, sizes)
    return float(evaluate(graph.log_joint, environment))


def environment_of(graph: Graph, values: Mapping[str, Array], sizes: Mapping[str, int]) -> Environment:
    """The values with functions of them, and all that the graph's statements compute from them."""
    values = {**values, **_functions(graph, values, sizes)}
    if not graph.statements:
        return Environment(values, sizes)
    program = statements_program(graph)
    columns = {name: values[name] for name in program.columns}
    computed = finish(program, loaded(program), {}, columns, {**program.sizes, **sizes})
    wider = dict(sizes)
    for name in program.results:
        node = graph.nodes[name]
        wider |= dict(zip((axis.plate for axis in node.axes), np.shape(computed[name]), strict=True))
    return Environment({**values, **computed}, wider)


def _functions(graph: Graph, values: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """The values of deterministic nodes, parents first."""
    wanted = [name for name, node in graph.nodes.items() if node.kind == "deterministic" and name not in values]
    if not wanted:
        return {}
    found: dict[str, Array] = {}
    for name in topological(graph):
        node = graph.nodes[name]
        if name in wanted and node.definition is not None:
            found[name] = np.array(evaluate(node.definition, Environment({**values, **found}, sizes), node.axes))
    return found


@kept
def statements_program(graph: Graph) -> Program:
    """The statements of a graph as a program that leaves the statistics in its potentials."""
    used = {name for potential in graph.potentials.values() for name in names(potential.expression)}
    made = {statement.name for statement in graph.statements}
    results = tuple(name for name in graph.nodes if name in used and {name, name.rpartition(".")[0]} & made)
    program = program_of(graph, (), graph.statements)
    read = frozenset().union(*sources_of(graph).values()) - set(results)
    columns = {name: node.axes for name, node in graph.nodes.items() if name in read and node.kind in SOURCES}
    return replace(program, columns=columns, results=results)
