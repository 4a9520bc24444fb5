"""Missing cells and hidden nodes: chains, evidences and searches agree with going over all completions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.errors import MissingValue
from platewright.structure import chains
from platewright.structure.columns import read_rows
from platewright.structure.families import observed_means
from platewright.structure.incomplete import Incomplete
from platewright.structure.missing_cells import first_filling, refilled
from platewright.structure.moves import State, all_networks
from structure.tables import Table, categories, mixed, numbers

HOLES = [(0, "a"), (3, "b"), (5, "a"), (7, "c"), (5, "c")]


def holed(table: Table, holes: list[tuple[int, str]]) -> Table:
    """With NaN in some cells."""
    found = {name: np.asarray(column, dtype=float) for name, column in table.items()}
    for row, name in holes:
        found[name][row] = np.nan
    return found


def completed(family: pw.Structures, table: Table, holes: list[tuple[int, str]]) -> list[Table]:
    """Every table that fills the holes."""
    levels = [range(len(family.columns[family.names.index(name)].levels)) for _, name in holes]
    found = []
    for chosen in product(*levels):
        made = {name: np.array(column) for name, column in table.items()}
        for (row, name), level in zip(holes, chosen, strict=True):
            made[name][row] = level
        found.append(made)
    return found


def posterior(family: pw.Structures, table: Table, holes: list[tuple[int, str]]) -> dict[State, float]:
    """By enumeration of networks and completions."""
    scores: dict[State, list[float]] = {}
    for made in completed(family, table, holes):
        scorer = family.score(made, []).scorer
        for state in all_networks(family.rules):
            scores.setdefault(state, []).append(sum(scorer.local(node, above) for node, above in enumerate(state)))
    logs = {state: np.logaddexp.reduce(found) for state, found in scores.items()}
    total = np.logaddexp.reduce(list(logs.values()))
    return {state: float(np.exp(value - total)) for state, value in logs.items()}


def test_chains_with_missing_cells_agree_with_all_networks_and_completions() -> None:
    rng = np.random.default_rng(1)
    b = np.arange(14) % 2
    table = {"a": np.where(rng.random(14) < 0.9, b, 1 - b), "b": b, "c": np.where(rng.random(14) < 0.85, b, 1 - b)}
    holes = [(row, "a") for row in range(7)]
    family = pw.Structures(table, sample_size=2.0)
    wanted = posterior(family, table, holes)
    drawn = family.sample(holed(table, holes), draws=1000, seed=1, chains=2, warm_up=20)
    assert len(wanted) == 25
    arcs = {(p, c): sum(w for s, w in wanted.items() if s[c] >> p & 1) for p in range(3) for c in range(3) if p != c}
    gaps = [abs(drawn.arcs[arc] - share) for arc, share in arcs.items()]
    assert max(gaps) < 0.06
    assert max(abs(drawn.weighed.get(state, 0.0) - share) for state, share in wanted.items()) < 0.05
    # taking the rows with holes away instead would be noticed
    kept = [row for row in range(14) if row not in {row for row, _ in holes}]
    apart = family.enumerate({name: column[kept] for name, column in table.items()})
    assert max(abs(apart.arcs[arc] - share) for arc, share in arcs.items()) > 0.15


def test_chains_with_missing_cells_agree_on_the_543_networks_of_four_nodes() -> None:
    table = categories(16, 4)
    holes = [(0, "a"), (2, "b"), (5, "d"), (9, "c")]
    family = pw.Structures(table, sample_size=2.0)
    wanted = posterior(family, table, holes)
    assert len(wanted) == 543
    drawn = family.sample(holed(table, holes), draws=3000, seed=2, chains=2, warm_up=50)
    for parent, child in product(range(4), repeat=2):
        share = sum(weight for state, weight in wanted.items() if state[child] >> parent & 1)
        assert drawn.arcs[parent, child] == pytest.approx(share, abs=0.06)
    assert max(abs(drawn.weighed.get(state, 0.0) - share) for state, share in wanted.items()) < 0.015


def test_predictions_with_missing_cells_are_averaged_over_networks_and_completions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """p(new row | cells that are there) = sum over networks and completions, of rows with and without the new one."""
    table, new = categories(14, 3), {"a": [0, 1], "b": [2, 0], "c": [1, 1]}
    holes = [(0, "a"), (3, "b"), (5, "a"), (7, "c"), (9, "b"), (11, "b")]
    family = pw.Structures(table, sample_size=2.0)
    without = np.logaddexp.reduce([family.enumerate(made).log_evidence for made in completed(family, table, holes)])
    monkeypatch.setattr(chains, "FILLINGS", 2000)
    drawn = family.sample(holed(table, holes), draws=2000, seed=0, chains=2, warm_up=20)
    assert len(drawn.chains.fillings) == 2000
    found = drawn.average(new)
    for row in range(2):
        more = {name: np.append(column, new[name][row]) for name, column in table.items()}
        with_it = np.logaddexp.reduce([family.enumerate(made).log_evidence for made in completed(family, more, holes)])
        assert found[row] == pytest.approx(with_it - without, abs=0.03)


def test_missing_cells_are_drawn_from_their_predictive() -> None:
    table = categories(10, 3)
    family = pw.Structures(table, sample_size=2.0)
    holes = HOLES[:3]
    parents = [frozenset[int](), frozenset({0}), frozenset({0, 1})]
    arcs = [("a", "b"), ("a", "c"), ("b", "c")]
    logs = np.array([family.score(made, arcs).log_evidence for made in completed(family, table, holes)])
    wanted = np.exp(logs - np.logaddexp.reduce(logs))
    rows = read_rows(family.columns, holed(table, holes))
    generator = np.random.default_rng(0)
    filled, counts = first_filling(rows, generator), np.zeros(len(wanted))
    sizes = [len(family.columns[family.names.index(name)].levels) for _, name in holes]
    for _ in range(1500):
        filled = refilled(filled, rows.missing, parents, family.evidence, np.zeros(3), generator)
        at = [int(filled.codes[family.names.index(name), row]) for row, name in holes]
        counts[np.ravel_multi_index(at, sizes)] += 1
    assert np.abs(counts / counts.sum() - wanted).max() < 0.05


def test_missing_numbers_are_drawn_from_theirs() -> None:
    """The mean of a missing cell is that of its regression on the other columns of all other rows."""
    table = numbers(200, 3)
    family = pw.Structures(table)
    gone = {name: column.copy() for name, column in table.items()}
    gone["x"][7] = np.nan
    rows = read_rows(family.columns, gone)
    centres = np.nanmean(rows.values, axis=1)
    parents = [frozenset[int](), frozenset({0}), frozenset({1})]
    generator = np.random.default_rng(0)
    filled, draws = first_filling(rows, generator), []
    for _ in range(500):
        filled = refilled(filled, rows.missing, parents, family.evidence, centres, generator)
        draws.append(filled.values[1, 7])
    others = np.delete(np.arange(200), 7)
    inputs = np.column_stack([np.ones(199), table["w"][others], table["y"][others]])
    fitted, residual, *_ = np.linalg.lstsq(inputs, table["x"][others], rcond=None)
    wanted = fitted @ [1.0, table["w"][7], table["y"][7]]
    assert np.mean(draws) == pytest.approx(wanted, abs=0.35)
    assert np.std(draws) == pytest.approx(np.sqrt(residual[0] / 199), rel=0.12)


def test_the_estimated_evidence_is_the_sum_over_completions() -> None:
    table = categories(14, 3)
    family = pw.Structures(table, sample_size=4.0)
    arcs = [("a", "b"), ("b", "c")]
    wanted = np.logaddexp.reduce([family.score(t, arcs).log_evidence for t in completed(family, table, HOLES)])
    rows = read_rows(family.columns, holed(table, HOLES))
    scorer = family.score(table, []).scorer
    best = Incomplete(pw.Network(family.names, frozenset(arcs)), scorer, family.make_model, missing_from=rows)
    assert best.log_evidence == pytest.approx(wanted, abs=0.05)
    assert best.estimate.error < 0.05


def test_a_hidden_common_cause_of_five_symptoms_is_found() -> None:
    rng = np.random.default_rng(0)
    ill = rng.random(500) < 0.4
    table = {f"s{k}": np.where(rng.random(500) < np.where(ill, 0.85, 0.12), 1, 0) for k in range(5)}
    without = pw.Structures(table).search(table)
    found = pw.Structures(table, hidden={"cause": 2}).search(table, restarts=1)
    assert found.log_evidence > without.log_evidence + 20.0
    assert all({"cause", name} in [set(arc) for arc in found.graph.arcs] for name in table)
    assert len(found.graph.arcs) == 5


def test_search_with_missing_cells_finds_what_complete_rows_show() -> None:
    rng = np.random.default_rng(1)
    table = categories(1500, 5, seed=4)
    family = pw.Structures(table)
    complete = family.search(table).graph
    gone = {name: np.where(rng.random(1500) < 0.15, np.nan, column) for name, column in table.items()}
    found = family.search(gone)
    assert found.graph.distance(complete) <= 1
    assert found.rows.missing.sum() == sum(int(np.isnan(column).sum()) for column in gone.values())


def test_none_and_nan_are_missing_in_text_too() -> None:
    table = {"a": ["x", None, "y", "x"] * 10, "b": ["u", "v", float("nan"), "u"] * 10}
    family = pw.Structures(table)
    assert family.columns[0].levels == ("x", "y") and family.columns[1].levels == ("u", "v")
    assert 0.0 <= family.sample(table, draws=50, chains=1, warm_up=5).arc_probability("a", "b") <= 1.0


def test_sums_over_all_networks_need_complete_rows() -> None:
    table = holed(categories(12, 3), HOLES)
    family = pw.Structures(categories(12, 3))
    with pytest.raises(MissingValue, match="complete rows"):
        family.enumerate(table)
    with pytest.raises(MissingValue, match="row 0, column a"):
        family.score(table, [])


@pytest.mark.parametrize("by", ["numbers", "mixed"])
def test_the_estimated_evidence_is_the_integral_over_missing_numbers(by: str) -> None:
    """By the trapezium rule over two missing numbers and sums over a missing category and a missing count."""
    table = numbers(14, 3) if by == "numbers" else mixed(30)
    kinds = {} if by == "numbers" else {"k": "count"}
    arcs = [("w", "x"), ("x", "y")] if by == "numbers" else [("a", "w"), ("w", "x"), ("a", "b"), ("a", "k")]
    holes = {"w": 3, "x": 3} if by == "numbers" else {"w": 5, "x": 6, "a": 5, "k": 7}
    family = pw.Structures(table, kinds=kinds)
    gone = {name: np.array(column, dtype=float) for name, column in table.items()}
    for name, row in holes.items():
        gone[name][row] = np.nan
    rows = read_rows(family.columns, gone)
    centres = observed_means(rows)
    graph = pw.Network(family.names, frozenset(arcs))
    scorer = family._scored(first_filling(rows, np.random.default_rng(0)), centres)
    best = Incomplete(graph, scorer, family.make_model, missing_from=rows)
    grid = np.linspace(-5.0, 5.0, 19)
    widths = {name: float(np.nanstd(gone[name])) for name in ("w", "x")}
    logs = []
    for place in np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2):
        for level in (0, 1) if "a" in holes else (0,):
            codes, values = rows.codes.copy(), rows.values.copy()
            for name, at in zip(("w", "x"), place, strict=True):
                node = family.names.index(name)
                values[node, holes[name]] = centres[node] + at * widths[name]
            if "a" in holes:
                codes[family.names.index("a"), holes["a"]] = level
                values[family.names.index("k"), holes["k"]] = 0.0
            filled = family._scored(rows.with_cells(codes, values), centres)
            terms = [filled.local_evidence(node, above) for node, above in enumerate(best.parents)]
            if "k" in holes:  # summed over all counts, a row says nothing: it is left out
                node = family.names.index("k")
                kept = rows.with_cells(np.delete(codes, holes["k"], axis=1), np.delete(values, holes["k"], axis=1))
                terms[node] = family._scored(kept, centres).local_evidence(node, best.parents[node])
            logs.append(sum(terms))
    wanted = np.logaddexp.reduce(logs) + np.log(widths["w"] * widths["x"] * (grid[1] - grid[0]) ** 2)
    assert best.log_evidence == pytest.approx(wanted, abs=0.04)
    assert best.estimate.error < 0.03


def test_a_hidden_node_over_numbers_is_found_and_has_an_evidence() -> None:
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 80)
    table = {name: 4.0 * group + rng.normal(size=80) for name in "uvw"}
    found = pw.Structures(table, hidden={"group": 2}).search(table, restarts=1)
    assert {("group", name) for name in "uvw"} <= found.graph.arcs
    assert found.log_evidence > pw.Structures(table).search(table).log_evidence + 5.0
