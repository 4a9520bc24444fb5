"""The law of steps: the density after a step is the integral, sum, maximum or rewriting of the density before.

Every step of every plan of the gallery and of random models is judged on tiny data by brute force (`integrals.py`):
enumeration for discrete unknowns, quadrature for scalars and probability vectors, the quadratic itself for Gaussians.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from example_models import MAKERS
from laws.random_mixed import mixed_model
from laws.random_models import random_model
from laws.steps import TooLarge, Values, assert_holds, integral, left_to_the_program, with_moments
from platewright.algebra.build import add
from platewright.algebra.expression import Constant
from platewright.derive.plans import AnyPlan
from platewright.errors import NotSolvable
from platewright.graph.graph import Graph
from platewright.language.variable import Potential
from platewright.operation import Step
from platewright.operations.decompose import Decomposition, decompose
from platewright.run.checks.simulating import small_data
from platewright.run.density import log_density
from platewright.run.exact.fit import Fit
from platewright.run.exact.runner import choose_runner
from platewright.schema import Plan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.iterated_steps import what_is_left

Written = tuple[pw.Model, list[str]]


def mixture() -> Written:
    m = pw.Model("mixture")
    row, k = m.plate("row"), m.plate("k", 2)
    m.p = pw.Dirichlet(2.0, over=k)
    m.tau = pw.Gamma(2, rate=1, plates=k)
    m.mu = pw.Normal(0, precision=m.tau, plates=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=row)
    return m, ["y"]


def hierarchy() -> Written:
    m = pw.Model("hierarchy")
    group = m.plate("group")
    row = m.plate("row", within=group)
    m.mu = pw.Normal(0, sd=2)
    m.between = pw.Gamma(2, rate=1)
    m.within = pw.Gamma(2, rate=1)
    m.effect = pw.Normal(m.mu, precision=m.between, plates=group)
    m.y = pw.Normal(m.effect, precision=m.within, plates=row)
    return m, ["y"]


def frailty() -> Written:
    m = pw.Model("frailty")
    row = m.plate("row")
    m.rate = pw.Gamma(2, rate=1)
    m.frailty = pw.Gamma(2, rate=2, plates=row)
    m.y = pw.Exponential(rate=m.rate * m.frailty, plates=row)
    return m, ["y"]


def factor() -> Written:
    m = pw.Model("factor")
    row, column = m.plate("row"), m.plate("column", 2)
    m.load = pw.Normal(0, sd=1, plates=column)
    m.tau = pw.Gamma(2, rate=1, plates=column)
    m.f = pw.Normal(0, sd=1, plates=row)
    m.y = pw.Normal(m.load * m.f, precision=m.tau, plates=(row, column))
    return m, ["y"]


LATENT = {written.__name__: written for written in (mixture, hierarchy, frailty, factor)}


def check_plan(plan: AnyPlan, seed: int, judged_before: set[str] | None = None) -> tuple[int, int]:
    """How many steps were judged, and for how many brute force has no way; each begins where others ended."""
    judged_before = set() if judged_before is None else judged_before
    values, sizes = small_data(plan.graph, seed)
    judged = left = 0
    begun: list[Graph] = [plan.steps[0].before, plan.graph, *pieces_of(plan.graph)] if plan.steps else []
    if isinstance(plan, EvidencePlan | QuadraturePlan) and plan.complete is not None:
        begun.append(what_is_left(plan.complete))
    for step in plan.steps:
        known = any(step.before is graph for graph in begun) or step.before in begun
        assert known, f"{step.operation}: from nowhere"
        begun += [step.after, *pieces_of(step.after)]
        shown = f"{step.operation} {step.before} {step.after}"
        if step.operation == "split_partly_known" or shown in judged_before:  # the former has a law of its own
            continue
        judged_before.add(shown)
        try:
            assert_holds(step, *with_moments(plan, step, values, sizes))
            judged += 1
        except TooLarge:
            left += 1
    return judged, left


def pieces_of(graph: Graph) -> list[Graph]:
    found = decompose(graph)
    return list(found.pieces) if isinstance(found, Decomposition) else []


def check_end(plan: Plan, seed: int) -> None:
    """What is left of all pieces is the evidence that the program computes."""
    values, sizes = small_data(plan.graph, seed)
    columns = {name: values[name] for name in plan.program.columns}
    fit = Fit(plan, columns, sizes, choose_runner(plan.program, "numpy", 0).statistics(columns, sizes))
    end = what_is_left(plan)
    left = {name: value for name, value in values.items() if name in end.nodes}
    assert not end.unknown
    assert log_density(end, left, sizes) == pytest.approx(fit.log_evidence, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_every_elimination_of_the_gallery_is_an_integral(name: str) -> None:
    model, data = MAKERS[name](np.random.default_rng(1), 5)[:2]
    known = [n for n in model.variables if n in data and model.variables[n].kind in ("random", "undirected")]
    plan = model.derive(known).plan
    assert isinstance(plan, Plan)
    judged, left = check_plan(plan, 2)
    assert judged or left
    check_end(plan, 2)


def test_what_is_known_throughout_counts_at_the_end() -> None:
    m = pw.Model("a density without unknowns")
    row = m.plate("row")
    m.b, m.c = pw.Normal(0, sd=1), pw.Normal(0, sd=2)
    m.x = pw.Normal(0.5, sd=2, plates=row)
    m.y = pw.Normal(m.b * m.x, sd=1, plates=row)
    m.z = pw.Normal(m.c, sd=1, plates=row)
    plan = m.derive(["x", "y", "z"]).plan
    assert isinstance(plan, Plan)
    assert check_plan(plan, 1) == (3, 0)
    check_end(plan, 1)


SEEDS_A_BLOCK = 20


def random_plans(block: int) -> list[tuple[int, Plan]]:
    found = []
    for seed in range(block * SEEDS_A_BLOCK, (block + 1) * SEEDS_A_BLOCK):
        sample = random_model(seed)
        try:
            plan = sample.model.derive(sample.told).plan
        except NotSolvable:
            continue
        if isinstance(plan, Plan):
            found.append((seed, plan))
    return found


@pytest.mark.parametrize("block", range(2))
def test_every_elimination_of_random_models_is_an_integral(block: int) -> None:
    judged = left = 0
    for seed, plan in random_plans(block):
        one, two = check_plan(plan, seed)
        check_end(plan, seed)
        judged, left = judged + one, left + two
    assert judged > 3 * left
    assert judged >= 10


def test_a_lost_normaliser_is_noticed() -> None:
    model, _ = MAKERS["coin"](np.random.default_rng(1), 5)[:2]
    plan = model.derive(["x"]).plan
    values, sizes = small_data(plan.graph, 1)
    step = plan.steps[-1]
    assert_holds(step, values, sizes)
    for name, potential in step.after.potentials.items():
        lost = {k: v for k, v in step.after.potentials.items() if k != name}
        doubled = {**lost, name: replace(potential, expression=add(potential.expression, potential.expression))}
        for planted in (lost, doubled):
            assert not holds(replace(step, after=replace(step.after, potentials=planted)), values, sizes)


def test_a_density_that_stays_behind_is_noticed() -> None:
    """The density of `y` may not go on holding what was eliminated."""
    model, _ = MAKERS["groups"](np.random.default_rng(1), 5)[:2]
    plan = model.derive([n for n in model.variables if n in ("y", "x")]).plan
    values, sizes = small_data(plan.graph, 1)
    for step in plan.steps:
        stale = replace(step.after, potentials={**step.after.potentials, "more": Potential("more", (), Constant(0.1))})
        assert not holds(replace(step, after=stale), values, sizes)


def holds(step: Step, values: Values, sizes: Mapping[str, int]) -> bool:
    try:
        assert_holds(step, values, sizes)
    except AssertionError:
        return False
    return True


REGENERATE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "regenerate.py"))
slow = pytest.mark.slow
FOLDERS: list[Path] = [*REGENERATE["gallery"](), *REGENERATE["latent_gallery"]()]


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_step_of_the_examples_keeps_the_law(folder: Path) -> None:
    plan = REGENERATE["plan_of"](folder).plan
    assert plan.steps
    check_plan(plan, 2)
    if isinstance(plan, Plan) and plan.goal == "posterior":
        check_end(plan, 2)


ITERATED = ("em", "mean-field", "gibbs", "collapsed-gibbs", "enumeration", "chib", "annealed", "laplace")
WAYS = [("posterior", "exact"), ("map", "exact"), ("posterior", "quadrature"), ("evidence", "quadrature")]
GOALS = {"em": "map", "enumeration": "evidence", "chib": "evidence", "annealed": "evidence", "laplace": "evidence"}


@pytest.mark.parametrize("name", sorted(LATENT))
def test_every_step_of_iterative_plans_keeps_the_law(name: str) -> None:
    model, known = LATENT[name]()
    judged = 0
    before: set[str] = set()
    for by in ITERATED:
        try:
            plan = model.derive(known, by=by, goal=GOALS.get(by, "posterior")).plan  # type: ignore[arg-type]
        except NotSolvable:
            continue
        assert plan.steps, by
        judged += check_plan(plan, 3, before)[0]
    assert judged


@pytest.mark.parametrize("block", [range(12), *(pytest.param(range(a, a + 12), marks=slow) for a in range(12, 96, 12))])
def test_every_step_of_every_plan_of_random_mixed_models_keeps_the_law(block: range) -> None:
    judged = 0
    for seed in block:
        sample = mixed_model(seed)
        model = sample.model()
        known = [n for n in sample.data if n not in sample.unknown and model.variables[n].kind != "input"]
        holed = [name for name, space in sample.unknown.items() if space.known is not None]
        before: set[str] = set()
        for goal, by in [*WAYS, *((GOALS.get(by, "posterior"), by) for by in ITERATED)]:
            try:
                plan = model.derive(known, goal, by, holed).plan  # type: ignore[arg-type]
            except NotSolvable:
                continue
            assert plan.steps, by
            judged += check_plan(plan, seed, before)[0]
    assert judged >= 20


def numbers() -> Written:
    m = pw.Model("two scales")
    group = m.plate("group", 2)
    row = m.plate("row")
    m.g = pw.Input(plates=row, levels=group)
    m.s = pw.HalfNormal(sd=1.0)
    m.a = pw.Normal(0, sd=m.s, plates=group)
    m.y = pw.Normal(m.a[m.g], sd=1.0, plates=row)
    return m, ["y"]


Y = {"numbers": {"g": np.array([0, 0, 1, 1]), "y": np.array([0.4, 1.2, -0.7, -0.2])}}
Y["classes"] = {"y": np.array([0.4, 1.2, -0.7])}


def classes() -> Written:
    m = pw.Model("two classes")
    row, k = m.plate("row"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    return m, ["y"]


@pytest.mark.parametrize(
    ("write", "goal", "by"),
    [(numbers, "posterior", "quadrature"), (numbers, "evidence", "quadrature"), (classes, "evidence", "enumeration")],
)
def test_what_a_program_computes_by_numbers_is_the_integral(write: Callable[[], Written], goal: str, by: str) -> None:
    """The last step leaves a number to the program: by brute force it is the log evidence that the program reports."""
    model, known = write()
    data = Y[write.__name__]
    fit = model.learn(data, goal, by=by)  # type: ignore[call-overload]
    plan = model.derive(known, goal, by=by).plan  # type: ignore[arg-type]
    last = plan.steps[-1]
    assert left_to_the_program(last) and not last.after.unknown
    hidden = {"s": np.array(0.8), "a": np.zeros(2), "z": np.zeros(3, dtype=int), "mu": np.zeros(2), "p": np.ones(2) / 2}
    values = {**data, **{name: value for name, value in hidden.items() if name in plan.graph.nodes}}
    sizes = {"row": len(data["y"]), "group": 2, "k": 2}
    assert check_plan(plan, 1)[0] >= 3
    assert integral(last, values, sizes) == pytest.approx(fit.log_evidence, rel=1e-6)
