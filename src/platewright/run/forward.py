"""Run a model forward: draw nodes from their conditionals given their parents, parents first."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import ZERO, Index
from platewright.errors import PlatewrightError, SizeError
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.language.variable import Variable
from platewright.run.along_steps import Draw, circle_around, drawn_along, step_of
from platewright.run.exact.posterior import Posterior, lift

DRAW = Index("draw@", "draw@")


MOST_ELEMENTS = 500_000_000
"""The most numbers that are drawn of one variable."""


def check_room(name: str, count: int, shape: Iterable[int], hint: str) -> None:
    """Draws that would not fit are refused before any memory is taken."""
    size = count * math.prod(shape)
    if size > MOST_ELEMENTS:
        raise SizeError(f"{size} numbers to draw for `{name}`", expected=f"at most {MOST_ELEMENTS}", hint=hint)


def extend_draws(
    posterior: Posterior,
    drawn: Mapping[str, Array],
    count: int,
    generator: np.random.Generator,
    wanted: str | None = None,
) -> dict[str, Array]:
    """Draws of predicted nodes and functions, given draws of the unknowns; of one only, and what it follows from."""
    plan = posterior.plan
    graph = plan.graph if wanted is None else _above(plan.graph, wanted)
    return extended(graph, plan.barren, posterior.environment, drawn, count, generator)


def _above(graph: Graph, wanted: str) -> Graph:
    """A node and all that it follows from."""
    kept, waiting = {wanted}, [wanted]
    while waiting:
        more = graph.parents[waiting.pop()] - kept
        kept |= more
        waiting += more
    nodes = {name: node for name, node in graph.nodes.items() if name in kept}
    return replace(graph, nodes=nodes, potentials={}, known=graph.known & kept)


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
    environment = _with_known_functions(graph, environment)
    sizes = {**environment.sizes, DRAW.plate: count}
    for name in topological(graph):
        node = graph.nodes[name]
        wanted = name in barren or (node.kind == "deterministic" and not graph.is_known(name))
        if not wanted or name in found or any(axis.plate not in sizes for axis in node.axes):
            continue
        check_room(name, count, (sizes[axis.plate] for axis in node.axes), "ask for fewer draws")
        here = Environment({**environment.values, **found}, sizes)
        if node.definition is not None and not node.parents <= here.values.keys():
            continue  # it hangs on what is still to be decided
        if together := with_circle(graph, name, here, frozenset(found), generator, (DRAW,)):
            found |= together
        elif node.definition is not None:
            lifted = lift(node.definition, frozenset(found), DRAW)
            found[name] = np.array(evaluate(lifted, here, (DRAW, *node.axes)))
        elif node.family is not None:
            found[name] = draw_node(node, here, frozenset(found), generator, (DRAW,))
    order = {name: found[name] for name in graph.nodes if name in found}
    return order


def replicated(
    graph: Graph, environment: Environment, drawn: Mapping[str, Array], count: int, generator: np.random.Generator
) -> tuple[dict[str, Array], dict[str, str]]:
    """Every node that is no input, parents first, given draws of some; and why others cannot be drawn."""
    found = dict(drawn)
    refused: dict[str, str] = {}
    sizes = {**environment.sizes, DRAW.plate: count}
    for name in topological(graph):
        node = graph.nodes[name]
        if name in found or node.kind == "input":
            continue
        if lost := sorted(graph.parents[name] & set(refused)):
            refused[name] = f"`{lost[0]}` above it cannot be drawn"
            continue
        try:
            check_room(name, count, (sizes[axis.plate] for axis in node.axes), "ask for fewer draws")
            here = Environment({**environment.values, **found}, sizes)
            if together := with_circle(graph, name, here, frozenset(found), generator, (DRAW,)):
                found |= together
            elif node.definition is not None:
                lifted = lift(node.definition, frozenset(found), DRAW)
                found[name] = np.array(evaluate(lifted, here, (DRAW, *node.axes)))
            else:
                found[name] = draw_node(node, here, frozenset(found), generator, (DRAW,))
        except PlatewrightError as error:
            refused[name] = error.found
        except KeyError as error:
            refused[name] = f"{error} is not in memory"
    return found, refused


def _with_known_functions(graph: Graph, environment: Environment) -> Environment:
    """The environment with the functions of known columns that functions of unknowns look at."""
    needed = {part for node in graph.nodes.values() if node.kind == "deterministic" for part in node.parents}
    for name in topological(graph):
        node = graph.nodes[name]
        if name in environment.values or node.definition is None or not graph.is_known(name):
            continue
        if name in needed and all(part in environment.values for part in node.parents):
            environment = environment.with_values({name: np.array(evaluate(node.definition, environment, node.axes))})
    return environment


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
    step = step_of((node,))
    if step is not None:
        return drawn_along((node,), step, environment, drawn, leading, _alone(generator, leading))[node.name]
    events = node.inside
    parameters = {}
    for name, expression in node.parameters:
        rank = family.parameter(name).rank
        axes = (*leading, *node.plates, *events[:rank])
        lifted = lift(expression, drawn, leading[0]) if leading else expression
        parameters[name] = np.array(evaluate(lifted, environment, axes))
    shape = tuple(environment.sizes[axis.plate] for axis in (*leading, *node.axes))
    return family.draw(generator, parameters, shape)


def with_circle(
    graph: Graph,
    name: str,
    environment: Environment,
    drawn: frozenset[str],
    generator: np.random.Generator,
    leading: tuple[Index, ...] = (),
) -> dict[str, Array]:
    """A node that has no value, with all that it depends on step by step; nothing where it depends on none so."""
    circle = [graph.nodes[member] for member in circle_around(graph, name, environment.values)]
    step = step_of(circle)
    if step is None:
        return {}
    return drawn_along(circle, step, environment, drawn, leading, _alone(generator, leading))


def _alone(generator: np.random.Generator, leading: tuple[Index, ...]) -> Draw:
    """Draws a node as if it had no past of its own: that is given, under its name."""
    return lambda node, here, known: draw_node(replace(node, log_density=ZERO), here, known, generator, leading)


def simulate(graph: Graph, sizes: Mapping[str, int], inputs: Mapping[str, Array], seed: int = 0) -> dict[str, Array]:
    """Values of every node, drawn from the model itself."""
    generator = np.random.default_rng(seed)
    values: dict[str, Array] = dict(inputs)
    for name in topological(graph):
        node = graph.nodes[name]
        if name in values:
            continue
        environment = Environment(values, sizes)
        if together := with_circle(graph, name, environment, frozenset(), generator):
            values |= together
        elif node.definition is not None:
            values[name] = np.array(evaluate(node.definition, environment, node.axes))
        elif node.kind == "random":
            values[name] = draw_node(node, environment, frozenset(), generator)
        else:
            raise PlatewrightError(f"`{name}` has no distribution to draw from", expected="a value among the inputs")
    return values
