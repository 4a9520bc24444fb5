"""Draws of a block by C, all else held, have the distribution of NumPy's draws: elements, and products of two."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from platewright.algebra.evaluate import Environment
from platewright.backends.kernels.hidden_chain import backward_sample, forward
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.hidden.chain import chain_weights
from platewright.run.samplers.native_gibbs import compiled_gibbs
from platewright.schemas.gibbs import Block, ChainBlock, ExactBlock
from schemas.grouped_classes import GROUPED
from schemas.small_instance import Case, Instance, instance
from schemas.test_conditional_ratio import EVERY, plan_of
from schemas.test_native_conditionals import QUICK, needs_compiler

COUNT = 3000
LEVEL = 1e-5


def marked(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.slow])


def by_numpy(block: Block, small: Instance, seed: int) -> dict[str, Array]:
    """Draws of a block given all other values."""
    generator = np.random.default_rng(seed)
    if isinstance(block, ExactBlock):
        program = block.plan.program
        module = loaded(program)
        statistics = module.statistics(*arguments(program, module, small.values, small.sizes))
        computed = finish(program, module, statistics, small.values, small.sizes)
        return Posterior(block.plan, computed, small.values, small.sizes).draws(COUNT, generator)
    (name,) = block.variables
    node = small.graph.nodes[name]
    levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    first = small.values[beginning(node.axes[0].plate)]
    weights = chain_weights(name, block.factors, levels, first, Environment(small.values, small.sizes))
    filtered = forward(weights)[0]
    return {name: np.array([backward_sample(weights, filtered, generator) for _ in range(COUNT)])}


def by_c(case: Case, number: int, names: tuple[str, ...], small: Instance, seed: int) -> dict[str, Array]:
    native = compiled_gibbs(plan_of(case), small.columns, small.sizes)
    chain = native.chain(small.hidden, np.random.default_rng(seed))
    kept = {name: np.empty((COUNT, *chain.arrays[name].shape), chain.arrays[name].dtype) for name in names}
    before = {name: np.array(value) for name, value in chain.values.items() if name not in names}
    chain.run(COUNT, 1, kept, only=number)
    for name, value in before.items():
        np.testing.assert_array_equal(value, chain.values[name])
    return kept


def chances(one: dict[str, Array], other: dict[str, Array], names: tuple[str, ...]) -> list[float]:
    """Of each element, and of each element times the next: they see margins and what ties neighbours."""
    left, right = (np.concatenate([found[name].reshape(COUNT, -1) for name in names], axis=1) for found in (one, other))
    pairs = [(left[:, k], right[:, k]) for k in range(left.shape[1])]
    middle, spread = right.mean(axis=0), right.std(axis=0) + 1e-300
    left, right = (left - middle) / spread, (right - middle) / spread
    pairs += [(left[:, i] * left[:, j], right[:, i] * right[:, j]) for i, j in pairwise(range(left.shape[1]))]
    found = []
    for a, b in pairs:
        if np.ptp(np.concatenate([a, b])) == 0:
            continue
        values, codes = np.unique(np.round(np.concatenate([a, b]), 9), return_inverse=True)
        if len(values) < 20:  # few values: are they as often?
            counts = np.array([np.bincount(codes[:COUNT], minlength=len(values)),
                               np.bincount(codes[COUNT:], minlength=len(values))])  # fmt: skip
            found.append(float(stats.chi2_contingency(counts[:, counts.sum(axis=0) > 8] + 1).pvalue))
        else:
            found.append(float(stats.ks_2samp(a, b, method="asymp").pvalue))
    return found


def check_draws(case: Case, seed: int = 0) -> None:
    small = instance(case, seed)
    for number, block in enumerate(plan_of(case).blocks):
        if isinstance(block, ExactBlock | ChainBlock):
            names = tuple(block.variables)
            found = chances(by_c(case, number, names, small, 5), by_numpy(block, small, 6), names)
            assert not found or min(found) > LEVEL / len(found), block.variables


@needs_compiler
@pytest.mark.parametrize("case", [marked(case) for case in (*EVERY, *GROUPED)])
def test_a_block_is_drawn_by_c_as_by_numpy(case: Case) -> None:
    check_draws(case)
