"""`fit.plan` is what `m.derive` gives, for every kind of fit, saved and loaded ones too."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.run.results.derived_plan import DerivedPlan

WAYS: dict[str, dict[str, Any]] = {
    "exact": {"goal": "posterior"},
    "mode": {"goal": "map"},
    "em": {"goal": "map", "by": "em", "restarts": 1, "iterations": 3},
    "mean-field": {"by": "mean-field", "restarts": 1, "iterations": 3},
    "gibbs": {"by": "gibbs", "chains": 2, "draws": 10, "warm_up": 5},
    "collapsed-gibbs": {"by": "collapsed-gibbs", "chains": 2, "draws": 10, "warm_up": 5},
    "enumeration": {"goal": "evidence", "by": "enumeration"},
    "chib": {"goal": "evidence", "by": "chib", "chains": 2, "draws": 10, "warm_up": 5},
    "laplace": {"goal": "evidence", "by": "laplace", "restarts": 1},
}


def coin() -> pw.Model:
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    return m


def mixture() -> pw.Model:
    m = pw.Model("mixture")
    row, kind = m.plate("row"), m.plate("kind", size=2)
    m.share = pw.Dirichlet(2.0, over=kind)
    m.rate = pw.Beta(1.0, 2.0, plates=kind)
    m.which = pw.Categorical(m.share, plates=row)
    m.seen = pw.Bernoulli(m.rate[m.which], plates=row)
    return m


def problem(way: str) -> tuple[pw.Model, dict[str, Any]]:
    rows = np.array([0, 1, 1, 0, 1])
    return (coin(), {"heads": rows}) if way in ("exact", "mode", "laplace") else (mixture(), {"seen": rows})


def without_options(source: str) -> list[str]:
    """A source without the options of its run, which are the defaults of the file of a fit."""
    return [line for line in source.splitlines() if "seed=" not in line]


@pytest.mark.parametrize("way", WAYS)
def test_the_plan_of_a_fit_is_the_plan_of_its_model(way: str, tmp_path: Path) -> None:
    model, data = problem(way)
    fit = model.learn(data, seed=1, **WAYS[way])
    asked = {word: WAYS[way][word] for word in ("goal", "by") if word in WAYS[way]}
    derived = model.derive(data, **asked)
    fit.save(tmp_path / "fit.zip")
    again = pw.load(tmp_path / "fit.zip")
    assert again.source() == fit.source()
    for plan in (fit.plan, again.plan):
        assert isinstance(plan, DerivedPlan)
        assert plan.explain() == derived.explain() == fit.explain()
        assert plan.declined == derived.declined
        assert plan.latex() == derived.latex() == fit.latex()
        assert (plan.title, plan.how, repr(plan)) == (derived.title, derived.how, repr(derived))
        assert plan.source() == derived.source()
        ran, text = fit.source().split("\n", 1)
        assert ran == f"# {fit.how}"
        assert without_options(plan.source()) == without_options(text)
        assert plan.report() == derived.report()
        assert plan.graph.unknown == derived.graph.unknown


@pytest.mark.parametrize("way", ["exact", "em", "gibbs", "enumeration"])
def test_the_plan_of_a_fit_proves_itself(way: str) -> None:
    model, data = problem(way)
    assert model.learn(data, **WAYS[way]).plan.verify().passed


def test_refusals_are_pairs_of_a_schema_and_a_reason() -> None:
    model, data = problem("gibbs")
    fit = model.learn(data, chains=2, draws=10, warm_up=5)
    for schema, reason in fit.plan.declined:
        assert schema in ("exact", "quadrature", "em", "mean-field", "collapsed-gibbs") and " " in reason
    assert fit.plan.declined


def test_a_plan_can_be_copied() -> None:
    derived = coin().derive("heads")
    assert copy.copy(derived).how == derived.how
    assert not hasattr(derived, "no_such_thing")
    assert {"verify", "graph", "steps", "program"} <= set(dir(derived))
