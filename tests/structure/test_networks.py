"""The sum over all networks, the best of them and the arcs, against a list of all networks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

from platewright.errors import ModelError, SizeError, UnknownName
from platewright.structure.networks import Networks, Scores

COUNTS = {0: 1, 1: 1, 2: 3, 3: 25, 4: 543, 5: 29_281, 6: 3_781_503}
"""Directed graphs without cycles on so many labelled nodes (Robinson 1973)."""


def drawn(nodes: int, seed: int, spread: float, most: int | None = None) -> Scores:
    generator = np.random.default_rng(seed)
    names = [f"n{number}" for number in range(nodes)]
    return {
        name: {
            above: float(generator.normal(0, spread))
            for above in subsets(name, names)
            if (most is None or len(above) <= most) and (not above or generator.random() < 0.9)
        }
        for name in names
    }


def subsets(name: str, names: list[str]) -> list[frozenset[str]]:
    others = [other for other in names if other != name]
    return [
        frozenset(other for other, chosen in zip(others, bits) if chosen)
        for bits in product((0, 1), repeat=len(others))
    ]


def listed(scores: Scores) -> list[tuple[float, dict[str, frozenset[str]]]]:
    found = []
    for chosen in product(*(list(parents.items()) for parents in scores.values())):
        network = {name: above for name, (above, _) in zip(scores, chosen)}
        if is_acyclic(network):
            found.append((sum(score for _, score in chosen), network))
    return found


def is_acyclic(network: dict[str, frozenset[str]]) -> bool:
    left = dict(network)
    while free := [name for name, above in left.items() if not above & set(left)]:
        for name in free:
            del left[name]
    return not left


@pytest.mark.parametrize("nodes", COUNTS)
def test_every_network_is_counted_once(nodes: int) -> None:
    names = [f"n{number}" for number in range(nodes)]
    even = {name: dict.fromkeys(subsets(name, names), 0.0) for name in names}
    assert np.exp(Networks(even).log_sum) == pytest.approx(COUNTS[nodes], rel=1e-10)


@pytest.mark.parametrize(
    ("nodes", "seed", "spread", "most"),
    [(1, 0, 1.0, None), (2, 1, 2.0, None), (3, 2, 5.0, None), (3, 3, 40.0, None), (4, 4, 3.0, None), (4, 5, 300.0, 1)],
)
def test_sum_best_and_arcs_are_those_of_a_list(nodes: int, seed: int, spread: float, most: int | None) -> None:
    scores = drawn(nodes, seed, spread, most)
    networks, every = Networks(scores), listed(scores)
    heights = np.array([height for height, _ in every])
    assert networks.log_sum == pytest.approx(float(logsumexp(heights)), abs=1e-10)
    height, best = networks.best
    assert height == pytest.approx(heights.max(), abs=1e-10)
    assert is_acyclic(best) and height == pytest.approx(sum(scores[name][above] for name, above in best.items()))
    for parent, child in product(scores, repeat=2):
        if parent != child:
            with_arc = [height for height, network in every if parent in network[child]]
            wanted = float(np.exp(logsumexp(with_arc) - logsumexp(heights))) if with_arc else 0.0
            assert networks.probability(parent, child) == pytest.approx(wanted, abs=1e-10)


def test_a_network_without_a_legal_order_has_no_weight() -> None:
    ring = {"a": {frozenset("b"): 0.0}, "b": {frozenset("a"): 0.0}}
    assert Networks(ring).log_sum == -np.inf
    with pytest.raises(ModelError, match="directed cycle"):
        _ = Networks(ring).best


def test_too_many_nodes_and_strange_parents_are_refused() -> None:
    with pytest.raises(SizeError, match="11 nodes"):
        Networks({str(number): {frozenset(): 0.0} for number in range(11)})
    with pytest.raises(UnknownName, match="c"):
        Networks({"a": {frozenset("c"): 0.0}, "b": {frozenset(): 0.0}})
    with pytest.raises(UnknownName, match="an arc"):
        Networks({"a": {frozenset(): 0.0}}).probability("a", "z")
