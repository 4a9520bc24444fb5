"""What mean field gives: distributions of parameters, probabilities of hidden values, and the lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.backends.numpy.learning import Options
from platewright.errors import NotLearned
from platewright.family import Array
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior
from platewright.run.hidden.mean_field_search import Bounded
from platewright.run.results.iterated import DRAWS_FOR_MEANS, Iterated, state_of
from platewright.run.samplers.sampled import Sampled
from platewright.schemas.hidden import hidden_named
from platewright.schemas.mean_field import MeanFieldPlan


@dataclass(frozen=True, eq=False, repr=False)
class MeanFieldFit(Iterated):
    """What `m.learn(data, by="mean-field")` returns."""

    derivation: MeanFieldPlan
    result: Bounded
    why: str = ""
    """What kept C from the pass over the rows, where it was asked for or would pay."""

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        found = self.result
        count = len(found.changes if self.plain else found.bounds)
        why = f": {self.why}" if self.why else ""
        told = f"{state_of(found)} after {count} iterations ({self.ran_by}{why})"
        if self.plain:
            return f"mean-field: plain mean updates (Equation 26) of {self.derivation.summary}; no bound; {told}"
        return f"mean-field: {self.derivation.summary}; {told}"

    @property
    def plain(self) -> bool:
        """Whether only means were handed from block to block (Equation 26), which gives no bound."""
        return not self.result.bounds

    @cached_property
    def posterior(self) -> Posterior:
        """The mean-field distribution of the parameters."""
        # Rows that came in batches have left nothing but the values, and nothing else is looked up.
        known = self.result.expectations
        everything = {**self.columns, **known} if isinstance(known, dict) else {}
        return Posterior(self.derivation.complete, self.result.values, everything, self.sizes)

    @property
    def options(self) -> Options:
        """What the run was told."""
        return self.result.options

    @property
    def learned(self) -> tuple[str, ...]:
        """The parameters."""
        return tuple(name for name in self.derivation.graph.nodes if name in self.posterior.unknown)

    def __getitem__(self, name: str) -> Marginal | Sampled:
        """The mean-field distribution of one parameter; by draws where it has no closed form, or is a function."""
        found = self.posterior.marginal(name) if name in self.posterior.unknown else None
        if found is not None:
            return found
        if name not in self:
            raise self.absent(name, self)
        drawn = self.draws(DRAWS_FOR_MEANS)
        drawn |= self.functions_of(drawn, DRAWS_FOR_MEANS)
        return Sampled(name, drawn[name], self.labels)

    def draws(self, count: int = 1000, seed: int | None = None) -> dict[str, Array]:
        """Draws of the parameters from the mean-field distribution."""
        return self.posterior.draws(count, np.random.default_rng(self.seed if seed is None else seed))

    def probabilities(self, name: str) -> Array:
        """Row by row the distribution of a hidden discrete variable."""
        return self.result.expectations[hidden_named(self.derivation.hidden, name).probability]

    @property
    def lower_bound(self) -> float:
        """A lower bound of the log evidence."""
        if self.plain:
            raise NotLearned(
                "plain mean updates (Equation 26) have no lower bound", hint="leave update='plain' away for one"
            )
        return self.result.bounds[-1]

    @property
    def log_evidence(self) -> float:
        """Not known exactly: `lower_bound` is what mean field gives, and what the goal `evidence` asks for."""
        if self.derivation.goal == "evidence":
            return self.lower_bound
        raise NotLearned("mean field gives a lower bound of the evidence", hint="use fit.lower_bound")
