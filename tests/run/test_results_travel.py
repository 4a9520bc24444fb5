"""Models, plans, results, predictions and errors go through pickle, copy, deepcopy and other processes, and back."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright import errors
from platewright.algebra.expression import Expression
from platewright.errors import PlatewrightError, UnknownName
from platewright.families import FAMILIES, family_named
from platewright.recognition.transform import IDENTITY, LOGARITHM
from platewright.run.results.result import Result
from platewright.run.results.saving import load
from result_kinds import KINDS, WITH_POSTERIOR, Y, mixture, normal, regression, result, same

SOURCE = Path(__file__).parent.parent.parent / "src"
WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "oldest pickle": lambda one: pickle.loads(pickle.dumps(one, protocol=2)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_result_comes_back_as_it_was(kind: str) -> None:
    fit = result(kind)
    for way in ("pickle", "copy", "deepcopy"):
        assert same(fit, WAYS[way](fit)), way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [normal, regression, mixture])
def test_a_model_comes_back_and_goes_on(make: Callable[[], pw.Model], way: str) -> None:
    m = make()
    again = WAYS[way](m)
    assert str(again) == str(m) and again.title == m.title
    known = [name for name in m.variables if name in ("x", "y")]
    assert again.derive(known).explain() == m.derive(known).explain()
    if way != "copy":  # a copy that is not deep shares what is written later
        again.more = pw.Normal(again.tau[0] if make is mixture else again.tau, sd=1)
        assert "more" in again.variables and "more" not in m.variables


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", ["exact", "em", "mean-field", "gibbs", "collapsed-gibbs"])
def test_a_plan_comes_back_and_runs(by: str, way: str) -> None:
    plan = (normal() if by == "exact" else mixture()).derive("y", by=by)
    again = WAYS[way](plan)
    assert again.explain() == plan.explain() and again.source() == plan.source()


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
@pytest.mark.parametrize("kind", ["exact", "gibbs", "em", "mean-field", "collapsed-gibbs"])
def test_predictions_come_back(kind: str, way: str) -> None:
    found = result(kind).predict(2, count=30, seed=1)
    again = WAYS[way](found)
    assert list(again) == list(found)
    assert np.array_equal(again.draws["y"], found.draws["y"])
    assert np.array_equal(again["y"].mean, found["y"].mean)


def test_exact_predictions_keep_their_densities_and_classes() -> None:
    m = pw.Model("classes")
    row, kind = m.plate("row"), m.plate("kind", 2)
    m.share = pw.Dirichlet(1, over=kind)
    m.rate = pw.Gamma(1, rate=1, plates=kind)
    m.c = pw.Categorical(m.share, plates=row)
    m.k = pw.Poisson(m.rate[m.c], plates=row)
    fit = m.learn({"c": [0, 0, 1, 1], "k": [1, 2, 7, 8]})
    classes = fit.predict({"k": [1, 9]})
    assert np.array_equal(WAYS["pickle"](classes).probabilities("c"), classes.probabilities("c"))
    counts = fit.predict({"c": [0, 1]})
    assert np.array_equal(WAYS["pickle"](counts)["k"].log_density(3), counts["k"].log_density(3))
    assert np.array_equal(WAYS["pickle"](counts["k"]).log_density(3), counts["k"].log_density(3))
    both = fit.predict(2)
    given = {"c": [0, 1], "k": [1, 9]}
    assert np.array_equal(WAYS["pickle"](both).log_density(given), both.log_density(given))


@pytest.mark.parametrize("kind", WITH_POSTERIOR)
def test_a_single_quantity_comes_back(kind: str) -> None:
    fit = result(kind)
    for name in fit:
        again = pickle.loads(pickle.dumps(fit[name]))
        assert np.array_equal(np.asarray(again.value), np.asarray(fit[name].value))
    mu = result("exact")["mu"]
    assert np.array_equal(pickle.loads(pickle.dumps(mu)).quantile([0.1, 0.9]), mu.quantile([0.1, 0.9]))


def test_jointly_gaussian_elements_keep_their_covariance() -> None:
    m = pw.Model("weights")
    row, column = m.plate("row"), m.plate("column", 2)
    m.X = pw.Input(plates=(row, column))
    m.w = pw.Normal(0, sd=1, plates=column)
    m.y = pw.Normal(pw.dot(m.X, m.w, over=column), sd=1, plates=row)
    w = m.learn({"X": [[1.0, 2.0], [2.0, 1.0], [0.0, 1.0]], "y": [1.0, 2.0, 3.0]})["w"]
    again = pickle.loads(pickle.dumps(w))
    assert w.covariance is not None and np.array_equal(again.covariance, w.covariance)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_stays_itself(family: object) -> None:
    assert pickle.loads(pickle.dumps(family)) is family and copy.deepcopy(family) is family


def test_bounded_families_and_the_identity_stay_themselves() -> None:
    bounded = family_named("TruncatedNormal@lower")
    assert bounded is not None and pickle.loads(pickle.dumps(bounded)) is bounded
    assert copy.deepcopy(IDENTITY) is IDENTITY and pickle.loads(pickle.dumps(IDENTITY)) is IDENTITY
    assert pickle.loads(pickle.dumps(LOGARITHM)) == LOGARITHM


def test_every_error_of_ours_comes_back_with_all_that_it_says() -> None:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PlatewrightError)]
    assert len(kinds) > 20
    for kind in kinds:
        words = (["a"],) if kind in (errors.LostSlope, errors.Unbounded) else ("found it",)
        error = UnknownName("a", ["b"], where="here") if kind is UnknownName else kind(*words)
        error.add_place("model.py, line 3")
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind and str(again) == str(error) and vars(again) == vars(error)


def test_another_process_hashes_texts_in_another_way(tmp_path: Path) -> None:
    """Hashes of nodes are computed anew: equal expressions from two processes are equal, and found in tables."""
    m = regression()
    m.derive(["x", "y"])
    hash(m.variables["mean"].definition)
    (tmp_path / "model.pickle").write_bytes(pickle.dumps((m, result("exact with inputs"))))
    code = (
        "import pickle, sys; sys.path.insert(0, sys.argv[2]); m, fit = pickle.load(open(sys.argv[1], 'rb'))\n"
        "import platewright as pw, numpy as np\n"
        "fresh = pw.Model('regression'); row = fresh.plate('row'); fresh.x = pw.Input(plates=row)\n"
        "fresh.twice = 2 * fresh.x\n"
        "assert {fresh.variables['twice'].definition: 1}[m.variables['twice'].definition] == 1\n"
        "assert m.learn({'x': fit.columns['x'], 'y': fit.columns['y']}).log_evidence == fit.log_evidence\n"
        "print(fit.update({'x': [1.0], 'y': [2.0]}).log_evidence)"
    )
    here = Path(__file__).parent.parent
    command = [sys.executable, "-c", code, str(tmp_path / "model.pickle"), str(here)]
    path = os.pathsep.join([str(SOURCE), str(here)])
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        said = subprocess.run(command, capture_output=True, text=True, env=env)
        assert said.returncode == 0, said.stderr
        grown = result("exact with inputs").update({"x": [1.0], "y": [2.0]})
        assert float(said.stdout) == grown.log_evidence


def _learned(seed: int) -> Result:
    return normal().learn({"y": Y + seed})


def _failed(seed: int) -> Result:
    return normal().learn({"y": ["a"]}, seed=seed)


def test_a_pool_of_processes_learns_and_hands_results_and_errors_back() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(_learned, [0, 1])
        assert [fit.log_evidence for fit in found] == [_learned(0).log_evidence, _learned(1).log_evidence]
        with pytest.raises(PlatewrightError, match="`y`"):
            pool.map(_failed, [0])


def test_joblib_learns_in_processes_and_keeps_results(tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_learned)(seed) for seed in (0, 1))
    assert [fit.log_evidence for fit in found] == [_learned(0).log_evidence, _learned(1).log_evidence]
    joblib.dump(result("mean-field"), tmp_path / "a.joblib")
    assert same(joblib.load(tmp_path / "a.joblib"), result("mean-field"))
    assert joblib.hash(normal()) == joblib.hash(normal())


def test_a_saved_result_is_read_without_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result("collapsed-gibbs").save(tmp_path / "a.fit")

    def forbidden(*given: object, **words: object) -> None:
        raise AssertionError("pickle was asked")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, forbidden)
    assert same(load(tmp_path / "a.fit"), result("collapsed-gibbs"))


def test_a_copy_of_a_node_has_no_old_hash() -> None:
    node = normal().variables["sd"].definition
    assert isinstance(node, Expression)
    hash(node)
    assert "_hash" not in vars(pickle.loads(pickle.dumps(node)))
