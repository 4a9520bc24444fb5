"""What cannot be is said in clear words, before anything is allocated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import (
    CycleError,
    DataError,
    DuplicateColumn,
    FormatError,
    MissingColumn,
    MixedTypes,
    ModelError,
    NameTaken,
    NotFinite,
    ParameterError,
    PlatewrightError,
    ShapeError,
    SizeError,
    SourceError,
    SupportError,
    UnknownName,
    UnseenLevel,
)
from platewright.graph.graph import read_graph
from structure.tables import categories, mixed, numbers

T = categories(40)


def wide() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {f"x{k}": rng.integers(0, 9, 400) for k in range(12)}


def many() -> dict[str, Any]:
    return {"a": np.arange(120_000) % 40_000, "b": np.arange(120_000) % 2}


def twice() -> Any:
    import pandas as pd

    return pd.DataFrame(np.zeros((3, 2)), columns=["a", "a"])


BAD: dict[str, tuple[type[PlatewrightError], str, Callable[[], Any]]] = {
    "cyclic requirements": (
        CycleError,
        r"circle: . -> . -> . -> .",
        lambda: pw.Structures(T, require=[("a", "b"), ("b", "c"), ("c", "a")]),
    ),
    "an arc to itself": (CycleError, "to itself", lambda: pw.Structures(T, require=[("a", "a")])),
    "both": (
        ModelError,
        "both forbidden and required",
        lambda: pw.Structures(T, forbid=[("a", "b")], require=[("a", "b")]),
    ),
    "against the tiers": (
        ModelError,
        "later tier",
        lambda: pw.Structures(T, tiers=[["a"], ["b"]], require=[("b", "a")]),
    ),
    "in two tiers": (ModelError, "two tiers", lambda: pw.Structures(T, tiers=[["a"], ["a"]])),
    "constant": (DataError, "`a` is constant: it is 3", lambda: pw.Structures({**T, "a": np.full(40, 3)})),
    "constant number": (DataError, "constant", lambda: pw.Structures({**T, "a": np.full(40, 0.1)})),
    "identifier": (DataError, "like an identifier", lambda: pw.Structures({**T, "id": np.arange(40)})),
    "text identifier": (
        DataError,
        "40 levels in 40 rows",
        lambda: pw.Structures({**T, "id": [f"n{k}" for k in range(40)]}),
    ),
    "no fit": (SizeError, "cells", lambda: pw.Structures(wide(), require=[(f"x{k}", "x11") for k in range(11)])),
    "unknown name": (
        UnknownName,
        "did you mean",
        lambda: pw.Structures({"age": T["a"], "x": T["b"]}, forbid=[("aged", "x")]),
    ),
    "no pair": (ModelError, "no arc", lambda: pw.Structures(T, forbid=["ab"])),  # type: ignore[list-item]
    "hidden clash": (NameTaken, "name of a column", lambda: pw.Structures(T, hidden={"a": 2})),
    "hidden levels": (ModelError, "has 1 levels", lambda: pw.Structures(T, hidden={"h": 1})),
    "two of one name": (DuplicateColumn, "one name", lambda: pw.Structures(twice())),
    "a number and its text": (DuplicateColumn, "one name, `1`", lambda: pw.Structures({1: T["a"], "1": T["b"]})),
    "no rows": (DataError, "no rows", lambda: pw.Structures({"a": []})),
    "no table": (SourceError, "is no table", lambda: pw.Structures(3)),
    "empty": (DataError, "no columns", lambda: pw.Structures({})),
    "mixture": (MixedTypes, "mixes", lambda: pw.Structures({**T, "m": ["x", 1.0] * 20})),
    "infinite": (NotFinite, "row 0, column w", lambda: pw.Structures({"w": [np.inf, 1.0, 2.0]})),
    "all missing": (DataError, "no value", lambda: pw.Structures({**T, "m": [None] * 40})),
    "unequal": (ShapeError, "rows", lambda: pw.Structures(T).search({**T, "a": T["a"][:9]})),
    "lacking": (MissingColumn, "no column `a`", lambda: pw.Structures(T).search({n: T[n] for n in "bcd"})),
    "too many": (UnknownName, "no `e`", lambda: pw.Structures(T).search({**T, "e": T["a"]})),
    "unseen": (UnseenLevel, "row 0, column a", lambda: pw.Structures(T).search({**T, "a": np.full(40, 7)})),
    "prior": (ParameterError, "between 0 and 1", lambda: pw.arcs(1.0)),
    "prior sort": (ParameterError, "uniform_dags", lambda: pw.Structures(T, prior=0.1)),  # type: ignore[arg-type]
    "sample size": (ParameterError, "above 0", lambda: pw.Structures(T, sample_size=0)),
    "degrees": (ParameterError, "degrees", lambda: pw.Structures(numbers(), degrees=3.0)),
    "tables": (UnknownName, "bdeu", lambda: pw.Structures(T, tables="bdeux")),
    "parents": (ParameterError, "max_parents", lambda: pw.Structures(T, max_parents=-1)),
    "too few parents": (ModelError, "max_parents is 0", lambda: pw.Structures(T, max_parents=0, require=[("a", "b")])),
    "number into table": (ModelError, "cannot be", lambda: pw.Structures(mixed(), require=[("w", "a")])),
    "kind": (UnknownName, "count", lambda: pw.Structures(T, kinds={"a": "counts"})),
    "no counts": (SupportError, "counts", lambda: pw.Structures(numbers(), kinds={"w": "count"})),
    "way": (ParameterError, "greedy", lambda: pw.Structures(T).search(T, by="guess")),
    "draws": (ParameterError, "draws", lambda: pw.Structures(T).sample(T, draws=0)),
    "arc of nobody": (UnknownName, "no `q`", lambda: pw.Structures(T).enumerate(T).arc_probability("a", "q")),
    "cyclic network": (CycleError, "circle", lambda: pw.Structures(T).score(T, [("a", "b"), ("b", "a")])),
    "other data": (
        ModelError,
        "different data",
        lambda: pw.bayes_factor(pw.Structures(T).search(T), pw.Structures(T).search(categories(41))),
    ),
    "no evidence": (ModelError, "no evidence", lambda: pw.bayes_factor(pw.Structures(T).search(T), 3)),
    "no JSON": (FormatError, "no JSON", lambda: pw.Network.from_json("{")),
    "foreign JSON": (FormatError, "no saved network", lambda: pw.Network.from_json("[]")),
    "damaged JSON": (
        FormatError,
        "damaged",
        lambda: pw.Network.from_json('{"format": "platewright network 1", "nodes": [1], "arcs": []}'),
    ),
    "too many counts": (SizeError, "too many counts", lambda: pw.Structures(many()).search(many())),
    "too many nodes": (
        SizeError,
        "local scores",
        lambda: pw.Structures({f"x{k}": T["a"] for k in range(23)}).enumerate({f"x{k}": T["a"] for k in range(23)}),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_it_is_refused_in_clear_words(name: str) -> None:
    sort, words, attempt = BAD[name]
    with pytest.raises(sort, match=words):
        attempt()


def test_rules_are_kept_by_every_search() -> None:
    family = pw.Structures(
        T, forbid=[("a", "b")], require=[("c", "a")], tiers=[["c"], ["a", "b"], ["d"]], max_parents=1
    )
    for by in ("orders", "greedy", "tabu", "exact"):
        arcs = family.search(T, by=by).graph.arcs
        assert ("c", "a") in arcs and ("a", "b") not in arcs
        assert not {("a", "c"), ("b", "c"), ("d", "a"), ("d", "b"), ("d", "c")} & arcs
        assert all(sum(child == node for _, child in arcs) <= 1 for node in "abcd")
    assert family.sample(T, draws=300).arc_probability("c", "a") == 1.0


def test_declared_levels_that_no_row_shows_count_in_the_prior() -> None:
    import pandas as pd

    shown = pd.DataFrame({name: pd.Categorical(column, categories=[0, 1, 2, 3]) for name, column in T.items()})
    family = pw.Structures(shown)
    assert all(len(column.levels) == 4 for column in family.columns)
    assert family.search(shown).log_evidence != pw.Structures(T).search(T).log_evidence


def test_networks_go_to_others_and_come_back() -> None:
    graph = pw.Structures(T).search(T).graph
    assert pw.Network.from_json(graph.to_json()) == graph
    assert str(pw.Network(("a", "b", "c"), {("a", "c"), ("b", "c")})) == "[a][b][c|a:b]"
    assert "<svg" in pw.Structures(T).search(T).svg() and "<svg" in pw.Structures(T).enumerate(T).svg()


def test_a_learned_network_is_read_back_from_bif() -> None:
    best = pw.Structures(T).search(T)
    model = pw.read_bif(best.to_bif())
    for name in best.graph.nodes:
        found = read_graph(model).nodes[name].parents
        assert found == best.graph.parents(name)
    root = next(name for name in best.graph.nodes if not best.graph.parents(name))
    assert np.asarray(model.infer()[root].probabilities) == pytest.approx(best.fit[f"p_{root}"].mean, abs=1e-12)


def test_networks_come_from_bif_and_networkx() -> None:
    best = pw.Structures(T).search(T)
    assert pw.Network.from_bif(best.to_bif()) == best.graph
    pytest.importorskip("networkx")
    assert pw.Network.from_networkx(best.graph.to_networkx()) == best.graph
    undirected = pw.Decomposable(T).search(T).graph
    assert {frozenset(edge) for edge in undirected.to_networkx().edges} == undirected.edges


def test_equivalence_is_skeleton_and_colliders() -> None:
    chain, back, fork, collider = (
        pw.Network(("a", "b", "c"), frozenset(arcs))
        for arcs in (
            [("a", "b"), ("b", "c")],
            [("c", "b"), ("b", "a")],
            [("b", "a"), ("b", "c")],
            [("a", "b"), ("c", "b")],
        )
    )
    assert chain.is_equivalent(back) and chain.is_equivalent(fork) and not chain.is_equivalent(collider)
    assert chain.distance(collider) == 2 and collider.compelled == collider.arcs
    assert collider.blanket("a") == {"b", "c"} and chain.blanket("a") == {"b"}
