"""Decomposable graphs: cliques over separators, and chains that have the enumerated posterior."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ModelError
from platewright.structure.columns import read_rows
from platewright.structure.decomposable import CliqueScores, toggled
from platewright.structure.scorer import Scorer
from platewright.structure.undirected import Joined, directed, perfect_order
from structure.tables import categories, mixed, numbers


def joined(nodes: int, edges: list[tuple[int, int]]) -> Joined:
    made: Joined = (0,) * nodes
    for edge in edges:
        made = toggled(made, *edge)
    return made


@pytest.mark.parametrize(("nodes", "count"), [(1, 1), (2, 2), (3, 8), (4, 61), (5, 822)])
def test_the_decomposable_graphs_are_counted(nodes: int, count: int) -> None:
    assert len(list(pw.Decomposable(categories(30, nodes))._all())) == count


def test_a_square_without_a_chord_is_none() -> None:
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert perfect_order(joined(4, square)) is None
    assert perfect_order(joined(4, [*square, (0, 2)])) is not None


@pytest.mark.parametrize("table", [categories(60), numbers(40)], ids=["hyper-Dirichlet", "hyper-inverse-Wishart"])
def test_the_evidence_is_that_of_cliques_over_separators(table: dict[str, np.ndarray]) -> None:
    """Of a-b-c-d with the clique {b, c, d}: E(ab) E(bcd) / E(b), each set as a full directed network of its own."""
    family = pw.Decomposable(table)
    scores = family._scores(table)
    names = list(table)

    def whole(places: list[int]) -> float:
        arcs = [(names[one], names[two]) for one, two in combinations(places, 2)]
        best = pw.Structures(table).score(table, arcs)
        return sum(best.local_evidence[names[place]] for place in places)

    graph = joined(4, [(0, 1), (1, 2), (1, 3), (2, 3)])
    wanted = whole([0, 1]) + whole([1, 2, 3]) - whole([1])
    assert scores.log_evidence(graph) == pytest.approx(wanted, rel=1e-12)


def test_a_complete_table_is_one_dirichlet() -> None:
    from math import lgamma

    table = categories(50, 3)
    found = pw.Decomposable(table)._scores(table).log_evidence(joined(3, [(0, 1), (0, 2), (1, 2)]))
    counts = np.unique(np.column_stack(list(table.values())), axis=0, return_counts=True)[1]
    wanted = lgamma(1.0) - lgamma(51.0) + sum(lgamma(1 / 12 + n) - lgamma(1 / 12) for n in counts)
    assert found == pytest.approx(wanted, rel=1e-12)


def test_the_posterior_is_stationary() -> None:
    table = categories(15, 4)
    family = pw.Decomposable(table, prior=pw.arcs(0.3))
    exact = family.enumerate(table)
    scores = family._scores(table)
    states = list(exact.weighed)
    place = {state: number for number, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        for one, two in combinations(range(4), 2):
            made = toggled(state, one, two)
            accepted = 0.0
            if made in place:
                odds = family.prior.log_odds * (1 if made[one] >> two & 1 else -1)
                accepted = min(1.0, np.exp(scores.log_evidence(made) - scores.log_evidence(state) + odds))
                matrix[place[state], place[made]] += accepted / 6
            matrix[place[state], place[state]] += (1.0 - accepted) / 6
    wanted = np.array(list(exact.weighed.values()))
    assert wanted.sum() == pytest.approx(1.0) and wanted @ matrix == pytest.approx(wanted, abs=1e-10)
    drawn = family.sample(table, draws=4000, seed=1)
    for one, two in combinations(table, 2):
        assert drawn.edge_probability(one, two) == pytest.approx(exact.edge_probability(one, two), abs=0.06)


def test_searches_agree_with_all_graphs() -> None:
    table = categories(200, 6)
    family = pw.Decomposable(table)
    exact = family.enumerate(table)
    assert family.search(table).graph == exact.graphs(1)[0][0]
    small = categories(100, 4)
    assert pw.Decomposable(small).search(small).proven


def test_forbidden_pairs_stay_apart() -> None:
    table = categories(100, 4)
    family = pw.Decomposable(table, forbid=[("a", "b")])
    assert family.enumerate(table).edge_probability("a", "b") == 0.0


def test_columns_of_two_kinds_are_refused() -> None:
    with pytest.raises(ModelError, match="several kinds"):
        pw.Decomposable({k: v for k, v in mixed().items() if k != "k"})
    with pytest.raises(ModelError, match="not decomposable"):
        directed(joined(4, [(0, 1), (1, 2), (2, 3), (3, 0)]))


@pytest.mark.parametrize("table", [categories(60), numbers(40)], ids=["hyper-Dirichlet", "hyper-inverse-Wishart"])
def test_the_fit_is_that_of_a_directed_network_with_the_same_evidence(table: dict[str, np.ndarray]) -> None:
    family = pw.Decomposable(table)
    best = family.search(table)
    assert best.fit.log_evidence == pytest.approx(best.log_evidence, rel=1e-12)
    assert best.log_evidence == pytest.approx(family._scores(table).log_evidence(best.joined), rel=1e-12)
    assert pw.bayes_factor(best, best) == 1.0
    assert best.svg().count("<path") == len(best.graph.edges) and "<svg" in family.enumerate(table).svg()


@pytest.mark.parametrize("table", [categories(30, 3, seed=1), numbers(20, 3)], ids=["tables", "numbers"])
def test_averaged_predictions_are_those_of_the_evidence_itself(table: dict[str, np.ndarray]) -> None:
    """log p(new row | rows) over all graphs = evidence with the row - evidence without."""
    without, new = pw.Decomposable(table).enumerate(table), {name: column[:3] for name, column in table.items()}
    found = without.average(new)
    centres = without.scorer.centres
    for row in range(3):
        more = {name: np.append(column, new[name][row]) for name, column in table.items()}
        family = pw.Decomposable(table)
        rows = read_rows(family.columns, more)
        scores = CliqueScores(Scorer(rows, family.rules, pw.uniform_dags(), family.evidence, centres))
        total = np.logaddexp.reduce([scores.log_evidence(joined) for joined in without.weighed])
        assert found[row] == pytest.approx(total - np.log(len(without.weighed)) - without.log_evidence, abs=1e-10)


def test_probabilities_are_no_more_than_one() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    table = {"a": a, "b": a + 0.01 * rng.normal(size=300), "c": rng.normal(size=300), "d": rng.normal(size=300)}
    assert 1.0 - 1e-9 < pw.Decomposable(table).enumerate(table).edge_probability("a", "b") <= 1.0
