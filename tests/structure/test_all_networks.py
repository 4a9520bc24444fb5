"""Sums and maxima over all networks agree with going over them one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.structure.graph_sums import GraphSums, log_prior_total, log_symmetric_total, squeezed
from platewright.structure.moves import all_networks
from platewright.structure.rules import members
from structure.tables import categories, mixed, numbers

OPTIONS = {
    "free": {},
    "arcs": {"prior": pw.arcs(0.1)},
    "few parents": {"max_parents": 1},
    "rules": {"forbid": [("a", "b")], "require": [("c", "d")], "tiers": [["a", "b", "c"], ["d"]]},
    "k2": {"tables": "k2", "prior": pw.arcs(0.7), "max_parents": 2},
}


@pytest.mark.parametrize("nodes", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [0.0, 3.0, 400.0])
def test_the_sum_the_best_and_every_arc(nodes: int, width: float) -> None:
    rng = np.random.default_rng(nodes)
    scores = rng.normal(size=(nodes, 1 << (nodes - 1))) * width - 5000.0
    found = GraphSums(scores)
    family = pw.Structures(categories(30, nodes))
    totals, arcs = [], np.zeros((nodes, nodes))
    states = list(all_networks(family.rules))
    for state in states:
        totals.append(sum(scores[node, squeezed(above, node)] for node, above in enumerate(state)))
    weights = np.exp(np.array(totals) - max(totals))
    for state, weight in zip(states, weights / weights.sum(), strict=True):
        for child, above in enumerate(state):
            arcs[members(above), child] += weight
    assert len(states) == {1: 1, 2: 3, 3: 25, 4: 543}[nodes]
    assert found.log_sum == pytest.approx(max(totals) + np.log(weights.sum()), rel=1e-13)
    assert found.best[0] == pytest.approx(max(totals), rel=1e-14)
    assert found.arcs == pytest.approx(arcs, abs=1e-12)


@pytest.mark.parametrize("nodes", [6, 9, 12])
def test_where_all_scores_are_alike_networks_are_counted(nodes: int) -> None:
    found = GraphSums(np.zeros((nodes, 1 << (nodes - 1))))
    assert found.log_sum == pytest.approx(log_symmetric_total(nodes, nodes, 0.0), rel=1e-14)
    off = found.arcs[~np.eye(nodes, dtype=bool)]
    assert np.ptp(off) < 1e-13


def test_networks_are_counted_as_robinson_did() -> None:
    counts = [round(float(np.exp(log_symmetric_total(n, n, 0.0)))) for n in range(1, 7)]
    assert counts == [1, 3, 25, 543, 29281, 3781503]


@pytest.mark.parametrize("name", OPTIONS)
def test_the_evidence_is_the_average_over_the_allowed_networks(name: str) -> None:
    table = categories(40)
    family = pw.Structures(table, **OPTIONS[name])  # type: ignore[arg-type]
    exact = family.enumerate(table)
    states = list(all_networks(family.rules))
    priors = np.array([family.prior.log_odds * sum(above.bit_count() for above in state) for state in states])
    priors -= np.logaddexp.reduce(priors)
    scorer = exact.scorer
    evidence = [scorer.log_evidence(tuple(frozenset(members(above)) for above in state)) for state in states]
    joint = np.array(evidence) + priors
    assert exact.log_evidence == pytest.approx(np.logaddexp.reduce(joint), rel=1e-12)
    assert log_prior_total(family.rules, family.prior) == pytest.approx(
        np.logaddexp.reduce([family.prior.log_odds * sum(a.bit_count() for a in state) for state in states]), abs=1e-12
    )
    weights = np.exp(joint - np.logaddexp.reduce(joint))
    for (one, parent), (two, child) in product(enumerate(family.names), repeat=2):
        if one != two:
            there = sum(w for w, state in zip(weights, states, strict=True) if state[two] >> one & 1)
            assert exact.arc_probability(parent, child) == pytest.approx(there, abs=1e-10)


@pytest.mark.parametrize("table", [categories(60), numbers(40), mixed(60)], ids=["tables", "numbers", "mixed"])
def test_searches_find_the_best_of_all(table: dict[str, np.ndarray]) -> None:
    family = pw.Structures(table)
    proven = family.search(table, by="exact")
    assert proven.proven and family.search(table).proven and not family.search(table, by="orders").proven
    for by in ("orders", "greedy", "tabu"):
        assert family.search(table, by=by, restarts=20).log_evidence == pytest.approx(proven.log_evidence, rel=1e-12)


def test_listed_networks_come_in_order_and_add_up() -> None:
    table = categories(40)
    exact = pw.Structures(table).enumerate(table)
    listed = exact.graphs(top=543)
    shares = [share for _, share in listed]
    assert sum(shares) == pytest.approx(1.0, abs=1e-10) and shares == sorted(shares, reverse=True)
    assert exact.path_probability("a", "b") == pytest.approx(sum(p for g, p in listed if g.has_path("a", "b")))
    assert exact.inclusion("b")["a"] == pytest.approx(exact.arc_probability("a", "b"))


def test_the_most_probable_of_many_nodes_carry_their_exact_probability() -> None:
    table = categories(400, 7)
    exact = pw.Structures(table).enumerate(table)
    graph, share = exact.graphs(top=3)[0]
    score = exact.best.log_evidence - exact.log_evidence - log_symmetric_total(7, 7, 0.0)
    assert np.log(share) == pytest.approx(score, abs=1e-9)
    assert graph.distance(exact.best.graph) == 0 or share == pytest.approx(exact.graphs(top=3)[1][1])


def test_averaged_predictions_are_those_of_the_evidence_itself() -> None:
    """log p(new row | rows) over all networks = evidence with the row - evidence without."""
    table, new = categories(30, 3, seed=1), categories(5, 3, seed=2)
    family = pw.Structures(table)
    without = family.enumerate(table)
    found = without.average(new)
    for row in range(5):
        more = {name: np.append(column, new[name][row]) for name, column in table.items()}
        assert found[row] == pytest.approx(family.enumerate(more).log_evidence - without.log_evidence, abs=1e-10)


def test_averages_of_a_function_of_the_fit_are_weighed() -> None:
    table = categories(30, 2)
    exact = pw.Structures(table).enumerate(table)
    wanted = sum(p * exact.scorer.local_evidence(0, frozenset()) for _, p in exact.graphs(3))
    assert exact.average(lambda fit: exact.scorer.local_evidence(0, frozenset())) == pytest.approx(wanted)
    assert np.isfinite(exact.average(lambda fit: fit.log_evidence))


@pytest.mark.parametrize("by", ["orders", "tabu", "greedy"])
def test_restarts_in_threads_find_the_best_too(by: str) -> None:
    table = categories(200, 6)
    family = pw.Structures(table)
    proven = family.search(table, by="exact").log_evidence
    found = family.search(table, by=by, restarts=12, workers=3)
    assert found.log_evidence == pytest.approx(proven, rel=1e-12)
    assert len(found.trace) == 12 and list(found.trace) == sorted(found.trace)


def test_a_search_ends_early_only_where_its_beginnings_agree() -> None:
    easy = categories(300, 10, seed=1)
    easy["k"] = (easy["j"] + np.arange(300) // 40) % 2
    found = pw.Structures(easy).search(easy)
    assert len(found.trace) == 1 and not found.proven
    assert len(pw.Structures(easy).search(easy, restarts=10).trace) == 10
    rng = np.random.default_rng(0)
    hard: dict[str, np.ndarray] = {}
    for number in range(14):  # sums of two columns in a circle of levels: neither tells anything alone
        above = [hard[f"x{p}"] for p in rng.choice(number, min(number, 2), replace=False)] if number else []
        hard[f"x{number}"] = np.where(rng.random(800) < 0.7, sum(above) % 3, rng.integers(0, 3, 800))
    assert len(pw.Structures(hard).search(hard).trace) == 10
