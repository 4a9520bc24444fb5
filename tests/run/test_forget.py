"""Forgetting rows equals never having seen them."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.errors import DataError
from run.row_examples import ONE_PLATE_OF_ROWS, chosen, example, same_posterior


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_forgetting_equals_learning_from_the_rest(name: str) -> None:
    model, data = example(name)
    gone = [3, 7, 8, 29]
    rest = chosen(data, np.setdiff1d(np.arange(30), gone))
    same_posterior(model.learn(data).forget(gone), model.learn(rest))


@pytest.mark.parametrize("name", ONE_PLATE_OF_ROWS)
def test_forgetting_undoes_an_update(name: str) -> None:
    model, data = example(name)
    fit = model.learn(chosen(data, slice(0, 25)))
    longer = fit.update(chosen(data, slice(25, None)))
    same_posterior(longer.forget(range(25, 30)), fit)


@pytest.mark.parametrize("name", ["coin", "normal_gamma", "regression", "bound", "exposure", "table", "direction"])
def test_forgetting_all_rows_gives_the_prior_back(name: str) -> None:
    model, data = example(name)
    fit = model.learn(data).forget(np.arange(30))
    assert fit.log_evidence == pytest.approx(0.0, abs=1e-9)
    for unknown in fit.posterior.unknown:
        assert np.isfinite(fit[unknown].draw(2)).all()


def test_a_maximum_is_found_again_among_the_rest() -> None:
    model, data = example("bound")
    largest = int(np.argmax(data["x"]))
    fit = model.learn(data).forget([largest])
    rest = np.delete(data["x"], largest)
    assert float(fit["t"].parameters["scale"]) == max(3.0, rest.max())


def test_rows_by_mask_by_number_and_from_the_end() -> None:
    model, data = example("normal_gamma")
    fit = model.learn(data)
    mask = np.zeros(30, dtype=bool)
    mask[[0, 29]] = True
    same_posterior(fit.forget(mask), fit.forget([0, 29]), 1e-13)
    same_posterior(fit.forget([0, -1]), fit.forget([0, 29]), 1e-13)


def test_a_row_named_twice_is_forgotten_once() -> None:
    model, data = example("coin")
    fit = model.learn(data)
    same_posterior(fit.forget([4, 4]), fit.forget([4]), 1e-13)


def test_large_means_do_not_cancel() -> None:
    model, data = example("normal_gamma")
    data = {"x": data["x"] + 1e9}
    same_posterior(model.learn(data).forget([1, 2]), model.learn(chosen(data, [0, *range(3, 30)])), 1e-8)


def test_forgetting_nothing_changes_nothing() -> None:
    model, data = example("regression")
    fit = model.learn(data)
    same_posterior(fit.forget([]), fit, 1e-13)


@pytest.mark.parametrize("rows", [[30], [-31], [True, False], [0.5], ["a"], [[0, 1]], None])
def test_rows_that_are_not_there_are_an_error(rows: object) -> None:
    model, data = example("coin")
    fit = model.learn(data)
    evidence = fit.log_evidence
    with pytest.raises(DataError):
        fit.forget(rows)
    assert fit.log_evidence == evidence
