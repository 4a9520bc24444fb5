"""Starting values for iterative schemas: moderate, jittered by the seed, whatever the priors say.

Draws from vague priors (a precision of 1e-300) would cost many sweeps to recover from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.language.variable import Variable
from platewright.run.checks.initial import checked_initial

NEAR = 0.01
"""How far from the mean of a prior values are that are near it, relative to its size."""
Start = Callable[[np.random.Generator], Mapping[str, Array]]
"""Makes values to start from."""


def starting_values(
    graph: Graph,
    wanted: Iterable[str],
    sizes: Mapping[str, int],
    generator: np.random.Generator,
    initial: Mapping[str, object] | None = None,
) -> dict[str, Array]:
    """A value for every wanted unknown, parents first; those given as `initial` as they were given."""
    chosen = set(wanted)
    given = checked_initial(graph, chosen, sizes, initial or {})
    return {
        name: given[name] if name in given else _start(graph.nodes[name], sizes, generator)
        for name in topological(graph)
        if name in chosen
    }


def _start(node: Variable, sizes: Mapping[str, int], generator: np.random.Generator) -> Array:
    shape = tuple(sizes[axis.plate] for axis in node.axes)
    domain = node.domain
    match domain.kind:
        case "levels":
            return generator.integers(0, sizes[str(domain.levels)], shape)
        case "integer":
            upper = int(domain.upper) if np.isfinite(domain.upper) else int(domain.lower) + 3
            return generator.integers(int(domain.lower), upper + 1, shape)
        case "simplex":
            weights = generator.standard_gamma(5.0, shape)
            return weights / weights.sum(axis=-1, keepdims=True)
        case "matrix":
            size = shape[-1]
            noise = 0.1 * generator.standard_normal(shape)
            return np.eye(size) + noise @ np.swapaxes(noise, -1, -2)
        case "circle":
            return generator.uniform(-np.pi, np.pi, shape)
    if np.isfinite(domain.lower) and np.isfinite(domain.upper):
        return domain.lower + (domain.upper - domain.lower) * generator.beta(4.0, 4.0, shape)
    if np.isfinite(domain.lower):
        return domain.lower + np.exp(0.3 * generator.standard_normal(shape))
    if np.isfinite(domain.upper):
        return domain.upper - np.exp(0.3 * generator.standard_normal(shape))
    return 0.5 * generator.standard_normal(shape)


def near_centres(graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """All unknowns near the means of their priors, parents first; moderate ones where a prior has none."""
    generator = np.random.default_rng(0)
    found = {name: np.asarray(values) for name, values in columns.items()}
    for name in topological(graph):
        node = graph.nodes[name]
        if name in found or any(axis.plate not in sizes for axis in node.axes):
            continue
        with np.errstate(all="ignore"):
            if node.definition is not None and graph.parents[name] <= found.keys():
                found[name] = np.array(evaluate(node.definition, Environment(found, sizes), node.axes))
            elif not graph.is_known(name) and node.kind == "random":
                found[name] = _near_mean(node, graph.parents[name] <= found.keys(), found, sizes, generator)
    return {name: values for name, values in found.items() if name not in columns}


def _near_mean(
    node: Variable,
    has_parents: bool,
    found: Mapping[str, Array],
    sizes: Mapping[str, int],
    generator: np.random.Generator,
) -> Array:
    """A value close to the mean, yet at no special place."""
    moderate, family = _start(node, sizes, generator), node.family
    if family is None or family.mean is None or node.domain.kind != "real" or not has_parents:
        return moderate
    parameters = {
        word: np.array(evaluate(part, Environment(found, sizes), node.plates)) for word, part in node.parameters
    }
    mean = np.broadcast_to(family.mean(parameters), moderate.shape)
    near = mean + NEAR * (1 + np.abs(mean)) * generator.uniform(-1, 1, moderate.shape)
    return np.where(np.isfinite(near) & (near > node.domain.lower) & (near < node.domain.upper), near, moderate)
