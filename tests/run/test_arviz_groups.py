"""The ArviZ tree of a result of every kind: its groups, their labels, and ArviZ's own functions on it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import platewright as pw
from platewright.errors import LeftOutWarning
from result_kinds import FEW, KINDS, NAMES, TWO, WITH_POSTERIOR, WITHOUT_POSTERIOR, Y, normal, result

pytest.importorskip("arviz_base")

OF_DRAWS = {"posterior", "posterior_predictive", "log_likelihood", "sample_stats"}


@pytest.mark.parametrize("kind", WITH_POSTERIOR)
def test_every_group_is_there(kind: str) -> None:
    fit = result(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeftOutWarning)
        tree = fit.to_arviz(60, seed=2)
    groups = OF_DRAWS | {"prior", "prior_predictive", "observed_data"}
    assert set(tree.children) == groups | ({"constant_data"} if kind == "exact with inputs" else set())
    assert set(tree["posterior"].data_vars) == set(fit)
    chains, draws = (tree["posterior"].sizes[name] for name in ("chain", "draw"))
    rows = len(np.asarray(fit.columns["y"]))
    for group in ("posterior_predictive", "log_likelihood"):
        assert tree[group]["y"].shape == (chains, draws, rows)
        assert tree[group]["y"].dims == ("chain", "draw", "row")
    assert tree["sample_stats"]["lp"].shape == (chains, draws)
    assert np.isfinite(tree["log_likelihood"]["y"]).all() and np.isfinite(tree["sample_stats"]["lp"]).all()
    assert np.array_equal(tree["observed_data"]["y"], fit.columns["y"])
    assert set(tree["prior"].data_vars) >= set(fit.learned) and tree.attrs["algorithm"] == fit.how


@pytest.mark.parametrize("kind", WITHOUT_POSTERIOR)
def test_what_knows_the_evidence_alone_says_what_it_leaves_out(kind: str) -> None:
    with pytest.warns(LeftOutWarning, match="no posterior"):
        tree = result(kind).to_arviz(20)
    assert set(tree.children) == {"prior", "prior_predictive", "observed_data"}
    assert "no posterior" in tree.attrs["left_out"]


@pytest.mark.parametrize("kind", ["em", "mean-field", "gibbs of classes", "collapsed-gibbs"])
def test_labels_of_the_data_and_of_the_model_are_coordinates(kind: str) -> None:
    tree = result(kind).to_arviz(10)
    for group in ("posterior", "prior"):
        assert list(tree[group].coords["kind"].values) == NAMES
        assert tree[group]["mu"].dims == ("chain", "draw", "kind")


def test_the_density_is_that_of_the_draws_in_the_tree() -> None:
    tree = result("gibbs").to_arviz()
    mu, sd = (np.asarray(tree["posterior"][name])[..., None] for name in ("mu", "sd"))
    assert np.asarray(tree["log_likelihood"]["y"]) == pytest.approx(norm.logpdf(Y, mu, sd), rel=1e-9)


def test_lp_is_the_log_joint_of_data_and_draw() -> None:
    fit = result("exact")
    tree = fit.to_arviz(20)
    for draw in (0, 7):
        point = {name: np.asarray(tree["posterior"][name])[0, draw] for name in ("tau", "mu")}
        assert float(tree["sample_stats"]["lp"][0, draw]) == pytest.approx(fit.log_joint_at(point), rel=1e-9)


def test_the_prior_is_that_of_the_model_and_replicates_look_like_the_data() -> None:
    tree = result("exact").to_arviz(4000)
    assert float(tree["prior"]["tau"].mean()) == pytest.approx(2 / 3, abs=0.08)
    assert np.asarray(tree["prior"]["sd"]) == pytest.approx(np.asarray(tree["prior"]["tau"]) ** -0.5)
    replicated = np.asarray(tree["posterior_predictive"]["y"])
    assert replicated.mean() == pytest.approx(Y.mean(), abs=0.1) and replicated.std() == pytest.approx(
        Y.std(), rel=0.15
    )


def test_inputs_are_constant_data_and_functions_of_rows_are_draws() -> None:
    tree = result("exact with inputs").to_arviz(30)
    assert set(tree["constant_data"].data_vars) == {"x"}
    twice = 2 * np.asarray(tree["constant_data"]["x"])
    b = np.asarray(tree["posterior"]["b"])[..., None]
    assert np.asarray(tree["posterior"]["mean"]) == pytest.approx(b * twice)


def test_missing_cells_are_missing_in_what_was_seen() -> None:
    fit = normal().learn({"y": [1.0, np.nan, 3.0, 2.5]}, by="gibbs", **FEW)
    tree = fit.to_arviz()
    assert np.isnan(np.asarray(tree["observed_data"]["y"])).tolist() == [False, True, False, False]
    assert tree["posterior_predictive"]["y"].sizes["row"] == 4
    assert not np.asarray(tree["log_likelihood"]["y"])[..., 1].any()


def test_a_prior_that_cannot_be_drawn_is_left_out_with_what_follows_from_it() -> None:
    m = pw.Model("flat")
    row = m.plate("row")
    m.mu = pw.Flat()
    m.tau = pw.Gamma(1, rate=1)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=row)
    with pytest.warns(LeftOutWarning, match=r"`y`: `mu` above it"):
        tree = m.learn({"y": Y}).to_arviz(10)
    assert set(tree["prior"].data_vars) == {"tau"} and "prior_predictive" not in tree.children
    assert "posterior_predictive" in tree.children


def test_rows_that_were_not_kept_leave_out_what_needs_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y\n" + "\n".join(map(str, Y)))
    fit = normal().learn(tmp_path / "a.csv")
    with pytest.warns(LeftOutWarning, match="was not kept"):
        tree = fit.to_arviz(10)
    assert "log_likelihood" not in tree.children and "posterior" in tree.children


def test_vectors_have_one_density_a_row() -> None:
    m = pw.Model("vectors")
    row, d = m.plate("row"), m.plate("d", labels=["u", "v"])
    m.S = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, precision=2 * m.S, over=d)
    m.y = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=row)
    tree = m.learn({"y": TWO[:12].reshape(6, 2)}).to_arviz(15)
    assert tree["log_likelihood"]["y"].dims == ("chain", "draw", "row")
    assert tree["posterior_predictive"]["y"].dims == ("chain", "draw", "row", "d")
    assert list(tree["observed_data"].coords["d"].values) == ["u", "v"]


@pytest.mark.parametrize("kind", WITH_POSTERIOR)
def test_arviz_leaves_one_out_and_agrees_with_ours(kind: str) -> None:
    pytest.importorskip("xarray_einstats")
    from arviz_stats import loo

    fit = result(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tails, on few rows
        found, ours = loo(fit.to_arviz(2000)), fit.leave_one_out()
    assert np.isfinite(found.elpd)
    if kind not in ("mode", "em", "laplace"):  # which ArviZ sees as a Gaussian about the estimate
        assert float(found.elpd) == pytest.approx(ours.sum(), abs=0.5)


def test_arviz_compares_models_whatever_found_them() -> None:
    pytest.importorskip("xarray_einstats")
    from arviz_stats import compare

    kinds = ("mean-field", "gibbs of classes", "collapsed-gibbs")
    trees = {kind: result(kind).to_arviz(500) for kind in kinds}
    trees["normal"] = normal().learn({"y": TWO}).to_arviz(500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = compare(trees)
    assert list(table.index)[-1] == "normal" and set(table.index) == {*kinds, "normal"}


def test_every_kind_is_told_of() -> None:
    assert set(KINDS) == {*WITH_POSTERIOR, *WITHOUT_POSTERIOR}
