"""The conditional of one unknown given all else, recognised by the functions of it that occur  (Definition 4.1).

theta | heads: Beta with a = 1.5 + sum_toss heads[toss], b = ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from platewright.algebra.build import multiply
from platewright.algebra.differentiate import differentiate
from platewright.algebra.expression import ZERO, Expression, Index, Reference, all_indices, fresh
from platewright.elimination.gaussian import gaussian_block
from platewright.elimination.state import State, TableConditional
from platewright.elimination.stepping import state_of
from platewright.elimination.tables import table_move
from platewright.graph.computed import computed_from
from platewright.graph.determinism import functions_of
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.replacing import replace_references
from platewright.recognition.recognise import recognise

NAME = "conditional"


@dataclass(frozen=True)
class Conditional:
    """`p(variable | all else)`: a family with its parameters, perhaps of a function of the variable."""

    variable: str
    family: str
    parameters: Mapping[str, Expression]
    of: str = "identity"
    """The change of variable under which it is of that family."""

    def __str__(self) -> str:
        changed = "" if self.of == "identity" else f" (as {self.of} of it)"
        shown = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        return f"{self.variable}: {self.family}{changed} with {shown}"


def conditional_of(graph: Graph, name: str) -> Conditional | Declined:
    """The recognised conditional of an unknown, or the condition that fails."""
    if name not in graph.unknown:
        return Declined(NAME, f"{name} is {'known' if graph.is_known(name) else graph.nodes[name].kind}")
    if array := computed_from(graph, name):
        return Declined(NAME, f"{array} is computed from {name} where the program runs, not by a formula")
    if functions := functions_of(graph, name):
        flat = remove_deterministic(graph, functions)
        return flat if isinstance(flat, Declined) else conditional_of(flat.after, name)
    state, node = state_of(graph), graph.nodes[name]
    if node.domain.is_finite:
        return _table(state, name)
    found = recognise(state.touching(name), node, graph.facts)
    if not isinstance(found, Declined):
        return Conditional(name, found.family.name, dict(found.parameters), found.transform.name)
    if node.domain.is_unbounded and name in gaussian_block(state)[0]:
        return _gaussian(graph, node)
    return Declined(NAME, found.reason)


def _table(state: State, name: str) -> Conditional | Declined:
    """A log weight for each value."""
    moved = table_move(state, name)
    if isinstance(moved, Declined):
        return Declined(NAME, moved.reason)
    last = moved.conditionals[-1]
    assert isinstance(last, TableConditional)
    return Conditional(name, "Categorical", {"log_weights": last.log_weights})


def _gaussian(graph: Graph, node: Variable) -> Conditional:
    """Elements that meet in one square are jointly Gaussian: minus the curvature, and the slope at zero."""
    slope = differentiate(graph.log_joint, node.symbol)
    curvature = differentiate(slope, Reference(node.name, other_axes(node, slope)))
    at_zero = replace_references(slope, {node.name: lambda _: ZERO})
    return Conditional(node.name, "Normal", {"precision": multiply(-1.0, curvature), "precision_times_mean": at_zero})


def other_axes(node: Variable, *taken: Expression) -> tuple[Index, ...]:
    """A second set of indices along the axes of a node."""
    used = set(node.axes).union(*(all_indices(expression) for expression in taken))
    found: list[Index] = []
    for axis in node.axes:
        found.append(fresh(axis, used))
        used.add(found[-1])
    return tuple(found)
