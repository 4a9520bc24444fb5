"""Every conditional of a Gibbs plan is the joint up to a constant, to 1e-9.

log joint(a) - log joint(b) = log conditional(a) - log conditional(b)       for any values a, b of a block
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from platewright.algebra.evaluate import Environment, elementwise, evaluate
from platewright.backends.kernels.hidden_chain import forward
from platewright.family import Array, Family
from platewright.language.plate import beginning
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.hidden.chain import chain_weights
from platewright.run.samplers.starting import starting_values
from platewright.schemas.gibbs import (
    Block,
    BoundedBlock,
    ChainBlock,
    CoordinateBlock,
    ExactBlock,
    GibbsPlan,
    HamiltonianBlock,
    JumpBlock,
    OrbitBlock,
    ScaleBlock,
    SliceBlock,
    WeighedBlock,
    plan_gibbs,
)
from schemas.chains_that_meet import MEETING
from schemas.coded import CODED
from schemas.coupled import COUPLED
from schemas.gaussian_chains import GAUSSIAN_CHAINS
from schemas.hierarchies import HIERARCHIES
from schemas.mixtures import MIXTURES
from schemas.nested_classes import NESTED
from schemas.sequences import CHAINS, WALKS
from schemas.small_instance import Case, Instance, Values, drawn, instance, log_joint
from schemas.switches import SWITCHES
from schemas.tied_classes import TIED

EVERY = (*MIXTURES, *TIED, *CHAINS, *WALKS, *GAUSSIAN_CHAINS, *HIERARCHIES, *COUPLED, *CODED, *NESTED, *SWITCHES)
TOLERANCE = 1e-9
Joint = Callable[[Values], float]


def plan_of(case: Case) -> GibbsPlan:
    found = plan_gibbs(case.graph, "posterior")
    assert isinstance(found, GibbsPlan), found.reason
    return found


def points(block: Block, small: Instance, seed: int) -> list[Values]:
    """Values of a block: drawn from the prior, and where a chain would start."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(3):
        given = {name: value for name, value in small.values.items() if name not in block.variables}
        again = drawn(small.graph, small.sizes, given, generator)
        if number == 2:
            again |= starting_values(small.graph, block.variables, small.sizes, generator)
        found.append({name: again[name] for name in block.variables})
    return found


def log_conditional(block: Block, plan: GibbsPlan, small: Instance, point: Values) -> float:
    """The log density of a block's conditional at a point, as the sampler knows it."""
    environment = Environment(small.values, small.sizes)
    kinds = [(type(each), each.variables) for each in plan.blocks]
    moved = Moved(sampler_at(plan, small.values, small.sizes), kinds.index((type(block), block.variables)))
    match block:
        case ExactBlock():
            program = block.plan.program
            module = loaded(program)
            statistics = module.statistics(*arguments(program, module, small.values, small.sizes))
            others = {name: value for name, value in small.values.items() if name not in block.variables}
            computed = finish(program, module, statistics, others, small.sizes)
            return Posterior(block.plan, computed, others, small.sizes).log_density(point)
        case WeighedBlock():
            return moved.log_weight(point)
        case SliceBlock():
            (name,) = block.variables
            density = moved.mover.density(moved.everything({}))
            return float(np.sum(density(np.asarray(point[name], dtype=float))))
        case ChainBlock():
            (name,) = block.variables
            (axis,) = small.graph.nodes[name].axes
            domain = small.graph.nodes[name].domain
            levels = str(domain.levels) if domain.kind == "levels" else f"{name}.levels"
            first = small.values[beginning(axis.plate)]
            weights = chain_weights(name, block.factors, levels, first, environment)
            z = point[name]
            total = sum(
                weights.single[t, z[t]] + (0.0 if weights.first[t] else weights.pair[t, z[t - 1], z[t]])
                for t in range(len(z))
            )
            return float(total) - float(forward(weights)[1].sum())
        case BoundedBlock() if block.family is not None or block.plan is not None:
            (name,) = block.variables
            family, parameters = without_bounds(block, small)
            check_inversion(block, small, moved, family, parameters)
            return float(np.sum(elementwise(family.log_density, {**parameters, "x": np.asarray(point[name])})))
        case BoundedBlock():
            return moved.log_elements(point)
        case JumpBlock():
            return moved.log_factors(point)
        case HamiltonianBlock() | CoordinateBlock() | ScaleBlock() | OrbitBlock():
            return moved.density.at_values(moved.sampler.printed.named(point))
    raise AssertionError(block)


def without_bounds(block: BoundedBlock, small: Instance) -> tuple[Family, dict[str, Array]]:
    """The family of the conditional without its bounds, with its parameters."""
    (name,) = block.variables
    if block.family is not None:
        environment, axes = Environment(small.values, small.sizes), small.graph.nodes[name].axes
        return block.family, {key: np.array(evaluate(value, environment, axes)) for key, value in block.parameters}
    assert block.plan is not None
    program = block.plan.program
    module = loaded(program)
    others = {key: value for key, value in small.values.items() if key != name}
    statistics = module.statistics(*arguments(program, module, others, small.sizes))
    computed = finish(program, module, statistics, others, small.sizes)
    found = Posterior(block.plan, computed, others, small.sizes).marginal(name)
    assert found is not None  # all else is known
    return found.family, dict(found.parameters)


def check_inversion(
    block: BoundedBlock, small: Instance, moved: Moved, family: Family, parameters: dict[str, Array]
) -> None:
    """Points between the bounds leave their share of the mass there below them."""
    if block.log_beyond is not None:
        return
    values = moved.everything({})
    lower, upper = moved.mover.bounds(values)
    assert family.cumulative is not None
    mass = {
        x: np.clip(elementwise(family.cumulative, {**parameters, "x": at}), 0, 1)
        for x, at in (
            ("low", np.where(np.isfinite(lower), lower, -1e300)),
            ("high", np.where(np.isfinite(upper), upper, 1e300)),
        )
    }
    share = np.full(np.shape(lower), 0.3)
    found, sure = moved.mover.inverted(values, lower, upper, share)
    below = elementwise(family.cumulative, {**parameters, "x": found})
    wanted = mass["low"] + 0.3 * (mass["high"] - mass["low"])
    assert np.max(np.where(sure, np.abs(below - wanted), 0.0)) < 1e-9


def log_joint_without(block: Block, plan: GibbsPlan, small: Instance, point: Values, joint: Joint | None) -> float:
    """The log joint at a point; what the block integrates out is taken away by its own conditional, at any value."""
    values = {**small.values, **point}
    found = log_joint(plan.factors, values, small.sizes) if joint is None else joint(values)
    gone = set(getattr(block, "without", ()))
    for other in plan.blocks:
        if gone & set(other.variables):
            assert isinstance(other, ExactBlock) and set(other.variables) <= gone
            drawn = {name: small.values[name] for name in other.variables}
            found -= log_conditional(other, plan, replace(small, values=values), drawn)
    return found


def gap(block: Block, plan: GibbsPlan, small: Instance, seed: int = 0, joint: Joint | None = None) -> float:
    """How far the law is off, relative to the numbers in it; `joint` is another reading of the log joint."""
    if isinstance(block, JumpBlock):
        moved = Moved(sampler_at(plan, small.values, small.sizes), plan.blocks.index(block))
        found = moved.jumps(np.random.default_rng(seed))
    else:
        found = points(block, small, seed)
    counts = all(small.graph.nodes[name].domain.kind == "integer" for name in block.variables)
    if isinstance(block, BoundedBlock) or (
        counts and not isinstance(block, JumpBlock)
    ):  # a point outside bounds says nothing about what lies between them
        more = [point for k in range(1, 40) for point in points(block, small, seed + 100 * k)]
        inside = [p for p in (*found, *more) if log_joint(plan.factors, {**small.values, **p}, small.sizes) > -np.inf]
        assert len(inside) >= 2
        found = inside[:3]
    whole = [log_joint_without(block, plan, small, point, joint) for point in found]
    own = [log_conditional(block, plan, small, point) for point in found]
    assert np.isfinite([*whole, *own]).all()
    difference = np.diff(whole) - np.diff(own)
    return float(np.max(np.abs(difference) / (1 + np.abs(whole[1:]) + np.abs(whole[:-1]))))


@pytest.mark.parametrize("case", (*EVERY, *MEETING), ids=str)
def test_every_conditional_is_the_joint_up_to_a_constant(case: Case) -> None:
    plan = plan_of(case)
    for seed in range(3):
        small = instance(case, seed)
        for block in plan.blocks:
            assert gap(block, plan, small, seed) < TOLERANCE, block.variables


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_every_unknown_is_in_one_block_and_in_more_only_where_it_moves_with_others(case: Case) -> None:
    plan = plan_of(case)
    listed = [name for block in plan.blocks for name in block.variables]
    assert set(listed) == set(case.graph.unknown)
    together = HamiltonianBlock | ScaleBlock | OrbitBlock | JumpBlock
    alone = [name for block in plan.blocks if not isinstance(block, together) for name in block.variables]
    assert len(alone) == len(set(alone))


def test_there_are_models_enough_and_blocks_of_every_kind() -> None:
    kinds = {type(block) for case in EVERY for block in plan_of(case).blocks}
    others = {HamiltonianBlock, CoordinateBlock, ScaleBlock, OrbitBlock, JumpBlock, BoundedBlock, WeighedBlock}
    assert kinds == {ExactBlock, SliceBlock, ChainBlock, *others}
    assert len(EVERY) >= 40
