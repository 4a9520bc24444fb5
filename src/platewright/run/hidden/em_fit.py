"""What EM found: point estimates, posteriors of hidden variables, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.errors import NotSolvable
from platewright.family import Array
from platewright.inference.answers import MostProbable
from platewright.operations.split_partly_known import missing_name, observed_name
from platewright.run.hidden.em import Estimate
from platewright.run.hidden.em_backend import SUMS_BY_C, why_not_fused
from platewright.run.hidden.most_probable import most_probable_states
from platewright.run.results.iterated import Iterated, state_of
from platewright.schemas.em import EMPlan
from platewright.schemas.hidden import hidden_named


@dataclass(frozen=True, eq=False)
class Point:
    """The estimate of one unknown."""

    name: str
    value: Array
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    @property
    def mean(self) -> Array:
        """The estimate itself: a point has no spread."""
        return self.value


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
        return f"em: {self.derivation.summary}; {state} after {count} iterations ({self.backend}{why})"

    def __getitem__(self, name: str) -> Point:
        """The estimate of a parameter, or of a function of parameters."""
        if name in self.estimate.values:
            return Point(name, self.estimate.values[name], self.labels)
        drawn = self.functions_of(self._parameters(1, self.seed), 1)
        if name not in drawn:
            raise self.absent(name, [*self.estimate.values, *drawn])
        return Point(name, drawn[name][0], self.labels)

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
        graph, hidden = self.derivation.graph, self.derivation.latent.names
        prior = [factor for factor in self.derivation.rest if not graph.is_likelihood(factor, hidden)]
        return self.log_joint - sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in prior)
