"""Classes of censored values: drawn with these integrated out, against survival functions, tails and a grid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from backends.test_gibbs_source import test_a_sweep_is_the_library_s as sweep_is_the_library_s
from platewright.algebra.evaluate import elementwise
from platewright.backends.numpy.movers import MoverText
from platewright.families import FAMILIES
from platewright.family import Array
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.run.samplers.effective_size import effective_size
from platewright.run.samplers.native_gibbs import compiled_gibbs, gibbs_in_memory
from platewright.schemas import censored
from platewright.schemas.gibbs import BoundedBlock, ExactBlock
from schemas.mutation import Mutant, planted
from schemas.small_instance import Case, instance
from schemas.test_conditional_ratio import log_conditional, plan_of
from schemas.test_native_conditionals import needs_compiler


def cure(shape: float = 0.0, cured: float = 0.02) -> pw.Model:
    """Some never fall ill, or as good as never: who has not by the end is one of them, or not yet."""
    m = pw.Model("cure")
    ill, well = m.plate("ill"), m.plate("well")
    m.end = pw.Input(plates=well)
    m.p, m.rate = pw.Beta(2, 2), pw.Gamma(3, rate=3.0)
    m.y, m.z = pw.Bernoulli(m.p, plates=ill), pw.Bernoulli(m.p, plates=well)
    first, second = pw.where(m.y, cured, m.rate), pw.where(m.z, cured, m.rate)
    if shape:
        m.s = pw.Weibull(shape, rate=first, plates=ill)
        m.t = pw.Censored(pw.Weibull(shape, rate=second), lower=m.end, plates=well)
    else:
        m.s = pw.Exponential(rate=first, plates=ill)
        m.t = pw.Censored(pw.Exponential(rate=second), lower=m.end, plates=well)
    return m


SIZES = {"ill": 4, "well": 5}
CASES = (Case("exponential", cure, ("s",), SIZES), Case("weibull", lambda: cure(1.7), ("s",), SIZES))


def log_survival(case: Case, t: Array, rate: Array) -> Array:
    return -rate * t if case.name == "exponential" else -rate * t**1.7


def blocks_of(case: Case) -> tuple[int, ExactBlock, BoundedBlock]:
    """The draw of the classes, and the one of the times that comes right after."""
    blocks = plan_of(case).blocks
    (at,) = [number for number, block in enumerate(blocks) if block.variables == ("z",)]
    first, then = blocks[at : at + 2]
    assert isinstance(first, ExactBlock) and first.without == ("t",)
    assert isinstance(then, BoundedBlock) and then.variables == ("t",)
    return at, first, then


def check_classes(case: Case) -> None:
    """The chance of a class is the prior times the survival to the end, whatever the time is."""
    _, first, _ = blocks_of(case)
    for seed in range(3):
        small = instance(case, seed)
        v = small.values
        logs = [
            np.log([1 - v["p"], v["p"]])[z] + log_survival(case, v["end"], np.where(z, 0.02, v["rate"]))
            for z in (np.zeros(5, int), np.ones(5, int))
        ]
        chance = np.array(logs) - np.logaddexp(*logs)
        for z in (np.zeros(5, int), np.ones(5, int), np.array([0, 1, 0, 0, 1])):
            found = log_conditional(first, plan_of(case), small, {"z": z})
            assert found == pytest.approx(chance[z, np.arange(5)].sum(), abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_class_weighs_its_survival(case: Case) -> None:
    check_classes(case)


def check_times(case: Case, drawn: Array, ends: Array, rate: Array) -> None:
    """What is beyond the ends falls off as the family says."""
    share = np.exp(log_survival(case, drawn, rate) - log_survival(case, ends, rate))
    assert (drawn >= ends).all()
    for element in range(share.shape[1]):
        assert stats.kstest(share[:, element], "uniform").pvalue > 1e-6


ENDS = np.array([0.0, 0.5, 3.0, 60.0, 2000.0])
"""The last two leave less than a double tells from nothing."""


def numpy_times(case: Case) -> None:
    small = instance(case, 1)
    values = {**small.values, "end": ENDS, "z": np.array([0, 1, 0, 0, 0]), "rate": np.array(1.3)}
    plan = plan_of(case)
    at, _, _ = blocks_of(case)
    mover = Moved(sampler_at(plan, values, small.sizes), at + 1).mover
    generator = np.random.default_rng(0)
    drawn = np.array([mover.move(values, generator)["t"] for _ in range(1500)])
    check_times(case, drawn, ENDS, np.where(values["z"], 0.02, 1.3))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_times_are_drawn_anew_beyond_any_end(case: Case) -> None:
    numpy_times(case)


@needs_compiler
@pytest.mark.parametrize("build", [compiled_gibbs, gibbs_in_memory], ids=["compiled", "in_memory"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_times_are_drawn_anew_in_c(case: Case, build: object) -> None:
    at, _, _ = blocks_of(case)
    small = instance(case, 1)
    hidden = {**small.hidden, "z": np.array([0, 1, 0, 0, 0]), "rate": np.array(1.3), "t": ENDS + 1e6}
    native = build(plan_of(case), {**small.columns, "end": ENDS}, small.sizes)  # type: ignore[operator]
    chain = native.chain(hidden, np.random.default_rng(2))
    kept = {"t": np.empty((1500, 5))}
    chain.run(1500, 1, kept, only=at + 1)
    check_times(case, kept["t"], ENDS, np.where(hidden["z"], 0.02, 1.3))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_emitted_sweep_is_the_library_s(case: Case) -> None:
    sweep_is_the_library_s(case)


def posterior_on_a_grid(s: Array, end: Array, cured: float) -> tuple[float, float]:
    """The means of the share and of the rate, classes and times summed out by hand."""
    p, rate = np.meshgrid(np.linspace(0.001, 0.999, 400), np.linspace(0.005, 5, 600), indexing="ij")
    logs = np.log(p * (1 - p)) + 2 * np.log(rate) - 3 * rate
    for time in s:
        logs += np.log(p * cured * np.exp(-cured * time) + (1 - p) * rate * np.exp(-rate * time))
    for time in end:
        logs += np.log(p * np.exp(-cured * time) + (1 - p) * np.exp(-rate * time))
    weights = np.exp(logs - logs.max())
    return float((weights * p).sum() / weights.sum()), float((weights * rate).sum() / weights.sum())


@pytest.mark.parametrize(("backend", "draws"), [("c", 8000), ("numpy", 300)])
@pytest.mark.parametrize("cured", [1e-9, 0.02])
def test_the_share_of_the_cured_is_that_of_a_grid(backend: str, draws: int, cured: float) -> None:
    """Drawn in turn with their times, classes of a rate of 1e-9 never change, and the share comes out near nought."""
    generator = np.random.default_rng(4)
    times = np.where(generator.random(40) < 0.3, np.inf, generator.exponential(1.0, 40))
    data = {"s": times[times < 3], "end": np.full(int(np.sum(times >= 3)), 3.0)}
    chains = 4 if backend == "c" else 2
    options = {"draws": draws, "warm_up": 50, "chains": chains}
    fit = cure(cured=cured).learn(data, by="gibbs", backend=backend, seed=1, **options)
    wanted = posterior_on_a_grid(data["s"], data["end"], cured)
    for name, mean in zip(("p", "rate"), wanted, strict=True):
        chain = np.asarray(fit.chains[name])
        error = chain.std() / np.sqrt(effective_size(chain))
        assert abs(chain.mean() - mean) < 4.5 * error, (name, chain.mean(), mean, error)
    assert "frozen" not in str(fit.summary())


def test_the_plan_proves_itself() -> None:
    laws = cure().derive("s", by="gibbs").verify()
    assert laws.passed


def test_bounds_on_both_sides_stay_as_they_are() -> None:
    m = pw.Model("interval")
    n = m.plate("n", 4)
    m.z = pw.Bernoulli(0.4, plates=n)
    m.t = pw.Censored(pw.Exponential(rate=pw.where(m.z, 0.5, 2.0)), lower=0.3, upper=1.4, plates=n)
    m.x = pw.Normal(m.z, sd=1.0, plates=n)
    assert "integrated out" not in m.derive("x", by="gibbs").how


def tails() -> None:
    """The point beyond which a share lies has that survival, as the cumulative distribution tells."""
    shares = np.log(np.array([0.999, 0.7, 0.2, 1e-3, 1e-6]))
    stated = [family for family in FAMILIES if family.tail is not None]
    assert len(stated) >= 2
    for family in stated:
        given = {parameter.name: np.array(1.7 - 0.4 * k) for k, parameter in enumerate(family.parameters)}
        assert family.tail is not None and family.cumulative is not None
        at = family.tail(shares, given)
        below = np.asarray(elementwise(family.cumulative, {**given, "x": at}))
        np.testing.assert_allclose(np.log1p(-below), shares, rtol=1e-9, atol=1e-12)


def test_tails_agree_with_cumulative_distributions() -> None:
    tails()


MUTANTS = (
    Mutant(
        "a class weighs the whole line",
        censored.drawn_anew,
        "log_beyond=mass)",
        "log_beyond=0.5 * mass)",
        lambda: check_classes(CASES[0]),
    ),
    Mutant(
        "times begin anew at nought",
        MoverText._beyond,
        "{self._full(block.log_beyond, node.axes)} + np.log1p(-share)",
        "np.log1p(-share)",
        lambda: numpy_times(CASES[1]),
    ),
    Mutant(
        "classes are drawn after their times",
        censored.censored_first,
        "[*first, *(block for name, block in beyond.items() if name in gone),",
        "[*(block for name, block in beyond.items() if name in gone), *first,",
        lambda: check_classes(CASES[0]),
    ),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(mutant: Mutant) -> None:
    mutant.law()
    with planted(mutant), pytest.raises(AssertionError):
        mutant.law()
