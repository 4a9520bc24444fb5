"""Laws of mean field over many models: the bound is what it says, never falls, and every block is at its best.

    bound                       E_q log p(data, unknowns) - E_q log q(unknowns)              by draws from q
    each block, at two points   log q(a) - log q(b) = E_q log p(a, others) - log p(b, others)

The second is what makes a coordinate update the best one: any other q of that block has a lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from platewright.backends.numpy import field_moments
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.exact.posterior import Posterior
from platewright.run.hidden.mean_field_search import Bounded, run_mean_field
from platewright.schemas.exact import prepare
from platewright.schemas.mean_field import MeanFieldPlan, _planned, plan_mean_field
from schemas.field_models import EVERY
from schemas.small_instance import Instance, instance

DRAWS = 2_000
SURE = 5.5
"""Standard errors that a law may be off by."""


@dataclass(frozen=True, eq=False)
class Field:
    """A plan that was run to its end on a small instance."""

    plan: MeanFieldPlan
    small: Instance
    found: Bounded

    @property
    def posterior(self) -> Posterior:
        """The distribution of all parameters."""
        known = {**self.small.columns, **self.found.expectations}
        return Posterior(self.plan.complete, self.found.values, known, self.small.sizes)

    @property
    def classes(self) -> dict[str, Array]:
        """Probabilities of hidden classes."""
        return {item.name: self.found.expectations[item.probability] for item in self.plan.hidden}

    @property
    def can_be_drawn(self) -> bool:
        """Whether hidden variables are single classes, element by element."""
        alone = all(len(group.members) == 1 for group in self.plan.latent.groups)
        return alone and not self.plan.latent.gaussian and not any(item.chain for item in self.plan.hidden)

    def draws(self, count: int, seed: int) -> dict[str, Array]:
        """Draws of all unknowns."""
        generator = np.random.default_rng(seed)
        found = self.posterior.draws(count, generator)
        for name, probability in self.classes.items():
            noise = generator.gumbel(size=(count, *probability.shape))
            with np.errstate(divide="ignore"):
                found[name] = np.argmax(np.log(probability) + noise, axis=-1)
        return found

    def log_joint(self, drawn: Mapping[str, Array], count: int) -> Array:
        """The log joint at each draw."""
        posterior = self.posterior
        total = np.zeros(count)
        for factor in self.small.graph.factors:
            values = posterior.drawn(factor.expression, factor.axes, drawn, count)
            total += values.reshape(count, -1).sum(axis=1)
        return total

    def log_q(self, drawn: Mapping[str, Array], count: int) -> Array:
        """The log density of the mean-field distribution at each draw."""
        posterior = self.posterior
        names = sorted(posterior.unknown)
        total = np.array([posterior.log_density({name: drawn[name][k] for name in names}) for k in range(count)])
        for name, probability in self.classes.items():
            at = np.take_along_axis(
                np.broadcast_to(probability, (count, *probability.shape)), drawn[name][..., None], -1
            )
            total += np.log(at).reshape(count, -1).sum(axis=1)
        return total


PLANS = {case.name: plan_mean_field(case.graph, "posterior") for case in EVERY}
CASES = {case.name: case for case in EVERY}
PLANNED = [name for name, plan in PLANS.items() if isinstance(plan, MeanFieldPlan)]
SEVERAL = [name for name in PLANNED if len(PLANS[name].fields) > 1]  # type: ignore[union-attr]


@cache
def field_of(name: str) -> Field:
    plan = PLANS[name]
    assert isinstance(plan, MeanFieldPlan)
    small = instance(CASES[name], 1)
    found = run_mean_field(plan, small.columns, small.sizes, restarts=2, iterations=500, tolerance=1e-13)
    return Field(plan, small, found)


def bound_error(field: Field, count: int = 400) -> float:
    """How many standard errors the bound is off its definition."""
    drawn = field.draws(count, 3)
    gap = field.log_joint(drawn, count) - field.log_q(drawn, count)
    spread = gap.std() / np.sqrt(count)
    return float(abs(gap.mean() - field.found.bounds[-1]) / (spread + 1e-9 * (1 + abs(gap.mean()))))


def block_errors(field: Field, count: int = DRAWS) -> dict[str, float]:
    """For each block how many standard errors its log density is off the expected log joint, at the worst of points."""
    found: dict[str, float] = {}
    drawn = field.draws(count, 5)
    for block in field.plan.fields:
        own = Posterior(block.plan, field.found.values, field.posterior.data, field.small.sizes)
        points = [{name: drawn[name][k] for name in block.variables} for k in range(4)]
        logs = []
        for point in points:
            fixed = {name: np.broadcast_to(value, (count, *value.shape)) for name, value in point.items()}
            logs.append(field.log_joint({**drawn, **fixed}, count))
        worst = 0.0
        for point, log_joint in zip(points[1:], logs[1:], strict=True):
            gap = log_joint - logs[0]
            wanted = own.log_density(point) - own.log_density(points[0])
            slack = gap.std() / np.sqrt(count) + 1e-5 * (1 + abs(wanted))
            worst = max(worst, float(abs(gap.mean() - wanted) / slack))
        found[", ".join(block.variables)] = worst
    return found


@pytest.mark.parametrize("name", PLANNED)
def test_the_bound_never_falls(name: str) -> None:
    plan = PLANS[name]
    assert isinstance(plan, MeanFieldPlan)
    for seed in range(2):
        small = instance(CASES[name], seed)
        found = run_mean_field(plan, small.columns, small.sizes, seed=seed, restarts=1, iterations=25, tolerance=0.0)
        bounds = np.array(found.bounds)
        assert np.isfinite(bounds).all()
        assert (np.diff(bounds) >= -1e-10 * (1 + np.abs(bounds[1:]))).all()


@pytest.mark.parametrize("name", SEVERAL)
def test_the_bound_is_the_expected_log_joint_and_the_entropy(name: str) -> None:
    field = field_of(name)
    if not field.can_be_drawn:
        pytest.skip("hidden variables that depend on each other are not drawn here")
    assert bound_error(field) < SURE


@pytest.mark.parametrize("name", SEVERAL)
def test_every_block_is_at_its_best_given_the_others(name: str) -> None:
    field = field_of(name)
    if not field.can_be_drawn:
        pytest.skip("hidden variables that depend on each other are not drawn here")
    errors = block_errors(field)
    assert max(errors.values()) < SURE, errors


def test_the_wanted_models_are_among_them() -> None:
    wanted = {
        *("mean_and_scale", "groups", "matrix_factors", "relevance", "student_rows", "robust_regression"),
        *("factor_analysis", "state_space", "two_states", "switching_cause", "diagonal", "gaussians"),
    }
    assert wanted <= set(SEVERAL)


@pytest.mark.parametrize("name", ["product_of_two", "groups", "relevance"])
def test_forgotten_loadings_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted defect: means without spread, as if every Gaussian were a point, in the very text that runs."""
    honest = field_moments._split

    def pointed(*asked: Any) -> list[str]:
        return [line.replace(" = ", " = 0.0 * ", 1) for line in honest(*asked)]

    plan = replace(PLANS[name])  # a plan of its own, so that its text is printed anew
    assert isinstance(plan, MeanFieldPlan)
    small = instance(CASES[name], 1)
    monkeypatch.setattr(field_moments, "_split", pointed)
    try:
        found = run_mean_field(plan, small.columns, small.sizes, restarts=1, iterations=200)
    except PlatewrightError as error:
        assert "the lower bound fell" in error.found
        return
    assert max(block_errors(Field(plan, small, found)).values()) > 2 * SURE


def test_filtering_and_one_wide_block_give_the_same_bound() -> None:
    """Hidden Gaussian states as hidden variables, filtered, and as one block of parameters: two ways to one q."""
    graph = CASES["state_space"].graph
    small = instance(CASES["state_space"], 1)
    wide = _planned(graph, prepare(graph), [], [], "posterior", True)
    assert isinstance(wide, MeanFieldPlan) and not wide.latent.names
    found = run_mean_field(wide, small.columns, small.sizes, restarts=2, iterations=2000, tolerance=1e-13)
    again = field_of("state_space").found
    # the blocks of scales differ in their order only, so that both reach a common optimum
    assert found.bounds[-1] == pytest.approx(again.bounds[-1], abs=1e-6)


@pytest.mark.parametrize("name", ["conjugate_precisions", "full_wishart", "known_variance", "latent_class"])
def test_one_block_found_by_search_is_the_joint_posterior(name: str) -> None:
    graph = CASES[name].graph
    small = instance(CASES[name], 2)
    hidden = [item for item in graph.unknown if graph.nodes[item].domain.is_finite]
    found = []
    for several in (False, True):
        plan = _planned(graph, prepare(graph), hidden, [], "posterior", several)
        assert isinstance(plan, MeanFieldPlan) and len(plan.fields) == 1
        found.append(run_mean_field(plan, small.columns, small.sizes, restarts=1, iterations=15, tolerance=0.0))
    assert found[0].bounds == found[1].bounds
