"""Predict new rows from draws of the parameters, whatever schema they came from.

    draws of the parameters,  then what is open on the new rows, parents first

Samplers and mean field have draws; an estimate is the same draw again and again. Open are the variables that the new
rows leave out and the hidden ones of their own. A discrete one above given values is drawn from its posterior given
these: its log weights are its own factor and those of the given values, summed out as everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Lag, walk
from platewright.backends.kernels.hidden_chain import backward_sample, forward, smooth
from platewright.data.bind import bind
from platewright.derive.plans import AnyPlan
from platewright.elimination.state import State, TableConditional
from platewright.elimination.tables import table_move
from platewright.errors import PlatewrightError, ShapeError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.language.plate import beginning
from platewright.operation import Declined, Step
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.split_partly_known import as_written
from platewright.run.checks.sanity import check_possible
from platewright.run.exact.posterior import lift
from platewright.run.exact.prediction import FEWER
from platewright.run.execute import columns_of
from platewright.run.forward import DRAW, check_room, draw_node
from platewright.run.hidden.chain import chain_weights
from platewright.run.hidden.joint_draws import Conditioned, conditioned, joint_hidden
from platewright.run.results.quantity import Predictions
from platewright.run.results.signature_of import signature_of
from platewright.run.samplers.sampled import Sampled
from platewright.schemas.gibbs import ChainBlock, hidden_block


@dataclass(frozen=True, eq=False)
class RowPrediction(Predictions):
    """Predicted variables by name, as draws; hidden variables of the new rows are among them."""

    graph: Graph
    parameters: Mapping[str, Array]
    """Draws of the parameters; the first axis numbers them."""
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    learned: Mapping[str, int]
    """Sizes of plates when the parameters were learned."""
    labels: Mapping[str, tuple[object, ...]]
    count: int
    seed: int = 0

    def __post_init__(self) -> None:
        self._check_given()
        self._check_integrated_out()
        for name in self._kept:
            for axis in self.graph.nodes[name].axes:
                old, new = self.learned[axis.plate], self.sizes[axis.plate]
                if old != new:
                    raise ShapeError(
                        f"plate `{axis.plate}` has size {new} in the new rows",
                        where=f"plate {axis.plate} of `{name}`",
                        expected=f"{old}, as learned",
                    )

    # -- what is what ---

    @cached_property
    def rows(self) -> frozenset[str]:
        """The plates of the data: the first of every known variable."""
        nodes = self.graph.nodes
        return frozenset(nodes[name].axes[0].plate for name in self.graph.known if nodes[name].axes)

    @cached_property
    def open(self) -> tuple[str, ...]:
        """What is not given on the new rows, in the order of writing: variables left out, and hidden ones."""
        found = []
        for name, node in self.graph.nodes.items():
            if node.kind != "random" or name in self.columns:
                continue
            plates = {axis.plate for axis in node.axes[:1]}
            hidden = name not in self.parameters and node.domain.is_finite and plates & self._around
            if self.graph.is_known(name) or plates & self.rows or hidden:
                found.append(name)
        return tuple(found)

    @cached_property
    def _around(self) -> frozenset[str]:
        """Plates that hold the rows: classes on them that were not learned come anew with the new rows."""
        found = set()
        for name in self.rows:
            outer = self.graph.plates[name].within
            while outer is not None:
                found.add(outer)
                outer = self.graph.plates[outer].within
        return frozenset(found)

    @cached_property
    def _kept(self) -> tuple[str, ...]:
        """The parameters: unknowns that are not of the rows, nor cells that were missing among the learned rows."""
        unknown = set(self.graph.unknown)
        return tuple(name for name in self.parameters if name in unknown and name not in self.open)

    @cached_property
    def _plain(self) -> Graph:
        """The graph with functions written out."""
        step = remove_deterministic(self.graph)
        return step.after if isinstance(step, Step) else self.graph

    def _check_given(self) -> None:
        """Given values with something open above them can be inferred where all of that is discrete."""
        for name in self.columns:
            node = self.graph.nodes.get(name)
            if node is None or node.kind != "random":
                continue
            above = sorted(_ancestors(self.graph, name) & set(self.open))
            if not above:
                continue
            if odd := next((other for other in above if not self.graph.nodes[other].domain.is_finite), None):
                raise PlatewrightError(
                    f"`{name}` is given, and `{odd}` above it would have to be inferred from it",
                    hint="learn from all rows together: what is missing in the data is unknown",
                )

    def _check_integrated_out(self) -> None:
        """What EM and mean field integrate out on other plates than the rows has neither an estimate nor draws."""
        lacking = set(self.graph.unknown) - {*self.parameters, *self.open, *self.columns}
        for name in self.open:
            if found := sorted(_ancestors(self.graph, name) & lacking):
                raise PlatewrightError(
                    f"`{name}` depends on `{found[0]}`, which was integrated out and has no estimate",
                    hint="predict from draws: learn with by='gibbs'",
                )

    # -- the mapping ---

    def __getitem__(self, name: str) -> Sampled:
        if name not in self.open:
            raise UnknownName(name, self.open, where="prediction")
        return Sampled(name, self.draws[name], self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.open)

    def __len__(self) -> int:
        return len(self.open)

    def __repr__(self) -> str:
        return f"<Prediction of {', '.join(self.open) or 'nothing'}>"

    def probabilities(self, name: str) -> Array:
        """For a discrete variable of the new rows the probability of each value, averaged over the parameters."""
        if name not in self.open:
            raise UnknownName(name, self.open, where="prediction")
        self.draws  # noqa: B018 - the weights are found on the way
        if name not in self._chances:
            raise PlatewrightError(f"`{name}` is {self.graph.nodes[name].domain}", expected="a discrete variable")
        return self._chances[name]

    @cached_property
    def _chances(self) -> dict[str, Array]:
        return {}

    # -- draws ---

    @cached_property
    def draws(self) -> dict[str, Array]:
        """Draws of all that is open; the first axis numbers them."""
        self._check_count()
        generator = np.random.default_rng(self.seed)
        sizes = {**self.sizes, DRAW.plate: self.count}
        found = {name: self.parameters[name] for name in self._kept}
        for name in topological(self.graph):
            node = self.graph.nodes[name]
            if name in found or name in self.columns or any(axis.plate not in sizes for axis in node.axes):
                continue
            environment = Environment({**self.columns, **found}, sizes)
            if node.definition is not None:
                lifted = lift(node.definition, frozenset(found), DRAW)
                found[name] = np.array(evaluate(lifted, environment, (DRAW, *node.axes)))
            elif name in self._together:
                found |= self._drawn_together(environment, frozenset(found), generator)
            elif name in self.open:
                found[name] = self._drawn(name, environment, frozenset(found), generator)
        return {name: found[name] for name in self.open}

    @cached_property
    def _together(self) -> tuple[str, ...]:
        """Open variables that have to be inferred together: several of them above one given value."""
        found: set[str] = set()
        for name in self.columns:
            if name in self.graph.nodes and self.graph.nodes[name].kind == "random":
                above = _ancestors(self.graph, name) & set(self.open)
                found |= above if len(above) > 1 else set()
        return tuple(name for name in self.open if name in found)

    def _drawn_together(
        self, environment: Environment, drawn: frozenset[str], generator: np.random.Generator
    ) -> dict[str, Array]:
        """Hidden classes above given values, draw by draw, all at once."""
        plan = joint_hidden(self._plain, self._together, self.columns)
        if isinstance(plan, Declined):
            raise PlatewrightError(f"{', '.join(self._together)} of new rows are not inferred: {plan.reason}")
        same = not any(np.ptp(environment.values[key], axis=0).any() for key in drawn)
        draws: dict[str, list[Array]] = {name: [] for name in self._together}
        known: Conditioned | None = None
        for draw in range(self.count):
            if known is None or not same:  # an estimate gives every draw the same weights
                values = {key: environment.values[key][draw] for key in drawn}
                known = conditioned(plan, {**environment.values, **values}, environment.sizes)
            for name, values_of in known.draw(generator).items():
                draws[name].append(values_of)
                self._chances[name] = self._chances.get(name, 0.0) + known.probabilities[name] / self.count
        return {name: np.array(values) for name, values in draws.items()}

    def _drawn(
        self, name: str, environment: Environment, drawn: frozenset[str], generator: np.random.Generator
    ) -> Array:
        node = self.graph.nodes[name]
        if any(isinstance(part, Lag) for part in walk(node.log_density)):
            return self._chain(name, environment, drawn, generator)
        if not node.domain.is_finite:
            return draw_node(node, environment, drawn, generator, (DRAW,))
        table = self._table(name)
        axes = (DRAW, *node.plates, table.level)
        with np.errstate(all="ignore"):
            weights = np.array(evaluate(lift(table.log_weights, drawn, DRAW), environment, axes))
            weights = weights - np.logaddexp.reduce(weights, axis=-1, keepdims=True)
        if np.isnan(weights).any():
            raise PlatewrightError(f"the new rows have probability zero whatever `{name}` is")
        self._chances[name] = np.exp(weights).mean(axis=0)
        return np.argmax(weights + generator.gumbel(size=weights.shape), axis=-1)

    def _chain(
        self, name: str, environment: Environment, drawn: frozenset[str], generator: np.random.Generator
    ) -> Array:
        """A hidden chain of the new rows, draw by draw: filtered forwards, sampled backwards."""
        node = self._plain.nodes[name]
        block = hidden_block(self._plain, name) if node.domain.is_finite else None
        if not isinstance(block, ChainBlock):
            raise PlatewrightError(f"`{name}` depends on its own past: predicting it needs the past rows")
        factors = [factor for factor in block.factors if factor.owner == name or factor.owner in self.columns]
        levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
        first = self.columns.get(beginning(node.axes[0].plate), np.eye(1, self.sizes[node.axes[0].plate])[0])
        same = not any(np.ptp(environment.values[key], axis=0).any() for key in drawn)
        paths: list[Array] = []
        chances: Array | float = 0.0
        filtered = None
        for draw in range(self.count):
            if filtered is None or not same:  # an estimate gives every draw the same weights
                values = {key: environment.values[key][draw] for key in drawn}
                weights = chain_weights(name, factors, levels, first, environment.with_values(values))
                filtered, added = forward(weights)
                check_possible(name, added.sum())
                share = smooth(weights, filtered)[0]
            paths.append(backward_sample(weights, filtered, generator))
            chances = chances + share / self.count
        self._chances[name] = np.asarray(chances)
        return np.array(paths)

    def _table(self, name: str) -> TableConditional:
        """The log weights of a discrete variable: its own factor, and those of given values that depend on it."""
        plain = self._plain
        factors = tuple(f for f in plain.factors if name in f.names and (f.owner == name or f.owner in self.columns))
        found = table_move(State(plain, factors, (name,)), name)
        if isinstance(found, Declined):
            raise PlatewrightError(f"`{name}` of new rows is not inferred: {found.reason}")
        table = found.conditionals[-1]
        assert isinstance(table, TableConditional)
        return table

    def _check_count(self) -> None:
        """Draws that would not fit are refused before any memory is taken."""
        for name in self.open:
            node = self.graph.nodes[name]
            levels = self.sizes.get(str(node.domain.levels), 2) if node.domain.is_finite else 1
            check_room(name, self.count * levels, (self.sizes[axis.plate] for axis in node.axes), FEWER)


def is_inferred(graph: Graph, targets: Collection[str], columns: Collection[str]) -> bool:
    """Whether a given value depends on one that is open, which has to be inferred from it."""
    given = (name for name in columns if name in graph.nodes and graph.nodes[name].kind == "random")
    return any(not _ancestors(graph, name).isdisjoint(targets) for name in given)


def predict_rows(
    plan: AnyPlan,
    parameters: Mapping[str, Array],
    learned: Mapping[str, int],
    labels: Mapping[str, tuple[object, ...]],
    new: object,
    seed: int,
) -> RowPrediction:
    """Predict what new rows leave open; `new` gives values of some variables, or just the number of rows."""
    graph = as_written(plan.graph, plan.steps)
    count = len(next(iter(parameters.values()))) if parameters else 1
    if isinstance(new, int | np.integer) and not isinstance(new, bool):
        plate = _row_plate(graph, int(new))
        first = {beginning(plate): np.eye(1, int(new), dtype=np.int64)[0]} if beginning(plate) in graph.nodes else {}
        return RowPrediction(graph, parameters, first, {**learned, plate: int(new)}, learned, labels, count, seed)
    dataset = bind(signature_of(graph), new, labels=labels)
    columns = columns_of(graph, dataset)
    return RowPrediction(graph, parameters, columns, {**learned, **dataset.sizes}, learned, labels, count, seed)


def _row_plate(graph: Graph, count: int) -> str:
    """The one plate of the rows, where the model looks at nothing else of them; an ordered one is one sequence."""
    if count < 0:
        raise ShapeError(f"{count} rows to predict", expected="0 or more")
    plates = {graph.nodes[name].axes[0].plate for name in graph.known if graph.nodes[name].axes}
    if len(plates) != 1:
        raise PlatewrightError(f"{count} new rows of which plate: {', '.join(sorted(plates))}?", hint="give columns")
    plate = plates.pop()
    for name, node in graph.nodes.items():
        if node.kind == "input" and node.axes and node.axes[0].plate == plate and name != beginning(plate):
            shown = name.split("@")[0]
            raise PlatewrightError(f"the new rows have no `{shown}`", hint=f'fit.predict({{"{shown}": ...}})')
    return plate


def _ancestors(graph: Graph, name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for parent in graph.parents[waiting.pop()]:
            if parent not in found:
                found.add(parent)
                waiting.append(parent)
    return found
