"""The result of learning: posteriors, evidence, draws, and the derivation that led to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from platewright.algebra.evaluate import evaluate
from platewright.data.bind import bind
from platewright.data.signature import Signature
from platewright.errors import ImproperPosterior, NotFinite, NotLearned, PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.operations.split_partly_known import as_written, observed_name
from platewright.program.program import EVIDENCE
from platewright.run.checks.possible import refuse_impossible
from platewright.run.checks.sanity import check_moderate
from platewright.run.exact.changing import check_the_rest, forgotten, looks_back, row_plate, updated
from platewright.run.exact.improper import check_proper, missing_for_scales
from platewright.run.exact.inferring import Inference
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior
from platewright.run.exact.prediction import Prediction, probabilities_of
from platewright.run.exact.scoring import leave_one_out, log_predictive, prequential, row_scores
from platewright.run.execute import Loaded, Statistics, check_finite, columns_of, finish, loaded
from platewright.run.results.followers import followers
from platewright.run.results.quantity import Predictions
from platewright.run.results.result import Result
from platewright.run.samplers.sampled import Sampled
from platewright.schema import Plan
from platewright.schemas.exact import local_name

DRAWS_FOR_MARGINALS = 4000


@dataclass(frozen=True, eq=False, repr=False)
class Fit(Result):
    """What `m.learn(data)` returns."""

    derivation: Plan
    statistics: Statistics
    signature: Signature | None = None

    @cached_property
    def module(self) -> Loaded:
        """The emitted program that computed the values."""
        return loaded(self.derivation.program)

    @cached_property
    def computed(self) -> Mapping[str, Array]:
        """Everything the program computed, by name, checked."""
        try:
            found = finish(self.derivation.program, self.module, self.statistics, self.columns, self.sizes)
        except ImproperPosterior as error:
            check_moderate(self.columns)
            if self._has_distributions:
                raise NotFinite(
                    "columns follow from each other, and are too large beside the prior for floating point",
                    hint="measure them in other units, or leave one of them out",
                ) from error
            if needed := missing_for_scales(self.derivation, self.columns, self.sizes):
                raise ImproperPosterior(f"{error.found}, and {needed}", hint=error.hint) from error
            raise
        if not all(_is_finite(value) for value in found.values() if value.dtype.kind == "f"):
            check_moderate(self.columns)
        check_proper(self.derivation, found, self.sizes)
        check_finite("log evidence", found[EVIDENCE])
        if found[EVIDENCE] == -np.inf:
            refuse_impossible(self.derivation.graph, self.columns, self.sizes, self.derivation.goal == "evidence")
        return found

    @property
    def _has_distributions(self) -> bool:
        """Whether every unknown has a proper prior of a family, so that no posterior can be improper."""
        graph = self.derivation.graph
        named = all(graph.nodes[name].family is not None for name in graph.unknown)
        return self.derivation.proper and named and not graph.potentials

    # -- answers ---

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)`; up to a constant when a prior is improper."""
        if self.derivation.goal == "map":
            raise NotLearned("a fit for the goal `map` has no evidence", hint='learn with goal="posterior"')
        return float(self.computed[EVIDENCE])

    @property
    def local_evidence(self) -> Mapping[tuple[str, ...], float]:
        """The log evidence of each independent piece, by its unknowns (Lemma 6.4); the sum is the log evidence."""
        found = {}
        for piece in self.derivation.pieces:
            value = self.computed.get(local_name(piece), self.computed[EVIDENCE])
            found[piece] = float(value)
        known = self.computed.get(local_name(()))
        return found if known is None else {**found, (): float(known)}

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        return f"{self.derivation.schema}: {self.derivation.summary} ({self.ran_by})"

    @cached_property
    def posterior(self) -> Posterior:
        """The joint posterior."""
        return Posterior(self.derivation, self.computed, self.columns, self.sizes)

    @property
    def learned(self) -> tuple[str, ...]:
        """The unknowns, in the order of writing."""
        return tuple(name for name in self.derivation.graph.nodes if name in self.posterior.unknown)

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of unknowns, and what is predicted of the rows that were learned from."""
        plan = self.derivation
        return followers(plan.graph, self.learned, plan.barren, self.columns, self.sizes)

    def __getitem__(self, name: str) -> Marginal | Sampled:
        """The posterior of one unknown."""
        if name not in self.posterior.unknown:
            return self._other(name)
        found = self.posterior.marginal(name)
        point = self.posterior.modes[name] if self.derivation.goal == "map" else None
        if found is None:
            return Sampled(name, self._marginal_draws[name], self.labels, point=point)
        return replace(found, labels=self.labels, point=point)

    def _other(self, name: str) -> Sampled:
        """Predicted nodes and functions of unknowns are shown by draws."""
        if name in self.functions:
            return Sampled(name, self._draws_of(name), self.labels)
        raise self.absent(name, self)

    def _draws_of(self, name: str) -> Array:
        """Draws of one unknown, or of what follows; always the same ones."""
        from platewright.run.forward import extend_draws

        drawn = self._marginal_draws
        if name in drawn:
            return drawn[name]
        generator = np.random.default_rng([self.seed, 1])
        return extend_draws(self.posterior, drawn, DRAWS_FOR_MARGINALS, generator, name)[name]

    @cached_property
    def _marginal_draws(self) -> Mapping[str, Array]:
        """Draws of the unknowns."""
        return self.posterior.draws(DRAWS_FOR_MARGINALS, np.random.default_rng(self.seed))

    def draws(self, count: int = 1000, seed: int | None = None) -> dict[str, Array]:
        """Independent draws from the joint posterior, by name; the first axis numbers the draws."""
        from platewright.run.forward import extend_draws

        if not isinstance(count, int | np.integer) or count < 1:
            raise PlatewrightError(f"{count!r} draws", expected="a whole number from 1")
        generator = np.random.default_rng(self.seed if seed is None else seed)
        drawn = self.posterior.draws(count, generator)
        return extend_draws(self.posterior, drawn, count, generator)

    def log_joint_at(self, point: Mapping[str, Array]) -> float:
        """`log p(data, point)`: the joint density of data and unknowns, straight from the model."""
        if lacking := sorted(self.posterior.unknown - set(point)):
            raise PlatewrightError(f"the point has no `{lacking[0]}`", expected="a value for every unknown")
        if self._has_rows:
            return self._log_density_of(self.derivation.factors, point)
        if self.derivation.goal == "map":
            raise PlatewrightError("the rows were read from a file and not kept", hint="learn from data in memory")
        return self.log_evidence + self.posterior.log_density(point)  # Bayes' theorem, the other way round

    @property
    def _has_rows(self) -> bool:
        return bool(self.columns) or not self.derivation.program.columns

    def _log_density_of(self, factors: Iterable[Factor], point: Mapping[str, Array]) -> float:
        environment = self.posterior.environment.with_values(point)
        return float(sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in factors))

    def probabilities(self, name: str) -> Array:
        """For a discrete unknown the posterior probability of each of its values, along the last axis."""
        node = self.derivation.graph.nodes.get(name)
        if node is None or name not in self.posterior.unknown or not node.domain.is_finite:
            raise PlatewrightError(
                f"`{name}` is not a discrete unknown", expected="a variable with finitely many values"
            )
        exact = self.posterior.probabilities(name)
        if exact is not None:
            return exact
        return probabilities_of(self[name], node, self.sizes)

    def _mean(self, name: str) -> Array:
        node = self.derivation.graph.nodes.get(name)
        if node is not None and name in self.posterior.unknown and node.domain.is_finite:
            return self.probabilities(name)
        found = self[name]
        if isinstance(found, Marginal) and found.family.mean is None:
            return np.asarray(self._draws_of(name).mean(axis=0))
        return np.asarray(found.mean)

    @property
    def estimate(self) -> Mapping[str, Array]:
        """The point estimate of every unknown."""
        if self.derivation.goal == "map":
            return self.posterior.modes
        return {name: np.asarray(self[name].value) for name in self.posterior.unknown}

    @property
    def log_joint(self) -> float:
        """`log p(data, estimate)`."""
        if self.derivation.goal != "map" or self._has_rows:
            return self.log_joint_at(self.estimate)
        # For a mode Gaussian blocks are maximised out, so that what is left is integrated over the others alone.
        return float(self.computed[EVIDENCE]) + self.posterior.log_density(self.estimate, gaussian=False)

    @property
    def log_likelihood(self) -> float:
        """`log p(data | estimate)`: the joint density without the priors."""
        prior = [factor for factor in self.derivation.factors if not self.derivation.graph.is_likelihood(factor)]
        return self.log_joint - self._log_density_of(prior, self.estimate)

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


def _is_finite(value: Array) -> bool:
    return bool(np.isfinite(value).all()) if value.ndim else isfinite(value.item())


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
