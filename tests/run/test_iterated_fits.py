"""Fits by EM, mean field and Gibbs: expected values, predictions, files."""

from __future__ import annotations

import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.errors import FormatError, PlatewrightError, ShapeError, UnknownName
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.em_search import run_em
from platewright.schemas.em import EMPlan, plan_em
from schemas import hierarchies, sequences
from schemas.conditioned_gaussians import conditioned
from schemas.gaussian_latents import LATENTS
from schemas.small_instance import Case, instance

WAYS = {
    "em": {"goal": "map"},
    "mean-field": {"by": "mean-field"},
    "gibbs": {"by": "gibbs", "chains": 2, "draws": 150, "warm_up": 50},
}


def mixture() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("two kinds of flowers")
    row, kind, colour = m.plate("row"), m.plate("kind", 2), m.plate("colour", labels=["red", "white", "blue"])
    m.share = pw.Dirichlet(2.0, over=kind)
    m.shade = pw.Dirichlet(1.0, over=colour, plates=kind)
    m.mu = pw.Normal(0, sd=5, plates=kind)
    m.z = pw.Categorical(m.share, plates=row)
    m.x = pw.Normal(m.mu[m.z], sd=1, plates=row)
    m.c = pw.Categorical(m.shade[m.z], plates=row)
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(-4, 1, 30), rng.normal(4, 1, 30)])
    return m, {"x": x, "c": ["red"] * 25 + ["white"] * 5 + ["blue"] * 24 + ["white"] * 6}


@cache
def learned(way: str) -> Any:
    """The mixture learned in one way, once for all tests."""
    m, data = mixture()
    return m.learn(data, **WAYS[way])


@pytest.mark.parametrize("way", WAYS)
def test_a_loaded_fit_gives_the_same_answers(way: str, tmp_path: Path) -> None:
    fit = learned(way)
    fit.save(tmp_path / "a.fit")
    again = pw.load(tmp_path / "a.fit")
    assert type(again) is type(fit)
    assert (again.how, again.explain(), str(again.summary())) == (fit.how, fit.explain(), str(fit.summary()))
    assert again.labels == fit.labels and again.seed == fit.seed
    assert np.array_equal(again.probabilities("z"), fit.probabilities("z"))
    assert np.array_equal(again.expected("mu"), fit.expected("mu"))
    assert np.array_equal(again.predict(2)["x"].values, fit.predict(2)["x"].values)


def test_a_loaded_fit_knows_its_missing_cells(tmp_path: Path) -> None:
    m, data = mixture()
    x = np.array(data["x"])
    x[3] = np.nan
    fit = m.learn({**data, "x": x}, by="gibbs", chains=1, draws=20, warm_up=5)
    fit.save(tmp_path / "a.fit")
    again = pw.load(tmp_path / "a.fit")
    assert np.array_equal(again.expected("x"), fit.expected("x"))
    seen = ~np.isnan(x)
    assert np.array_equal(fit.expected("x")[seen], x[seen])


def test_files_that_were_tampered_with_are_refused(tmp_path: Path) -> None:
    m, data = mixture()
    m.learn(data, goal="map").save(tmp_path / "a.fit")

    def changed(key: str, value: object) -> Path:
        with zipfile.ZipFile(tmp_path / "a.fit") as old, zipfile.ZipFile(tmp_path / "b.fit", "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if name == "fit.json":
                    content = json.dumps({**json.loads(content), key: value}).encode()
                new.writestr(name, content)
        return tmp_path / "b.fit"

    for key, value in (
        ("programs", ["x"]),
        ("schema", "exact"),
        ("sizes", {"row": 3}),
        ("version", 9),
        ("split", ["y"]),
    ):
        with pytest.raises(FormatError):
            pw.load(changed(key, value))


def test_the_evidence_alone_is_saved_too(tmp_path: Path) -> None:
    m = pw.Model("coin of two kinds")
    n = m.plate("n")
    m.p = pw.Beta(1, 1)
    m.z = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Normal(3 * m.z, sd=1, plates=n)
    fit = m.learn({"y": [0.0, 3.0]}, goal="evidence")
    fit.save(tmp_path / "a.fit")
    assert pw.load(tmp_path / "a.fit").evidence == fit.evidence


@pytest.mark.parametrize("way", WAYS)
def test_expected_values_are_near_the_truth(way: str) -> None:
    fit = learned(way)
    mu = fit.expected("mu")
    assert np.sort(mu) == pytest.approx([-4, 4], abs=0.6)
    assert np.allclose(fit.expected("z"), fit.probabilities("z"), atol=0.05)
    assert fit.expected("z")[0, int(np.argmin(mu))] > 0.95
    with pytest.raises(UnknownName):
        fit.expected("nothing")


def test_rao_blackwell_means_vary_less_than_means_of_draws() -> None:
    """Over independent runs: the same mean, with less noise, and the truth of a conjugate model inside."""
    m = hierarchies.mean_and_scale()
    data = {"y": [0.3, 1.2, -0.4, 2.2, 1.9]}
    plain, averaged = [], []
    for seed in range(12):
        fit = m.learn(data, by="gibbs", chains=1, draws=60, warm_up=20, seed=seed)
        plain.append(float(fit["mu"].mean))
        averaged.append(float(fit.expected("mu")))
    assert np.std(averaged) < 0.6 * np.std(plain)
    spread = np.hypot(np.std(plain), np.std(averaged)) / np.sqrt(12)
    assert abs(np.mean(plain) - np.mean(averaged)) < 4 * spread


@pytest.mark.parametrize("way", WAYS)
def test_new_rows_are_classified_by_what_they_show(way: str) -> None:
    fit = learned(way)
    left = int(np.argmin(fit.expected("mu")))
    both = fit.predict({"x": [-4.0, 4.0], "c": ["red", "blue"]})
    assert list(both) == ["z"]
    assert both.probabilities("z")[:, left] == pytest.approx([1, 0], abs=0.02)
    colour = fit.predict({"c": ["red", "blue"]})
    assert set(colour) == {"z", "x"}
    assert colour["x"].mean == pytest.approx([-4, 4], abs=1.2)


def test_the_estimate_classifies_by_bayes_rule() -> None:
    m, data = mixture()
    fit = m.learn(data, goal="map")
    at = fit.estimate.values
    x = np.array([-1.0, 0.3])
    weights = at["share"] * stats.norm.pdf(x[:, None], at["mu"], 1) * at["shade"][:, 1]
    found = fit.predict({"x": x, "c": ["white", "white"]}, count=3).probabilities("z")
    assert found == pytest.approx(weights / weights.sum(axis=1, keepdims=True), abs=1e-12)
    again = fit.predict(data, count=1).probabilities("z")
    assert again == pytest.approx(fit.probabilities("z"), abs=1e-7)


def test_draws_predict_by_the_average_over_parameters() -> None:
    fit = learned("gibbs")
    drawn = fit.draws(400, seed=5)
    x = np.array([0.2])
    weights = drawn["share"] * stats.norm.pdf(x, drawn["mu"], 1) * drawn["shade"][:, :, 1]
    wanted = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    found = fit.predict({"x": x, "c": ["white"]}, count=400, seed=5).probabilities("z")
    assert found[0] == pytest.approx(wanted, abs=1e-12)


def test_new_sequences_are_smoothed() -> None:
    m = sequences.counts()
    y = [0, 1, 9, 8, 0, 0, 7, 9, 0, 1, 0, 8, 9, 7, 0]
    fit = m.learn({"y": y}, goal="map")
    assert fit.predict({"y": y}, count=2).probabilities("z") == pytest.approx(fit.probabilities("z"), abs=1e-6)
    assert fit.predict(6, count=50)["y"].values.shape == (50, 6)


def test_what_makes_no_sense_is_refused() -> None:
    m, data = mixture()
    fit = m.learn(data, goal="map")
    pytest.importorskip("arviz_base")
    assert "estimate" in fit.to_arviz(20).attrs["draws"]
    with pytest.raises(UnknownName):
        fit.predict(2)["mu"]
    with pytest.raises(PlatewrightError, match="discrete"):
        fit.predict(2).probabilities("x")
    with pytest.raises(ShapeError):
        fit.predict(-1)
    with pytest.raises(PlatewrightError, match="0 draws"):
        fit.predict(2, count=0)
    w = pw.Model("inputs")
    n, k = w.plate("n"), w.plate("k", 2)
    w.t = pw.Input(plates=n)
    w.p = pw.Dirichlet(1, over=k)
    w.z = pw.Categorical(w.p, plates=n)
    w.b = pw.Normal(0, sd=3, plates=k)
    w.y = pw.Normal(w.b[w.z] * w.t, sd=1, plates=n)
    line = w.learn({"t": [1.0, 2.0, 3.0], "y": [1.0, 2.1, -3.0]}, goal="map")
    with pytest.raises(PlatewrightError, match="no `t`"):
        line.predict(3)
    assert line.predict({"t": [1.0]})["y"].values.shape == (1000, 1)


@pytest.mark.parametrize("case", LATENTS, ids=lambda case: case.name)
def test_hidden_gaussians_have_means(case: Case) -> None:
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    small = instance(case, 1)
    found = run_em(plan, small.columns, small.sizes, iterations=3, restarts=1)
    fit = EstimatedFit(plan, small.columns, small.sizes, found)
    for group in plan.latent.gaussian:
        points = conditioned(plan, group, {**small.columns, **found.values}, small.sizes)
        means = {m.name: points[m.point].mean(axis=len(group.axes)) for m in group.members}
        for member in group.members:
            mean = fit.expected(member.name)
            assert mean.shape == tuple(small.sizes[axis.plate] for axis in member.axes)
            if group.classes:  # an average over the classes lies between them
                low, high = means[member.name].min(), means[member.name].max()
                assert low - 1e-9 <= mean.min() and mean.max() <= high + 1e-9
            else:
                assert mean == pytest.approx(means[member.name].reshape(mean.shape), abs=1e-12)


def test_mean_field_has_a_tree_of_draws() -> None:
    pytest.importorskip("arviz_base")
    m, data = mixture()
    found = m.learn(data, by="mean-field").to_arviz(50)
    assert found["posterior"]["mu"].shape == (1, 50, 2)


def test_a_closed_form_has_expected_values_too() -> None:
    m = pw.Model("coin")
    n = m.plate("n")
    m.p = pw.Beta(1, 1)
    m.x = pw.Bernoulli(m.p, plates=n)
    fit = m.learn({"x": [1, 1, 0]})
    assert fit.expected("p") == pytest.approx(3 / 5)
    assert fit.evidence.method == "exact" and fit.evidence.value == fit.log_evidence


def two_levels() -> pw.Model:
    m = pw.Model("two levels")
    row, k = m.plate("row"), m.plate("k", 2)
    m.mu = pw.Normal(pw.array([-2.0, 2.0], over=k), sd=1, plates=k)
    m.gap = m.mu[1] - m.mu[0]
    m.wide = 2 * m.gap
    m.z = pw.Bernoulli(0.5, plates=row)
    m.where = m.mu[m.z]
    m.y = pw.Normal(m.where, sd=1, plates=row)
    return m


@pytest.mark.parametrize(("by", "goal"), [("em", "map"), ("mean-field", "posterior"), ("gibbs", "posterior")])
def test_functions_of_parameters_are_shown(by: str, goal: str) -> None:
    fit = two_levels().learn({"y": [-2.0, -1.0, 2.5, 3.0]}, by=by, goal=goal)
    gap = fit["mu"].mean[1] - fit["mu"].mean[0]
    np.testing.assert_allclose([fit["gap"].mean, fit["wide"].mean], [gap, 2 * gap], atol=0.1)


@pytest.mark.parametrize(("by", "goal"), [("em", "map"), ("mean-field", "posterior")])
def test_what_has_no_posterior_says_what_to_ask(by: str, goal: str) -> None:
    fit = two_levels().learn({"y": [-2.0, -1.0, 2.5, 3.0]}, by=by, goal=goal)
    with pytest.raises(PlatewrightError, match=r'`z` is hidden(.|\n)*fit.probabilities\("z"\)'):
        fit["z"]
    with pytest.raises(PlatewrightError, match="`y` is known, so it has no posterior"):
        fit["y"]


def test_a_group_that_was_integrated_out_cannot_be_predicted() -> None:
    m = pw.Model("groups")
    group = m.plate("group")
    m.top = pw.Normal(0, sd=10)
    m.level = pw.Normal(m.top, sd=2, plates=group)
    m.y = pw.Normal(m.level, sd=1, plates=m.plate("row", within=group))
    fit = m.learn({"group": ["a", "a", "b"], "y": [1.0, 2.0, 3.0]}, goal="map", by="em")
    with pytest.raises(PlatewrightError, match="`level`, which was integrated out"):
        fit.predict({"group": ["a"]})
    assert fit.evidence.value == pytest.approx(m.learn({"group": ["a", "a", "b"], "y": [1.0, 2.0, 3.0]}).log_evidence)


def test_the_mode_of_an_undirected_part_has_its_normaliser() -> None:
    m = pw.Model("three sites")
    m.a, m.b, m.c = (pw.Undirected(levels=2) for _ in range(3))
    m.potential("ab", 0.7 * pw.equal(m.a, m.b))
    m.potential("bc", 0.7 * pw.equal(m.b, m.c))
    fit = m.learn({"a": 1}, goal="map")
    states = [0.7 * ((a == b) + (b == c)) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    assert fit.log_joint == pytest.approx(1.4 - np.logaddexp.reduce(states))
    assert m.derive(["a"], goal="map").verify().passed


@pytest.mark.parametrize("by", ["gibbs", "collapsed-gibbs"])
def test_probabilities_of_what_was_not_drawn_are_refused(by: str) -> None:
    m = pw.Model("holes")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p, m.q = pw.Dirichlet(2.0, over=k), pw.Beta(1.0, 2.0, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.w = pw.Bernoulli(m.q[m.z], plates=n)
    fit = m.learn({"w": [1.0, 0.0, np.nan]}, by=by, draws=10, warm_up=5)
    for name in ("w", "nobody"):
        with pytest.raises(UnknownName, match=f"`{name}`(.|\n)*one of: z"):
            fit.probabilities(name)
    assert fit.probabilities("z").shape == (3, 2)
