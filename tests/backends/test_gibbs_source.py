"""The source of a Gibbs sampler runs alone, and makes the draws that the library makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.running import flowers, run_file, running
from platewright.backends.numpy.gibbs import _GibbsEmitter, numpy_gibbs_source
from platewright.run.samplers.gibbs import Sampler
from platewright.run.samplers.sampling import run_gibbs
from platewright.schemas.gibbs import ExactBlock, GibbsPlan, SliceBlock, plan_gibbs
from schemas import hierarchies
from schemas.small_instance import Case, instance
from schemas.test_conditional_ratio import EVERY
from schemas.test_sites import TIED

CASES = [*EVERY, TIED]
CASE = {case.name: case for case in CASES}


def planned(case: Case) -> GibbsPlan:
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    return plan


def emitted(plan: GibbsPlan) -> tuple[dict[str, Any], Any]:
    """The functions of the program, and the names of things in it."""
    emitter = _GibbsEmitter(plan)
    emitter.module()
    return running(numpy_gibbs_source(plan)), emitter.names


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
    moving = [space["movers"](size)] if "movers" in space else []
    for mover in (*sampler.movers.values(), *(mover for found in moving for mover in found.values())):
        mover.begin_warm_up(2)
    for _ in range(2):
        sampler.sweep()
        values = space["sweep"](values, data, size, generator, *moving)
    assert all(np.allclose(values[names(name)], value, rtol=1e-9) for name, value in sampler.values.items())
    moved = [name for name, value in sampler.values.items() if np.any(value != small.hidden[name])]
    surely = {name for block in plan.blocks if isinstance(block, ExactBlock | SliceBlock) for name in block.variables}
    discrete = {name for name in surely if case.graph.nodes[name].domain.is_discrete}
    assert surely - discrete <= set(moved)  # a discrete one may have come back to its value


CHAINS = ["full_wishart", "zero_inflated", "symbols", "pumps", "logistic", "bent_line", "chosen_weights"]
WITHIN_BOUNDS = ["truncated_rate", "truncated_latent", "ordered_pair"]


@pytest.mark.parametrize("name", [*CHAINS, *WITHIN_BOUNDS])
def test_the_same_seed_makes_the_same_chains(name: str) -> None:
    """Warm-up included: what is learned about widths, steps and metrics is the same."""
    case = CASE[name]
    plan = planned(case)
    space, names = emitted(plan)
    small = instance(case, 1)
    data = {names(key): value for key, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    wanted = run_gibbs(plan, small.columns, small.sizes, seed=5, chains=2, draws=4, warm_up=12)[0]
    found = space["learn"](data, size, seed=5, chains=2, draws=4, warm_up=12)
    assert all(np.allclose(found[names(key)], value, rtol=1e-7) for key, value in wanted.items())


def test_only_what_is_needed_is_carried() -> None:
    text = hierarchies.logistic().derive(["y"], by="gibbs").source()
    assert "class HamiltonianMover" in text and "def follow" in text
    assert not any(word in text for word in ("SliceMover", "SiteMover", "class Matrices", "draw_wishart"))


def test_the_file_runs_alone_on_a_table(tmp_path: Path) -> None:
    m, data = flowers()
    source = m.derive(data, by="gibbs").source().replace("draws=1000, warm_up=500", "draws=20, warm_up=20")
    assert "import platewright" not in source
    found = run_file(source, data, tmp_path)
    assert np.array(found["mu mean"]).shape == (2,) and (np.array(found["spread sd"]) > 0).all()
