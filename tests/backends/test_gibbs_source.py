"""The source of a Gibbs sampler runs alone, and makes the draws that the library makes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backends.running import flowers, run_file, running
from platewright.backends.numpy.family_text import drawn_inline
from platewright.backends.numpy.gibbs import GibbsEmitter, numpy_gibbs_source
from platewright.families import FAMILY_BY_NAME
from platewright.run.samplers.block_conditional import BlockConditional
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
    emitter = GibbsEmitter(plan)
    emitter.module()
    return running(numpy_gibbs_source(plan)), emitter.names


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_sweep_is_the_library_s(case: Case) -> None:
    plan = planned(case)
    space, names = emitted(plan)
    small = instance(case, 0)
    data = {names(name): value for name, value in small.columns.items()}
    size = {names(plate): value for plate, value in small.sizes.items()}
    data = space["prepared"](data, size) if "prepared" in space else data
    sampler = Sampler(plan, small.columns, small.sizes, np.random.default_rng(3), dict(small.hidden))
    generator = np.random.default_rng(3)
    values = {names(name): value for name, value in small.hidden.items()}
    moving = [space["movers"](size)] if "movers" in space else []
    for mover in (*sampler.movers.values(), *(mover for found in moving for mover in found.values())):
        mover.begin_warm_up(2)
    for _ in range(2):
        sampler.sweep()
        values = space["sweep"](values, data, size, generator, *moving)
    assert all(np.array_equal(values[names(name)], value) for name, value in sampler.values.items())
    moved = [name for name, value in sampler.values.items() if np.any(value != small.hidden[name])]
    surely = {name for block in plan.blocks if isinstance(block, ExactBlock | SliceBlock) for name in block.variables}
    discrete = {name for name in surely if case.graph.nodes[name].domain.is_discrete}
    assert surely - discrete <= set(moved)  # a discrete one may have come back to its value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_exact_block_is_drawn_as_its_posterior_is(case: Case) -> None:
    """The printed draw against the posterior of the block, which is computed from its expressions."""
    plan = planned(case)
    small = instance(case, 0)
    values = dict(small.hidden)
    sampler = Sampler(plan, small.columns, small.sizes, np.random.default_rng(7), values)
    for number, block in enumerate(plan.blocks):
        if isinstance(block, ExactBlock):
            conditional = BlockConditional(plan, block, small.columns, small.sizes, frozenset(values))
            wanted = conditional.posterior(small.hidden).draws(1, np.random.default_rng([7, number]))
            sampler.values, sampler.generator = dict(small.hidden), np.random.default_rng([7, number])
            drawn = sampler.printed(f"draw_{number}")(sampler.everything, sampler.size, sampler.generator)
            found = sampler.printed.back(drawn)
            assert found.keys() == wanted.keys()
            assert all(np.allclose(found[name], value[0], rtol=1e-9) for name, value in wanted.items())


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
    assert all(np.array_equal(found[names(key)], value) for key, value in wanted.items())


def test_only_what_is_needed_is_carried() -> None:
    text = hierarchies.logistic().derive(["y"], by="gibbs").source()
    assert "class HamiltonianMover" in text and "def follow" in text
    assert not any(word in text for word in ("SliceMover", "SiteMover", "class Matrices", "draw_of_wishart"))


def test_the_file_runs_alone_on_a_table(tmp_path: Path) -> None:
    m, data = flowers()
    source = m.derive(data, by="gibbs").source().replace("draws=1000, warm_up=500", "draws=20, warm_up=20")
    assert "import platewright" not in source
    found = run_file(source, data, tmp_path)
    assert np.array(found["mu mean"]).shape == (2,) and (np.array(found["spread sd"]) > 0).all()


FAMILIES_IN_LINE = sorted(name for name, family in FAMILY_BY_NAME.items() if family.draw is not None)


@pytest.mark.parametrize("name", FAMILIES_IN_LINE)
def test_a_draw_in_line_is_that_of_its_family(name: str) -> None:
    family = FAMILY_BY_NAME[name]
    text = drawn_inline(family, {p.name: f"{p.name}_of_it" for p in family.parameters}, "(3,)")
    if text is None:
        return
    values = {p.name: np.array([1.0, 2.0, 3.0]) for p in family.parameters}
    values |= {"p": np.array([0.2, 0.5, 0.7]), "upper": np.array([5.0, 6.0, 7.0])}
    values = {p.name: values[p.name] for p in family.parameters}
    space = {"np": np, "generator": np.random.default_rng(1), **{f"{key}_of_it": v for key, v in values.items()}}
    assert family.draw is not None
    assert np.array_equal(eval(text, space), family.draw(np.random.default_rng(1), values, (3,)))


def test_what_names_a_parameter_twice_is_not_put_in_line() -> None:
    twice = replace(FAMILY_BY_NAME["Gamma"], draw=lambda generator, p, size: generator.gamma(p["shape"]) * p["shape"])
    assert drawn_inline(twice, {"shape": "a", "rate": "b"}, "(3,)") is None
