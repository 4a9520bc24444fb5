"""The log predictive density of complete new rows, all rows at once: the nodes of a row one by one.

    log p(y, x | data) = log p(y | data) + log p(x | y, data)

That holds where the parameters of different nodes are independent given the data, and so are those of different cells
of one node; each density is then that of one prediction. Elsewhere there is no such form, and ratios of evidence do.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.expression import Expression, Index, Reference, names, walk
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional, TableConditional
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.operation import Declined, Step
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.run.exact.posterior import Posterior
from platewright.run.exact.prediction import Prediction


def nodes_apart(graph: Graph, posterior: Posterior, row: str) -> tuple[str, ...] | Declined:
    """The random nodes of a row, where their densities multiply; else the pair that shares a parameter."""
    step = remove_deterministic(graph)
    plain = step.after if isinstance(step, Step) else graph
    taken: dict[str, str] = {}
    found = []
    for name, node in plain.nodes.items():
        if node.kind != "random" or name in posterior.unknown or row not in {axis.plate for axis in node.axes}:
            continue
        behind = _closure(names(node.log_density) & posterior.unknown, posterior)
        for parameter in sorted(behind):
            if parameter in taken:
                return Declined("row densities", f"`{taken[parameter]}` and `{name}` share `{parameter}`")
            taken[parameter] = name
        for axis in node.plates:
            if axis.plate != row and not _differs(node, axis, behind, posterior):
                return Declined("row densities", f"cells of `{name}` along {axis.plate} share parameters")
        found.append(name)
    return tuple(found)


def rows_density(
    nodes: tuple[str, ...],
    posterior: Posterior,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    row: str,
) -> Array | Declined:
    """For each complete row the sum of the log densities of its nodes."""
    total = np.zeros(sizes[row])
    for name in nodes:
        others = {key: values for key, values in columns.items() if key != name}
        predicted = Prediction(posterior, others, sizes, (name,), {})
        density = predicted.density_of(name)
        if density is None:
            return Declined("row densities", f"the density of `{name}` alone has no closed form")
        found = np.asarray(density(columns[name]), dtype=float)
        plates = posterior.plan.graph.nodes[name].plates if name in posterior.plan.graph.nodes else ()
        inner = tuple(place for place, axis in enumerate(plates) if axis.plate != row)
        total = total + found.sum(axis=inner)
    return total


def _mentioned(conditional: Conditional) -> frozenset[str]:
    match conditional:
        case FamilyConditional(parameters=parameters):
            return frozenset().union(*(names(value) for value in parameters.values()))
        case TableConditional(log_weights=weights):
            return names(weights)
        case GaussianConditional(statement=statement, scale=scale, matrix=matrix):
            found = {column.variable for column in statement.columns} | names(scale)
            return frozenset(found | (names(matrix) if matrix is not None else set()))


def _closure(wanted: frozenset[str], posterior: Posterior) -> frozenset[str]:
    """Some unknowns and all that their distribution depends on."""
    found: set[str] = set()
    left = list(wanted)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += sorted(_mentioned(posterior.conditional(name)) & posterior.unknown)
    return frozenset(found)


def _differs(node: Variable, axis: Index, behind: frozenset[str], posterior: Posterior) -> bool:
    """Whether cells along an axis have parameters of their own, which are independent given the data."""
    expressions: list[Expression] = [node.log_density]
    for name in behind:
        conditional = posterior.conditional(name)
        if isinstance(conditional, TableConditional):
            return False
        if isinstance(conditional, FamilyConditional):
            expressions += conditional.parameters.values()
        else:
            if axis.plate not in {index.plate for index in conditional.statement.batch}:
                return False
            expressions.append(conditional.scale)
    places = [part for whole in expressions for part in walk(whole) if isinstance(part, Reference)]
    return all(
        any(isinstance(index, Index) and index.plate == axis.plate for index in place.indices)
        for place in places
        if place.name in behind
    )
