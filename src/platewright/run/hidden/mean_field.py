"""Run a mean-field plan: soft posterior and hidden probabilities in turn; the lower bound may never fall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from platewright.elimination.expected import covariance_name, mean_name, moment_name
from platewright.elimination.state import FamilyConditional, GaussianConditional
from platewright.errors import PlatewrightError, UnknownName
from platewright.family import Array
from platewright.program.program import EVIDENCE
from platewright.recognition.moments import expected_statistics
from platewright.run.exact.marginal import Marginal, evaluate_at
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import Loaded, arguments, finish, loaded
from platewright.run.hidden.chain_group import chain_entropy, entropy_of, possible, shared
from platewright.run.hidden.climbing import FALL
from platewright.run.hidden.gaussian_hidden import condition, with_points
from platewright.run.hidden.soft_start import start_expectations
from platewright.run.results.iterated import Iterated
from platewright.schemas.hidden import hidden_named, joint_name
from platewright.schemas.mean_field import MeanFieldPlan


@dataclass(frozen=True, eq=False)
class Bounded:
    """Soft posterior values, hidden probabilities, and the lower bound at each iteration."""

    values: Mapping[str, Array]
    expectations: Mapping[str, Array]
    bounds: tuple[float, ...]
    converged: bool


@dataclass(frozen=True, eq=False)
class Runner:
    """The two updates of a plan on given data."""

    plan: MeanFieldPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]

    @cached_property
    def _parameters(self) -> Loaded:
        return loaded(self.plan.maximise)

    @cached_property
    def _hidden(self) -> Loaded:
        return loaded(self.plan.expect)

    @cached_property
    def all_sizes(self) -> dict[str, int]:
        """Sizes of plates, and of the points that stand for hidden Gaussians."""
        return with_points(self.plan.latent, self.sizes)

    def posterior(self, expectations: Mapping[str, Array]) -> tuple[Posterior, float]:
        """The distribution of the parameters given hidden probabilities, and its log normaliser."""
        program, module = self.plan.maximise, self._parameters
        everything = {**self.columns, **expectations}
        found = module.statistics(*arguments(program, module, everything, self.all_sizes))
        values = finish(program, module, found, everything, self.all_sizes)
        return Posterior(self.plan.complete, values, everything, self.sizes), float(values[EVIDENCE])

    def moments(self, posterior: Posterior) -> dict[str, Array]:
        """Expected statistics of families; means and unit covariances of Gaussian blocks."""
        found: dict[str, Array] = {}
        for conditional in self.plan.complete.conditionals:
            match conditional:
                case FamilyConditional(variable, recognised, _):
                    marginal = posterior.marginal(variable)
                    assert marginal is not None
                    batch = marginal.shape[: len(marginal.shape) - recognised.family.rank]
                    for number, moment in enumerate(expected_statistics(recognised.family)):
                        found[moment_name(variable, number)] = evaluate_at(moment, marginal.parameters, batch)
                case GaussianConditional():
                    block = posterior.block(conditional)
                    mean = block.solved(None)
                    for name in conditional.variables:
                        axes = self.plan.graph.nodes[name].axes
                        found[mean_name(name)] = block.variable_array(name, mean, axes)
                    found[covariance_name(block.name)] = block.unit_covariance()
        return found

    def hidden(self, moments: Mapping[str, Array]) -> tuple[dict[str, Array], float]:
        """Hidden probabilities given expected log factors, and their entropy."""
        everything = {**self.columns, **moments}
        found: dict[str, Array] = {}
        entropy = 0.0
        clouds = {cloud: condition(cloud, everything, self.sizes) for cloud in self.plan.latent.gaussian}
        for conditioned in clouds.values():
            found |= conditioned.arrays
            everything |= conditioned.arrays
        passed = [possible(chain, everything, self.sizes) for chain in self.plan.latent.chains]
        for one in passed:
            everything |= one.arrays
        if self.plan.expect.body:
            computed = finish(self.plan.expect, self._hidden, {}, everything, self.sizes)
            found |= {name: values for name, values in computed.items() if name.endswith(".probability")}
            entropy += sum(entropy_of(group, computed) for group in self.plan.latent.groups)
        for chain, one in zip(self.plan.latent.chains, passed, strict=True):
            given = {**everything, **found}
            shares = shared(chain, one, given, self.sizes)
            found |= shares
            entropy += chain_entropy(chain, one, shares, given, self.sizes)
        for cloud, conditioned in clouds.items():
            names = tuple(item.name for item in cloud.classes)
            weight = found[joint_name(names)] if names else 1.0
            entropy += float(np.sum(weight * conditioned.entropy))
        return found, entropy

    def run(self, expectations: Mapping[str, Array], entropy: float, iterations: int, tolerance: float) -> Bounded:
        """Updates in turn until the bound stands still."""
        bounds: list[float] = []
        current = dict(expectations)
        posterior, evidence = self.posterior(current)
        for number in range(iterations):
            if number:
                bound = evidence + entropy
                if np.isnan(bound):
                    raise PlatewrightError("the lower bound is NaN", hint="look for components without rows")
                if bounds and bound < bounds[-1] - FALL * (1 + abs(bounds[-1])):
                    raise PlatewrightError(
                        f"the lower bound fell from {bounds[-1]:.10g} to {bound:.10g}",
                        hint="this is a defect of the derivation: please report the model",
                    )
                bounds.append(bound)
                if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) <= tolerance * (1 + abs(bound)):
                    return Bounded(posterior.values, current, tuple(bounds), True)
            current, entropy = self.hidden(self.moments(posterior))
            posterior, evidence = self.posterior(current)
        return Bounded(posterior.values, current, (*bounds, evidence + entropy), False)


def run_mean_field(
    plan: MeanFieldPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
) -> Bounded:
    """The search of `searched` with all rows in memory."""
    start = partial(start_expectations, plan, columns, sizes)
    return searched(Runner(plan, columns, sizes), start, seed, restarts, iterations, tolerance)


def searched(
    runner: Runner,
    start: Callable[[np.random.Generator], Mapping[str, Any]],
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
) -> Bounded:
    """The best of several short runs, carried on until it stands still."""
    best: Bounded | None = None
    for generator in np.random.default_rng(seed).spawn(restarts):
        found = runner.run(start(generator), 0.0, 20 if restarts > 1 else iterations, tolerance)
        if best is None or found.bounds[-1] > best.bounds[-1]:
            best = found
    assert best is not None
    if best.converged:
        return best
    ended = runner.run(best.expectations, 0.0, iterations, tolerance)
    return Bounded(ended.values, ended.expectations, best.bounds + ended.bounds, ended.converged)


@dataclass(frozen=True, eq=False, repr=False)
class MeanFieldFit(Iterated):
    """What `m.learn(data, by="mean-field")` returns."""

    plan: MeanFieldPlan
    result: Bounded
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    seed: int = 0
    backend: str = "numpy"
    seconds: Mapping[str, float] | None = None

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        state = "converged" if self.result.converged else "stopped"
        return f"mean-field: {self.plan.summary}; {state} after {len(self.result.bounds)} iterations ({self.backend})"

    @cached_property
    def posterior(self) -> Posterior:
        """The mean-field distribution of the parameters."""
        # Rows of a file that were not kept have left nothing but the values.
        everything = {**self.columns, **self.result.expectations} if self.columns else {}
        return Posterior(self.plan.complete, self.result.values, everything, self.sizes)

    def __getitem__(self, name: str) -> Marginal:
        """The mean-field distribution of one parameter."""
        if name not in self.posterior.unknown:
            raise UnknownName(name, self.posterior.unknown, where="fit[...]")
        found = self.posterior.marginal(name)
        if found is None:
            raise PlatewrightError(f"the marginal of `{name}` has no closed form", hint="use fit.draws()")
        return found

    def draws(self, count: int = 1000, seed: int | None = None) -> dict[str, Array]:
        """Draws of the parameters from the mean-field distribution."""
        return self.posterior.draws(count, np.random.default_rng(self.seed if seed is None else seed))

    def probabilities(self, name: str) -> Array:
        """Row by row the distribution of a hidden discrete variable."""
        return self.result.expectations[hidden_named(self.plan.hidden, name).probability]

    @property
    def lower_bound(self) -> float:
        """A lower bound of the log evidence."""
        return self.result.bounds[-1]

    @property
    def log_evidence(self) -> float:
        """Not known exactly: `lower_bound` is what mean field gives, and what the goal `evidence` asks for."""
        if self.plan.goal == "evidence":
            return self.lower_bound
        raise PlatewrightError("mean field gives a lower bound of the evidence", hint="use fit.lower_bound")
