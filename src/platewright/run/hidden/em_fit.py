"""What EM found: point estimates, posteriors of hidden variables, and what they are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.numpy.learning import Options
from platewright.errors import DataError, NotLearned, NotSolvable
from platewright.family import Array
from platewright.inference.answers import MostProbable
from platewright.operation import Declined
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.run.evidence.evidence import Evidence
from platewright.run.evidence.evidence_laplace import laplace
from platewright.run.hidden.em import Estimate, Runner
from platewright.run.hidden.em_backend import SUMS_BY_C, why_not_fused
from platewright.run.hidden.integrated import distribution_at
from platewright.run.hidden.most_probable import most_probable_states
from platewright.run.hidden.peak import Peak
from platewright.run.hidden.summit import peak_of
from platewright.run.results.about_estimate import draws_about_estimate
from platewright.run.results.chosen_elements import chosen_elements
from platewright.run.results.iterated import Iterated, state_of
from platewright.run.results.outcome import Written, one_chain
from platewright.run.results.quantity import Numbers, Quantity
from platewright.run.results.writing import iterated, options_to_write
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import plan_laplace
from platewright.schemas.hidden import hidden_named

ITERATIONS, TOLERANCE = 1000, 1e-10
"""Of a search that begins where another ended."""
MOST_PARAMETERS = 30
MOST_READ = 5_000_000
"""How many rows a summary reads for standard errors, in all looks together."""


@dataclass(frozen=True, eq=False)
class Point(Quantity):
    """The estimate of one unknown."""

    estimate: Array
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    spread: Callable[[], Array] | None = None
    """What finds its standard error, where there is one."""

    def __getstate__(self) -> dict[str, object]:
        """Without the standard error, which looks at the rows."""
        return {**super().__getstate__(), "spread": None}

    @property
    def value(self) -> Numbers:
        """The estimate."""
        return self.estimate

    @property
    def mean(self) -> Numbers:
        """The estimate itself."""
        return self.estimate

    @property
    def sd(self) -> Numbers:
        """The standard error, from the curvature of the log density with what is hidden integrated out."""
        if self.spread is None:
            raise self._lacks("standard error")
        return self.spread()

    @property
    def variance(self) -> Numbers:
        """The square of the standard error."""
        return self.sd**2


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedFit(Iterated):
    """What `m.learn(data, goal="map")` returns when hidden variables are there."""

    derivation: EMPlan
    estimate: Estimate

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        count = len(self.estimate.objective)
        state = state_of(self.estimate)
        why = f": {why_not_fused(self.derivation)}" if SUMS_BY_C in self.backend else ""
        return f"em: {self.derivation.summary}; {state} after {count} iterations ({self.ran_by}{why})"

    @property
    def options(self) -> Options:
        """What the run was told."""
        return self.estimate.options

    @property
    def learned(self) -> tuple[str, ...]:
        """The parameters."""
        return tuple(self.estimate.values)

    @property
    def point(self) -> Mapping[str, Array]:
        """The mode of every parameter."""
        return self.estimate.values

    def draws(self, count: int = 1000, seed: int | None = None) -> dict[str, Array]:
        """The estimate, `count` times: an estimate is known for sure."""
        values = self.estimate.values
        return {name: np.broadcast_to(value, (count, *np.shape(value))) for name, value in values.items()}

    def __getitem__(self, name: str) -> Point:
        """The estimate of a parameter, or of a function of parameters."""
        if name in self.estimate.values:
            return Point(name, self.estimate.values[name], self.labels, lambda: self.standard_errors[name])
        if name not in self.functions:
            raise self.absent(name, self)
        drawn = self.functions_of(self.draws(1), 1)
        return Point(name, drawn[name][0], self.labels)

    def _mean(self, name: str) -> Array:
        """The mean; of what was integrated out that of its distribution at the estimate."""
        if name not in {item.name for item in self.derivation.integrated}:
            return super()._mean(name)
        known = {**self.columns, **self.estimate.values}
        return np.asarray(distribution_at(self.derivation.integrated, name, known, self.sizes).mean)

    @cached_property
    def peak(self) -> Peak:
        """The objective about the estimate."""
        return peak_of(self.derivation, self.runner, self.estimate.values)

    @property
    def runner(self) -> Runner:
        """The steps of the plan on the data."""
        if not self.columns:
            raise NotLearned("the rows were read in batches and are not in memory: there is no curvature to look at")
        return Runner(self.derivation, self.columns, self.sizes)

    @cached_property
    def standard_errors(self) -> Mapping[str, Array]:
        """By name the standard errors of the parameters."""
        return self.peak.errors

    @property
    def score(self) -> str:
        """The objective, as a table says it."""
        return f", log joint {self.log_joint:.6g}"

    @property
    def is_estimate(self) -> bool:
        """It is a point."""
        return True

    def without_row(self, row: str, number: int) -> Mapping[str, Array]:
        """The estimate of all elements of a plate but one, from where that of all stands."""
        count, graph = self.sizes[row], self.derivation.graph
        rest = chosen_elements(graph, self.columns, row, np.delete(np.arange(count), number))
        runner = Runner(self.derivation, rest, {**self.sizes, row: count - 1})
        return runner.run_from(dict(self.estimate.values), ITERATIONS, TOLERANCE).values

    def parameters(self) -> dict[str, Array]:
        """The estimate, once."""
        return self.draws(1)

    @property
    def _integrated(self) -> list[str]:
        """The hidden Gaussian variables."""
        return [member.name for group in self.derivation.latent.gaussian for member in group.members]

    def draws_by_chain(self, count: int, seed: int | None) -> tuple[dict[str, Array], str]:
        """Draws about the estimate, and of the functions that the model names."""
        drawn, source = draws_about_estimate(self, self._integrated, count, seed)
        return one_chain(drawn | self.functions_of(drawn, count)), source

    @cached_property
    def evidence(self) -> Evidence:
        """The log evidence by Laplace's method."""
        if not self.columns:
            raise DataError(
                "the rows were read from a file and not kept", hint="learn from data in memory for the evidence"
            )
        plan = plan_laplace(self.derivation.graph, "evidence")
        if isinstance(plan, Declined):
            raise NotLearned(
                f"this estimate has no Laplace evidence: {plan.reason}", hint='learn(data, goal="evidence")'
            )
        start = {**self.estimate.values, **{name: self.expected(name) for name in self._integrated}}
        return laplace(plan, self.columns, self.sizes, seed=self.seed, start=start)[0]

    def written(self) -> Written:
        """What a file keeps of the estimate."""
        found = self.estimate
        groups = {"values": found.values, "expectations": found.expectations, "columns": self.columns,
                  "track": {"track": np.array(found.objective)}, **options_to_write(self.options)}  # fmt: skip
        return iterated(self, groups, found.converged, found.interrupted)

    @property
    def shows_errors(self) -> bool:
        """Whether standard errors take little time: two looks at the rows for each pair of coordinates."""
        count = sum(np.size(value) for value in self.estimate.values.values())
        rows = max(self.sizes.values(), default=1)
        return bool(self.columns) and count <= MOST_PARAMETERS and (2 * count + 20) * count * rows <= MOST_READ

    def probabilities(self, name: str) -> Array:
        """Row by row the posterior of a hidden discrete variable at the estimate."""
        return self.estimate.expectations[hidden_named(self.derivation.hidden, name).probability]

    def most_probable(self) -> MostProbable:
        """The values of all hidden variables together that are most probable at the estimate (Viterbi along chains).

        One array a variable; of a variable with missing cells all its cells. The log probability is that of all rows.
        """
        if not self.columns:
            raise NotSolvable(
                "the rows were read in batches and are not in memory",
                expected="rows in memory",
                hint="fit.probabilities makes another pass over the file",
            )
        plan, everything = self.derivation, {**self.columns, **self.estimate.values}
        found, log_probability = most_probable_states(plan.graph, plan.latent, everything, self.sizes)
        state = {self._written(name): self._labelled(name, values) for name, values in found.items()}
        named = [self._written(item.name) for item in plan.hidden]
        return MostProbable({name: state[name] for name in named}, log_probability)

    def _written(self, hidden: str) -> str:
        """The name in the model of a hidden variable, which may stand for the missing cells of another."""
        return next((name for name in self.columns if missing_name(name) == hidden), hidden)

    def _labelled(self, hidden: str, values: Array) -> Array:
        """Levels by their labels, where they have any; cells that were seen keep their values."""
        name = self._written(hidden)
        if name != hidden:
            values = np.where(self.columns[observed_name(name)] != 0, self.columns[name], values).astype(np.int64)
        labels = self.labels.get(str(self.derivation.graph.nodes[hidden].domain.levels))
        return np.asarray(labels)[values] if labels else values

    @property
    def log_joint(self) -> float:
        """`log p(data, estimate)`."""
        return self.estimate.objective[-1]

    @property
    def log_likelihood(self) -> float:
        """`log p(data | estimate)`: the objective without the priors."""
        environment = Environment({**self.columns, **self.estimate.values}, self.sizes)
        graph, hidden = self.derivation.graph, self.derivation.latent.names | self.derivation.left
        prior = [factor for factor in self.derivation.rest if not graph.is_likelihood(factor, hidden)]
        return self.log_joint - sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in prior)
