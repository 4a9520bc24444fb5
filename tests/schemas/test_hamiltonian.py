"""Hamiltonian moves: against a grid, their own reversibility, what they learn, and what they tell."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.backends.kernels.hamiltonian import State, follow, leapfrog
from platewright.backends.kernels.hamiltonian_mover import DualAveraging, HamiltonianMover, window_ends
from platewright.backends.kernels.metric import Metric, curvature_apart, curvature_together
from platewright.backends.kernels.path_energy import Energies, Told
from platewright.errors import DivergenceWarning, EnergyWarning
from platewright.family import Array
from platewright.graph.graph import read_graph
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.run.samplers.native_gibbs import compiled_gibbs
from platewright.run.samplers.native_gibbs_moves import AT, movers_of
from platewright.run.samplers.path_warnings import warn_of_paths
from platewright.schemas.gibbs import GibbsPlan, HamiltonianBlock, ScaleBlock, plan_gibbs
from platewright.schemas.scaling import scaled_form
from schemas.coupled import COUPLED, logistic_weights
from schemas.small_instance import instance
from schemas.test_native_conditionals import needs_compiler

LEVEL = 1e-5


def bent(u: Array) -> tuple[float, Array]:
    """A banana: u0 normal, u1 normal about its square."""
    gap = u[1] - u[0] ** 2
    return -0.5 * u[0] ** 2 - 2 * gap**2, np.array([-u[0] + 8 * gap * u[0], -4 * gap])


def bent_draws(count: int, generator: np.random.Generator) -> Array:
    first = generator.standard_normal(count)
    return np.stack([first, first**2 + 0.5 * generator.standard_normal(count)], axis=1)


def spread_as(covariance: list[list[float]]) -> Metric:
    """A metric of two coordinates."""
    return curvature_together(np.linalg.inv(covariance)).metric(np.zeros(2))


def kept_by_moves(count: int = 1500) -> None:
    """Started in its target, a path ends in it; step and metric are neither tuned nor good."""
    generator = np.random.default_rng(6)
    metric = spread_as([[0.7, 0.2], [0.2, 1.1]])
    ends = np.array([follow(u, bent, metric, 0.45, generator).u for u in bent_draws(count, generator)])
    noise = 2 * (ends[:, 1] - ends[:, 0] ** 2)
    for found in (ends[:, 0], noise, np.sqrt(2) * 0.5 * (ends[:, 0] + noise)):
        assert stats.kstest(found, stats.norm.cdf).pvalue > LEVEL / 3


def test_a_path_keeps_its_target() -> None:
    kept_by_moves()


def check_reversible() -> None:
    generator = np.random.default_rng(1)
    metric = curvature_apart(np.array([0.8, 1.3]) ** -2.0).metric(np.zeros(2))
    u = bent_draws(1, generator)[0]
    start = State(u, generator.standard_normal(2), *bent(u))
    there = leapfrog(start, 0.3, bent, metric)
    back = leapfrog(there, -0.3, bent, metric)
    np.testing.assert_allclose(back.u, start.u, atol=1e-12)
    np.testing.assert_allclose(back.r, start.r, atol=1e-12)


def test_a_step_back_undoes_a_step() -> None:
    check_reversible()


def check_energy() -> None:
    metric = spread_as([[0.7, 0.5], [0.5, 1.1]])
    generator = np.random.default_rng(1)
    u = bent_draws(1, generator)[0]
    start = State(u, generator.standard_normal(2), *bent(u))
    errors = []
    for count in (50, 100):
        state = start
        for _ in range(count):
            state = leapfrog(state, 1 / count, bent, metric)
        errors.append(abs(state.energy - start.energy))
    assert errors[1] < 0.3 * errors[0]


def test_small_steps_keep_the_energy_to_second_order() -> None:
    check_energy()


def scaled_noise() -> pw.Model:
    m = pw.Model("noise with a scale")
    n = m.plate("n", 6)
    m.tau = pw.Gamma(3, rate=2)
    m.e = pw.Normal(0, precision=m.tau, plates=n)
    return m


def check_scale_move(count: int = 1500) -> None:
    """Started in the joint of scale and noise, a move along the scale ends in it."""
    graph = read_graph(scaled_noise())
    form = scaled_form(graph.nodes["e"])
    assert form is not None
    plan = plan_gibbs(graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    plan = replace(plan, blocks=(ScaleBlock(("tau", "e"), graph.factors, (form,), ""),))
    mover = Moved(sampler_at(plan, {"tau": np.array(1.0), "e": np.zeros(6)}, {"n": 6}), 0).mover
    generator = np.random.default_rng(8)
    scales, noises = [], []
    for _ in range(count):
        tau = generator.gamma(3, 0.5)
        values = {"tau": np.array(tau), "e": generator.standard_normal(6) / np.sqrt(tau)}
        found = {**values, **mover.move(values, generator)}
        scales.append(float(found["tau"]))
        noises.append(found["e"] * np.sqrt(found["tau"]))
    assert stats.kstest(scales, stats.gamma(3, scale=0.5).cdf).pvalue > LEVEL / 3
    assert stats.kstest(np.ravel(noises), stats.norm.cdf).pvalue > LEVEL / 3
    moved = np.corrcoef(np.log(scales), np.log(np.square(noises).sum(axis=1)))[0, 1]
    assert abs(moved) < 4.5 / np.sqrt(count)


def test_a_move_along_a_scale_keeps_the_joint() -> None:
    check_scale_move()


def test_two_weights_of_a_logistic_regression_are_those_of_a_grid() -> None:
    generator = np.random.default_rng(3)
    x = generator.normal(size=(30, 2)) @ np.array([[1.0, 0.0], [0.8, 0.6]]) * 2
    y = (generator.random(30) < 1 / (1 + np.exp(-x @ (1.0, -0.5)))).astype(int)
    fit = logistic_weights().learn({"x": x, "y": y}, chains=2, draws=1000, warm_up=300, seed=1)
    assert "Hamiltonian" in fit.how
    side = np.linspace(-4, 4, 201)
    grid = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    logs = -0.5 * (grid**2).sum(axis=1) - np.logaddexp(0, (1 - 2 * y) * (grid @ x.T)).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    spread = (grid - mean).T @ ((grid - mean) * weights[:, None])
    drawn = fit["w"].values
    # 2000 draws of an effective size of at least 800: five standard errors of mean and spread
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * np.sqrt(np.diag(spread).max() / 800))
    np.testing.assert_allclose(np.cov(drawn.T), spread, atol=5 * np.diag(spread).max() * np.sqrt(2 / 800))


def test_windows_double_and_leave_the_last_sweeps_to_the_step() -> None:
    assert window_ends(1000) == [100, 150, 250, 450, 950]
    assert window_ends(0) == []
    for sweeps in (10, 40, 77, 150, 500):
        assert all(end <= sweeps for end in window_ends(sweeps))


def mover_of(name: str) -> tuple[HamiltonianMover, dict[str, Array]]:
    case = next(case for case in COUPLED if case.name == name)
    small = instance(case, 0)
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    number = next(n for n, block in enumerate(plan.blocks) if isinstance(block, HamiltonianBlock))
    found = Moved(sampler_at(plan, small.values, small.sizes), number).mover
    assert isinstance(found, HamiltonianMover)
    return found, small.values


def test_nothing_is_learned_after_warm_up() -> None:
    mover, values = mover_of("conjugate_scale")
    generator = np.random.default_rng(0)
    mover.begin_warm_up(60)
    for _ in range(60):
        values = {**values, **mover.move(values, generator)}
    mover.end_warm_up()
    step, learned = mover.step, mover.curvature
    for _ in range(20):
        values = {**values, **mover.move(values, generator)}
    assert mover.step == step
    assert mover.curvature is learned


def test_lost_paths_are_told() -> None:
    mover, values = mover_of("gamma_both")
    mover.step = 1e6
    mover.move(values, np.random.default_rng(0))
    assert mover.diverged == 1
    with pytest.warns(DivergenceWarning, match="1 of 1 paths of shape, level diverged"):
        warn_of_paths([mover.told()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_paths([])


def test_energies_beyond_the_numbers_of_the_machine_raise_nothing() -> None:
    wild = Energies()
    for energy in (1.0, 1e200, -1e200, 3.0):
        wild.add(energy)
    assert wild.share == 1.0 and wild.count == 4


def test_an_energy_that_creeps_is_told() -> None:
    """A walk of small steps has a small share, independent energies one of about 2."""
    generator = np.random.default_rng(4)
    independent, creeping = Energies(), Energies()
    walk = np.cumsum(generator.standard_normal(4000))
    for energy in generator.standard_normal(4000):
        independent.add(float(energy))
    for energy in walk:
        creeping.add(float(energy))
    assert abs(independent.share - 2.0) < 0.2
    assert creeping.share == pytest.approx(np.sum(np.diff(walk) ** 2) / np.sum((walk - walk.mean()) ** 2), rel=1e-9)
    with pytest.warns(EnergyWarning, match="the paths of a, b did not explore the energy"):
        warn_of_paths([Told(("a", "b"), 4000, 0, independent), Told(("a", "b"), 4000, 0, creeping)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_paths([Told(("a",), 4000, 0, independent)])


@needs_compiler
def test_c_tells_of_its_paths_what_numpy_tells() -> None:
    case = next(case for case in COUPLED if case.name == "gamma_both")
    small = instance(case, 0)
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    generator = np.random.default_rng(1)
    chain = compiled_gibbs(plan, small.columns, small.sizes).chain(small.hidden, generator)
    (_, mover), *_ = movers_of(chain, generator).items()
    mover.end_warm_up()
    by_hand = Energies()
    for _ in range(30):
        chain.run(1, 1)
        by_hand.add(mover.numbers[AT["LAST"]])
    told = mover.told()
    assert (told.paths, told.diverged) == (30, 0)
    assert told.energies.share == pytest.approx(by_hand.share, rel=1e-9)
    mover.numbers[AT["STEP"]] = 1e6
    chain.run(4, 1)
    assert (mover.told().paths, mover.told().diverged) == (34, 4)


@needs_compiler
def test_c_learns_the_step_that_numpy_learns() -> None:
    case = next(case for case in COUPLED if case.name == "gamma_both")
    small = instance(case, 0)
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    generator = np.random.default_rng(1)
    chain = compiled_gibbs(plan, small.columns, small.sizes).chain(small.hidden, generator)
    (_, mover), *_ = movers_of(chain, generator).items()
    mover.begin_warm_up(1000)
    mover.hand_over()
    by_hand = DualAveraging.around(mover.step)
    for _ in range(40):
        chain.run(1, 1)
        by_hand.learn(float(mover.numbers[AT["ACCEPTANCE"]]))
        assert mover.numbers[AT["STEP"]] == pytest.approx(np.exp(by_hand.log_step), rel=1e-12)
    assert mover.numbers[AT["LOG_AVERAGE"]] == pytest.approx(by_hand.log_average, rel=1e-12)
    step = mover.numbers[AT["STEP"]]
    mover.end_warm_up()
    chain.run(1, 1)
    kept = mover.numbers[AT["STEP"]]
    chain.run(20, 1)
    assert mover.numbers[AT["STEP"]] == kept != step


def test_an_impossible_start_is_left_during_warm_up() -> None:
    mover, values = mover_of("gamma_both")
    mover.begin_warm_up(10)
    broken = {**values, "shape": np.array(np.inf)}
    found = mover.move(broken, np.random.default_rng(0))
    assert all(np.isfinite(value).all() for value in found.values())


def test_the_plan_tells_why_unknowns_move_together() -> None:
    text = logistic_weights().derive("y", by="gibbs").explain()
    assert "move w along the gradient of their log density" in text
    assert "d/d w[j'], over n, j': " in text


def test_a_count_without_bound_is_sampled() -> None:
    """What is seen says next to nothing, so the draws are those of the prior."""
    m = pw.Model("an unknown count")
    m.size = pw.Poisson(4.0)
    m.seen = pw.Normal(m.size, sd=100.0)
    fit = m.learn({"seen": 0.0}, by="gibbs", chains=2, draws=1500, warm_up=100)
    drawn = fit["size"].values
    assert np.issubdtype(drawn.dtype, np.integer)
    assert abs(drawn.mean() - 4.0) < 0.35
    assert abs(drawn.var() - 4.0) < 0.9
