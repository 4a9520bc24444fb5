"""A small instance of a model: every value drawn from the model itself, and the log joint by direct evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

import platewright as pw
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, Lag, Reference, walk
from platewright.family import Array
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Factor, Graph, read_graph, topological
from platewright.language.plate import beginning, membership
from platewright.language.variable import Variable
from platewright.schemas.exact import prepare

Values = dict[str, Array]


@dataclass(frozen=True)
class Case:
    """A model as text would give it, what is known, and the sizes of the plates that the data fix."""

    name: str
    build: Callable[[], pw.Model]
    known: tuple[str, ...]
    sizes: Mapping[str, int]
    groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """For an inner plate the outer element of each of its elements."""
    inputs: Mapping[str, Array] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name

    @property
    def graph(self) -> Graph:
        """The graph with functions written out."""
        return prepare(read_graph(self.build(), self.known)).graph

    def resized(self, **sizes: int) -> Case:
        """The same model with other sizes of plates."""
        inputs = {name: values for name, values in self.inputs.items() if np.ndim(values) == 0}
        return replace(self, sizes={**self.sizes, **sizes}, inputs=inputs)


@dataclass(frozen=True, eq=False)
class Instance:
    """One draw of all variables of a case."""

    case: Case
    graph: Graph
    sizes: Mapping[str, int]
    values: Values

    @property
    def columns(self) -> Values:
        """What the data hold."""
        return {name: value for name, value in self.values.items() if self.graph.is_known(name)}

    @property
    def hidden(self) -> Values:
        """What they do not."""
        return {name: self.values[name] for name in self.graph.unknown}


def instance(case: Case, seed: int = 0) -> Instance:
    """Draw everything, parents first."""
    graph = case.graph
    generator = np.random.default_rng(seed)
    sizes = {**fixed_sizes(graph), **case.sizes}
    values = {**_structure(graph, case, sizes), **_inputs(graph, case, sizes, generator)}
    return Instance(case, graph, sizes, drawn(graph, sizes, values, generator))


def drawn(graph: Graph, sizes: Mapping[str, int], given: Values, generator: np.random.Generator) -> Values:
    """Values of all random variables that are not given, each from its own conditional."""
    values = dict(given)
    for name in topological(graph):
        if name in values:
            continue
        node = graph.nodes[name]
        if node.family is not None and not node.family.proper:
            shape = tuple(sizes[axis.plate] for axis in node.axes)
            values[name] = generator.uniform(0.5, 2.0, shape)
        elif node.kind == "undirected":  # it has no order to be drawn in; any values do for a ratio
            shape = tuple(sizes[axis.plate] for axis in node.axes)
            count = sizes[str(node.domain.levels)] if node.domain.kind == "levels" else int(node.domain.upper) + 1
            values[name] = generator.integers(0, count, shape)
        elif _looks_back(node):
            values[name] = _sequence(node, values, sizes, generator)
        else:
            values[name] = draw(node, Environment(values, sizes), generator)
    return values


def draw(node: Variable, environment: Environment, generator: np.random.Generator) -> Array:
    """One draw of a node at each element of its plates."""
    assert node.family is not None and node.family.draw is not None
    levels = node.domain.levels
    events = node.events or ((Index(levels, levels),) if levels is not None else ())
    if len(events) == 1:
        events = (*events, Index(events[0].name + "'", events[0].plate))
    parameters = {}
    for name, expression in node.parameters:
        axes = (*node.plates, *events[: node.family.parameter(name).rank])
        parameters[name] = np.array(evaluate(expression, environment, axes))
    return node.family.draw(generator, parameters, tuple(environment.sizes[axis.plate] for axis in node.axes))


def log_joint(factors: tuple[Factor, ...], values: Mapping[str, Array], sizes: Mapping[str, int]) -> float:
    """The sum of all log factors."""
    environment = Environment(values, sizes)
    with np.errstate(divide="ignore"):
        return float(sum(np.sum(evaluate(f.expression, environment, f.axes)) for f in factors))


def _structure(graph: Graph, case: Case, sizes: Mapping[str, int]) -> Values:
    found: Values = {}
    for name, plate in graph.plates.items():
        codes = np.array(case.groups[name]) if name in case.groups else None
        if plate.within is not None:
            assert codes is not None and len(codes) == sizes[name]
            found[membership(name, plate.within)] = codes
        if plate.ordered:
            first = np.zeros(sizes[name], dtype=np.int64)
            first[:1] = 1
            if codes is not None:
                first[1:] = codes[1:] != codes[:-1]
            found[beginning(name)] = first
    return found


def _inputs(graph: Graph, case: Case, sizes: Mapping[str, int], generator: np.random.Generator) -> Values:
    found: Values = {name: np.asarray(value) for name, value in case.inputs.items()}
    for name, node in graph.nodes.items():
        if node.kind == "input" and "@" not in name and name not in found:
            shape = tuple(sizes[axis.plate] for axis in node.axes)
            if node.domain.kind == "levels":
                found[name] = generator.integers(0, sizes[str(node.domain.levels)], shape)
            else:
                found[name] = generator.uniform(0.5, 2.0, shape)
    return found


def _looks_back(node: Variable) -> bool:
    return any(
        isinstance(part, Reference) and part.name == node.name and any(isinstance(i, Lag) for i in part.indices)
        for part in walk(node.log_density)
    )


def _sequence(node: Variable, values: Values, sizes: Mapping[str, int], generator: np.random.Generator) -> Array:
    """Element by element, each given those before it, from the log density itself."""
    shape = tuple(sizes[axis.plate] for axis in node.axes)
    if node.events and node.domain.is_unbounded:
        return generator.normal(size=shape)  # any values do for a law
    backwards = {part.index for part in walk(node.log_density) if isinstance(part, Lag)}
    steps = [place for place, axis in enumerate(node.axes) if axis in backwards]
    domain = node.domain
    current = np.zeros(shape, dtype=np.int64 if domain.is_discrete else np.float64)
    for t in sorted(np.ndindex(shape), key=lambda at: [at[place] for place in steps]):

        def density(value: float, t: tuple[int, ...] = t) -> float:
            tried = current.copy()
            tried[t] = value
            return float(evaluate(node.log_density, Environment({**values, node.name: tried}, sizes), node.axes)[t])

        if domain.is_finite:
            count = sizes[str(domain.levels)] if domain.kind == "levels" else int(domain.upper) + 1
            weights = np.exp([density(value) for value in range(count)])
            current[t] = generator.choice(count, p=weights / weights.sum())
        else:  # Normal: its log density is a parabola
            low, middle, high = density(-1), density(0), density(1)
            precision = 2 * middle - low - high
            current[t] = (high - low) / 2 / precision + generator.standard_normal() / np.sqrt(precision)
    return current
