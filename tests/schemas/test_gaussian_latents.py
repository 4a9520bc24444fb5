"""EM with hidden Gaussians against one dense integral: the log joint is quadratic in them, whatever the plates are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.execute import arguments, loaded
from platewright.run.hidden.em import Runner
from platewright.run.hidden.mean_field_search import run_mean_field
from platewright.schemas.em import EMPlan, plan_em
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field
from schemas.conditioned_gaussians import conditioned
from schemas.gaussian_latents import LATENTS
from schemas.hierarchies import HIERARCHIES
from schemas.small_instance import Case, Instance, Values, instance, log_joint
from schemas.test_em_laws import moments


def has_gaussians(case: Case) -> bool:
    plan = plan_em(case.graph, "map")
    return isinstance(plan, EMPlan) and bool(plan.latent.gaussian)


SOLVED = (*LATENTS, *(case for case in HIERARCHIES if has_gaussians(case)))


def parts(case: Case, seed: int = 1) -> tuple[EMPlan, Instance, Runner, Values]:
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan), plan.reason
    small = instance(case, seed)
    values = {name: value for name, value in small.hidden.items() if name not in plan.latent.names}
    return plan, small, Runner(plan, small.columns, small.sizes), values


class Dense:
    """All hidden Gaussians as one vector; the log joint in it by differences, which are exact for a quadratic."""

    def __init__(self, plan: EMPlan, small: Instance, values: Values) -> None:
        self.plan, self.small = plan, small
        self.given = {**small.columns, **values}
        self.members = [member for group in plan.latent.gaussian for member in group.members]
        self.shapes = [tuple(small.sizes[axis.plate] for axis in member.axes) for member in self.members]
        self.width = int(sum(np.prod(shape) for shape in self.shapes))

    def unpacked(self, vector: Array) -> Values:
        found, start = {}, 0
        for member, shape in zip(self.members, self.shapes, strict=True):
            size = int(np.prod(shape))
            found[member.name] = vector[start : start + size].reshape(shape)
            start += size
        return found

    def log_joint(self, classes: Values, vector: Array) -> float:
        point = {**self.given, **classes, **self.unpacked(vector)}
        return log_joint(self.plan.factors, point, self.small.sizes)

    def integrated(self, classes: Values) -> tuple[float, Array, Array]:
        """The log integral, the mean and the covariance."""
        unit = np.eye(self.width)
        zero = self.log_joint(classes, np.zeros(self.width))
        up = np.array([self.log_joint(classes, row) for row in unit])
        down = np.array([self.log_joint(classes, -row) for row in unit])
        slope = (up - down) / 2
        bend = np.zeros((self.width, self.width))
        for i, j in product(range(self.width), repeat=2):
            both = self.log_joint(classes, unit[i] + unit[j]) if i != j else 0.0
            bend[i, j] = both - up[i] - up[j] + zero if i != j else up[i] + down[i] - 2 * zero
        covariance = np.linalg.inv(-bend)
        mean = covariance @ slope
        log_norm = zero + 0.5 * slope @ mean + 0.5 * self.width * np.log(2 * np.pi)
        return log_norm + 0.5 * np.linalg.slogdet(covariance)[1], mean, covariance

    def classes(self) -> list[Values]:
        hidden = self.plan.hidden
        shapes = [tuple(self.small.sizes[axis.plate] for axis in item.axes) for item in hidden]
        spaces = [
            list(product(range(self.small.sizes[item.level.plate]), repeat=int(np.prod(shape))))
            for item, shape in zip(hidden, shapes, strict=True)
        ]
        return [
            {item.name: np.array(c).reshape(s) for item, c, s in zip(hidden, chosen, shapes, strict=True)}
            for chosen in product(*spaces)
        ]


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_the_objective_is_the_dense_integral(case: Case) -> None:
    plan, small, runner, values = parts(case)
    dense = Dense(plan, small, values)
    wanted = np.logaddexp.reduce([dense.integrated(classes)[0] for classes in dense.classes()])
    assert runner.expected(values).objective == pytest.approx(wanted, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_expected_statistics_are_averages_over_the_dense_posterior(case: Case) -> None:
    plan, small, runner, values = parts(case)
    dense = Dense(plan, small, values)
    found = runner.expected(values).expectations
    logs, clouds = [], []
    for classes in dense.classes():
        log_norm, mean, covariance = dense.integrated(classes)
        root = np.sqrt(dense.width) * np.linalg.cholesky(covariance)
        logs.append(log_norm)
        clouds.append((classes, np.concatenate([mean + root.T, mean - root.T])))
    shares = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    for block, program in zip(plan.blocks, plan.latent.programs, strict=False):
        soft_module, hard_module = loaded(program), loaded(block.program)
        given = {**small.columns, **values, **found}
        soft = soft_module.statistics(*arguments(program, soft_module, given, runner.all_sizes))
        wanted: dict[str, Array] = {}
        for share, (classes, cloud) in zip(shares, clouds, strict=True):
            for point in cloud:
                hard_given = {**small.columns, **values, **classes, **dense.unpacked(point)}
                one = hard_module.statistics(*arguments(block.program, hard_module, hard_given, small.sizes))
                for name, value in moments(one).items():
                    wanted[name] = wanted.get(name, 0.0) + share * value / len(cloud)
        for name, value in moments(soft).items():
            np.testing.assert_allclose(value, wanted[name], rtol=1e-6, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_the_objective_never_falls(case: Case) -> None:
    for seed in range(2):
        _, _, runner, _ = parts(case, seed)
        start = runner.guessed(np.random.default_rng(seed))
        history = np.array(runner.run(start, 40, 0.0).objective)
        assert np.isfinite(history).all()
        assert (np.diff(history) >= -1e-9 * (1 + np.abs(history[1:]))).all()


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_the_lower_bound_of_mean_field_never_falls(case: Case) -> None:
    plan = plan_mean_field(case.graph, "posterior")
    if isinstance(plan, Declined):
        pytest.skip(plan.reason)
    assert isinstance(plan, MeanFieldPlan)
    small = instance(case, 1)
    found = run_mean_field(plan, small.columns, small.sizes, restarts=1, iterations=30, tolerance=0.0)
    bounds = np.array(found.bounds)
    assert np.isfinite(bounds).all()
    assert (np.diff(bounds) >= -1e-9 * (1 + np.abs(bounds[1:]))).all()


def test_data_far_from_zero_keep_their_digits() -> None:
    case = next(case for case in LATENTS if case.name == "factor_analysis")
    plan, small, _, values = parts(case)
    moved = {**small.columns, "x": small.columns["x"] + 1e6}
    far = {**values, "mu": values["mu"] + 1e6}
    integral = plan.latent.gaussian[0].log_norm
    near, there = (
        conditioned(plan, plan.latent.gaussian[0], given, small.sizes)
        for given in ({**small.columns, **values}, {**moved, **far})
    )
    np.testing.assert_allclose(there[integral], near[integral], atol=1e-8)


def test_a_hidden_cause_inside_an_exponential_is_declined() -> None:
    m = pw.Model("log rates")
    n = m.plate("n")
    m.tau = pw.Gamma(2, rate=1)
    m.h = pw.Normal(0, precision=m.tau, plates=n)
    m.y = pw.Poisson(pw.exp(m.h), plates=n)
    found = plan_em(Case("", lambda: m, ("y",), {"n": 3}).graph, "map")
    assert isinstance(found, Declined)
    assert "h does not enter the density as a Gaussian" in found.reason


def test_hierarchies_of_gaussians_have_an_em() -> None:
    assert {"groups", "random_slopes"} <= {case.name for case in SOLVED}


def test_without_hidden_variables_modes_take_turns_until_the_gradient_vanishes() -> None:
    m = pw.Model("mean and scale apart")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1)
    m.tau = pw.Gamma(3, rate=2)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    y = np.random.default_rng(0).normal(1.0, 2.0, 30)
    fit = m.learn({"y": y}, goal="map", tolerance=1e-14)
    mu, tau = float(fit["mu"].value), float(fit["tau"].value)
    assert -mu + tau * np.sum(y - mu) == pytest.approx(0, abs=1e-5)
    assert 2 / tau - 2 + 15 / tau - 0.5 * np.sum((y - mu) ** 2) == pytest.approx(0, abs=1e-4)
