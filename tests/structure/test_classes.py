"""Moves between equivalence classes are those of their networks, and their gains the differences of evidences."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ModelError
from platewright.structure.best import named
from platewright.structure.classes import (
    EquivalenceClass,
    class_of,
    search_classes,
    turns_of,
)
from platewright.structure.moves import State, all_networks, has_cycle
from platewright.structure.rules import members
from platewright.structure.scorer import Scorer
from structure.tables import categories, mixed, numbers

FOUR = list(all_networks(pw.Structures(categories(20)).rules))
NAMES = ("a", "b", "c", "d")


def scorer_of(probability: float = 0.5) -> Scorer:
    """Few rows, of which arcs gain or lose less than this prior gives them."""
    return pw.Structures(categories(20), prior=pw.arcs(probability)).score(categories(20), []).scorer


def test_543_networks_have_185_classes_told_by_skeleton_and_colliders() -> None:
    scorer = scorer_of()
    found: dict[EquivalenceClass, set[Any]] = {}
    for state in FOUR:
        network = named(NAMES, [frozenset(members(above)) for above in state])
        made = class_of(scorer, state)
        assert {(NAMES[p], NAMES[c]) for c in range(4) for p in members(made.above[c])} == network.compelled
        found.setdefault(made, set()).add(frozenset(network._marks()))
    assert len(found) == 185 and all(len(marks) == 1 for marks in found.values())


@pytest.mark.parametrize("inserting", [True, False], ids=["inserts", "deletes"])
def test_a_move_is_an_arc_more_or_less_in_some_network_of_the_class(inserting: bool) -> None:
    """Every class that is one arc away is reached, and no other (Chickering's Theorems 15 and 17)."""
    scorer = scorer_of(1 - 1e-16 if inserting else 1e-100)
    classes: dict[EquivalenceClass, list[State]] = {}
    for state in FOUR:
        classes.setdefault(class_of(scorer, state), []).append(state)
    for networks in classes.values():
        wanted = set()
        for state in networks:
            for parent, child in permutations(range(4), 2):
                if bool(state[child] >> parent & 1) != inserting:
                    one = (*state[:child], state[child] ^ (1 << parent), *state[child + 1 :])
                    if not has_cycle(one):
                        wanted.add(class_of(scorer, one))
        found = set()
        for x, y in permutations(range(4), 2):
            for gain, after in turns_of(scorer, networks[0], x, y, inserting):
                assert gain == pytest.approx(height_of(scorer, after) - height_of(scorer, networks[0]), abs=1e-9)
                found.add(class_of(scorer, after))
        assert found == wanted


def height_of(scorer: Scorer, state: State) -> float:
    """Log evidence and log prior of a network."""
    return sum(scorer.local(node, above) for node, above in enumerate(state))


@pytest.mark.parametrize("table", [categories(200, 6), numbers(100)], ids=["tables", "numbers"])
def test_gains_add_up_to_the_evidence(table: dict[str, np.ndarray]) -> None:
    family = pw.Structures(table, prior=pw.arcs(0.2))
    scorer = family.score(table, []).scorer
    found = search_classes(scorer)
    scored = sum(scorer.local(node, sum(1 << p for p in above)) for node, above in enumerate(found.parents))
    assert found.score == pytest.approx(scored, rel=1e-12)
    assert list(found.trace) == sorted(found.trace)


def test_the_best_class_is_found_and_the_most_parents_kept() -> None:
    table = categories(400, 6, seed=3)
    proven = pw.Structures(table).search(table, by="exact")
    found = pw.Structures(table).search(table, by="classes")
    assert found.log_evidence == pytest.approx(proven.log_evidence, rel=1e-12) and not found.proven
    few = pw.Structures(table, max_parents=1).search(table, by="classes").graph
    assert max(len(few.parents(node)) for node in few.nodes) <= 1


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: pw.Structures(categories(), tables="k2").search(categories(), by="classes"),
        lambda: pw.Structures(mixed()).search(mixed(), by="classes"),
        lambda: pw.Structures(categories(), forbid=[("a", "b")]).search(categories(), by="classes"),
    ],
    ids=["k2", "mixed", "forbidden"],
)
def test_where_networks_of_a_class_differ_the_search_is_refused(attempt: Any) -> None:
    with pytest.raises(ModelError, match="equivalen"):
        attempt()
