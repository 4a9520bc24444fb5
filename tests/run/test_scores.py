"""Leave-one-out, prequential and predictive scores: ratios of evidence."""

from __future__ import annotations

import numpy as np
import pytest

from run.row_examples import ONE_PLATE_OF_ROWS, chosen, example


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_prequential_scores_add_up_to_the_evidence(name: str) -> None:
    model, data = example(name, rows=12)
    fit = model.learn(data)
    scores = fit.prequential()
    assert scores.shape == (12,)
    assert scores.sum() == pytest.approx(fit.log_evidence, rel=1e-10)


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_leave_one_out_equals_learning_without_the_row(name: str) -> None:
    model, data = example(name, rows=12)
    fit = model.learn(data)
    scores = fit.leave_one_out()
    for row in (0, 5, 11):
        rest = model.learn(chosen(data, np.delete(np.arange(12), row)))
        assert scores[row] == pytest.approx(fit.log_evidence - rest.log_evidence, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_the_first_prequential_score_is_that_of_the_prior(name: str) -> None:
    model, data = example(name, rows=12)
    scores = model.learn(data).prequential()
    sizes = model.learn(data)
    first = sizes.forget(np.arange(1, 12)).log_evidence - sizes.forget(np.arange(12)).log_evidence
    assert scores[0] == pytest.approx(first, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_log_predictive_is_the_gain_in_evidence(name: str) -> None:
    model, data = example(name, rows=16)
    fit = model.learn(chosen(data, slice(0, 13)))
    scores = fit.log_predictive(chosen(data, slice(13, None)))
    for k in range(3):
        more = fit.update(chosen(data, slice(13 + k, 14 + k)))
        assert scores[k] == pytest.approx(more.log_evidence - fit.log_evidence, rel=1e-8, abs=1e-9)


def test_leave_one_out_of_a_coin_by_hand() -> None:
    model, _ = example("coin")
    fit = model.learn({"x": [1, 1, 0]})
    heads, tails = (1.5 + 1) / (3 + 2), 1.5 / (3 + 2)
    np.testing.assert_allclose(np.exp(fit.leave_one_out()), [heads, heads, tails])


def test_a_flat_prior_leaves_the_scores_of_rows_beyond_the_first() -> None:
    import platewright as pw

    m = pw.Model("flat")
    n = m.plate("n")
    m.mu = pw.Flat()
    m.y = pw.Normal(m.mu, sd=1.0, plates=n)
    y = np.array([0.3, -0.7, 1.1])
    found = m.learn({"y": y}).leave_one_out()
    for k in range(3):
        rest = np.delete(y, k)
        expected = -0.5 * np.log(2 * np.pi * 1.5) - (y[k] - rest.mean()) ** 2 / 3
        assert found[k] == pytest.approx(expected, abs=1e-10)
