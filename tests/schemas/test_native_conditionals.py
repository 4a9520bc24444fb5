"""What emitted C computes before it draws equals what NumPy computes, to 1e-10, for every model."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.compile import find_compiler
from platewright.elimination.state import TableConditional
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.run.chain import chain_weights, forward
from platewright.run.execute import arguments, finish, loaded
from platewright.run.native_gibbs import NativeChain, compiled_gibbs
from platewright.run.slicing import element_density
from platewright.schemas.gibbs import Block, ChainBlock, ExactBlock, SliceBlock
from schemas.small_instance import Case, Instance, instance
from schemas.test_conditional_ratio import EVERY, plan_of, points

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")

TOLERANCE = 1e-10

QUICK = frozenset(
    "full_inverse_wishart regressions topics symbols_several several_columns gaussians noisy_walk schools logistic "
    "overdispersed pumps rates_of_coins random_slopes crossed tied_full misclassified".split()
)
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


def check_exact(block: ExactBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """All results of the block's program that C computes, and the log weights of a table."""
    program = block.plan.program
    module = loaded(program)
    statistics = module.statistics(*arguments(program, module, small.values, small.sizes))
    expected = finish(program, module, statistics, small.values, small.sizes)
    found = chain.statistics(number)
    seen = 0
    for name in set(found) & set(expected):
        assert gap(found[name], expected[name]) < TOLERANCE, name
        seen += 1
    if len(block.plan.conditionals) == 1 and isinstance(block.plan.conditionals[0], TableConditional):
        (table,) = block.plan.conditionals
        node = small.graph.nodes[table.variable]
        environment = Environment({**small.values, **expected}, small.sizes)
        with np.errstate(divide="ignore"):
            weights = np.array(evaluate(table.log_weights, environment, (*node.plates, table.level)))
        assert gap(chain.log_weights(number, weights.shape[-1]), weights) < TOLERANCE
        seen += 1
    return seen


def check_slice(block: SliceBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Differences of log densities between points: C leaves out what does not depend on the value."""
    (name,) = block.variables
    environment = Environment(small.values, small.sizes)
    density = element_density(small.graph.nodes[name], block.factors, environment)
    tried = [np.asarray(point[name], float) for point in points(block, small, 1)]
    expected = [density(value) for value in tried]
    found = [chain.densities(number, value) for value in tried]
    for one, other in ((0, 1), (1, 2)):
        wanted = expected[one] - expected[other]
        scale = 1 + np.max(np.abs(expected))
        assert np.max(np.abs((found[one] - found[other]) - wanted)) < TOLERANCE * scale
    assert (
        np.isneginf(chain.densities(number, np.full_like(tried[0], -1.0))).all()
        == np.isneginf(density(np.full_like(tried[0], -1.0))).all()
    )
    return 1


def check_chain(block: ChainBlock, number: int, chain: NativeChain, small: Instance) -> int:
    """Filtered probabilities and the total weight."""
    (name,) = block.variables
    node = small.graph.nodes[name]
    levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    first = small.values[beginning(node.axes[0].plate)]
    weights = chain_weights(name, block.factors, levels, first, Environment(small.values, small.sizes))
    filtered, total = forward(weights)
    found = chain.statistics(number)
    assert gap(found["filtered"], np.exp(filtered)) < TOLERANCE
    assert gap(found["log_total"], np.array(total)) < TOLERANCE
    return 1


def check(block: Block, number: int, chain: NativeChain, small: Instance) -> int:
    match block:
        case ExactBlock():
            return check_exact(block, number, chain, small)
        case SliceBlock():
            return check_slice(block, number, chain, small)
        case ChainBlock():
            return check_chain(block, number, chain, small)


def check_case(case: Case, seeds: int = 3) -> None:
    plan = plan_of(case)
    native = None
    for seed in range(seeds):
        small = instance(case, seed)
        native = compiled_gibbs(plan, small.columns, small.sizes)
        chain = native.chain(small.hidden, np.random.default_rng(seed))
        for number, block in enumerate(plan.blocks):
            assert check(block, number, chain, small) > 0, f"nothing to compare for {block.variables}"


@needs_compiler
@pytest.mark.parametrize("case", [marked(case) for case in EVERY])
def test_c_computes_the_conditionals_of_numpy(case: Case) -> None:
    check_case(case)
