"""The source of a Gibbs sampler runs alone, and makes the draws that the library makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.test_em_source import flowers, run_file
from platewright.backends.numpy.gibbs import _GibbsEmitter, numpy_gibbs_source
from platewright.run.samplers.gibbs import Sampler
from platewright.run.samplers.sampling import run_gibbs
from platewright.schemas.gibbs import ChainBlock, ExactBlock, GibbsPlan, plan_gibbs
from schemas import hierarchies, mixtures, sequences
from schemas.small_instance import Case, instance

EVERY = (*mixtures.MIXTURES, *sequences.CHAINS, *sequences.WALKS, *hierarchies.HIERARCHIES)


def planned(case: Case) -> GibbsPlan:
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    return plan


CASES = [case for case in EVERY if all(isinstance(b, ExactBlock | ChainBlock) for b in planned(case).blocks)]


def emitted(plan: GibbsPlan) -> tuple[dict[str, Any], Any]:
    """The functions of the program, and the names of things in it."""
    space: dict[str, Any] = {"__name__": "gibbs"}
    exec(compile(numpy_gibbs_source(plan), "<gibbs>", "exec"), space)
    emitter = _GibbsEmitter(plan)
    emitter.module()
    return space, emitter.names


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_sweep_is_the_library_s(case: Case) -> None:
    plan = planned(case)
    space, names = emitted(plan)
    small = instance(case, 0)
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    sampler = Sampler(plan, small.columns, small.sizes, np.random.default_rng(3), dict(small.hidden))
    generator = np.random.default_rng(3)
    values = {names(name): value for name, value in small.hidden.items()}
    for _ in range(2):
        sampler.sweep()
        values = space["sweep"](values, data, size, generator)
    assert all(np.allclose(values[names(name)], value, rtol=1e-9) for name, value in sampler.values.items())
    moved = [name for name, value in sampler.values.items() if np.any(value != small.hidden[name])]
    assert len(moved) >= len(sampler.values) - 1  # one hidden variable may have come back to its value


@pytest.mark.parametrize("name", ["full_wishart", "zero_inflated", "symbols"])
def test_the_same_seed_makes_the_same_chains(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    plan = planned(case)
    space, names = emitted(plan)
    small = instance(case, 1)
    data = {names(key): value for key, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    wanted = run_gibbs(plan, small.columns, small.sizes, seed=5, chains=2, draws=4, warm_up=3)[0]
    found = space["learn"](data, size, seed=5, chains=2, draws=4, warm_up=3)
    assert all(np.allclose(found[names(key)], value, rtol=1e-9) for key, value in wanted.items())


def test_the_file_runs_alone_on_a_table(tmp_path: Path) -> None:
    m, data = flowers()
    source = m.derive(data, by="gibbs").source().replace("draws=1000, warm_up=500", "draws=20, warm_up=20")
    assert "import platewright" not in source
    found = run_file(source, data, tmp_path)
    assert np.array(found["mu mean"]).shape == (2,) and (np.array(found["spread sd"]) > 0).all()
