"""Posterior predictive: what new rows will look like, given what was learned.

Closed form where the predicted mean is linear in the unknowns (Student t for regression, exact probabilities for
tables); otherwise exact independent draws. Densities of given values are exact: by eliminating one more copy of the
parameter where that has a form, else from ratios of evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Lag, all_indices, mentions, walk
from platewright.errors import MissingColumn, PlatewrightError, ShapeError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.language.plate import beginning
from platewright.language.variable import Variable
from platewright.operation import Step
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.split_partly_known import as_written, observed_name
from platewright.run.exact.continuing import (
    Continued,
    Steps,
    check_kept,
    checked,
    looks_back,
    one_step_nodes,
    steps_after,
)
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior, lift
from platewright.run.exact.predictive_density import Density, row_density
from platewright.run.exact.predictive_forms import PredictiveForms
from platewright.run.forward import DRAW, check_room, draw_node
from platewright.run.results.quantity import Numbers, Predictions, Quantity
from platewright.run.samplers.sampled import Predicted, Sampled

FEWER = "predict fewer rows at a time, or ask for fewer draws with count="


@dataclass(frozen=True, eq=False)
class Prediction(Predictions):
    """Predicted variables by name."""

    posterior: Posterior
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    targets: tuple[str, ...]
    labels: Mapping[str, tuple[object, ...]]
    count: int = 4000
    seed: int = 0
    scored: Callable[[Mapping[str, object]], Array] | None = None
    """The log density of complete new rows, by ratios of evidence."""

    def __post_init__(self) -> None:
        self._check_inputs()
        self._check_sizes()

    def _check_inputs(self) -> None:
        """Rows given by their number alone can only be predicted when the model looks at nothing else of them."""
        nodes, program = self._graph.nodes, self.posterior.plan.program
        masks = self.posterior.plan.graph.nodes.keys() - nodes.keys()
        rows = {nodes[name].axes[0].plate for name in self.targets if nodes[name].axes}
        for name, axes in program.columns.items():
            if self.columns or name in self.targets or name in masks or not axes or axes[0].plate not in rows:
                continue
            if name.startswith(beginning("")):
                continue  # new steps go on, and do not begin
            shown = name.split("@")[0]
            raise MissingColumn(
                f"the new rows have no `{shown}`",
                expected=f"a value of `{shown}` for each new row",
                hint=f'fit.predict({{"{shown}": ...}})',
            )

    def _check_sizes(self) -> None:
        """What was learned fits plates of the size that it was learned with."""
        nodes = self._graph.nodes
        for plate, size in self.sizes.items():
            if size < 0:
                raise ShapeError(f"{size} rows to predict", where=f"plate {plate}", expected="0 or more")
        for name in self._unknown - self._fresh:
            for axis in nodes[name].axes:
                old, new = self.posterior.sizes[axis.plate], self.sizes[axis.plate]
                if new != old:
                    raise ShapeError(
                        f"plate `{axis.plate}` has size {new} in the new rows",
                        where=f"plate {axis.plate} of `{name}`",
                        expected=f"{old}, as learned",
                    )

    def __repr__(self) -> str:
        return f"<Prediction of {', '.join(self.targets) or 'nothing'}>"

    def __getitem__(self, name: str) -> Marginal | Sampled:
        if name not in self.targets:
            raise UnknownName(name, self.targets, where="prediction")
        closed = self._closed(name)
        if closed is not None:
            return closed
        return Predicted(name, self.draws[name], self.labels, density=self._density(name))

    def density_of(self, name: str) -> Density | None:
        """The exact log density of one variable given all others of its row, where it has a closed form."""
        found = self._forms.level_density(self._here[0][name])
        if found is not None:
            return found
        closed = self._closed(name)
        return closed.log_density if closed is not None else self._row_density(name)

    def _row_density(self, name: str) -> Density | None:
        node = self._here[0][name]
        if looks_back(node) or mentions(node.log_density, (set(self.targets) | self._fresh) - {name}):
            return None
        return row_density(node, self.posterior, self._environment)

    def _density(self, name: str) -> Density | None:
        """The exact log density of one predicted variable, row by row; of later steps, given those before."""
        found = self._row_density(name)
        if found is not None:
            return found
        if len(self.targets) > 1 or self.scored is None:
            return None  # the others would have to be integrated over
        return partial(self._density_alone, name)

    def _density_alone(self, name: str, value: object) -> Array:
        return self.log_density({name: value})

    def log_density(self, values: Mapping[str, object]) -> Numbers:
        """For each new row the joint log predictive density of given values of all predicted variables, exact."""
        if self.scored is None:
            raise PlatewrightError("this prediction does not know its fit", hint="use fit.predict(...)")
        for name in values:
            if name not in self.targets:
                raise UnknownName(name, self.targets, where="log_density(...)")
        if lacking := [name for name in self.targets if name not in values]:
            raise MissingColumn(f"no value of `{lacking[0]}`", expected="a value of each predicted variable")
        return self.scored(values)

    def probabilities(self, name: str) -> Numbers:
        """For a discrete variable of the new rows the probability of each value, along the last axis."""
        return probabilities_of(self[name], self._graph.nodes[name], self.sizes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    @cached_property
    def _graph(self) -> Graph:
        """The graph of a whole row: cells that were missing among the learned rows are given or open in new ones."""
        return as_written(self.posterior.plan.graph, self.posterior.plan.steps)

    @cached_property
    def _unknown(self) -> frozenset[str]:
        """What was learned and is not of the rows' own cells."""
        return self.posterior.unknown & frozenset(self._graph.unknown)

    @cached_property
    def _fresh(self) -> frozenset[str]:
        """Unknowns that live on the rows: new rows have new ones, which are drawn like the rows themselves."""
        nodes = self._graph.nodes
        rows = {nodes[name].axes[0].plate for name in self.targets if nodes[name].axes}
        return frozenset(n for n in self._unknown if any(axis.plate in rows for axis in nodes[n].axes[:1]))

    @cached_property
    def _nodes(self) -> Mapping[str, Variable]:
        """The nodes with all functions written out."""
        graph = self._graph
        step = remove_deterministic(graph)
        return step.after.nodes if isinstance(step, Step) else graph.nodes

    @cached_property
    def _environment(self) -> Environment:
        values = {**self.posterior.data, **self.posterior.values, **self.columns, **self._here[1]}
        return Environment(values, self.sizes)

    # -- sequences that go on ---

    @cached_property
    def _steps(self) -> Steps | None:
        """Where new steps of sequences stand; None where nothing open looks back."""
        back = [name for name in self._nodes if name in {*self.targets, *self._fresh} and looks_back(self._nodes[name])]
        if not back:
            return None
        node, plan, past = self._nodes[back[0]], self.posterior.plan, self.posterior.data
        plate = node.axes[0].plate
        if any(isinstance(part, Lag) and all_indices(part) != {node.axes[0]} for part in walk(node.log_density)):
            raise PlatewrightError(f"`{node.name}` depends on its own past along another plate than that of its rows")
        if holed := [name for name in self._graph.nodes if observed_name(name) in plan.graph.nodes]:
            raise PlatewrightError(f"`{node.name}` depends on its own past, where `{holed[0]}` had missing cells")
        check_kept(past, plate)
        found = steps_after(plan.graph, plate, past, self.posterior.sizes, self.columns, self.sizes[plate])
        return checked(found, node.name)

    @cached_property
    def _here(self) -> tuple[Mapping[str, Variable], Mapping[str, Array]]:
        """Nodes and columns for rows that are looked at one by one: of sequences, where each goes on by one step."""
        if self._steps is None or self._steps.length > 1:
            return self._nodes, {}
        return one_step_nodes(self._nodes, self._steps, self.posterior.data)

    def _continued(self, drawn: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """Draws of new steps, each given those before it."""
        assert self._steps is not None
        data, nodes, plate = self.posterior.data, self._graph.nodes, self._steps.plate
        on_rows = {name for name in data if name in nodes and plate in {axis.plate for axis in nodes[name].axes[:1]}}
        known = {**{n: v for n, v in data.items() if n not in on_rows}, **self.posterior.values}
        kept = {name: values for name, values in drawn.items() if name in self._unknown}
        past = {name: values for name, values in data.items() if name in on_rows}
        sequences = Continued(
            self._graph,
            self._steps,
            past,
            self.columns,
            known,
            self.sizes,
            kept,
            {*self.targets, *self._fresh},
            self.count,
        )
        found = sequences.draws(generator)
        return {name: found[name] for name in self.targets}

    # -- closed forms ---

    def _closed(self, name: str) -> Marginal | None:
        node = self._here[0][name]
        if any(isinstance(part, Lag) for part in walk(node.log_density)) or node.family is None:
            return None
        if mentions(node.log_density, (set(self.targets) | self._fresh) - {name}):
            return None
        return self._forms.marginal(node)

    @cached_property
    def _forms(self) -> PredictiveForms:
        return PredictiveForms(self.posterior, self._environment, self._unknown, self.labels)

    # -- draws ---

    def _check_count(self) -> None:
        """Draws that would not fit are refused before any memory is taken."""
        nodes = self._graph.nodes
        for name in self.targets:
            check_room(name, self.count, (self.sizes[axis.plate] for axis in nodes[name].axes), FEWER)

    @cached_property
    def draws(self) -> dict[str, Array]:
        """Draws of the predicted variables: parameters from the posterior, then rows from the model."""
        self._check_count()
        generator = np.random.default_rng(self.seed)
        drawn = self.posterior.draws(self.count, generator)
        if self._steps is not None:
            return self._continued(drawn, generator)
        graph = self._graph
        sizes = {**self.sizes, DRAW.plate: self.count}
        found = {name: values for name, values in drawn.items() if name in self._unknown - self._fresh}
        for name in topological(graph):
            node = graph.nodes[name]
            if name in found or name in self.columns or any(axis.plate not in sizes for axis in node.axes):
                continue
            environment = Environment({**self._environment.values, **found}, sizes)
            if node.definition is not None:
                lifted = lift(node.definition, frozenset(found), DRAW)
                found[name] = np.array(evaluate(lifted, environment, (DRAW, *node.axes)))
            elif name in self.targets or name in self._fresh:
                found[name] = draw_node(node, environment, frozenset(found), generator, (DRAW,))
        return {name: found[name] for name in self.targets}


def probabilities_of(found: Quantity, node: Variable, sizes: Mapping[str, int]) -> Numbers:
    """The probability of each value of a discrete quantity: in closed form, or the shares of its draws."""
    if not node.domain.is_finite:
        raise PlatewrightError(f"`{node.name}` is {node.domain}", expected="a variable with finitely many values")
    if isinstance(found, Sampled):
        size = sizes[str(node.domain.levels)] if node.domain.kind == "levels" else node.domain.listed
        return np.stack([(found.values == level).mean(axis=0) for level in range(size)], axis=-1)
    assert isinstance(found, Marginal)
    if "p" in found.parameters:
        return np.stack([1 - found.parameters["p"], found.parameters["p"]], axis=-1)
    return np.exp(found.parameters["log_probabilities"])
