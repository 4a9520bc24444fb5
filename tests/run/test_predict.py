"""Posterior predictions: closed forms, draws, and ratios of evidence agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.errors import DataError, MissingColumn, PlatewrightError, ShapeError, UnknownName, UnseenLevel
from run.row_examples import example

COUNT = 20_000


def near(draws: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> None:
    """Draws have this mean and spread, within five standard errors."""
    bound = 5 * np.asarray(sd) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - mean) < bound).all()
    np.testing.assert_allclose(draws.std(axis=0), sd, rtol=0.1)


@pytest.mark.parametrize("name", ["regression", "groups", "normal_gamma", "normal_inverse_gamma", "hierarchy"])
def test_closed_form_draws_and_ratio_of_evidence_agree(name: str) -> None:
    model, data = example(name)
    fit = model.learn(data)
    target = "y" if "y" in data else "x"
    new = {key: values[:4] for key, values in data.items() if key != target}
    found = fit.predict(new or 4, count=COUNT)
    near(found.draws[target], found[target].mean, found[target].sd)
    values = np.array([0.3, -1.0, 2.0, 0.0])
    ratio = fit.log_predictive({**new, target: values})
    np.testing.assert_allclose(found[target].log_density(values), ratio, rtol=1e-9, atol=1e-9)


def test_regression_predicts_a_student_t_by_hand() -> None:
    m = pw.Model("one weight")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=3)
    m.w = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.w * m.x, precision=m.tau, plates=n)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=9), rng.normal(size=9)
    fit = m.learn({"x": x, "y": y})
    precision = 1 + x @ x
    mean = x @ y / precision
    rate = 3 + 0.5 * (y @ y - precision * mean**2)
    shape = 2 + 4.5
    scale = np.sqrt(rate / shape * (1 + 2.0**2 / precision))
    expected = stats.t(2 * shape, 2 * mean, scale)
    found = fit.predict({"x": [2.0]})["y"]
    assert found.family.name == "StudentT"
    np.testing.assert_allclose(found.quantile([0.1, 0.9])[:, 0], expected.ppf([0.1, 0.9]))
    np.testing.assert_allclose(found.log_density([0.7]), expected.logpdf(0.7))


def test_a_coin_is_predicted_by_its_mean() -> None:
    model, data = example("coin")
    fit = model.learn(data)
    found = fit.predict(3)["x"]
    np.testing.assert_allclose(found.mean, np.full(3, float(fit["p"].mean)))
    np.testing.assert_allclose(found.log_density([1, 0, 1]), fit.log_predictive({"x": [1, 0, 1]}))


def test_counts_are_predicted_as_a_negative_binomial() -> None:
    m = pw.Model("counts")
    n = m.plate("n")
    m.rate = pw.Gamma(2, rate=3)
    m.y = pw.Poisson(m.rate, plates=n)
    fit = m.learn({"y": [1, 4, 2]})
    expected = stats.nbinom(2 + 7, 6 / 7)
    values = [0, 1, 5]
    np.testing.assert_allclose(fit.log_predictive({"y": values}), expected.logpmf(values))
    drawn = fit.predict(2, count=COUNT).draws["y"]
    near(drawn, np.full(2, expected.mean()), np.full(2, expected.std()))


def test_categories_are_predicted_with_their_labels() -> None:
    m = pw.Model("labels")
    n = m.plate("n")
    k, a = m.plate("k", labels=["low", "high"]), m.plate("a", labels=["u", "v"])
    m.t = pw.Dirichlet(1, over=k, plates=a)
    m.c = pw.Input(plates=n, levels=a)
    m.x = pw.Categorical(m.t[m.c], plates=n)
    fit = m.learn({"x": ["low", "low", "high"], "c": ["u", "u", "v"]})
    found = fit.predict({"c": ["v", "u"]})["x"]
    np.testing.assert_allclose(np.exp(found.parameters["log_probabilities"]), [[1 / 3, 2 / 3], [3 / 4, 1 / 4]])
    assert found.labels["k"] == ("low", "high")
    np.testing.assert_allclose(fit.log_predictive({"c": ["v", "u"], "x": ["high", "high"]}), np.log([2 / 3, 1 / 4]))


def test_an_unseen_label_is_an_error_that_names_it() -> None:
    m = pw.Model("labels")
    n, a = m.plate("n"), m.plate("a")
    m.c = pw.Input(plates=n, levels=a)
    m.mu = pw.Normal(0, sd=1, plates=a)
    m.y = pw.Normal(m.mu[m.c], sd=1, plates=n)
    fit = m.learn({"c": ["u", "v", "u"], "y": [1.0, 2.0, 3.0]})
    np.testing.assert_allclose(fit.predict({"c": ["v"]})["y"].mean, fit["mu"].mean[1:])
    with pytest.raises(UnseenLevel, match="w") as caught:
        fit.predict({"c": ["u", "w"]})
    assert "c" in str(caught.value) and "1" in caught.value.where


def test_a_new_group_is_an_error() -> None:
    model, data = example("hierarchy")
    fit = model.learn({"y": data["y"], "g": np.array(list("abcd"))[data["g"]]})
    with pytest.raises(UnseenLevel, match="z"):
        fit.predict({"g": ["a", "z"]})


def test_groups_are_predicted_by_their_own_means() -> None:
    model, data = example("hierarchy")
    fit = model.learn(data)
    found = fit.predict({"g": [2, 0]})["y"]
    np.testing.assert_allclose(found.mean, fit["th"].mean[[2, 0]])
    np.testing.assert_allclose(found.variance, fit["th"].variance[[2, 0]] + 1.0)


def test_two_targets_are_drawn_together() -> None:
    m = pw.Model("chain")
    n = m.plate("n")
    m.a = pw.Normal(0, sd=1)
    m.x = pw.Normal(m.a, sd=1, plates=n)
    m.y = pw.Normal(2 * m.x, sd=0.1, plates=n)
    fit = m.learn({"x": [0.0, 1.0], "y": [0.1, 2.0]})
    drawn = fit.predict(1, count=COUNT).draws
    assert np.corrcoef(drawn["x"][:, 0], drawn["y"][:, 0])[0, 1] > 0.99
    given = fit.predict({"x": [3.0]})
    assert list(given) == ["y"]
    np.testing.assert_allclose(given["y"].mean, [6.0])


def test_the_same_seed_gives_the_same_draws() -> None:
    model, data = example("coin")
    fit = model.learn(data)
    one, two, three = (fit.predict(5, seed=seed).draws["x"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != three).any()


def test_a_plate_may_be_called_draw_and_a_column_shape() -> None:
    m = pw.Model("names of ours")
    n, k = m.plate("draw"), m.plate("k", 2)
    m.shape = pw.Input(plates=n, levels=k)
    m.tau = pw.Gamma(2, rate=1, plates=k)
    m.mu = pw.Normal(0, precision=m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.shape], precision=m.tau[m.shape], plates=n)
    fit = m.learn({"y": [1.0, 2.0, 3.0], "shape": [0, 1, 1]})
    assert fit.draws(5)["mu"].shape == (5, 2)
    found = fit.predict({"shape": [1, 0]})
    np.testing.assert_allclose(found["y"].mean, fit["mu"].mean[[1, 0]])
    assert found.draws["y"].shape == (4000, 2)


def test_rows_given_by_number_need_no_inputs() -> None:
    model, data = example("regression")
    with pytest.raises(MissingColumn, match="`X`"):
        model.learn(data).predict(3)


def test_known_values_cannot_be_predicted() -> None:
    model, data = example("regression")
    fit = model.learn(data)
    with pytest.raises(UnknownName, match="`w`"):
        fit.predict({"X": data["X"]})["w"]


def test_new_rows_have_as_many_columns_as_the_old() -> None:
    model, data = example("regression")
    fit = model.learn(data)
    with pytest.raises(ShapeError, match="plate `c` has size 4"):
        fit.predict({"X": np.zeros((2, 4))})


def test_a_negative_number_of_rows_is_an_error() -> None:
    model, data = example("coin")
    with pytest.raises(ShapeError, match="-2 rows"):
        model.learn(data).predict(-2)


def test_a_sequence_is_not_predicted_without_its_past(tmp_path: Path) -> None:
    model, data = example("markov_chain")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["z", *map(str, data["z"].tolist())]))
    with pytest.raises(PlatewrightError, match="past rows were not kept"):
        _ = model.learn(path).predict(2)["z"]


@pytest.mark.parametrize("method", ["log_predictive", "update"])
@pytest.mark.parametrize("missing", ["y", "X"])
def test_rows_to_score_must_be_complete(method: str, missing: str) -> None:
    model, data = example("regression")
    fit = model.learn(data)
    rows = {key: values[:2] for key, values in data.items() if key != missing}
    with pytest.raises(MissingColumn, match=f"`{missing}`"):
        getattr(fit, method)(rows)


@pytest.mark.parametrize("act", ["update", "forget", "leave_one_out"])
@pytest.mark.parametrize("name", ["markov_chain", "autoregression"])
def test_rows_of_a_sequence_are_not_taken_one_by_one(name: str, act: str) -> None:
    model, data = example(name)
    fit = model.learn(data)
    calls = {"update": (data,), "forget": ([3],), "leave_one_out": ()}
    with pytest.raises(DataError, match="ordered plate `s`"):
        getattr(fit, act)(*calls[act])


@pytest.mark.parametrize("name", ["markov_chain", "autoregression"])
def test_prequential_scores_of_a_sequence_add_up_too(name: str) -> None:
    model, data = example(name, rows=12)
    fit = model.learn(data)
    assert fit.prequential().sum() == pytest.approx(fit.log_evidence, rel=1e-12)


@pytest.mark.parametrize("name", ["normal_wishart", "normal_inverse_wishart"])
def test_vectors_are_drawn_with_their_covariance(name: str) -> None:
    model, data = example(name, rows=40)
    x = data["x"] @ np.array([[1.0, 0.9, 0.0], [0.0, 0.3, 0.0], [0.0, 0.0, 2.0]])
    fit = model.learn({"x": x})
    drawn = fit.predict(2, count=COUNT).draws["x"]
    assert drawn.shape == (COUNT, 2, 3)
    near(drawn[:, 0], fit["mu"].mean, drawn[:, 0].std(axis=0))
    np.testing.assert_allclose(np.corrcoef(drawn[:, 1].T), np.corrcoef(x.T), atol=0.15)
    # the log density of the draws averages to that of the multivariate t, by the evidence
    scores = fit.log_predictive({"x": drawn[:5, 0]})
    assert np.isfinite(scores).all()


def test_many_outputs_are_drawn_around_their_means() -> None:
    model, data = example("many_outputs", rows=60)
    fit = model.learn(data)
    found = fit.predict({"X": data["X"][:2]}, count=COUNT).draws["x"]
    expected = data["X"][:2] @ fit["B"].mean
    near(found, expected, found.std(axis=0))
