"""Log factors of a graph as tables over the unknown variables with finitely many values.

    log p(y | x, z = known)      becomes      a table with axes x and y

A factor is evaluated at every combination of levels by putting an index in the place of each variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from platewright.algebra.build import substitute
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference, names
from platewright.errors import MissingColumn, ParameterError, SizeError
from platewright.family import Array
from platewright.graph.components import Component, component_parents
from platewright.graph.graph import Graph, topological
from platewright.graph.normaliser import potentials_of
from platewright.inference.finite import Finite
from platewright.inference.junction_tree import ENTRY, MOST_BYTES, shown_bytes


@dataclass(frozen=True, eq=False)
class Table:
    """One log factor: an axis for each of `names`. `defines` are the nodes whose conditional it belongs to."""

    owner: str
    names: tuple[str, ...]
    log_values: Array
    defines: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tabulator:
    """Evaluates expressions of one graph with the known values put in."""

    graph: Graph
    values: Mapping[str, float]
    levels: Mapping[str, Finite]
    most_bytes: int = MOST_BYTES

    @cached_property
    def definitions(self) -> Mapping[str, Expression]:
        """Deterministic nodes written out in terms of the others."""
        found: dict[str, Expression] = {}
        if not any(node.kind == "deterministic" for node in self.graph.nodes.values()):
            return found
        changes: dict[Expression, Expression] = {}
        for name in topological(self.graph):
            node = self.graph.nodes[name]
            if node.definition is not None:
                found[name] = changes[node.symbol] = substitute(node.definition, changes)
        return found

    def written_out(self, expression: Expression) -> Expression:
        """An expression without deterministic nodes."""
        inside = names(expression) & self.definitions.keys()
        if not inside:
            return expression
        return substitute(expression, {self.graph.nodes[name].symbol: self.definitions[name] for name in inside})

    @cached_property
    def plate_sizes(self) -> Mapping[str, int]:
        """Sizes of all plates that have one."""
        return {name: plate.size for name, plate in self.graph.plates.items() if plate.size is not None}

    def scope(self, expression: Expression, free: Iterable[str] = ()) -> tuple[str, ...]:
        """The finite variables in an expression that have no value, and those in `free` even if they have."""
        open_too = set(free)
        found = names(expression)
        return tuple(sorted(n for n in found if n in self.levels and (n not in self.values or n in open_too)))

    def table(self, owner: str, expression: Expression, free: Iterable[str] = ()) -> tuple[tuple[str, ...], Array]:
        """The axes and the values of an expression at every combination of levels."""
        written = self.written_out(expression)
        scope = self.scope(written, free)
        shape = [self.levels[name].size for name in scope]
        if prod(shape) * ENTRY > self.most_bytes:
            raise SizeError(
                f"the factor of `{owner}` over {', '.join(scope)} needs {shown_bytes(prod(shape) * ENTRY)}",
                expected=f"at most {shown_bytes(self.most_bytes)}",
            )
        axes = tuple(Index(f"value of {name}", f"levels of {name}") for name in scope)
        changes: dict[Expression, Expression] = {}
        for name, axis in zip(scope, axes, strict=True):
            lower = self.levels[name].lower
            changes[Reference(name)] = axis + float(lower) if lower else axis
        known = self._known(owner, written, scope)
        sizes = {**self.plate_sizes, **{axis.plate: size for axis, size in zip(axes, shape, strict=True)}}
        with np.errstate(divide="ignore", invalid="ignore"):
            result = np.array(evaluate(substitute(written, changes), Environment(known, sizes), axes), dtype=float)
        return scope, check_logs(owner, result)

    def _known(self, owner: str, expression: Expression, scope: Sequence[str]) -> dict[str, Array]:
        known = {}
        for name in names(expression):
            if name in scope:
                continue
            if name not in self.values:
                raise MissingColumn(f"`{name}` has no value, and `{owner}` needs it", expected=f"evidence for {name}")
            value = self.values[name]
            known[name] = np.asarray(int(value) if name in self.levels else value)
        return known


def check_logs(owner: str, values: Array) -> Array:
    """Log weights without NaN or plus infinity."""
    if np.isnan(values).any() or (values == np.inf).any():
        raise ParameterError(
            f"the density of `{owner}` is not a number at some of its levels",
            where=owner,
            expected="probabilities of at least 0, and finite potentials",
        )
    return values


def node_table(tabulator: Tabulator, name: str) -> Table:
    """`log p(node | parents)`."""
    scope, values = tabulator.table(name, tabulator.graph.nodes[name].log_density)
    return Table(name, scope, values, frozenset((name,)))


def potential_table(tabulator: Tabulator, name: str) -> Table:
    """A potential; `defines` is empty when it shapes no undirected component."""
    potential = tabulator.graph.potentials[name]
    scope, values = tabulator.table(name, potential.expression)
    return Table(name, scope, values, tabulator.graph.inside(potential))


def free_tables(tabulator: Tabulator, component: Component) -> tuple[Table, ...]:
    """The potentials of a component with its members free even where they are known: what its normaliser sums."""
    return tuple(
        Table(potential.name, *tabulator.table(potential.name, potential.expression, component), component)
        for potential in potentials_of(tabulator.graph, component)
    )


def has_open_parents(tabulator: Tabulator, component: Component) -> bool:
    """Whether the normaliser of a component depends on something unknown."""
    graph = tabulator.graph
    waiting, seen = list(component_parents(graph, component)), set()
    while waiting:
        name = waiting.pop()
        if name in seen or name in component:
            continue
        seen.add(name)
        if graph.nodes[name].kind == "deterministic":
            waiting.extend(graph.nodes[name].parents)
        elif name not in tabulator.values:
            return True
    return False
