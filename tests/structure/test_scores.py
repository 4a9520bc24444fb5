"""Local scores are the evidences of ordinary models, and hang on nothing but a node and its parents."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln

import platewright as pw
from platewright.errors import PlatewrightError
from platewright.structure.moves import all_networks
from platewright.structure.network import Network
from platewright.structure.rules import members
from structure.tables import Table, categories, mixed, numbers

CLOSE = 1e-12
FAMILIES = {
    "bdeu": (categories(), {"sample_size": 3.0}),
    "k2": (categories(), {"tables": "k2"}),
    "jeffreys": (categories(), {"tables": "jeffreys"}),
    "bge": (numbers(), {"sample_size": 2.0}),
    "bge, more degrees": (numbers(), {"degrees": 9.5}),
    "nig": (numbers(), {"numbers": "nig", "shape": 2.0, "rate": 3.0}),
    "mixed": (mixed(), {"kinds": {"k": "count"}, "shape": 1.5, "rate": 0.5}),
}


def networks_of(family: pw.Structures, count: int, seed: int) -> list[Network]:
    """Some of the networks that the rules allow."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        order = rng.permutation(len(family.names))
        chosen = []
        for place, child in enumerate(order):
            may = family.rules.allowed[child] & set(order[:place].tolist())
            chosen += [(family.names[p], family.names[child]) for p in may if rng.random() < 0.5]
        found.append(Network(family.names, frozenset(chosen)))
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_the_score_of_a_network_is_the_evidence_of_the_ordinary_model(name: str) -> None:
    table, options = FAMILIES[name]
    family = pw.Structures(table, **options)  # type: ignore[arg-type]
    for network in networks_of(family, 4, seed=1):
        found = family.score(table, network)
        assert found.log_evidence == pytest.approx(found.fit.log_evidence, rel=CLOSE)


def test_a_wrong_prior_would_be_noticed() -> None:
    table, _ = FAMILIES["bdeu"]
    arcs = [("a", "b"), ("b", "c")]
    right = pw.Structures(table, sample_size=3.0).score(table, arcs)
    wrong = pw.Structures(table, sample_size=3.0000001).score(table, arcs)
    assert wrong.log_evidence != pytest.approx(right.fit.log_evidence, rel=CLOSE)


@pytest.mark.parametrize("name", ["bdeu", "bge", "bge, more degrees"])
def test_equivalent_networks_score_the_same(name: str) -> None:
    table, options = FAMILIES[name]
    family = pw.Structures(table, **options)  # type: ignore[arg-type]
    by_class: dict[frozenset[tuple[str, str, str]], list[float]] = {}
    scorer = family.score(table, []).scorer
    for state in all_networks(family.rules):
        arcs = [(family.names[p], family.names[c]) for c, above in enumerate(state) for p in members(above)]
        network = Network(family.names, frozenset(arcs))
        score = scorer.log_evidence(tuple(frozenset(members(above)) for above in state))
        by_class.setdefault(frozenset(network._marks()), []).append(score)
    assert len(by_class) == 185
    for scores in by_class.values():
        assert max(scores) - min(scores) <= CLOSE * abs(scores[0])


def test_k2_tells_equivalent_networks_apart() -> None:
    table, options = FAMILIES["k2"]
    family = pw.Structures(table, **options)  # type: ignore[arg-type]
    one, two = (family.score(table, [arc]).log_evidence for arc in (("a", "b"), ("b", "a")))
    assert abs(one - two) > 1e-6


@pytest.mark.parametrize("name", FAMILIES)
def test_the_bayes_factor_of_an_arc_is_the_difference_of_two_full_evidences(name: str) -> None:
    table, options = FAMILIES[name]
    family = pw.Structures(table, **options)  # type: ignore[arg-type]
    for network in networks_of(family, 6, seed=2):
        for arc in sorted(network.arcs)[:2]:
            with_it = family.score(table, network)
            without = family.score(table, network.arcs - {arc})
            full = with_it.fit.log_evidence - without.fit.log_evidence
            assert pw.bayes_factor(with_it, without).log == pytest.approx(full, abs=1e-9)
            assert pw.bayes_factor(with_it, without.graph).log == pytest.approx(full, abs=1e-9)
            changed = {n for n in family.names if with_it.local_evidence[n] != without.local_evidence[n]}
            assert changed <= {arc[1]}


@pytest.mark.parametrize("name", FAMILIES)
def test_an_arc_that_goes_and_comes_back_leaves_the_score_bit_for_bit(name: str) -> None:
    table, options = FAMILIES[name]
    family = pw.Structures(table, **options)  # type: ignore[arg-type]
    network = networks_of(family, 1, seed=5)[0]
    best = family.score(table, network)
    scorer = best.scorer
    before = best.log_evidence
    for arc in sorted(network.arcs):
        place = family.names.index(arc[1])
        above = {family.names.index(parent) for parent in network.parents(arc[1])}
        scorer.local_evidence(place, frozenset(above - {family.names.index(arc[0])}))
        assert scorer.log_evidence(best.parents) == before


def test_columns_may_have_any_names() -> None:
    table = dict(zip(("row", "p_row", "blood pressure", "learn"), categories(30).values(), strict=True))
    found = pw.Structures(table).score(table, [("row", "p_row"), ("blood pressure", "learn")])
    assert found.fit.log_evidence == pytest.approx(found.log_evidence, rel=CLOSE)


def test_rows_in_any_order_and_names_in_any_order_score_the_same() -> None:
    table = categories(200)
    back = {name: np.asarray(column)[::-1] for name, column in reversed(table.items())}
    arcs = [("a", "c"), ("b", "c"), ("c", "d")]
    one = pw.Structures(table).score(table, arcs).log_evidence
    two = pw.Structures(back).score(back, arcs).log_evidence
    assert one == pytest.approx(two, rel=CLOSE)


def test_a_large_parent_set_is_counted_sparsely() -> None:
    rng = np.random.default_rng(0)
    table: Table = {f"x{k}": rng.integers(0, 9, 300) for k in range(30)}
    family = pw.Structures(table)
    found = family.score(table, [(f"x{k}", "x29") for k in range(29)])
    # every row stands alone, so the table says what one row of nine equal levels says
    assert found.local_evidence["x29"] == pytest.approx(-300 * np.log(9), rel=1e-6)
    with pytest.raises(PlatewrightError, match="would hold"):
        _ = found.fit.log_evidence


def test_columns_may_have_any_number_of_words_of_nodes() -> None:
    rng = np.random.default_rng(0)
    table: Table = {f"x{k}": rng.integers(0, 2, 200) for k in range(130)}
    table["x129"] = table["x0"].copy()
    best = pw.Structures(table, max_parents=2).search(table, restarts=1, by="greedy")
    assert {frozenset(arc) for arc in best.graph.arcs} >= {frozenset(("x0", "x129"))}


def test_every_pair_of_arcs_is_scored_as_the_sum_over_groups() -> None:
    """Planted in the derivation: a cell term that forgot its prior would break this by hand."""
    from math import lgamma

    table = categories(40, 3)
    family = pw.Structures(table, tables="k2")
    for above in [c for size in range(3) for c in combinations("ac", size)]:
        keys = list(zip(*(table[name] for name in above), strict=True)) if above else [()] * 40
        total = 0.0
        for key in set(keys):
            counts = np.bincount([b for b, k in zip(table["b"], keys, strict=True) if k == key], minlength=3)
            total += lgamma(3) - lgamma(3 + counts.sum()) + sum(lgamma(1 + n) for n in counts)
        score = family.score(table, [(name, "b") for name in above]).local_evidence["b"]
        assert score == pytest.approx(total, rel=CLOSE)


@pytest.mark.parametrize("rows", [3, 63, 64, 65, 1000])
def test_counts_by_bitmaps_and_by_rows_are_those_of_a_plain_count(rows: int) -> None:
    """Sets of few and of many states, columns of more levels than have bitmaps, repeated rows."""
    rng = np.random.default_rng(rows)
    levels = [2, 3, 16, 17, 2, 5]
    table = {f"x{k}": rng.integers(0, most, rows) - 100 * k for k, most in enumerate(levels)}
    table = {name: np.concatenate([column, column]) for name, column in table.items()}
    everything = {f"x{k}": np.arange(102) % most - 100 * k for k, most in enumerate(levels)}
    family = pw.Structures(everything)
    assert [len(column.levels) for column in family.columns] == levels
    scorer = family.score(table, []).scorer
    for node, above in [(node, above) for node in range(6) for above in range(64) if not above >> node & 1]:
        chosen = members(above)
        codes = [table[f"x{k}"] + 100 * k for k in [*chosen, node]]
        counts = np.zeros([levels[k] for k in [*chosen, node]])
        np.add.at(counts, tuple(codes), 1.0)
        counts = counts.reshape(-1, levels[node])
        alpha = 1.0 / counts.size
        total = (gammaln(alpha + counts) - gammaln(alpha)).sum()
        total += (gammaln(alpha * levels[node]) - gammaln(alpha * levels[node] + counts.sum(axis=1))).sum()
        assert scorer.local(node, above) == pytest.approx(total, rel=1e-10, abs=1e-8)
