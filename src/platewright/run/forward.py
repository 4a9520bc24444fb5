"""Run a model forward: draw nodes from their conditionals given their parents, parents first."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.language.variable import Variable
from platewright.run.posterior import Posterior, lift

DRAW = Index("draw@", "draw@")


def extend_draws(
    posterior: Posterior, drawn: Mapping[str, Array], count: int, generator: np.random.Generator
) -> dict[str, Array]:
    """Draws of predicted nodes and functions, given draws of the unknowns."""
    plan = posterior.plan
    return extended(plan.graph, plan.barren, posterior.environment, drawn, count, generator)


def extended(
    graph: Graph,
    barren: Collection[str],
    environment: Environment,
    drawn: Mapping[str, Array],
    count: int,
    generator: np.random.Generator,
) -> dict[str, Array]:
    """Draws of predicted nodes and functions, given data in an environment and draws of the unknowns."""
    found = dict(drawn)
    sizes = {**environment.sizes, DRAW.plate: count}
    for name in topological(graph):
        node = graph.nodes[name]
        wanted = name in barren or (node.kind == "deterministic" and not graph.is_known(name))
        if not wanted or name in found or any(axis.plate not in sizes for axis in node.axes):
            continue
        here = Environment({**environment.values, **found}, sizes)
        if node.definition is not None:
            lifted = lift(node.definition, frozenset(found), DRAW)
            found[name] = np.array(evaluate(lifted, here, (DRAW, *node.axes)))
        elif node.family is not None:
            found[name] = draw_node(node, here, frozenset(found), generator, (DRAW,))
    order = {name: found[name] for name in graph.nodes if name in found}
    return order


def draw_node(
    node: Variable,
    environment: Environment,
    drawn: frozenset[str],
    generator: np.random.Generator,
    leading: tuple[Index, ...] = (),
) -> Array:
    """One draw of a node for each position of its plates (and of the leading indices)."""
    family = node.family
    if family is None or family.draw is None or not family.proper:
        raise PlatewrightError(f"`{node.name}` cannot be drawn", expected="a proper distribution")
    events = _event_indices(node)
    parameters = {}
    for name, expression in node.parameters:
        rank = family.parameter(name).rank
        axes = (*leading, *node.plates, *events[:rank])
        lifted = lift(expression, drawn, leading[0]) if leading else expression
        parameters[name] = np.array(evaluate(lifted, environment, axes))
    shape = tuple(environment.sizes[axis.plate] for axis in (*leading, *node.axes))
    return family.draw(generator, parameters, shape)


def _event_indices(node: Variable) -> tuple[Index, ...]:
    """The pair of axes inside one value: a vector has one of them, its covariance both."""
    if node.events:
        plate = node.events[0].plate
    elif node.domain.levels is not None:
        plate = node.domain.levels
    else:
        return ()
    return Index(plate, plate), Index(plate + "'", plate)


def simulate(graph: Graph, sizes: Mapping[str, int], inputs: Mapping[str, Array], seed: int = 0) -> dict[str, Array]:
    """Values of every node, drawn from the model itself."""
    generator = np.random.default_rng(seed)
    values: dict[str, Array] = dict(inputs)
    for name in topological(graph):
        node = graph.nodes[name]
        if name in values:
            continue
        environment = Environment(values, sizes)
        if node.definition is not None:
            values[name] = np.array(evaluate(node.definition, environment, node.axes))
        elif node.kind == "random":
            values[name] = draw_node(node, environment, frozenset(), generator)
        else:
            raise PlatewrightError(f"`{name}` has no distribution to draw from", expected="a value among the inputs")
    return values
