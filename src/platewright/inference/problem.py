"""A graph without plates and its evidence, taken apart: tables for the discrete part, rows for the Gaussian part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.algebra.expression import Expression, names
from platewright.errors import MissingColumn, NotSolvable
from platewright.graph.components import chain_components
from platewright.graph.graph import Graph
from platewright.inference.discrete import Product
from platewright.inference.factor import (
    Table,
    Tabulator,
    free_tables,
    has_open_parents,
    node_table,
    potential_table,
)
from platewright.inference.finite import finite
from platewright.inference.gaussian import Row, Solved, groups, read_row, solve
from platewright.inference.relevance import relevant_nodes, relevant_tables


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything needed to answer questions; tables and rows are made at first use."""

    graph: Graph
    values: Mapping[str, float]
    nodes: frozenset[str]
    """Nodes that the questions can depend on."""
    most_bytes: int

    @cached_property
    def tabulator(self) -> Tabulator:
        """Evaluates factors with the evidence put in."""
        levels = {
            name: finite(self.graph, name)
            for name, node in self.graph.nodes.items()
            if node.domain.is_finite and node.kind != "deterministic"
        }
        return Tabulator(self.graph, self.values, levels, self.most_bytes)

    @cached_property
    def discrete(self) -> tuple[str, ...]:
        """Unknown variables with finitely many levels."""
        return tuple(n for n in self.graph.unknown if n in self.tabulator.levels and n in self.nodes)

    @cached_property
    def reals(self) -> frozenset[str]:
        """Unknown variables that are not finite."""
        return frozenset(n for n in self.graph.unknown if n not in self.tabulator.levels and n in self.nodes)

    def _has_reals(self, expression: Expression) -> str | None:
        return min(names(self.tabulator.written_out(expression)) & self.reals, default=None)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Real nodes that are unknown, or known with unknown real parents."""
        for name in sorted(self.reals):
            if self.graph.nodes[name].kind != "random":
                raise NotSolvable(
                    f"`{name}` is undirected and real",
                    expected="undirected variables with levels, or directed Gaussian ones",
                )
        found = []
        for name, node in self.graph.nodes.items():
            if node.kind != "random" or name not in self.nodes:
                continue
            touched = self._has_reals(node.log_density)
            if touched is None:
                continue
            if name in self.tabulator.levels:
                raise NotSolvable(
                    f"`{name}` is discrete and depends on the unknown real variable `{touched}`",
                    expected="discrete variables without real parents (a conditional Gaussian network)",
                    hint="sample instead (by='gibbs')",
                )
            found.append(read_row(self.tabulator, name, self.reals))
        return tuple(found)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The factors without unknown real variables, normalisers of undirected components included."""
        graph, tabulator = self.graph, self.tabulator
        in_rows = {row.owner for row in self.rows}
        found = [
            node_table(tabulator, name)
            for name, node in graph.nodes.items()
            if node.kind == "random" and name in self.nodes and name not in in_rows
        ]
        for name, potential in graph.potentials.items():
            if (inside := graph.inside(potential)) and not inside & self.nodes:
                continue
            if touched := self._has_reals(potential.expression):
                raise NotSolvable(
                    f"potential `{name}` holds the unknown real variable `{touched}`",
                    expected="potentials on discrete variables",
                )
            found.append(potential_table(tabulator, name))
        for component in self._undirected:
            if has_open_parents(tabulator, component):
                found.append(self._normaliser(component))
        return tuple(found)

    @cached_property
    def _undirected(self) -> tuple[frozenset[str], ...]:
        if not any(node.kind == "undirected" for node in self.graph.nodes.values()):
            return ()
        return tuple(
            component
            for component in chain_components(self.graph)
            if component & self.nodes and all(self.graph.nodes[name].kind == "undirected" for name in component)
        )

    def _normaliser(self, component: frozenset[str]) -> Table:
        """Minus `log Z(parents)`: the component summed out of its own potentials."""
        first = min(component)
        product = self._component_product(component)
        parents = [name for name in product.sizes if name not in component]
        return Table(first, tuple(parents), -product.log_over(parents), component)

    def _component_product(self, component: frozenset[str]) -> Product:
        tables = free_tables(self.tabulator, component)
        inside = component.union(*(table.names for table in tables))
        sizes = {name: levels.size for name, levels in self.tabulator.levels.items() if name in inside}
        what = f"the normaliser of the undirected variables {', '.join(sorted(component)[:4])}, ..."
        return Product(tables, sizes, self.most_bytes, what)

    @cached_property
    def log_constant(self) -> float:
        """Log normalisers that no table holds: of components whose parents are all known, and of constant factors."""
        closed = [found for found in self._undirected if not has_open_parents(self.tabulator, found)]
        constants = [name for name, found in self.graph.potentials.items() if not names(found.expression)]
        parts = [self._component_product(component).log_total for component in closed]
        parts += [float(potential_table(self.tabulator, name).log_values) for name in constants]
        return sum(parts)

    # -- the real variables given the levels ---

    @cached_property
    def observed_groups(self) -> tuple[Solved, ...]:
        """Real variables that the evidence bears on; the others integrate to one."""
        needed = relevant_nodes(self.graph, (), self.values)
        return tuple(solve(self.tabulator, rows) for rows in groups([r for r in self.rows if r.owner in needed]))

    @cached_property
    def all_groups(self) -> tuple[Solved, ...]:
        """All unknown real variables."""
        return tuple(solve(self.tabulator, rows) for rows in groups(self.rows))

    @cached_property
    def product(self) -> Product:
        """All tables, with what the real evidence says about the levels."""
        more = [
            Table(found.reals[0], found.levels, np.asarray(found.log_evidence), frozenset(found.reals))
            for found in self.observed_groups
        ]
        return self.product_of((*self.tables, *more))

    def product_of(self, tables: tuple[Table, ...]) -> Product:
        """Tables over the unknown discrete variables."""
        sizes = {name: self.tabulator.levels[name].size for name in self.discrete}
        return Product(tables, sizes, self.most_bytes)

    def product_about(self, wanted: tuple[str, ...]) -> Product:
        """The tables that a question about some variables depends on."""
        nodes = relevant_nodes(self.graph, wanted, self.values)
        product = self.product
        tables = relevant_tables(product.tables, nodes)
        # What real evidence says about the levels is always relevant, and is owned by known nodes' ancestors.
        held = {name for table in tables for name in table.names} | set(wanted)
        sizes = {name: size for name, size in product.sizes.items() if name in held}
        return Product(tables, sizes, self.most_bytes, f"the joint of {', '.join(wanted)}")


def check_no_plates(graph: Graph) -> Graph:
    """The graph, when no node is repeated or has axes inside it."""
    for name, node in graph.nodes.items():
        if node.axes and "@" not in name:
            raise NotSolvable(
                f"`{name}` is on plate {', '.join(axis.plate for axis in node.axes)}",
                expected="a graph without plates: m.infer answers questions about single variables",
                hint="m.learn for models with plates",
            )
    return graph


def check_inputs(graph: Graph, values: Mapping[str, float]) -> None:
    """Inputs have no distribution: they must be given."""
    for name, node in graph.nodes.items():
        if node.kind == "input" and name not in values and "@" not in name:
            raise MissingColumn(f"the input `{name}` has no value", expected=f"evidence for {name}")
