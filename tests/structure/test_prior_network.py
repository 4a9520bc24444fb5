"""Tables whose prior is one network and a sample size (BDe): counted by hand, and the same whichever way arcs point."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import lgamma

import numpy as np
import pytest

import platewright as pw
from platewright.errors import MissingValue, ModelError, ParameterError, PlatewrightError, SizeError
from structure.tables import Table, categories

T = categories(50, 3)
SIZE = 8.0


def network(flat: bool = False) -> tuple[pw.Model, np.ndarray]:
    """b -> a, b -> c with known tables, and the joint over a, b, c."""
    rng = np.random.default_rng(1)
    p_b = np.full(3, 1 / 3) if flat else rng.dirichlet(np.ones(3))
    p_a, p_c = (np.full((3, 2), 0.5) if flat else rng.dirichlet(np.ones(2), size=3) for _ in range(2))
    m = pw.Model("before")
    two, three = m.plate("two", 2), m.plate("three", 3)
    m.b = pw.Categorical(pw.array(p_b, over=three), over=three)
    m.a = pw.Categorical(pw.array(p_a, over=(three, two))[m.b], over=two)
    m.c = pw.Categorical(pw.array(p_c, over=(three, two))[m.b], over=two)
    return m, np.einsum("b,ba,bc->abc", p_b, p_a, p_c)


def by_hand(table: Table, joint: np.ndarray, child: str, parents: list[str]) -> float:
    """One local evidence, every state of the parents gone through."""
    names = list(table)
    gone = tuple(names.index(name) for name in names if name not in (child, *parents))
    total = 0.0
    for state in product(*(range(joint.shape[names.index(parent)]) for parent in parents)):
        at: list[object] = [slice(None)] * 3
        chosen = np.ones(len(table[child]), dtype=bool)
        for parent, level in zip(parents, state, strict=True):
            at[names.index(parent)] = slice(level, level + 1)
            chosen &= table[parent] == level
        alpha = SIZE * joint[tuple(at)].sum(axis=gone).reshape(-1)
        counts = np.bincount(table[child][chosen], minlength=len(alpha))
        total += lgamma(alpha.sum()) - lgamma(alpha.sum() + counts.sum())
        total += sum(lgamma(a + n) - lgamma(a) for a, n in zip(alpha, counts, strict=True))
    return total


def family() -> pw.Structures:
    return pw.Structures(T, prior_network=network()[0], sample_size=SIZE)


def test_local_evidences_are_those_counted_by_hand() -> None:
    joint = network()[1]
    for child, parents in (("a", []), ("a", ["b"]), ("b", ["a", "c"]), ("c", ["a", "b"])):
        found = family().score(T, [(parent, child) for parent in parents])
        assert found.local_evidence[child] == pytest.approx(by_hand(T, joint, child, parents), rel=1e-12)
        assert found.fit.log_evidence == pytest.approx(found.log_evidence, rel=1e-12)


def test_equivalent_networks_score_the_same() -> None:
    chain, back, fork, collider = (
        family().score(T, arcs).log_evidence
        for arcs in (
            [("a", "b"), ("b", "c")],
            [("c", "b"), ("b", "a")],
            [("b", "a"), ("b", "c")],
            [("a", "b"), ("c", "b")],
        )
    )
    assert chain == pytest.approx(back, rel=1e-12) and chain == pytest.approx(fork, rel=1e-12)
    assert abs(chain - collider) > 1e-3
    assert family().search(T, by="classes").log_evidence <= family().enumerate(T).best.log_evidence + 1e-9


def test_a_network_without_arcs_and_with_even_tables_is_bdeu() -> None:
    even = pw.Structures(T, prior_network=network(flat=True)[0], sample_size=SIZE).enumerate(T)
    plain = pw.Structures(T, sample_size=SIZE).enumerate(T)
    assert even.log_evidence == pytest.approx(plain.log_evidence, rel=1e-12)
    np.testing.assert_allclose(even.arcs, plain.arcs, rtol=1e-10)


def test_sampling_and_tables_agree_with_it() -> None:
    exact = family().enumerate(T)
    drawn = family().sample(T, draws=8000, seed=0)
    assert np.abs(drawn.arcs - exact.arcs).max() < 0.03
    best = family().score(T, [("b", "a")])
    counts = np.zeros((3, 2))
    np.add.at(counts, (T["b"], T["a"]), 1.0)
    counts += SIZE * network()[1].sum(axis=2).T
    assert best.fit["p_a"].mean == pytest.approx(counts / counts.sum(axis=1, keepdims=True), rel=1e-12)
    assert repr(float((counts / counts.sum(axis=1, keepdims=True))[0, 0]))[:12] in best.to_bif()


def ruled_out() -> pw.Model:
    m = pw.Model("never")
    three = m.plate("three", 3)
    for name, chances in (("a", [1.0, 0.0]), ("c", [0.5, 0.5])):
        level = m.plate(f"of_{name}", 2)
        setattr(m, name, pw.Categorical(pw.array(chances, over=level), over=level))
    m.b = pw.Categorical(pw.array([0.2, 0.3, 0.5], over=three), over=three)
    return m


HOLED = {**T, "a": np.where(np.arange(50) == 3, np.nan, T["a"])}
REFUSED: dict[str, tuple[type[PlatewrightError], str, Callable[[], object]]] = {
    "no model": (ParameterError, "prior_network=", lambda: pw.Structures(T, prior_network=3)),  # type: ignore[arg-type]
    "lacking": (ModelError, "has no `d`", lambda: pw.Structures({**T, "d": T["a"]}, prior_network=network()[0])),
    "other levels": (ModelError, "3 levels", lambda: pw.Structures({**T, "a": T["b"]}, prior_network=network()[0])),
    "nought": (ModelError, "rules out", lambda: pw.Structures(T, prior_network=ruled_out())),
    "numbers": (
        ModelError,
        "all categories",
        lambda: pw.Structures({**T, "w": np.arange(50) / 3}, prior_network=network()[0]),
    ),
    "k2": (ParameterError, "beside a prior network", lambda: pw.Structures(T, tables="k2", prior_network=network()[0])),
    "too wide": (
        SizeError,
        "states together",
        lambda: pw.Structures(categories(50, 10) | {f"x{k}": T["a"] for k in range(12)}, prior_network=network()[0]),
    ),
    "missing cells": (MissingValue, "row 3, column a", lambda: family().search(HOLED)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name: str) -> None:
    error, words, attempt = REFUSED[name]
    with pytest.raises(error, match=words):
        attempt()
