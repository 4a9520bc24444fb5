"""Trials before chains start: their weights are the masses of modes, and no mode that matters is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

import platewright as pw
from platewright.backends.kernels import trials
from platewright.backends.kernels.trials import LEAST_WARM_UP, MOST_TRIALS, WEIGHED, log_weights, trial_starts
from platewright.family import Array
from platewright.graph.graph import read_graph
from platewright.operation import Declined
from platewright.run.samplers.heights import heights_of
from platewright.schemas.gibbs import plan_gibbs
from platewright.schemas.one_mode import has_one_mode
from schemas import hierarchies, mixtures
from schemas.mutation import Mutant, planted
from schemas.small_instance import Case, instance, log_joint

CASES = [*mixtures.MIXTURES, *hierarchies.HIERARCHIES]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_heights_differ_as_the_log_joint_does(case: Case) -> None:
    small = instance(case)
    plan = plan_gibbs(small.graph, "posterior")
    if isinstance(plan, Declined):
        pytest.skip(plan.reason)
    wanted = {name for block in plan.blocks for name in block.variables}
    others = [instance(case, seed).hidden for seed in range(3)]
    draws = {name: np.array([values[name] for values in others]) for name in small.hidden if name in wanted}
    found = heights_of(plan, small.columns, small.sizes)(draws)
    states = [{**small.values, **{name: draws[name][k] for name in draws}} for k in range(3)]
    expected = np.array([log_joint(plan.factors, state, small.sizes) for state in states])
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-9, atol=1e-9)


def modes(count: int, widths: tuple[float, float], masses: tuple[float, float], bits: tuple[float, float]) -> Array:
    """The mean difference of log weights of draws from two modes: normals far apart, and as many coins."""
    generator = np.random.default_rng(0)
    found = []
    for _ in range(300):
        made, heights = [], []
        for k in range(2):
            x = generator.normal(20.0 * k, widths[k], (WEIGHED, count))
            coins = (generator.random((WEIGHED, count)) < bits[k]).astype(np.int64)
            chance = np.where(coins == 1, bits[k], 1 - bits[k])
            normal = -0.5 * ((x - 20.0 * k) / widths[k]) ** 2 - np.log(widths[k])
            heights.append(np.log(masses[k]) + (normal + np.log(chance)).sum(axis=1))
            made.append({"x": x, "coins": coins})
        weights = log_weights(made, heights)
        found.append(weights[1] - weights[0])
    return np.array(found)


def masses_law(count: int = 12) -> None:
    for widths in ((1.0, 1.0), (1.0, 0.1), (0.2, 2.0)):
        for bits in ((0.5, 0.5), (0.5, 1e-9)):
            found = modes(count, widths, (0.9, 0.1), bits)
            bias = 0.08 * count if bits[1] < 0.5 else 0.0  # few draws of a coin know less than its entropy
            assert abs(found.mean() - np.log(0.1 / 0.9)) < 5 * found.std() / np.sqrt(len(found)) + bias


def test_weights_of_trials_are_the_masses_of_their_modes_however_wide() -> None:
    masses_law()


def groups_law(count: int = 50) -> None:
    """Effects close to their common mean, or wide around it: the mean moves as much, and the masses are the same."""
    generator = np.random.default_rng(0)
    found = []
    for _ in range(100):
        made, heights = [], []
        for width in (1.0, 0.05):
            mean = generator.normal(0, 0.3, (WEIGHED, 1))
            x = generator.normal(mean, width, (WEIGHED, count))
            normal = -0.5 * ((x - mean) / width) ** 2 - np.log(width)
            heights.append(normal.sum(axis=1) - 0.5 * (mean[:, 0] / 0.3) ** 2)
            made.append({"mean": mean[:, 0], "x": x})
        weights = log_weights(made, heights)
        found.append(weights[1] - weights[0])
    assert abs(np.mean(found)) < 0.1 * count


def test_a_mean_that_moves_many_effects_is_not_their_spread() -> None:
    groups_law()


def places(found: Mapping[int, list[float]], heights: Callable[[Array], Array]) -> Array:
    """Where chains start whose trials, one after another, are around given places."""
    generator = np.random.default_rng(1)
    waiting = {number: iter([*mine, *[mine[-1]] * MOST_TRIALS]) for number, mine in found.items()}

    def trial(_: int, values: Mapping[str, Array]) -> dict[str, Array]:
        return {"x": values["x"] + 0.5 * generator.normal(size=WEIGHED)}

    def start(number: int) -> dict[str, Array]:
        return {"x": np.array(next(waiting[number]))}

    starts = trial_starts(len(found), LEAST_WARM_UP, start, trial, lambda draws: heights(draws["x"]))
    return np.array([values["x"] for values in starts])


def two_modes(other: float) -> Callable[[Array], Array]:
    """Log density of normals around 0 and around 9, the second by so much lower."""
    return lambda x: -2 * np.minimum(x**2, (x - 9) ** 2) - other * (x > 4.5)


def no_negligible_mode_law() -> None:
    found = {0: [9.0, 9.0, 9.0, 0.0], 1: [9.0, 0.0], 2: [0.0, 9.0], 3: [9.0, 9.0]}
    np.testing.assert_allclose(places(found, two_modes(30.0)), [0, 0, 0, 0], atol=3)


def modes_that_matter_law() -> None:
    found = {0: [9.0, 0.0], 1: [0.0, 9.0], 2: [9.0, 9.0], 3: [0.0, 0.0]}
    np.testing.assert_allclose(places(found, two_modes(2.0)), [9, 0, 9, 0], atol=3)


def test_a_chain_starts_where_a_trial_of_its_own_found_a_mode_that_matters() -> None:
    """The last chain finds none, and takes one of another."""
    no_negligible_mode_law()


def spare_trials_law() -> None:
    good = [np.array(own, dtype=bool) for own in ([0, 1, 1], [0, 0], [1, 0], [0, 0], [0, 0])]
    assert trials.taken(good) == [(0, 1), (0, 2), (2, 0), (0, 1), (2, 0)]
    assert trials.taken([np.array([True, True])]) == [(0, 0)]


def test_trials_that_no_chain_needs_are_taken_before_those_of_others() -> None:
    spare_trials_law()


def test_chains_stay_apart_in_modes_that_matter() -> None:
    modes_that_matter_law()


def errors_in_variables() -> tuple[pw.Model, dict[str, Array]]:
    """The slope has a mode of the wrong sign, of probability 1e-10, in which a chain would stay."""
    generator = np.random.default_rng(4)
    truth = generator.normal(size=6)
    m = pw.Model("errors in variables")
    row = m.plate("row")
    m.a = pw.Normal(0, sd=2.0)
    m.b = pw.Normal(0, sd=2.0)
    m.x = pw.Normal(0, sd=1.0, plates=row)
    m.w = pw.Normal(m.x, sd=0.5, plates=row)
    m.y = pw.Normal(m.a + m.b * m.x, sd=0.5, plates=row)
    w = truth + 0.5 * generator.normal(size=6)
    return m, {"w": w, "y": 1 + 2 * truth + 0.5 * generator.normal(size=6)}


@pytest.mark.parametrize("backend", ["c", "numpy"])
def test_no_chain_stays_in_a_mode_of_negligible_probability(backend: str) -> None:
    m, data = errors_in_variables()
    for seed in range(10 if backend == "c" else 2):
        fit = m.learn(data, by="gibbs", seed=seed, draws=50, warm_up=100, backend=backend)
        assert (fit.chains["b"].mean(axis=1) > 0).all(), seed


def test_two_modes_of_the_same_weight_are_both_started_from() -> None:
    """Only the square of an unknown is seen: both signs are as probable, and chains must be able to tell."""
    m = pw.Model("a square")
    m.x = pw.Normal(0, sd=3.0)
    row = m.plate("row")
    m.y = pw.Normal(m.x**2, sd=0.3, plates=row)
    signs = []
    for seed in range(8):
        fit = m.learn({"y": np.array([4.1, 3.9, 4.2])}, by="gibbs", seed=seed, draws=20, warm_up=100)
        signs += np.sign(fit.chains["x"].mean(axis=1)).tolist()
    assert 8 <= signs.count(1.0) <= 24  # of 32, each with one half


def needs_no_trials(build: Callable[[], tuple[pw.Model, dict[str, Array]]]) -> bool:
    m, data = build()
    plan = plan_gibbs(read_graph(m, data), "posterior")
    assert not isinstance(plan, Declined)
    return has_one_mode(plan)


def line() -> tuple[pw.Model, dict[str, Array]]:
    m = pw.Model("line")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.a = pw.Normal(0, sd=2.0)
    m.b = pw.Normal(0, sd=2.0)
    m.tau = pw.Gamma(1, rate=1)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=row)
    return m, {"y": np.zeros(3)}


def blend() -> tuple[pw.Model, dict[str, Array]]:
    m = pw.Model("blend")
    row, k = m.plate("row"), m.plate("k", 2)
    m.mu = pw.Normal(0, sd=4, plates=k)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    return m, {"y": np.zeros(3)}


def test_trials_are_made_where_unknowns_follow_each_other() -> None:
    assert [needs_no_trials(build) for build in (line, errors_in_variables, blend)] == [True, False, False]


MUTANTS = [
    Mutant("the entropy of normals is forgotten", trials.entropy, "total += float", "float", masses_law),
    Mutant("the entropy of levels is forgotten", trials.entropy, "total -= float", "float", masses_law),
    Mutant("movements are not shared", trials.own_spread, "min(MOST_SHARED,", "min(0,", groups_law),
    Mutant("the best mode alone is taken", trials.matter, "- NEGLIGIBLE - SURE", "- 0.0", modes_that_matter_law),
    Mutant("no mode is negligible", trials.matter, "- NEGLIGIBLE", "- 99 * NEGLIGIBLE", no_negligible_mode_law),
    Mutant("the last trial is taken", trials.taken, "own[0]) if own e", "own[-1]) if own e", modes_that_matter_law),
    Mutant("all take one spare trial", trials.taken, "[*spare[1:], spare[0]]", "spare", spare_trials_law),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_planted_defects_are_noticed(mutant: Mutant) -> None:
    mutant.law()
    with planted(mutant), pytest.raises(AssertionError):
        mutant.law()
