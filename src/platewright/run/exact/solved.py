"""What a closed form leaves: posteriors, evidence and draws from the statistics of one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite

import numpy as np

from platewright.algebra.evaluate import evaluate
from platewright.errors import ImproperPosterior, NotFinite, NotLearned, PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.program.program import EVIDENCE
from platewright.run.checks.possible import refuse_impossible
from platewright.run.checks.sanity import check_moderate
from platewright.run.evidence.evidence import Evidence
from platewright.run.exact.improper import check_proper, missing_for_scales
from platewright.run.exact.kept_columns import kept_columns
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior
from platewright.run.exact.prediction import probabilities_of
from platewright.run.execute import Loaded, Statistics, check_finite, finish, loaded
from platewright.run.forward import extend_draws
from platewright.run.results.about_estimate import draws_about_estimate
from platewright.run.results.followers import followers
from platewright.run.results.outcome import DRAWS_FOR_MARGINALS, Outcome, Written, one_chain
from platewright.run.results.writing import exact
from platewright.run.samplers.sampled import Sampled
from platewright.schema import Plan
from platewright.schemas.exact import local_name


@dataclass(frozen=True, eq=False, repr=False)
class Solved(Outcome):
    """What a closed form leaves: posteriors, evidence, and densities at any point."""

    derivation: Plan
    statistics: Statistics

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

    # -- what it says of itself ---

    @cached_property
    def evidence(self) -> Evidence:
        """The log evidence in closed form."""
        return Evidence(self.log_evidence, "exact", 0.0, "closed form", self.derivation.proper)

    @property
    def is_estimate(self) -> bool:
        """Whether the mode was asked for."""
        return bool(self.derivation.goal == "map")

    @property
    def score(self) -> str:
        """The evidence, or the objective at the mode, as a table says it."""
        if self.is_estimate:
            return f", log joint {self.log_joint:.6g}"
        return f", log evidence {self.log_evidence:.6g}{self._constant}"

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """What a report says of the run."""
        if self.is_estimate:
            return super().facts
        return ("log evidence", f"{self.log_evidence:.8g}{self._constant}"), ("computed by", self.backend)

    @property
    def _constant(self) -> str:
        return "" if self.derivation.proper else " (up to a constant)"

    def draws_by_chain(self, count: int, seed: int | None) -> tuple[dict[str, Array], str]:
        """Independent draws; about a mode, whose Gaussian unknowns were not integrated out, those of a Gaussian."""
        if not self.is_estimate:
            return super().draws_by_chain(count, seed)
        drawn, source = draws_about_estimate(self, (), count, seed)
        generator = np.random.default_rng([self.seed if seed is None else seed, 1])
        return one_chain(extend_draws(self.posterior, drawn, count, generator)), source

    def written(self) -> Written:
        """What a file keeps: the statistics, and the columns that the work after the pass looks at."""
        return exact(self, self.statistics, kept_columns(self.derivation, self.columns))


def _is_finite(value: Array) -> bool:
    return bool(np.isfinite(value).all()) if value.ndim else isfinite(value.item())
