"""What large networks take, shown on small ones: cliques in blocks of every shape, and the walk through orders."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from inference.enumeration import Enumerated, random_case
from inference.test_against_enumeration import check, enumerated, markov_text
from platewright.inference import blocks, discrete, ordering, propagation
from platewright.inference.infer import infer
from platewright.inference.junction_tree import build_tree
from platewright.inference.ordering import choose_ordering
from platewright.inference.semiring import LOG_SUM
from platewright.language.networks.uai import read_uai


@pytest.fixture(params=[1, 4, 9])
def tiny_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few entries, so that small tables are cut in many."""
    monkeypatch.setattr(blocks, "SMALL", request.param)
    monkeypatch.setattr(blocks, "LEAST", 1)
    monkeypatch.setattr(propagation, "SMALL", 0)


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("seed", range(30))
def test_a_clique_in_blocks_gives_the_answers_of_enumeration(seed: int) -> None:
    _, exact, found = random_case(seed)
    check(exact, found, seed)


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("logs", [False, True])
def test_zeros_in_blocks_are_zeros_of_the_answer_in_either_arithmetic(
    seed: int, logs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, factors, sizes = markov_text(seed, zeros=0.2)
    joint = enumerated(factors, sizes)
    if joint.sum() == 0:
        return
    if logs:
        monkeypatch.setattr(discrete, "SUM", LOG_SUM)
    order = tuple(f"x{v}" for v in range(len(sizes)))
    check(Enumerated(order, joint / joint.sum(), {}), infer(read_uai(text)), seed)


def test_a_marginal_too_small_for_scaled_numbers_is_computed_in_logs() -> None:
    """Both neighbours of b all but rule out what the other prefers: no belief of b is near one."""
    far = 1e-250
    sides = f"1.0 {far!r} 1.0 {far!r}", f"{far!r} 3.0 {far!r} 1.0"
    text = f"MARKOV\n3\n2 2 2\n2\n2 0 1\n2 2 1\n4\n{sides[0]}\n4\n{sides[1]}\n"
    found = infer(read_uai(text))
    weights = np.array([(1.0 + 1.0) * (far + far), (far + far) * (3.0 + 1.0)])
    np.testing.assert_allclose(found["x1"].probabilities, weights / weights.sum(), rtol=1e-12)
    np.testing.assert_allclose(found.log_partition, np.log(weights.sum()), rtol=1e-12)
    assert "arithmetic: logs" in found.explain()


def random_scopes(seed: int, count: int, tables: int) -> tuple[list[tuple[str, ...]], dict[str, int]]:
    generator = np.random.default_rng(seed)
    names = [f"v{at}" for at in range(count)]
    scopes = [tuple(generator.permutation(names)[: generator.integers(1, 4)]) for _ in range(tables)]
    return scopes, {name: int(generator.integers(2, 5)) for name in names}


@pytest.mark.parametrize("seed", range(12))
def test_a_search_is_never_worse_than_the_rules_nor_better_than_the_best_order(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scopes, sizes = random_scopes(seed, 6, 8)
    keep = ["v0"] if seed % 3 == 0 else []
    plain = choose_ordering(scopes, sizes, keep)
    monkeypatch.setattr(ordering, "WORTH_SEARCH", 0.0)
    monkeypatch.setattr(ordering, "ENTRIES_A_SCORE", 0.01)
    found = choose_ordering(scopes, sizes, keep)
    assert found == choose_ordering(scopes, sizes, keep)
    assert sorted(found.order) == sorted(set(sizes) - set(keep))
    tree = build_tree(scopes, sizes, keep)
    assert np.isclose(found.entries, sum(tree.entries(clique.axes) for clique in tree.cliques), rtol=1e-12)
    best = min(cost(order, scopes, sizes, keep) for order in permutations(found.order))
    assert best * (1 - 1e-12) <= found.entries <= plain.entries * (1 + 1e-12)


def cost(order: tuple[str, ...], scopes: list[tuple[str, ...]], sizes: dict[str, int], keep: list[str]) -> float:
    """Table entries of an order, by sets of names; kept variables hang together."""
    left = [set(scope) for scope in scopes] + [set(keep)]
    total = 0
    for name in order:
        clique = set().union({name}, *(scope for scope in left if name in scope))
        total += int(np.prod([sizes[other] for other in clique]))
        left = [scope for scope in left if name not in scope] + [clique - {name}]
    return total


def test_a_search_gains_on_tangled_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk is not idle: on most networks it leaves the order of the best rule behind."""
    tangled = [random_scopes(seed, 60, 110) for seed in range(5)]
    monkeypatch.setattr(ordering, "WORTH_SEARCH", np.inf)
    plain = [choose_ordering(scopes, sizes).entries for scopes, sizes in tangled]
    monkeypatch.setattr(ordering, "WORTH_SEARCH", 0.0)
    monkeypatch.setattr(ordering, "ENTRIES_A_SCORE", 1.0)
    monkeypatch.setattr(ordering, "MOST_SCORES", 15_000)
    found = [choose_ordering(scopes, sizes).entries for scopes, sizes in tangled]
    gains = np.array(plain) / np.array(found)
    assert (gains > 1.2).sum() >= 3
