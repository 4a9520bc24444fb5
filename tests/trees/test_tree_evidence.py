"""The evidence of a tree is that of the same tree written with `where`, of its counts, and of its leaves by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ModelError
from platewright.trees.leaves import ClassLeaf
from trees.random_trees import LEVELS, by_hand, columns, groups, model, number_evidence, random_shape


def written_with_where(shape: pw.Split | None, prior: Any) -> pw.Model:
    """The tree as a user would write it without `pw.Tree`."""
    m = pw.Model("where")
    row, level = m.plate("row"), m.plate("level", 3)
    m.c, m.d = pw.Input(plates=row, levels=3), pw.Input(plates=row, levels=2)
    m.x, m.z = pw.Input(plates=row), pw.Input(plates=row)
    numbers = itertools.count()

    def leaf(at: pw.Split | None) -> Any:
        if at is None:
            return next(numbers)
        asked = getattr(m, at.on)
        parts = [leaf(branch) for branch in at.branches]
        if at.below is not None:
            return pw.where(pw.less(asked, at.below), *parts)
        if at.level is not None:
            return pw.where(pw.equal(asked, at.level), *parts)
        found = parts[0]
        for k, part in enumerate(parts[1:], 1):
            found = pw.where(pw.equal(asked, k), part, found)
        return found

    m.leaf = leaf(shape)
    m.p = pw.Dirichlet(prior, over=level, plates=m.plate("leaves", next(numbers)))
    m.y = pw.Categorical(m.p[m.leaf], plates=row)
    return m


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_has_the_evidence_of_the_same_tree_written_with_where(seed: int) -> None:
    generator = np.random.default_rng(seed)
    data, shape = columns(generator), pw.Split("x", random_shape(generator), random_shape(generator), below=0.1)
    prior = [0.5, 1.0, 2.0]
    m = model(prior, shape=shape)
    backend = "c" if seed == 0 else "numpy"
    found = m.learn(data, backend=backend).log_evidence
    assert found == pytest.approx(written_with_where(shape, prior).learn(data, backend=backend).log_evidence, abs=1e-9)
    assert found == pytest.approx(m.grow(data).trees["y"].log_evidence, abs=1e-9)
    assert found == pytest.approx(by_hand(shape, data, np.array(prior)), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_shared_pseudo_counts_are_those_of_the_whole_tree(seed: int) -> None:
    generator = np.random.default_rng(100 + seed)
    data, shape = columns(generator), pw.Split("c", random_shape(generator, 2), None, random_shape(generator, 2))
    m = model([0.5, 1.0, 2.0], shape=shape, shared=True)
    grown = m.grow(data)
    wanted = by_hand(shape, data, np.array([0.5, 1.0, 2.0]), shared=True)
    assert grown.trees["y"].log_evidence == pytest.approx(wanted, abs=1e-9)
    assert m.learn(data).log_evidence == pytest.approx(wanted, abs=1e-9)
    concentration = np.concatenate([[share] for _, share in groups(shape, data, np.arange(60))])
    assert concentration.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(4))
def test_numbers_at_the_leaves_have_the_evidence_of_their_predictives(seed: int) -> None:
    generator = np.random.default_rng(200 + seed)
    data, shape = columns(generator), pw.Split("x", random_shape(generator, 2), random_shape(generator, 2), below=0.1)
    data["y"] = data["x"] * 2 + generator.normal(size=60) + 50.0
    m = model(pw.Gamma(1.5, rate=0.7), shape=shape, mean=48.0, worth=0.3)
    parts = groups(shape, data, np.arange(60))
    wanted = sum(number_evidence(data["y"][rows], 1.5, 0.7, 48.0, 0.3) for rows, _ in parts)
    assert m.learn(data).log_evidence == pytest.approx(wanted, abs=1e-8)
    assert m.grow(data).trees["y"].log_evidence == pytest.approx(wanted, abs=1e-8)


def test_zeros_and_ones_under_a_beta_prior() -> None:
    data = columns(np.random.default_rng(5), classes=2)
    shape = pw.Split("d", pw.Split("x", below=0.0), None)
    m = model(pw.Beta(2.0, 0.5), shape=shape)
    wanted = by_hand(shape, data, np.array([0.5, 2.0]))
    assert m.learn(data).log_evidence == pytest.approx(wanted, abs=1e-9)
    assert m.grow(data).trees["y"].log_evidence == pytest.approx(wanted, abs=1e-9)


def test_a_single_leaf_and_one_branch_for_all_answers() -> None:
    data = columns(np.random.default_rng(6))
    for shape in (None, pw.Split("c", every=pw.Split("d"))):
        wanted = by_hand(shape and pw.Split("c", *(pw.Split("d", None, None),) * 3), data, np.ones(3))
        assert model(shape=shape).learn(data).log_evidence == pytest.approx(wanted, abs=1e-9)


def test_levels_and_their_number_may_come_from_the_data() -> None:
    data = columns(np.random.default_rng(7))
    shape = pw.Split("c", None, pw.Split("d"), None)
    m = pw.Model("open")
    row, level = m.plate("row"), m.plate("level")
    m.c, m.d = pw.Input(plates=row, levels=m.plate("colour")), pw.Input(plates=row, levels=m.plate("side"))
    m.y = pw.Tree(
        m.c,
        m.d,
        prior=pw.Dirichlet(1.0, over=level),
        plates=row,
        shape=pw.Split(m.c, None, pw.Split(m.d, level="left")),
    )
    named = {
        "c": np.array(["blue", "green", "red"])[data["c"]],
        "d": np.array(["left", "right"])[data["d"]],
        "y": np.array(["a", "b", "c"])[data["y"]],
    }
    with pytest.raises(ModelError, match="3, one for each level"):
        m.learn(named)
    m = pw.Model("open")
    row, level = m.plate("row"), m.plate("level")
    m.c, m.d = pw.Input(plates=row, levels=m.plate("colour")), pw.Input(plates=row, levels=m.plate("side"))
    asked = pw.Split(m.c, None, pw.Split(m.d, level="left"), None)
    m.y = pw.Tree(m.c, m.d, prior=pw.Dirichlet(1.0, over=level), plates=row, shape=asked)
    fit = m.learn(named)
    assert fit.log_evidence == pytest.approx(by_hand(shape, data, np.ones(3)), abs=1e-9)
    assert "green" in repr(m.grow(named).model.plates["colour"].labels)
    predicted = fit.predict({"c": ["green"], "d": ["left"]}).probabilities("y")
    here = np.bincount(data["y"][(data["c"] == 1) & (data["d"] == 0)], minlength=3) + 1
    assert predicted[0] == pytest.approx(here / here.sum(), abs=1e-9)


def test_a_tree_in_a_network_scores_like_the_tree_alone() -> None:
    """The inputs are random too, and the target is a parent: the tree's term is the same (Corollary 6.1.1)."""
    data = columns(np.random.default_rng(8))
    shape = pw.Split("c", pw.Split("d"), None, None)
    m = pw.Model("network")
    row, three, two = m.plate("row"), m.plate("three", 3), m.plate("two", 2)
    m.p_c, m.p_d = pw.Dirichlet(1.0, over=three), pw.Dirichlet(1.0, over=two)
    m.c, m.d = pw.Categorical(m.p_c, plates=row), pw.Categorical(m.p_d, plates=row)
    m.y = pw.Tree(m.c, m.d, prior=pw.Dirichlet(1.0, over=m.plate("level", 3)), plates=row, shape=shape)
    m.mu = pw.Normal(0, sd=1, plates=m.plates["level"])
    m.x = pw.Normal(m.mu[m.y], sd=1, plates=row)
    fit = m.learn({name: data[name] for name in ("c", "d", "y", "x")})
    alone = model(shape=shape).learn(data).log_evidence
    assert fit.local_evidence[("p_y",)] == pytest.approx(alone, abs=1e-9)
    assert m.grow({name: data[name] for name in ("c", "d", "y", "x")}).trees["y"].log_evidence == pytest.approx(alone)


def test_a_wrong_pseudo_count_would_be_noticed() -> None:
    data = columns(np.random.default_rng(9))
    tree = model(shape=pw.Split("c")).grow(data).trees["y"]
    assert isinstance(tree.columns.leaf, ClassLeaf)
    off = replace(tree.columns.leaf, alpha=tree.columns.leaf.alpha + 1e-6)
    planted = replace(tree, columns=replace(tree.columns, leaf=off))
    assert abs(planted.log_evidence - by_hand(pw.Split("c"), data, np.ones(3))) > 1e-7
    assert set(LEVELS) == {"c", "d"}
