"""A function that can only be a position indexes a table: rules of 0 and 1, sums of them, trees of `where`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import platewright as pw
from platewright.errors import PlateError

ROWS = 60


def columns(seed: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {
        "x": generator.normal(size=ROWS),
        "c": generator.integers(0, 3, ROWS),
        "y": generator.integers(0, 3, ROWS),
        "v": generator.normal(size=ROWS),
    }


def written() -> tuple[pw.Model, Any, Any]:
    m = pw.Model("rules")
    row = m.plate("row")
    m.x, m.c = pw.Input(plates=row), pw.Input(plates=row, levels=3)
    return m, row, m.plate("level", 3)


RULES: dict[str, tuple[Callable[[pw.Model], Any], Callable[[Any, Any], Any], int]] = {
    "one rule": (lambda m: pw.less(m.x, 0.2), lambda x, c: x < 0.2, 2),
    "a rule and its opposite": (lambda m: 1 - pw.equal(m.c, 1), lambda x, c: c != 1, 2),
    "two rules": (lambda m: pw.less(m.x, 0) + 2 * pw.equal(m.c, 2), lambda x, c: (x < 0) + 2 * (c == 2), 4),
    "both": (lambda m: pw.less(m.x, 0) * pw.equal(m.c, 2), lambda x, c: (x < 0) & (c == 2), 2),
    "the larger": (lambda m: pw.maximum(m.c, 1), lambda x, c: np.maximum(c, 1), 3),
    "a tree": (
        lambda m: pw.where(pw.less(m.x, 0.3), pw.where(pw.equal(m.c, 1), 1, 0), 2),
        lambda x, c: np.where(x < 0.3, np.where(c == 1, 1, 0), 2),
        3,
    ),
}


def table_evidence(leaf: np.ndarray, y: np.ndarray, leaves: int) -> float:
    counts = np.zeros((leaves, 3))
    np.add.at(counts, (leaf, y), 1)
    return float(sum(gammaln(counts + 1).sum(axis=1) - gammaln(counts.sum(axis=1) + 3) + gammaln(3)))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_table_indexed_by_a_function_has_the_evidence_of_its_groups(rule: str, backend: str) -> None:
    m, row, level = written()
    formula, computed, leaves = RULES[rule]
    m.rule = formula(m)
    m.p = pw.Dirichlet(1.0, over=level, plates=m.plate("leaf", leaves))
    m.y = pw.Categorical(m.p[m.rule], plates=row)
    data = columns(1)
    del data["v"]
    leaf = np.asarray(computed(data["x"], data["c"]), dtype=int)
    found = m.learn(data, backend=backend).log_evidence
    assert found == pytest.approx(table_evidence(leaf, data["y"], leaves), abs=1e-9)


def test_normal_means_and_precisions_go_by_the_same_function() -> None:
    m, row, _ = written()
    leaf = m.plate("leaf", 3)
    m.leaf_of = RULES["a tree"][0](m)
    m.tau = pw.Gamma(1.0, rate=1.0, plates=leaf)
    m.mu = pw.Normal(0, precision=m.tau, plates=leaf)
    m.v = pw.Normal(m.mu[m.leaf_of], precision=m.tau[m.leaf_of], plates=row)
    data = columns(2)
    where, wanted = RULES["a tree"][1](data["x"], data["c"]), 0.0
    for group in range(3):
        v = data["v"][where == group]
        shape, rate = 1 + len(v) / 2, 1 + (v @ v - v.sum() ** 2 / (1 + len(v))) / 2
        wanted += gammaln(shape) - shape * np.log(rate) - 0.5 * np.log(1 + len(v)) - len(v) / 2 * np.log(2 * np.pi)
    assert m.learn({name: data[name] for name in ("x", "c", "v")}).log_evidence == pytest.approx(wanted, abs=1e-9)


def test_a_function_of_a_hidden_class_is_summed_over_its_values() -> None:
    """Two classes share a row of the table: the evidence of two rows is the sum over their sixteen pairs of classes."""
    m = pw.Model("hidden")
    row, level, of_class = m.plate("row"), m.plate("level", 2), m.plate("kind", 4)
    m.z = pw.Categorical([0.1, 0.2, 0.3, 0.4], over=of_class, plates=row)
    m.rule = pw.less(m.z, 2)
    m.p = pw.Dirichlet(1.0, over=level, plates=m.plate("side", 2))
    m.y = pw.Categorical(m.p[m.rule], plates=row)
    wanted, chance = 0.0, [0.7, 0.3]
    for first in (0, 1):
        for second in (0, 1):
            together = 1 / 3 if first == second else 1 / 4  # both 1: B(3, 1) for one pair, 1/2 each apart
            wanted += chance[first] * chance[second] * together
    fit = m.learn({"y": [1, 1]}, goal="evidence", by="enumeration")
    assert fit.log_evidence == pytest.approx(np.log(wanted), abs=1e-9)


@pytest.mark.parametrize(
    ("formula", "size", "said"),
    [
        (lambda m: m.x, 2, "which is a real number"),
        (lambda m: 0.5 * pw.less(m.x, 0), 2, "which is a real number"),
        (lambda m: pw.where(pw.less(m.x, 0), 2, 0), 2, "which may be 2"),
        (lambda m: pw.less(m.x, 0) - 1, 2, "which may be -1"),
        (lambda m: pw.less(m.x, 0), None, 'm.plate("side", 2)'),
    ],
)
def test_a_function_that_may_be_no_position_is_refused(
    formula: Callable[[pw.Model], Any], size: int | None, said: str
) -> None:
    m, row, level = written()
    m.rule = formula(m)
    m.p = pw.Dirichlet(1.0, over=level, plates=m.plate("side", size))
    with pytest.raises(PlateError) as caught:
        m.y = pw.Categorical(m.p[m.rule], plates=row)
    assert said in str(caught.value)
