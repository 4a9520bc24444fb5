"""The recursions along a hidden chain give what enumeration of all chains gives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from platewright.algebra.evaluate import Environment
from platewright.backends.kernels.hidden_chain import ChainWeights, backward_sample, forward, smooth, viterbi
from platewright.language.plate import beginning
from platewright.run.hidden.chain import chain_weights
from platewright.schemas.gibbs import ChainBlock, plan_gibbs
from schemas.sequences import CHAINS
from schemas.small_instance import Case, instance, log_joint

SHAPES = [([1, 0, 0, 0, 0], 2), ([1, 0, 0, 0], 3), ([1, 0, 1, 1, 0], 2), ([1, 1, 1], 3), ([1], 3), ([1, 0, 0, 1, 0], 3)]


def random_weights(first: list[int], size: int, seed: int, holes: bool = False) -> ChainWeights:
    """Weights of any size (moves into a first step too: they must not count); with holes some moves are impossible."""
    generator = np.random.default_rng(seed)
    steps = len(first)
    single = generator.normal(scale=2, size=(steps, size))
    pair = generator.normal(scale=2, size=(steps, size, size))
    begins = np.array(first, dtype=bool)
    if holes:
        pair[generator.random(pair.shape) < 0.3] = -np.inf
        pair[:, np.arange(size), np.arange(size)] = 0.0
    return ChainWeights(single, pair, begins)


def log_weight(weights: ChainWeights, chain: tuple[int, ...]) -> float:
    total = 0.0
    for t, state in enumerate(chain):
        total += weights.single[t, state]
        if not weights.first[t]:
            total += weights.pair[t, chain[t - 1], state]
    return float(total)


def all_chains(weights: ChainWeights) -> tuple[np.ndarray, np.ndarray]:
    steps, size = weights.single.shape
    chains = list(product(range(size), repeat=steps))
    return np.array(chains), np.array([log_weight(weights, chain) for chain in chains])


@pytest.mark.parametrize("holes", [False, True], ids=["full", "holes"])
@pytest.mark.parametrize(("first", "size"), SHAPES)
def test_forward_and_backward_give_the_sums_over_all_chains(first: list[int], size: int, holes: bool) -> None:
    for seed in range(5):
        weights = random_weights(first, size, seed, holes)
        chains, logs = all_chains(weights)
        total = np.logaddexp.reduce(logs)
        share = np.exp(logs - total)
        filtered, added = forward(weights)
        assert added.sum() == pytest.approx(total, rel=1e-12, abs=1e-12)
        single, pair = smooth(weights, filtered)
        for t in range(len(first)):
            wanted = [share[chains[:, t] == state].sum() for state in range(size)]
            np.testing.assert_allclose(single[t], wanted, atol=1e-12)
            for i, j in product(range(size), repeat=2):
                both = 0.0 if first[t] else share[(chains[:, t - 1] == i) & (chains[:, t] == j)].sum()
                assert pair[t, i, j] == pytest.approx(both, abs=1e-12)


@pytest.mark.parametrize("holes", [False, True], ids=["full", "holes"])
@pytest.mark.parametrize(("first", "size"), SHAPES)
def test_the_most_probable_chain_is_the_best_of_all(first: list[int], size: int, holes: bool) -> None:
    for seed in range(5):
        weights = random_weights(first, size, seed, holes)
        chains, logs = all_chains(weights)
        assert viterbi(weights).tolist() == chains[np.argmax(logs)].tolist()


@pytest.mark.parametrize(("first", "size"), SHAPES[:4])
def test_chains_are_drawn_as_often_as_they_should_be(first: list[int], size: int) -> None:
    weights = random_weights(first, size, 7)
    weights = ChainWeights(weights.single / 4, weights.pair / 4, weights.first)
    chains, logs = all_chains(weights)
    share = np.exp(logs - np.logaddexp.reduce(logs))
    filtered, _ = forward(weights)
    generator = np.random.default_rng(3)
    count = 6000
    place = {tuple(chain): number for number, chain in enumerate(chains.tolist())}
    found = np.zeros(len(chains))
    for _ in range(count):
        found[place[tuple(backward_sample(weights, filtered, generator).tolist())]] += 1
    # Pearson's statistic has mean len - 1 and variance about 2 (len - 1)
    statistic = np.sum((found - count * share) ** 2 / (count * share))
    free = len(chains) - 1
    assert statistic < free + 5 * np.sqrt(2 * free) + 5


@pytest.mark.parametrize("case", CHAINS, ids=str)
def test_the_weights_of_a_model_are_its_joint(case: Case) -> None:
    small = instance(case, 2)
    plan = plan_gibbs(small.graph, "posterior")
    block = next(block for block in plan.blocks if isinstance(block, ChainBlock))
    (name,) = block.variables
    node = small.graph.nodes[name]
    levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    first = small.values[beginning(node.axes[0].plate)]
    weights = chain_weights(name, block.factors, levels, first, Environment(small.values, small.sizes))
    chains, logs = all_chains(weights)
    touching = tuple(factor for factor in plan.factors if name in factor.names)
    for chain, found in zip(chains, logs, strict=True):
        assert log_joint(touching, {**small.values, name: chain}, small.sizes) == pytest.approx(found, abs=1e-9)


def test_a_long_chain_neither_underflows_nor_overflows() -> None:
    generator = np.random.default_rng(0)
    steps = 2000
    single = generator.normal(scale=300, size=(steps, 3))
    pair = np.log(generator.dirichlet(np.ones(3), (steps, 3)))
    weights = ChainWeights(single, pair, np.arange(steps) == 0)
    filtered, added = forward(weights)
    probability, pairs = smooth(weights, filtered)
    assert np.isfinite(added).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_allclose(pairs[1:].sum(axis=(1, 2)), 1.0)


@pytest.mark.parametrize("scale", [1.0, 300.0, 3000.0])
def test_products_that_underflow_give_way_to_log_sums(scale: float) -> None:
    """Readings that rule out what the moves all but impose: log sums over all chains are the judge."""
    first = [1, 0, 0, 1, 0]
    for seed in range(10):
        generator = np.random.default_rng(seed)
        single, pair = (generator.normal(scale=scale, size=(5, *shape)) for shape in ((2, 3), (2, 3, 3)))
        for kind in range(2):
            weights = ChainWeights(single[:, kind], pair[:, kind], np.array(first, dtype=bool))
            chains, logs = all_chains(weights)
            share = np.exp(logs - np.logaddexp.reduce(logs))
            filtered, added = forward(weights)
            assert added.sum() == pytest.approx(np.logaddexp.reduce(logs), rel=1e-12)
            wanted = np.stack([share @ (chains == state) for state in range(3)], axis=1)
            probability, pairs = smooth(weights, filtered)
            np.testing.assert_allclose(probability, wanted, atol=1e-10)
            whole = ChainWeights(single, pair, weights.first)
            together = smooth(whole, forward(whole)[0])
            np.testing.assert_allclose(together[0][:, kind], probability, atol=1e-12)
            np.testing.assert_allclose(together[1][:, kind], pairs, atol=1e-12)


def test_moves_that_are_the_same_at_all_steps_stand_once() -> None:
    generator = np.random.default_rng(0)
    single, pair = generator.normal(size=(6, 2, 3)), generator.normal(size=(1, 2, 3, 3))
    first = np.array([1, 0, 0, 1, 0, 0], dtype=bool)
    once, many = ChainWeights(single, pair, first), ChainWeights(single, np.repeat(pair, 6, axis=0), first)
    for one, other in zip(smooth(once, forward(once)[0]), smooth(many, forward(many)[0]), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
