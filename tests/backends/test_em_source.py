"""The source of EM runs alone, and takes the same way as the library."""

from __future__ import annotations

import ast
import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.backends.numpy.em import _EMEmitter, numpy_em_source
from platewright.backends.numpy.em_support import MODES
from platewright.families import FAMILY_BY_NAME
from platewright.run.hidden.em import Runner
from platewright.run.hidden.em_search import run_em
from platewright.run.hidden.soft_start import start_expectations
from platewright.schemas.em import EMPlan, plan_em
from schemas import chains_that_meet, flat_mixtures, hierarchies, mixtures, sequences
from schemas.small_instance import Case, instance


def is_one_program(case: Case) -> bool:
    """Whether hidden variables are discrete, and all parameters have a common mode."""
    plan = plan_em(case.graph, "map")
    return isinstance(plan, EMPlan) and len(plan.blocks) == 1 and not plan.latent.gaussian


CASES = [case for case in (*mixtures.MIXTURES, *sequences.CHAINS, *chains_that_meet.MEETING) if is_one_program(case)]


def emitted(plan: EMPlan) -> tuple[dict[str, Any], Any]:
    """The functions of the program, and the names of things in it."""
    space: dict[str, Any] = {"__name__": "em"}
    exec(compile(numpy_em_source(plan), "<em>", "exec"), space)
    emitter = _EMEmitter(plan)
    emitter.module()
    return space, emitter.names


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_step_is_the_library_s(case: Case) -> None:
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    space, names = emitted(plan)
    small = instance(case, 0)
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    guess = space["start"](data, size, np.random.default_rng(3))
    wanted = start_expectations(plan, small.columns, small.sizes, np.random.default_rng(3))
    assert all(np.allclose(guess[names(name)], value, atol=1e-14) for name, value in wanted.items())
    runner = Runner(plan, small.columns, small.sizes)
    values = runner.maximised(wanted, {})
    everything = {**data, **guess}
    mode = space["maximise"](space["statistics"](everything, size), everything, size)
    assert {names(name) for name in values} == mode.keys()
    assert all(np.allclose(mode[names(name)], value, rtol=1e-12) for name, value in values.items())
    chances, objective = space["expect"]({**data, **mode}, size)
    expected = runner.expected(values)
    assert objective == pytest.approx(expected.objective, rel=1e-12)
    assert all(np.allclose(chances[names(n)], value, atol=1e-13) for n, value in expected.expectations.items())


@pytest.mark.parametrize(
    "name", ["conjugate_precisions", "two_causes", "symbols_several", "unknown_centre", "kinds_of_moves", "events"]
)
def test_the_same_seed_leads_to_the_same_mode(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    space, names = emitted(plan)
    small = instance(case, 1)
    data = {names(key): value for key, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    wanted = run_em(plan, small.columns, small.sizes, seed=4)
    found = space["learn"](data, size, seed=4, tolerance=1e-14, iterations=5000)
    # The library takes longer steps where EM is slow, and so ends a little nearer to the mode.
    assert found["log_joint"] == pytest.approx(wanted.objective[-1], abs=1e-8)
    assert all(np.allclose(found[names(key)], value, rtol=1e-3, atol=1e-4) for key, value in wanted.values.items())


def flowers() -> tuple[pw.Model, dict[str, list[Any]]]:
    m = pw.Model('flowers """ of \\ two kinds')
    row, kind = m.plate("row"), m.plate("kind", 2)
    colour = m.plate("colour", labels=["red", "white", "blue"])
    m.share = pw.Dirichlet(2.0, over=kind)
    m.expect = pw.Dirichlet(1.5, over=colour, plates=kind)
    m.spread = pw.InverseGamma(3, scale=2, plates=kind)
    m.mu = pw.Normal(0, variance=4 * m.spread, plates=kind)
    m.z = pw.Categorical(m.share, plates=row)
    m.length = pw.Normal(m.mu[m.z], variance=m.spread[m.z], plates=row)
    m.objective = pw.Categorical(m.expect[m.z], plates=row)
    rng = np.random.default_rng(0)
    lengths = np.concatenate([rng.normal(-2, 0.5, 20), rng.normal(2, 0.5, 20)]).tolist()
    return m, {"length": lengths, "objective": ["red"] * 16 + ["white"] * 6 + ["blue"] * 18}


def run_file(source: str, data: dict[str, list[Any]], folder: Path) -> dict[str, Any]:
    """What the program prints on a CSV file, with no Platewright in reach."""
    (folder / "learned.py").write_text(source)
    with open(folder / "data.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    command = [sys.executable, "-I", "learned.py", "data.csv"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    lines = [line.split(" = ", 1) for line in found.stdout.splitlines()]
    return {name: ast.literal_eval(value) for name, value in lines}


def test_the_file_runs_alone_on_a_table(tmp_path: Path) -> None:
    m, data = flowers()
    fit = m.learn(data, goal="map", backend="numpy")
    assert "import platewright" not in fit.source()
    found = run_file(fit.source(), data, tmp_path)
    assert found["log_joint"] == pytest.approx(fit.log_joint, abs=1e-7)
    assert found["mu"] == pytest.approx(fit["mu"].value, rel=1e-4)
    assert np.array(found["expect_2"]) == pytest.approx(fit["expect"].value, rel=1e-4)


def test_a_chain_runs_alone_on_a_table(tmp_path: Path) -> None:
    m = sequences.counts()
    data = {"y": [0, 1, 9, 8, 0, 0, 7, 9, 0, 1, 0, 8, 9, 7, 0]}
    fit = m.learn(data, goal="map")
    found = run_file(fit.source(), data, tmp_path)
    assert found["rate"] == pytest.approx(fit["rate"].value, rel=1e-4)
    assert np.array(found["move"]) == pytest.approx(fit["move"].value, rel=1e-4)


def test_a_precision_is_kept_off_the_edge_and_unbounded_starts_give_way(tmp_path: Path) -> None:
    m = flat_mixtures.one_column()
    data = {"y": [0.0, 0.1, 0.2, 5.0, 5.1, 5.3, 0.15, 5.2]}
    found = run_file(m.derive(["y"], goal="map").source(), data, tmp_path)
    assert np.isfinite(found["log_joint"])


@pytest.mark.parametrize("name", MODES)
def test_modes_are_those_of_the_families(name: str) -> None:
    family = FAMILY_BY_NAME[name]
    rng = np.random.default_rng(0)
    for low in (0.3, 2.0):
        values = {}
        for parameter in family.parameters:
            if parameter.rank == 2:
                noise = rng.standard_normal((4, 3, 3))
                values[parameter.name] = noise @ np.swapaxes(noise, -1, -2) + np.eye(3)
            else:
                values[parameter.name] = low + rng.random((4, 3) if parameter.rank else 4) + 2 * (name == "Wishart")
        assert family.mode is not None
        assert np.allclose(MODES[name](*values.values()), family.mode(values))
    ones = {p.name: np.ones((2, 3) if p.rank else 2) for p in family.parameters if p.rank < 2}
    if len(ones) == len(family.parameters):
        assert np.allclose(MODES[name](*ones.values()), family.mode(ones))


def test_what_is_no_program_says_so() -> None:
    m, data = flowers()
    assert m.derive(data, by="mean-field").source().startswith("# The steps of the algorithm, to read")
    text = hierarchies.logistic().derive(["y"], by="gibbs").source()
    assert "not one program yet: `a` is not drawn from an exact conditional" in text.splitlines()[0]
