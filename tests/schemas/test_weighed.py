"""Discrete unknowns that are drawn with others integrated out: against enumeration, closed forms and quadrature."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.algebra import expand
from platewright.backends.kernels import weighed as kernel
from platewright.family import Array
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.schemas import closed_forms, exact
from platewright.schemas.gibbs import WeighedBlock, plan_gibbs
from schemas import test_conditional_ratio
from schemas.joint_distribution import compare
from schemas.mutation import Mutant, planted
from schemas.small_instance import Case, instance
from schemas.switches import LATE, LOOKED_UP, SWITCHES
from schemas.test_conditional_ratio import plan_of
from schemas.test_native_conditionals import needs_compiler
from schemas.test_native_draws import check_draws
from schemas.test_native_joint_distribution import compared

CASES = {case.name: case for case in (*SWITCHES, LATE, LOOKED_UP)}


def ratio(case: Case) -> None:
    test_conditional_ratio.test_every_conditional_is_the_joint_up_to_a_constant(case)


def scores_of(case: Case, seed: int) -> tuple[Array, dict[str, Array]]:
    """The log weights of all values of the first element of the first discrete unknown, and the values of all else."""
    small = instance(case, seed)
    plan = plan_of(case)
    (number,) = [number for number, block in enumerate(plan.blocks) if isinstance(block, WeighedBlock)]
    moved = Moved(sampler_at(plan, small.values, small.sizes), number)
    name, _, lowest, levels = moved.mover.unknowns[0]
    return moved.mover.scores(moved.everything({}), name, 0, lowest, levels), small.values


def same_up_to_a_constant(found: Array, wanted: Array) -> None:
    assert np.max(np.abs(np.diff(found) - np.diff(wanted))) < 1e-8 * (1 + np.max(np.abs(wanted)))


def gaussian_evidence(y: Array, design: Array, mean: Array, prior: Array, precision: float) -> float:
    """`log int N(y | design w, 1 / precision) N(w | mean, diag prior)`, written by hand."""
    covariance = np.diag(np.full(len(y), 1 / precision)) + design @ np.diag(prior) @ design.T
    return float(stats.multivariate_normal.logpdf(y, design @ mean, covariance))


def bent_law(seed: int = 0) -> None:
    """Every place of the bend, the lines integrated out by the formula of a sum of Gaussians."""
    found, v = scores_of(CASES["bent_line"], seed)
    chances = np.log([0.1, 0.2, 0.3, 0.2, 0.1, 0.1])
    wanted = []
    for k in range(6):
        after = (k < v["number"]).astype(float)
        x = v["x"] - v["x"][k]
        design = np.stack([np.ones(6), after * x, (1 - after) * x], axis=1)
        prior = np.array([1.5, 2.0, 2.0]) ** 2
        mean = np.array([0.5, 0, 0])
        wanted.append(chances[k] + gaussian_evidence(v["y"], design, mean, prior, float(v["tau"])))
    same_up_to_a_constant(found, np.array(wanted))


def chosen_law(seed: int = 0) -> None:
    """A weight that is there or not, all weights integrated out."""
    found, v = scores_of(CASES["chosen_weights"], seed)
    wanted = []
    for here in (0, 1):
        z = np.r_[here, v["z"][1:]]
        prior = np.log([1 - v["p"], v["p"]])[z].sum()
        evidence = gaussian_evidence(v["y"], v["x"] * z, np.full(3, 0.3), np.full(3, 1.5**2), float(v["tau"]))
        wanted.append(prior + evidence)
    same_up_to_a_constant(found, np.array(wanted))


def scaled_law(seed: int = 0) -> None:
    """Heights, noise and chance all integrated out: a Student t, and a beta-binomial."""
    found, v = scores_of(CASES["scaled_step"], seed)
    wanted = []
    for k in range(6):
        after = (k < v["number"]).astype(float)
        design = np.stack([after, 1 - after], axis=1)
        shape = np.eye(6) + design @ np.diag([1 / 0.4, 1 / 0.7]) @ design.T
        t = stats.multivariate_t(design @ np.array([0.0, 1.0]), shape / 3.0, df=6)
        wanted.append(t.logpdf(v["y"]) + stats.betabinom.logpmf(k, 5, 2, 2))
    same_up_to_a_constant(found, np.array(wanted))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("law", [bent_law, chosen_law, scaled_law])
def test_a_value_weighs_the_evidence_by_hand(law: object, seed: int) -> None:
    law(seed)  # type: ignore[operator]


def test_a_potential_of_what_is_weighed_counts() -> None:
    ratio(LATE)


def test_a_rate_at_a_function_of_the_place_has_a_closed_form() -> None:
    assert "{rate, k} exact" in plan_of(LOOKED_UP).summary
    ratio(LOOKED_UP)
    found = compare(LOOKED_UP)
    assert found.passed, found


@needs_compiler
def test_c_draws_a_rate_at_a_function_of_the_place_as_numpy_does() -> None:
    check_draws(LOOKED_UP)


def test_a_change_of_rates_is_found_as_enumeration_finds_it() -> None:
    """`k` and the rates of both sides: the evidence of each k is two Gamma integrals."""
    y = np.array([4, 3, 5, 2, 1, 0, 1, 1])
    text = """model {
      for (i in 1:8) { y[i] ~ dpois(rate[1 + step(i - k - 0.5)])  share[i] <- 1 / 8 }
      for (j in 1:2) { rate[j] ~ dgamma(2, 1.5) }
      k ~ dcat(share[])
    }"""
    model = pw.read_bugs(text, {"y": y})
    fit = model.learn(model.read_from.data())
    logs = []
    for k in range(8):
        sides = [y[: k + 1], y[k + 1 :]]
        logs.append(sum(stats.nbinom.logpmf(s.sum(), 2, 1.5 / (1.5 + len(s))) + _split(s) for s in sides if len(s)))
    wanted = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(np.exp(fit["k"].parameters["log_probabilities"]), wanted, rtol=1e-9)


def _split(counts: Array) -> float:
    """The log chance that a sum of counts of one rate is split so."""
    return float(stats.multinomial.logpmf(counts, counts.sum(), np.full(len(counts), 1 / len(counts))))


def frozen() -> tuple[pw.Model, Array, Array]:
    """Lines with little noise, whose bend is doubtful all the same: drawn in turn, no chain ever leaves its bend."""
    x = np.linspace(-1, 1, 12)
    y = 0.5 - np.where(x < 0.1, 0.4, 1.0) * (x - 0.1) + 0.05 * np.random.default_rng(1).normal(size=12)
    m = pw.Model("bend")
    n = m.plate("n", 12)
    m.x, m.number = pw.Input(plates=n), pw.Input(plates=n)
    m.a, m.b, m.c = pw.Normal(0, sd=3.0), pw.Normal(0, sd=3.0), pw.Normal(0, sd=3.0)
    m.tau = pw.Gamma(2, rate=0.01)
    m.k = pw.Categorical(pw.array(np.full(12, 1 / 12), over=n))
    slope = pw.where(pw.less(m.k, m.number), m.c, m.b)
    m.y = pw.Normal(m.a + slope * (m.x - m.x[m.k]), precision=m.tau, plates=n)
    return m, x, y


@pytest.mark.parametrize("backend", ["c", "numpy"])
def test_a_bend_moves_and_its_posterior_is_that_of_enumeration(backend: str) -> None:
    """Over every bend and a grid of precisions; four chains from different starts agree."""
    m, x, y = frozen()
    options = {"draws": 1000, "warm_up": 50} if backend == "c" else {"draws": 100, "warm_up": 5, "chains": 2}
    fit = m.learn({"x": x, "number": np.arange(12), "y": y}, by="gibbs", backend=backend, **options)
    logs = log_joint_of_bends(x, y)
    wanted = np.exp(logs - np.logaddexp.reduce(logs, axis=None)).sum(axis=1)
    drawn = np.asarray(fit.chains["k"])
    found = np.bincount(drawn.ravel(), minlength=12) / drawn.size
    assert np.sum(wanted > 0.05) >= 2  # more than one bend is likely
    assert np.max(np.abs(found - wanted)) < 6 * np.sqrt(0.25 / (drawn.size / 3))
    assert all(len(np.unique(chain)) > 1 for chain in drawn)


GRID = np.linspace(np.log(5), np.log(20000), 400)


def log_joint_of_bends(x: Array, y: Array) -> Array:
    """Every bend with every precision of a grid, the lines integrated out; its sum is the evidence."""
    logs = np.empty((12, len(GRID)))
    for k in range(12):
        after, apart = np.arange(12) > k, x - x[k]
        design = np.stack([np.ones(12), np.where(after, 0, apart), np.where(after, apart, 0)], axis=1)
        for number, log_tau in enumerate(GRID):
            prior = stats.gamma.logpdf(np.exp(log_tau), 2, scale=100) + log_tau - np.log(12)
            logs[k, number] = prior + gaussian_evidence(y, design, np.zeros(3), np.full(3, 9.0), np.exp(log_tau))
    return logs + np.log(GRID[1] - GRID[0])


def test_many_classes_of_rows_stay_as_they_are() -> None:
    m = pw.Model("mixture")
    n, k = m.plate("n", 10), m.plate("k", 2)
    m.z = pw.Categorical(pw.array([0.4, 0.6], over=k), plates=n)
    m.mu = pw.Normal(0, sd=3.0, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1.0, plates=n)
    plan = m.derive("y", by="gibbs")
    assert "integrated out" not in plan.how


def test_weights_whose_number_the_data_tell_stay_as_they_are() -> None:
    m = pw.Model("weights")
    n, j = m.plate("n"), m.plate("j")
    m.x = pw.Input(plates=(n, j))
    m.z = pw.Bernoulli(0.5, plates=j)
    m.b = pw.Normal(0, sd=1.5, plates=j)
    m.y = pw.Normal(pw.sum(m.x * m.z * m.b, over=j), sd=1.0, plates=n)
    assert "{z} site by site" in m.derive("y", by="gibbs").how


def test_what_is_integrated_out_is_told() -> None:
    m, _, _ = frozen()
    shown = m.derive("y", by="gibbs").explain()
    assert "draw k exactly, a, b, c integrated out and drawn next: each holds the other" in shown


def test_the_evidence_of_a_bend_by_conditionals_is_that_of_enumeration() -> None:
    """Densities of conditionals need their normalisers, so Chib's blocks are drawn given all else."""
    m, x, y = frozen()
    fit = m.learn({"x": x, "number": np.arange(12), "y": y}, goal="evidence", by="chib", draws=2000)
    wanted = float(np.logaddexp.reduce(log_joint_of_bends(x, y), axis=None))
    assert abs(fit.log_evidence - wanted) < 0.5, (fit.log_evidence, wanted)


MUTANTS = (
    Mutant(
        "the evidence leaves out what only the weighed unknown is in",
        exact.plan_exact,
        "if factor.names & set(about)",
        "if not factor.names & set(about)",
        bent_law,
    ),
    Mutant(
        "potentials of what is weighed are lost",
        closed_forms.given_all_but,
        "held = wanted | set(about)",
        "held = wanted",
        partial(ratio, LATE),
    ),
    Mutant(
        "a value is put at the wrong element",
        kernel.put_at,
        "changed.flat[site]",
        "changed.flat[-1 - site]",
        chosen_law,
    ),
    Mutant(
        "what was integrated out is not drawn next",
        plan_gibbs,
        "for block in (one.first, one.then))",
        "for block in (one.then, one.first))",
        lambda: joint("bent_line"),
    ),
    Mutant(
        "all values are as likely",
        kernel.WeighedMover.move,
        "scores + generator",
        "0.0 * scores + generator",
        lambda: frequencies(),
    ),
    Mutant(
        "the cases of a function are told apart one too far",
        expand._Expander.split,
        "equal(part, index)",
        "equal(part, index + 1)",
        partial(ratio, LOOKED_UP),
    ),
)


def joint(name: str) -> None:
    assert compared(CASES[name], rounds=2).passed


def frequencies() -> None:
    """Values of an element are drawn as often as they weigh, given those of the others."""
    table = np.array([[0.1, 0.3], [0.2, 0.05], [0.05, 0.3]])
    mover = kernel.WeighedMover([("k", (), 0, 3), ("z", (1,), 0, 2)], lambda v: np.log(table[v["k"], v["z"][0]]))
    values: dict[str, Array] = {"k": np.array(0), "z": np.array([0])}
    generator = np.random.default_rng(0)
    counts = np.zeros((3, 2))
    for number in range(8000):
        values |= mover.move(values, generator)
        counts[values["k"], values["z"][0]] += number % 4 == 3
    assert stats.chisquare(counts.ravel(), table.ravel() * counts.sum()).pvalue > 1e-5


def test_values_are_drawn_as_often_as_they_weigh() -> None:
    frequencies()


@needs_compiler
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(mutant: Mutant) -> None:
    mutant.law()
    with planted(mutant), pytest.raises(AssertionError):
        mutant.law()
