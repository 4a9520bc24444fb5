"""Small made-up data for a model, so that its plan can be checked before any real data are there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Reference
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.language.plate import beginning, membership, root_of
from platewright.language.variable import Variable
from platewright.run.forward import draw_node, with_circle

ROWS = 6
OTHERS = 2
LARGEST = 10.0
SMALLEST = 0.05
"""Draws of unknowns beyond these are replaced, where the model allows it."""

MOST_TRIES = 50


def small_sizes(graph: Graph) -> dict[str, int]:
    """Sizes for all plates: fixed ones as they are, rows a few, others two."""
    rows = {node.axes[0].plate for name, node in graph.nodes.items() if node.axes and graph.is_known(name)}
    sizes: dict[str, int] = {}
    for name, plate in graph.plates.items():
        fixed = graph.plates[root_of(graph.plates, name)].size
        sizes[name] = fixed if fixed is not None else (ROWS if name in rows and plate.like is None else OTHERS)
    for name, node in graph.nodes.items():
        if node.domain.kind == "integer" and node.domain.is_finite:
            sizes[f"{name}.levels"] = node.domain.listed
    return sizes


def small_data(
    graph: Graph, seed: int = 0, longer: Mapping[str, int] | None = None
) -> tuple[dict[str, Array], dict[str, int]]:
    """Values for every node of a small instance of the model, drawn from the model where it has a distribution.

    Inputs are made up without knowing what the model makes of them, so values that it forbids are drawn again; then
    each input is larger than those before it, as the ends of intervals are.
    """
    generator = np.random.default_rng(seed)
    sizes = {**small_sizes(graph), **(longer or {})}
    for number in range(MOST_TRIES):
        values = _drawn(graph, sizes, generator, 2.0 if number % 2 else 0.0)
        if _is_possible(graph, values, sizes):
            break
    return values, sizes


def _is_possible(graph: Graph, values: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    environment = Environment(values, sizes)
    with np.errstate(all="ignore"):
        return all(np.isfinite(evaluate(f.expression, environment, f.axes)).all() for f in graph.factors)


def _drawn(graph: Graph, sizes: Mapping[str, int], generator: np.random.Generator, apart: float) -> dict[str, Array]:
    values = _structure(graph, sizes, generator)
    matrices = _matrices(graph)
    numbers = [n for n, node in graph.nodes.items() if node.kind == "input" and node.domain.kind == "real"]
    numbers = [name for name in numbers if name not in matrices]
    for name in topological(graph):
        node = graph.nodes[name]
        if name in values:
            continue
        if together := with_circle(graph, name, Environment(values, sizes), frozenset(), generator):
            values |= together
            continue
        values[name] = _value(node, values, sizes, generator)
        if name in matrices:
            values[name] = _definite(values[name])
        if apart and name in numbers:
            values[name] = values[name] + apart * numbers.index(name)
        if not graph.is_known(name) and node.kind == "random" and not node.domain.is_discrete:
            values[name] = _moderate(node, values, sizes, generator)
    return values


def _matrices(graph: Graph) -> frozenset[str]:
    """The inputs that are given as a positive definite matrix."""
    found = set()
    for node in graph.nodes.values():
        for name, written in (*node.given, *node.parameters) if node.family is not None else ():
            assert node.family is not None
            wanted = node.family.argument(name).domain.kind
            if wanted == "matrix" and isinstance(written, Reference) and graph.nodes[written.name].kind == "input":
                found.add(written.name)
    return frozenset(found)


def _definite(values: Array) -> Array:
    """Made-up numbers as symmetric matrices with a diagonal that outweighs the rest."""
    even = (values + np.swapaxes(values, -1, -2)) / 2
    return even + values.shape[-1] * 2.0 * np.identity(values.shape[-1])


def _moderate(
    node: Variable, values: Mapping[str, Array], sizes: Mapping[str, int], generator: np.random.Generator
) -> Array:
    """Tame values for wild draws of a vague prior, which overflow below an exponential: laws hold anywhere."""
    drawn = np.asarray(values[node.name], dtype=float)
    bounded = node.family is not None and (node.family.lower is not None or node.family.upper is not None)
    if bounded or node.domain.kind in ("simplex", "matrix"):
        return drawn
    least = SMALLEST if node.domain.lower == 0 else 0.0
    wild = ~((np.abs(drawn) <= LARGEST) & (np.abs(drawn) >= least))
    if not wild.any():
        return drawn
    tame = np.where(wild, generator.uniform(0.5, 2.0, drawn.shape), drawn)
    with np.errstate(all="ignore"):
        possible = np.isfinite(evaluate(node.log_density, Environment({**values, node.name: tame}, sizes), node.plates))
    return tame if np.all(possible) else drawn


def _structure(graph: Graph, sizes: Mapping[str, int], generator: np.random.Generator) -> dict[str, Array]:
    """Which outer element each row is in, and where sequences begin."""
    found: dict[str, Array] = {}
    for name, plate in graph.plates.items():
        codes = None
        if plate.within is not None:
            outer = sizes[plate.within]
            codes = np.sort(
                np.concatenate([np.arange(outer), generator.integers(0, outer, sizes[name])])[: sizes[name]]
            )
            found[membership(name, plate.within)] = codes
        if plate.ordered:
            first = np.zeros(sizes[name], dtype=np.int64)
            first[:1] = 1
            if codes is not None:
                first[1:] = codes[1:] != codes[:-1]
            found[beginning(name)] = first
    return {name: values for name, values in found.items() if name in graph.nodes}


def _value(
    node: Variable, values: Mapping[str, Array], sizes: Mapping[str, int], generator: np.random.Generator
) -> Array:
    shape = tuple(sizes[axis.plate] for axis in node.axes)
    if node.definition is not None:
        return np.array(evaluate(node.definition, Environment(values, sizes), node.axes))
    if node.kind != "random":
        if node.domain.kind == "levels":
            return generator.integers(0, sizes[str(node.domain.levels)], shape)
        if node.domain.is_finite:  # whether a cell was seen
            return generator.integers(int(node.domain.lower), int(node.domain.upper) + 1, shape)
        return generator.uniform(0.5, 2.0, shape)  # positive, so that it can be a scale or an exposure
    if node.family is None or not node.family.proper:
        # A missing cell that its variable leans on has no distribution of its own, and a flat prior is none.
        drawn = _between(node, Environment(values, sizes), generator.uniform(0.5, 2.0, shape))
        return np.ceil(drawn) if node.domain.is_discrete else drawn
    return draw_node(node, Environment(values, sizes), frozenset(), generator)


def _between(node: Variable, environment: Environment, drawn: Array) -> Array:
    """Numbers from 0.5 to 2 moved inside the bounds of a variable: as a share of both, or as far from the one."""
    ends = dict(node.parameters)
    lower, upper = (
        np.array(evaluate(ends[word], environment, node.plates)) if word in ends else np.full(drawn.shape, end)
        for word, end in (("lower", node.domain.lower), ("upper", node.domain.upper))
    )
    inside = (lower < drawn) & (drawn < upper)
    with np.errstate(invalid="ignore"):
        both = lower + (upper - lower) * drawn / 2.5
        one = np.where(np.isfinite(lower), lower + drawn, upper - drawn)
    return np.where(inside, drawn, np.where(np.isfinite(upper - lower), both, one))
