"""Every result is a Mapping from names to what is known of them, and says in words what it does not have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from platewright.errors import NotLearned, PlatewrightError, SizeError, UnknownName
from platewright.run.results.quantity import Predictions, Quantity
from platewright.run.results.result import Result
from result_kinds import KINDS, WITH_POSTERIOR, normal, regression, result


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_a_mapping(kind: str) -> None:
    fit = result(kind)
    assert isinstance(fit, Result) and isinstance(fit, Mapping)
    names = list(fit)
    assert len(fit) == len(names) == len(set(names))
    assert list(fit.keys()) == names == fit._ipython_key_completions_()
    assert all(name in fit and isinstance(fit[name], Quantity) for name in names)
    assert [value.name for value in fit.values()] == names
    assert [name for name, _ in fit.items()] == names
    assert "nothing" not in fit and fit.get("nothing") is None
    with pytest.raises(UnknownName):
        fit["nothing"]


@pytest.mark.parametrize("kind", KINDS)
def test_equality_is_identity_and_results_can_be_keys(kind: str) -> None:
    fit = result(kind)
    assert fit == fit and fit != dict(fit.items()) and {fit: 1}[fit] == 1


@pytest.mark.parametrize("kind", WITH_POSTERIOR)
def test_what_was_learned_comes_in_the_order_of_writing_and_functions_are_among_it(kind: str) -> None:
    fit = result(kind)
    written = [name for name in fit.derivation.graph.nodes if name in fit]
    assert list(fit) == written
    assert set(fit.learned) <= set(fit)


@pytest.mark.parametrize("kind", ["exact", "mode", "gibbs", "em", "mean-field", "gibbs of classes", "collapsed-gibbs"])
def test_a_function_is_a_result_like_any_other(kind: str) -> None:
    fit = result(kind)
    assert "sd" in fit and "sd" in {row.name.partition("[")[0] for row in fit.summary().rows}
    draws = fit["tau"].draw(50, seed=1) if kind != "em" else np.asarray(fit["tau"].value)[None]
    near = np.mean(draws**-0.5, axis=0)
    assert np.asarray(fit["sd"].mean) == pytest.approx(near, rel=0.25)
    assert np.array_equal(fit.expected("sd"), np.asarray(fit["sd"].mean))


def test_a_function_of_known_functions_has_a_value_in_every_row() -> None:
    fit = result("exact with inputs")
    assert list(fit) == ["tau", "b", "mean"] and "twice" not in fit
    twice = 2 * np.asarray(fit.columns["x"])
    assert np.asarray(fit["mean"].mean) == pytest.approx(twice * fit["b"].mean, abs=0.02)
    assert np.asarray(fit["mean"].sd) == pytest.approx(np.abs(twice) * fit["b"].sd, rel=0.1)
    assert [row.name for row in fit.summary().rows] == ["tau", "b"]  # functions on the rows of the data would flood it


@pytest.mark.parametrize("kind", KINDS)
def test_members_answer_or_say_in_words_that_they_cannot(kind: str) -> None:
    fit = result(kind)
    for member in ("log_evidence", "lower_bound", "log_joint", "log_likelihood", "point", "local_evidence"):
        try:
            assert getattr(fit, member) is not None
        except PlatewrightError as error:
            assert error.found and (isinstance(error, NotLearned) == (not hasattr(fit, member)))
    for call in (fit.leave_one_out, fit.prequential, fit.most_probable, fit.draws, fit.diagnostics):
        try:
            assert call() is not None
        except PlatewrightError as error:
            assert error.found


def test_the_estimate_of_auto_needs_no_narrowing() -> None:
    assert float(result("em").point["mu"][0]) == float(result("em")["mu"].value[0])
    assert float(result("exact").point["mu"]) == float(result("exact")["mu"].mean)


def test_a_point_has_a_standard_error_and_no_distribution() -> None:
    point = result("em")["mu"]
    assert (point.sd > 0).all() and np.array_equal(point.variance, point.sd**2)
    with pytest.raises(NotLearned, match="no quantiles"):
        point.quantile(0.5)


@pytest.mark.parametrize("kind", ["exact", "gibbs", "em", "mean-field", "collapsed-gibbs"])
def test_predictions_are_mappings_of_the_same_sort(kind: str) -> None:
    found = result(kind).predict(3, count=50)
    assert isinstance(found, Predictions) and found == found and hash(found) == hash(found)
    assert list(found)[-1] == "y" == found._ipython_key_completions_()[-1]
    assert found.draws["y"].shape == (50, 3)


def test_a_model_answers_hasattr_dir_and_getattr() -> None:
    m = normal()
    assert hasattr(m, "mu") and not hasattr(m, "nothing")
    assert getattr(m, "nothing", 3) == 3
    assert {"tau", "mu", "y", "learn"} <= set(dir(m))
    assert not any("@" in name for name in dir(m))
    with pytest.raises(UnknownName, match="there is no `m`"):
        m.m  # noqa: B018
    assert [str(UnknownName("a", ["b"]))[0]] == ["t"]  # a KeyError of Python would put it in quotes


def test_a_function_of_rows_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platewright.run.forward.MOST_ELEMENTS", 1000)
    fit = regression().learn({"x": np.ones(5), "y": np.arange(5.0)})
    with pytest.raises(SizeError, match="numbers to draw for `mean`"):
        fit["mean"]
