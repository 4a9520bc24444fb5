"""What emitted C computes before it draws equals what NumPy computes, to 1e-10, for every model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.c.compile import find_compiler
from platewright.backends.c_gibbs.orbit import start_of
from platewright.backends.c_gibbs.scale import noise_of
from platewright.backends.kernels.hidden_chain import forward
from platewright.elimination.state import TableConditional
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.program.statements import Triangularise
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.run.exact.chain_moments import whole_root
from platewright.run.execute import arguments, finish, loaded
from platewright.run.hidden.chain import chain_weights
from platewright.run.samplers.native_gibbs import NativeChain, NativeGibbs, compiled_gibbs
from platewright.schemas.blocks import (
    Block,
    BoundedBlock,
    ChainBlock,
    CoordinateBlock,
    ExactBlock,
    HamiltonianBlock,
    JumpBlock,
    OrbitBlock,
    ScaleBlock,
    SliceBlock,
    WeighedBlock,
)
from schemas.small_instance import Case, Instance, instance
from schemas.test_conditional_ratio import EVERY, plan_of, points

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")

TOLERANCE = 1e-10

QUICK = frozenset(
    ("full_inverse_wishart", "regressions", "topics", "symbols_several", "several_columns", "noisy_walk", "schools",
     "logistic", "pumps", "rates_of_coins", "random_slopes", "crossed", "tied_full", "misclassified", "coded_by_column",
     "hidden_rates", "few_groups", "growth", "bent_line", "two_steps", "chosen_weights", "trend_beside",
     "vectors_along")
)  # fmt: skip
"""Every kind of block and statement; the others are compiled in the slow run only."""


def marked(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.slow])


def gap(found: Array, expected: Array) -> float:
    """The largest difference, relative to the largest number."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    scale = np.max(np.abs(np.where(np.isfinite(expected), expected, 0.0)), initial=1e-300)
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(same, 0.0, np.abs(found - expected)) / scale, initial=0.0))


def check_steps(step: Triangularise, found: Mapping[str, Array], expected: Mapping[str, Array]) -> Mapping[str, Array]:
    """C eliminates steps one after another and NumPy every other one: R'R, R'right and R'cross are the same.

    Gives back what else was found.
    """
    parts = {part: expected[f"{step.name}.{part}"] for part in ("root", "before", "after")}
    root, following = found[f"{step.name}.root"], found[f"{step.name}.next"]
    *batch, steps, state, _ = root.shape
    whole = np.zeros((*batch, steps, state, steps, state))
    for t in range(steps):
        whole[..., t, :, t, :] = root[..., t, :, :]
        if t + 1 < steps:
            whole[..., t, :, t + 1, :] = following[..., t, :, :]
    ours = whole.reshape(*batch, steps * state, steps * state)
    theirs = whole_root(parts)
    assert gap(np.swapaxes(ours, -1, -2) @ ours, np.swapaxes(theirs, -1, -2) @ theirs) < TOLERANCE, step.name
    sides = [f"{step.name}.right", *(f"{step.name}.cross_{number}" for number in range(len(step.outer)))]
    for side in sides:
        one = found[side].reshape(*batch, steps * state, -1)
        two = np.asarray(expected[side]).reshape(*batch, steps * state, -1)
        assert gap(np.swapaxes(ours, -1, -2) @ one, np.swapaxes(theirs, -1, -2) @ two) < TOLERANCE, side
    return {name: value for name, value in found.items() if name not in (*sides, f"{step.name}.root")}


def check_exact(block: ExactBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """All results of the block's program that C computes, and the log weights of a table."""
    program = block.plan.program
    module = loaded(program)
    statistics = module.statistics(*arguments(program, module, small.values, small.sizes))
    expected = finish(program, module, statistics, small.values, small.sizes)
    found = chain.statistics(number)
    seen = 0
    for step in program.body:
        if isinstance(step, Triangularise) and step.along is not None:
            found, seen = check_steps(step, found, expected), seen + 1
    for name in set(found) & set(expected):
        assert gap(found[name], expected[name]) < TOLERANCE, name
        seen += 1
    tables = [c for c in reversed(block.plan.conditionals) if isinstance(c, TableConditional)]
    if len(tables) < len(block.plan.conditionals):
        return seen
    environment = Environment({**small.values, **expected}, small.sizes)
    weights = []
    for table in tables:
        node = small.graph.nodes[table.variable]
        with np.errstate(divide="ignore"):
            weights.append(np.array(evaluate(table.log_weights, environment, (*node.plates, table.level))))
    shown = chain.weights_of_tables(number, [weight.shape for weight in weights])
    for table, one, other in zip(tables, shown, weights, strict=True):
        assert gap(one, other) < TOLERANCE, table.variable
        seen += 1
    return seen


def moved_at(chain: NativeChain, number: int, small: Instance) -> Moved:
    """A block as NumPy moves it, at the same values."""
    return Moved(sampler_at(chain.owner.plan, small.values, small.sizes), number)


def check_weighed(block: WeighedBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """The log weights of all values of each element, the others as they are."""
    moved = moved_at(chain, number, small)
    mover, values = moved.mover, moved.everything({})
    expected = [
        [mover.scores(values, name, site, lowest, levels) for site in range(int(np.prod(shape, dtype=int)))]
        for name, shape, lowest, levels in mover.unknowns
    ]
    found = chain.weights_of_tables(number, [np.shape(weights) for weights in expected])
    for name, one, other in zip(block.variables, found, expected, strict=True):
        assert gap(one, np.array(other)) < TOLERANCE, name
        np.testing.assert_array_equal(chain.arrays[name], small.values[name])  # looking leaves it as it was
    return len(found)


def check_slice(block: SliceBlock | BoundedBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Differences of log densities between points: C leaves out what does not depend on the value."""
    (name,) = block.variables
    moved = moved_at(chain, number, small)
    density = moved.mover.density(moved.everything({}))
    tried = [np.asarray(point[name], float) for point in points(block, small, 1)]
    expected = [density(value) for value in tried]
    found = [chain.densities(number, value) for value in tried]
    for log, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.isneginf(log), np.isneginf(wanted))
    scale = 1 + np.max(np.abs(np.where(np.isfinite(expected), expected, 0.0)))
    for one, other in ((0, 1), (1, 2)):
        with np.errstate(invalid="ignore"):
            apart = (found[one] - found[other]) - (expected[one] - expected[other])
        assert np.max(np.where(np.isfinite(expected[one] + expected[other]), np.abs(apart), 0.0)) < TOLERANCE * scale
    outside = np.full_like(tried[0], -1.5)  # where lgamma is finite and a logarithm is not
    np.testing.assert_array_equal(np.isneginf(chain.densities(number, outside)), np.isneginf(density(outside)))
    return 1


def check_chain(block: ChainBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Filtered probabilities and the total weight."""
    (name,) = block.variables
    node = small.graph.nodes[name]
    levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    first = small.values[beginning(node.axes[0].plate)]
    weights = chain_weights(name, block.factors, levels, first, Environment(small.values, small.sizes))
    filtered, added = forward(weights)
    found = chain.statistics(number)
    assert gap(found["filtered"], np.exp(filtered)) < TOLERANCE
    assert gap(found["log_total"], added.sum()) < TOLERANCE
    return 1


def check_path(block: HamiltonianBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Differences of log densities, gradients, and what the rest fixes of the precision."""
    density = moved_at(chain, number, small).density
    tried = [np.random.default_rng(seed).normal(size=density.coordinates.size) for seed in range(3)]
    expected = [density.with_gradient(u) for u in tried]
    found = [chain.gradients(number, u) for u in tried]
    wide = density.coordinates.size
    scale = 1 + max(abs(log) for log, _ in expected)
    for one in range(2):
        wanted = expected[one][0] - expected[one + 1][0]
        assert abs(found[one][0] - found[one + 1][0] - wanted) < TOLERANCE * scale
    for (_, slope), other in zip(expected, found, strict=True):
        assert gap(other[1 : 1 + wide], slope) < TOLERANCE
        assert gap(other[1 + wide :], density.known_precision()) < TOLERANCE
    return 1


def check_coordinates(block: CoordinateBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Differences of log densities between points, and where they are impossible."""
    moved = moved_at(chain, number, small)
    density = moved.density
    with np.errstate(all="ignore"):
        u = density.coordinates.free(moved.everything({}))
    shifts = [np.random.default_rng(seed).normal(size=len(u)) for seed in range(12)]
    tried = [u + 0.25, *(u + 0.25 + shift for shift in shifts)]
    expected = np.array([density.log_density(at) for at in tried])
    found = np.array([chain.density_at(number, at) for at in tried])
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    inside = np.isfinite(expected)
    apart = np.diff(found[inside]) - np.diff(expected[inside])
    assert np.max(np.abs(apart)) < TOLERANCE * (1 + np.max(np.abs(expected[inside])))
    return 1


def check_scale(block: ScaleBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Differences of log densities along the scale, with the noise that the present values have."""
    moved = moved_at(chain, number, small)
    mover, here = moved.mover, moved.everything({})
    with np.errstate(all="ignore"):
        mover.given(here)
        noise = mover.standardised(here)
        u = float(mover.coordinate.free(here)[0])
        tried = [u, u + 0.3, u - 0.7]
        expected = np.array([mover.height(at, noise) for at in tried])
    for form, values in zip(block.scaled, noise, strict=True):
        chain.arrays[f"{number}:{noise_of(form)}"][...] = values
    found = np.array([chain.density_along(number, at) for at in tried])
    assert np.max(np.abs(np.diff(found) - np.diff(expected))) < TOLERANCE * (1 + np.max(np.abs(expected)))
    return 1


def check_orbit(block: OrbitBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Differences of log densities along the orbit from the present values."""
    moved = moved_at(chain, number, small)
    mover = moved.mover
    tried = [0.0, 0.3, -0.7]
    with np.errstate(all="ignore"):
        start = mover.start(moved.everything({}))
        expected = np.array([mover.height(at, start) for at in tried])
    for name, values in start.values.items():
        chain.arrays[f"{number}:{start_of(name)}"][...] = values
    chain.arrays[f"{number}:tuning"][3] = start.middle
    found = np.array([chain.density_along(number, at) for at in tried])
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))  # beyond the ends of the slope
    inside = np.isfinite(expected)
    apart = np.diff(found[inside]) - np.diff(expected[inside])
    assert np.max(np.abs(apart)) < TOLERANCE * (1 + np.max(np.abs(expected[inside])))
    return 1


def check(block: Block, number: int, chain: NativeChain, small: Instance) -> int:
    match block:
        case ExactBlock():
            return check_exact(block, number, chain, small)
        case WeighedBlock():
            return check_weighed(block, number, chain, small)
        case SliceBlock() | BoundedBlock():
            return check_slice(block, number, chain, small)
        case ChainBlock():
            return check_chain(block, number, chain, small)
        case HamiltonianBlock():
            return check_path(block, number, chain, small)
        case CoordinateBlock():
            return check_coordinates(block, number, chain, small)
        case ScaleBlock():
            return check_scale(block, number, chain, small)
        case OrbitBlock():
            return check_orbit(block, number, chain, small)
    raise TypeError(block)


def check_case(case: Case, seeds: int = 3, build: Callable[..., NativeGibbs] = compiled_gibbs) -> None:
    plan = plan_of(case)
    native = None
    for seed in range(seeds):
        small = instance(case, seed)
        native = build(plan, small.columns, small.sizes)
        for number, block in enumerate(plan.blocks):
            if isinstance(block, JumpBlock):
                continue  # a step by a ratio, not a conditional: `test_jumps.py`
            chain = native.chain(small.hidden, np.random.default_rng(seed))  # looking at densities moves it
            assert check(block, number, chain, small) > 0, f"nothing to compare for {block.variables}"


@needs_compiler
@pytest.mark.parametrize("case", [marked(case) for case in EVERY])
def test_c_computes_the_conditionals_of_numpy(case: Case) -> None:
    check_case(case)
