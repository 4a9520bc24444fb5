"""Predictions of new rows do not look at which cells of the learned rows were missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.errors import PlatewrightError

NAN = float("nan")


def spending() -> pw.Model:
    m = pw.Model("spending")
    user = m.plate("user")
    m.p = pw.Beta(1, 1)
    m.tau = pw.Gamma(2, rate=1.0)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.buys = pw.Bernoulli(m.p, plates=user)
    m.amount = pw.LogNormal(m.mu, precision=m.tau, plates=user)
    return m


def line() -> pw.Model:
    m = pw.Model("line")
    row = m.plate("row")
    m.x = pw.Normal(0, sd=1.0, plates=row)
    m.tau = pw.Gamma(2, rate=1.0)
    m.b = pw.Normal(0, precision=0.1 * m.tau)
    m.y = pw.Normal(m.b * m.x, precision=m.tau, plates=row)
    return m


def table(chance: float | None = None) -> pw.Model:
    m = pw.Model("table")
    row = m.plate("row")
    level = m.plate("level", 2)
    if chance is None:
        m.share = pw.Beta(1, 1)
        m.q = pw.Beta(1, 1, plates=level)
        m.a = pw.Bernoulli(m.share, plates=row)
        m.b = pw.Bernoulli(m.q[m.a], plates=row)
        return m
    m.a = pw.Bernoulli(chance, plates=row)
    m.b = pw.Normal(m.a, sd=1.0, plates=row)
    return m


@pytest.mark.parametrize(
    ("model", "holed", "whole", "new"),
    [
        (
            spending(),
            {"buys": [1, 0, 1], "amount": [2.0, NAN, 3.0]},
            {"buys": [1, 0, 1], "amount": [2.0, 3.0, NAN]},
            3,
        ),
        (line(), {"x": [1.0, 2.0, 3.0], "y": [1.0, NAN, 2.0]}, {"x": [1.0, 3.0], "y": [1.0, 2.0]}, {"x": [0.5, -1.0]}),
        (line(), {"x": [1.0, 2.0, 3.0], "y": [1.0, NAN, 2.0]}, {"x": [1.0, 3.0], "y": [1.0, 2.0]}, 4),
        (table(), {"a": [0, 1, 1], "b": [1, NAN, 0]}, {"a": [0, 1, 1], "b": [1, 0, NAN]}, {"a": [0, 1]}),
    ],
)
def test_rows_with_holes_predict_as_the_rows_that_say_the_same(
    model: pw.Model, holed: dict[str, list[float]], whole: dict[str, list[float]], new: object
) -> None:
    one, other = model.learn(holed).predict(new), model.learn(whole).predict(new)
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_allclose(one[name].mean, other[name].mean, rtol=1e-9)


def test_a_sampled_fit_with_a_missing_cause_predicts() -> None:
    fit = line().learn({"x": [1.0, 2.0, NAN, 4.0], "y": [1.0, 2.0, 3.0, 3.0]}, by="gibbs", seed=1)
    found = fit.predict({"x": [0.0, 1.0]})["y"]
    np.testing.assert_allclose(found.mean, [0.0, float(fit["b"].mean)], atol=0.1)


def test_a_sampled_fit_with_a_missing_category_predicts() -> None:
    rows = {"a": [0, 0, 1, 1, None], "b": [0, 0, 1, 1, 1]}
    fit = table().learn(rows, by="gibbs", seed=1)
    given = fit.predict({"a": [0, 1]})["b"]
    np.testing.assert_allclose(given.mean, fit["q"].mean, atol=0.05)
    assert fit.predict({"b": [0, 1, 1]}).draws["a"].shape[1:] == (3,)


def test_a_category_that_was_reported_in_part_is_new_in_new_rows() -> None:
    fit = table(0.3).learn({"a": [0, 1, None], "b": [1.0, 2.0, 3.0]})
    found = fit.predict(5)
    assert found.draws["a"].shape == (4000, 5)
    np.testing.assert_allclose(found.draws["a"].mean(), 0.3, atol=5 * np.sqrt(0.21 / 20_000))


def test_what_is_open_above_a_given_value_is_inferred_from_it() -> None:
    fit = table(0.3).learn({"a": [0, 1, 1], "b": [1.0, 2.0, 3.0]})
    values = np.array([0.0, 1.0, 4.0])
    up, down = 0.3 * stats.norm.pdf(values, 1), 0.7 * stats.norm.pdf(values, 0)
    np.testing.assert_allclose(fit.predict({"b": values}).probabilities("a")[:, 1], up / (up + down), rtol=1e-9)


def test_a_number_above_a_given_value_is_not_guessed() -> None:
    fit = line().learn({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 2.0]})
    with pytest.raises(PlatewrightError, match="`x` above it would have to be inferred"):
        fit.predict({"y": [1.0]})


@pytest.mark.parametrize("by", ["auto", "gibbs"])
def test_a_fit_with_holes_comes_back_from_its_file(by: str, tmp_path: Path) -> None:
    data = {"x": [1.0, 2.0, 3.0], "y": [1.0, NAN, 2.0]}
    fit = line().learn(data, by=by, **({} if by == "auto" else {"draws": 200, "warm_up": 100}))
    fit.save(tmp_path / "fit")
    back = pw.load(tmp_path / "fit")
    new = {"x": [0.5, -1.0]}
    np.testing.assert_allclose(back.predict(new)["y"].mean, fit.predict(new)["y"].mean)
    np.testing.assert_allclose(back.expected("b"), fit.expected("b"))
    if by == "auto":
        more = {"x": [0.5], "y": [0.1]}
        np.testing.assert_allclose(back.update(more).log_evidence, fit.update(more).log_evidence)
