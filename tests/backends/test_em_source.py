"""The source of EM runs alone, and takes the same way as the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.running import flowers, run_file, running
from platewright.backends.numpy.em import em_emitter, numpy_em_source
from platewright.backends.numpy.em_support import MODES
from platewright.families import FAMILY_BY_NAME
from platewright.run.hidden.em import Expected, Runner
from platewright.run.hidden.em_search import run_em
from platewright.run.hidden.soft_start import start_expectations
from platewright.schemas.em import EMPlan, plan_em
from schemas import chains_that_meet, flat_mixtures, hierarchies, mixtures, nested_classes, sequences
from schemas.gaussian_latents import LATENTS
from schemas.small_instance import Case, instance


def is_planned(case: Case) -> bool:
    """Whether EM takes the case at all."""
    return isinstance(plan_em(case.graph, "map"), EMPlan)


EVERY = (
    *mixtures.MIXTURES,
    *sequences.CHAINS,
    *sequences.WALKS,
    *hierarchies.HIERARCHIES,
    *LATENTS,
    *chains_that_meet.MEETING,
    *nested_classes.NESTED,
)
CASES = [case for case in EVERY if is_planned(case)]


def emitted(plan: EMPlan) -> tuple[dict[str, Any], Any]:
    """The functions of the program, and the names of things in it."""
    emitter = em_emitter(plan)
    emitter.module()
    return running(numpy_em_source(plan)), emitter.names


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_step_is_the_library_s(case: Case) -> None:
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    space, names = emitted(plan)
    small = instance(case, 0)
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    if "gather_rows" in space:  # so few rows stay what they are
        data, size = space["gather_rows"](data, size)
    guess = space["start"](data, size, np.random.default_rng(3))
    generator = np.random.default_rng(3)
    wanted = start_expectations(plan, small.columns, small.sizes, generator)
    assert all(np.allclose(guess[names(name)], value, atol=1e-14) for name, value in wanted.items())
    runner = Runner(plan, small.columns, small.sizes)
    values = runner.begun(wanted, generator)
    mode = space["improved"]({**data, **guess}, size)
    assert {names(name) for name in values} == mode.keys()
    assert all(np.allclose(mode[names(name)], value, rtol=1e-12) for name, value in values.items())
    chances, objective = space["expect"]({**data, **mode}, size)
    expected = runner.expected(values)
    assert objective == pytest.approx(expected.objective, rel=1e-12)
    assert all(np.allclose(chances[names(n)], v, atol=1e-12, rtol=1e-10) for n, v in wanted_of(expected))
    again = space["improved"]({**data, **mode, **chances}, size)
    onwards = runner.maximised(expected.expectations, values)
    assert all(np.allclose(again[names(name)], value, rtol=1e-9) for name, value in onwards.items())


def wanted_of(expected: Expected) -> list[tuple[str, Any]]:
    """What the statistics need: probabilities, and points in place of Gaussians."""
    return [(name, value) for name, value in expected.expectations.items() if not name.endswith(".integral")]


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
