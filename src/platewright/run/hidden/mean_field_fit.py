"""What mean field gives: distributions of parameters, probabilities of hidden values, and the lower bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.backends.numpy.learning import Options
from platewright.errors import NotLearned
from platewright.family import Array
from platewright.run.evidence.evidence import Evidence
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior
from platewright.run.hidden.mean_field_search import Bounded
from platewright.run.results.iterated import DRAWS_FOR_MEANS, Iterated, state_of
from platewright.run.results.outcome import Written, one_chain
from platewright.run.results.writing import iterated, options_to_write
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

    @property
    def score(self) -> str:
        """The bound, as a table says it."""
        return ", no bound" if self.plain else f", log evidence at least {self.lower_bound:.6g}"

    def draws_by_chain(self, count: int, seed: int | None) -> tuple[dict[str, Array], str]:
        """Independent draws of the parameters, and of the functions that the model names."""
        drawn = self.draws(count, seed)
        return one_chain(drawn | self.functions_of(drawn, count)), "independent draws of the mean-field distribution"

    @cached_property
    def evidence(self) -> Evidence:
        """The lower bound."""
        detail = "mean field; the evidence itself is larger by the divergence from the posterior"
        return Evidence(self.lower_bound, "lower bound", 0.0, detail, self.derivation.complete.proper)

    def written(self) -> Written:
        """What a file keeps of the distribution."""
        found = self.result
        track = {"changes" if self.plain else "track": np.array(found.changes or found.bounds)}
        groups = {"values": found.values, "expectations": found.expectations, "columns": self.columns,
                  "track": track, "options": options_to_write(self.options)["options"]}  # fmt: skip
        return iterated(self, groups, found.converged, found.interrupted, self.why)

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
