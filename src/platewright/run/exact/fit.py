"""The result of learning: posteriors, evidence, draws, and the derivation that led to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from platewright.data.bind import bind
from platewright.data.signature import Signature
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.operations.split_partly_known import as_written, observed_name
from platewright.run.exact.changing import check_the_rest, forgotten, looks_back, row_plate, updated
from platewright.run.exact.inferring import Inference
from platewright.run.exact.prediction import Prediction
from platewright.run.exact.scoring import leave_one_out, log_predictive, prequential, row_scores
from platewright.run.exact.solved import Solved
from platewright.run.execute import columns_of
from platewright.run.results.quantity import Predictions
from platewright.run.results.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Solved, Result):
    """What `m.learn(data)` returns where there is a closed form."""

    signature: Signature | None = None

    def without_row(self, row: str, number: int) -> Mapping[str, Array]:
        """The mode of all rows but one."""
        return self.forget([number]).point

    # -- new rows ---

    def _bound(self, new: object, graph: Graph | None = None) -> tuple[dict[str, Array], dict[str, int]]:
        if self.signature is None:
            raise PlatewrightError("this fit does not know its model", hint="learn again")
        dataset = bind(self.signature, new, labels=self.labels)
        return columns_of(self.derivation.graph if graph is None else graph, dataset), {**self.sizes, **dataset.sizes}

    def _rows(self, count: int) -> tuple[dict[str, Array], dict[str, int]]:
        """New rows without inputs: their number says all."""
        plate = row_plate(self.derivation.program, self.derivation.program.columns)
        return {}, {**self.sizes, plate: count}

    def predict(self, new: object, count: int = 4000, seed: int | None = None) -> Predictions:
        """Posterior predictive of what `new` leaves open; `new` gives the inputs of new rows, or just their number."""
        from platewright.run.results.predicting import is_inferred, predict_rows

        graph = as_written(self.derivation.graph, self.derivation.steps)
        columns, sizes = self._rows(new) if isinstance(new, int) else self._bound(new, graph)
        targets = tuple(name for name in graph.nodes if name in graph.known and name not in columns)

        seed = self.seed if seed is None else seed
        if is_inferred(graph, targets, columns):  # a given value says something about what is open above it
            nodes = tuple(graph.nodes[name] for name in targets)
            if self._are_classes_of_rows(nodes):
                return self._inferred(nodes, columns, sizes, count, seed)
            return predict_rows(self.derivation, self.draws(count, seed), self.sizes, self.labels, new, seed)
        return Prediction(self.posterior, columns, sizes, targets, self.labels, count, seed, Scored(self, new))

    def _are_classes_of_rows(self, nodes: tuple[Variable, ...]) -> bool:
        """Whether open variables have finitely many values, one for each row, and nothing else of the rows is open."""
        program, graph = self.derivation.program, self.derivation.graph
        if looks_back(program) or any(observed_name(name) in graph.nodes for name in graph.nodes):
            return False
        row = row_plate(program, program.columns)
        hidden = (graph.nodes[name].axes for name in self.posterior.unknown)
        if any(axis.plate == row for axes in hidden for axis in axes):
            return False
        domains = [node.domain for node in nodes]
        if any(one.kind != "levels" and (one.kind, one.lower, one.upper) != ("integer", 0, 1) for one in domains):
            return False  # counts are no classes: their values may begin anywhere
        return all([axis.plate for axis in node.axes] == [row] for node in nodes)

    def _inferred(
        self, nodes: tuple[Variable, ...], columns: dict[str, Array], sizes: dict[str, int], count: int, seed: int
    ) -> Inference:
        row = nodes[0].axes[0].plate
        levels = tuple(2 if node.domain.levels is None else sizes[str(node.domain.levels)] for node in nodes)

        check_the_rest(self.derivation.program, self.columns, columns, row)
        return Inference(nodes, levels, sizes[row], RowsWeighed(self, columns, sizes), count, seed, self.labels)

    def log_predictive(self, new: object) -> Array:
        """For each complete new row its log predictive density, exact by a ratio of evidence."""
        columns, sizes = self._bound(new)
        return log_predictive(self, columns, sizes)

    def update(self, more: object) -> Fit:
        """The fit after more rows, exactly as if all had been there from the start."""
        return updated(self, *self._bound(more))

    def forget(self, rows: object) -> Fit:
        """The fit without some of its rows (by number or mask), exactly as if they had never been there."""
        return forgotten(self, rows)

    def leave_one_out(self) -> Array:
        """For each row its log predictive density given all others."""
        if self.derivation.goal == "map":  # which has no evidence to take ratios of
            return super().leave_one_out()
        return leave_one_out(self)

    def prequential(self) -> Array:
        """For each row its log predictive density given those before it; all rows add up to the log evidence."""
        return prequential(self)


@dataclass(frozen=True, eq=False)
class Scored:
    """The log predictive density of new rows, once what is predicted of them is given."""

    fit: Fit
    new: object

    def __call__(self, values: Mapping[str, object]) -> Array:
        return self.fit.log_predictive({**_columns_of(self.new), **values})


@dataclass(frozen=True, eq=False)
class RowsWeighed:
    """The log density of new rows, once their open variables are filled in."""

    fit: Fit
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]

    def __call__(self, filled: Mapping[str, Array]) -> Array:
        return row_scores(self.fit, {**self.columns, **filled}, self.sizes)


def _columns_of(new: object) -> Mapping[str, Any]:
    """New rows by column, so that values can be put beside them."""
    if isinstance(new, int):
        return {}
    if isinstance(new, Mapping):
        return new
    raise PlatewrightError("densities of new rows need their inputs as a dict", hint="fit.predict({...})")


def finished(fit: Fit, seconds: dict[str, float], since: float) -> Fit:
    """Compute at once, so that an improper posterior is refused here and not at first use."""
    fit.computed  # noqa: B018
    # A copy would compute again; the times are the last thing to be known about the fit.
    object.__setattr__(fit, "seconds", {**seconds, "run": perf_counter() - since})
    return fit
