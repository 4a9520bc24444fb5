"""Chains over networks have the posterior as their stationary distribution."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.structure.moves import SHARES, State, all_networks, outcomes, proposals
from platewright.structure.scorer import Scorer
from structure.tables import categories, mixed, numbers

FAMILIES = {
    "tables": (categories(12, 3), {"sample_size": 2.0}),
    "k2": (categories(12, 3), {"tables": "k2"}),
    "numbers": (numbers(8, 3), {}),
    "rules": (categories(12, 4), {"forbid": [("a", "b")], "require": [("a", "c")], "max_parents": 2}),
    "sparse": (categories(12, 3), {"prior": pw.arcs(0.2)}),
    "mixed": (mixed(10), {"kinds": {"k": "count"}, "max_parents": 2, "forbid": [("a", "b"), ("b", "a")]}),
}


def transition_matrix(scorer: Scorer, states: list[State]) -> np.ndarray:
    """From each network to each, the outcomes of all proposals added up."""
    place = {state: number for number, state in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for state in states:
        for share, proposal in proposals(scorer.nodes):
            for probability, made in outcomes(scorer, state, proposal):
                matrix[place[state], place[made]] += share * probability
    return matrix


def posterior(scorer: Scorer, states: list[State]) -> np.ndarray:
    """The enumerated posterior."""
    scores = np.array([sum(scorer.local(node, above) for node, above in enumerate(state)) for state in states])
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("name", FAMILIES)
def test_the_posterior_is_stationary(name: str) -> None:
    table, options = FAMILIES[name]
    family = pw.Structures(table, **options)  # type: ignore[arg-type]
    scorer = family.score(table, family.search(table).graph).scorer
    states = list(all_networks(family.rules))
    matrix = transition_matrix(scorer, states)
    wanted = posterior(scorer, states)
    assert matrix.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert wanted @ matrix == pytest.approx(wanted, abs=1e-10)
    # and it is the only one: every network is reached
    assert (np.linalg.matrix_power(matrix + np.eye(len(states)), len(states)) > 0).all()


def test_25_networks_of_three_nodes() -> None:
    table, options = FAMILIES["tables"]
    assert len(list(all_networks(pw.Structures(table, **options).rules))) == 25  # type: ignore[arg-type]


def test_a_choice_among_legal_neighbours_without_its_factor_would_be_noticed() -> None:
    """The scheme as printed: a uniform legal neighbour, accepted by the ratio of scores alone."""
    table, options = FAMILIES["tables"]
    family = pw.Structures(table, **options)  # type: ignore[arg-type]
    scorer = family.score(table, []).scorer
    states = list(all_networks(family.rules))
    place = {state: number for number, state in enumerate(states)}
    wanted = posterior(scorer, states)
    matrix = np.zeros((len(states), len(states)))
    for number, state in enumerate(states):
        near = [
            made
            for child in range(3)
            for parent in range(3)
            if (made := (*state[:child], state[child] ^ (1 << parent), *state[child + 1 :])) in place
        ]
        for made in near:
            matrix[number, place[made]] += min(1.0, wanted[place[made]] / wanted[number]) / len(near)
        matrix[number, number] += 1.0 - matrix[number].sum()
    assert np.abs(wanted @ matrix - wanted).max() > 1e-3


def test_proposals_add_up_to_one() -> None:
    for nodes in (2, 3, 4, 7):
        assert sum(share for share, _ in proposals(nodes)) == pytest.approx(1.0)
    assert sum(SHARES.values()) == pytest.approx(1.0)


def test_long_runs_agree_on_the_543_networks_of_four_nodes() -> None:
    table = categories(25)
    family = pw.Structures(table, sample_size=2.0)
    exact = family.enumerate(table)
    assert len(exact.weighed) == 543
    drawn = family.sample(table, draws=60_000, seed=3)
    assert sum(exact.weighed.values()) == pytest.approx(1.0, abs=1e-9)
    gaps = [abs(drawn.weighed.get(state, 0.0) - weight) for state, weight in exact.weighed.items()]
    assert max(gaps) < 0.006
    assert np.abs(drawn.arcs - exact.arcs).max() < 0.015
    assert drawn.diagnostics["worst_rhat"] < 1.02


def test_a_seed_fixes_the_draws() -> None:
    table = categories(25)
    family = pw.Structures(table)
    one, two, other = (family.sample(table, draws=400, seed=seed) for seed in (1, 1, 2))
    assert (one.chains.draws == two.chains.draws).all() and one.chains.states == two.chains.states
    assert one.weighed != other.weighed


def test_chains_in_threads_draw_what_they_draw_one_after_another() -> None:
    table = categories(80, 5)
    family = pw.Structures(table)
    alone = family.sample(table, draws=2000, seed=3, workers=1)
    for workers in (2, 3, 9):
        together = family.sample(table, draws=2000, seed=3, workers=workers)
        np.testing.assert_array_equal(alone.chains.draws, together.chains.draws)
        np.testing.assert_allclose(alone.chains.scores, together.chains.scores, rtol=1e-12)
        assert alone.chains.states == together.chains.states
