"""Plans prove themselves on small made-up data, and a sabotaged plan is found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import platewright as pw
from example_models import MAKERS
from platewright.algebra.expression import Constant
from platewright.elimination.state import FamilyConditional
from platewright.program.program import EVIDENCE
from platewright.program.statements import Assign, Pool
from platewright.run.checks.verifying import Verification, verify_fit
from platewright.run.exact.fit import Fit
from run.row_examples import example


@pytest.mark.parametrize("name", MAKERS)
def test_every_example_proves_its_plan(name: str) -> None:
    model, data = example(name)
    known = [key for key in data if key in model.variables and model.variables[key].kind != "input"]
    for seed in (0, 1):
        found = model.derive(known).verify(seed)
        assert found.passed, str(found)
        assert "Bayes' theorem" in found.laws[0].name


@pytest.mark.parametrize("name", MAKERS)
def test_every_example_proves_its_fit(name: str) -> None:
    model, data = example(name)
    found = verify_fit(model.learn(data))
    assert found.passed, str(found)


def fit_and_laws(name: str = "normal_gamma") -> tuple[Fit, Verification]:
    model, data = example(name)
    fit = model.learn(data)
    return fit, verify_fit(fit)


def with_program(fit: Fit, body: tuple[Any, ...] | None = None, passes: tuple[Any, ...] | None = None) -> Fit:
    program = fit.plan.program
    changed = replace(
        program,
        body=program.body if body is None else body,
        passes=program.passes if passes is None else passes,
    )
    return replace(fit, derivation=replace(fit.derivation, program=changed))


def test_a_wrong_evidence_is_found_out() -> None:
    fit, _ = fit_and_laws()
    body = tuple(
        replace(step, expression=step.expression + 0.01) if isinstance(step, Assign) and step.name == EVIDENCE else step
        for step in fit.plan.program.body
    )
    found = verify_fit(with_program(fit, body=body))
    assert not found.passed
    assert "FAILS" in str(found)


def test_a_wrong_parameter_is_found_out() -> None:
    fit, _ = fit_and_laws()
    body = tuple(
        replace(step, expression=step.expression + 0.5)
        if isinstance(step, Assign) and step.name == "tau.shape"
        else step
        for step in fit.plan.program.body
    )
    assert not verify_fit(with_program(fit, body=body)).passed


def test_a_wrong_conditional_is_found_out() -> None:
    fit, before = fit_and_laws("coin")
    assert before.passed
    sabotaged = []
    for conditional in fit.plan.conditionals:
        assert isinstance(conditional, FamilyConditional)
        first = next(iter(conditional.parameters))
        changed = {**conditional.parameters, first: conditional.parameters[first] + Constant(1.0)}
        sabotaged.append(replace(conditional, parameters=changed))
    wrong = replace(fit, derivation=replace(fit.derivation, conditionals=tuple(sabotaged)))
    found = verify_fit(wrong)
    assert not found.laws[0].passed


def test_a_wrong_statistic_is_found_out() -> None:
    fit, _ = fit_and_laws("regression")
    program = fit.plan.program
    pools = [step for step in program.passes if isinstance(step, Pool)]
    assert pools
    wrong: Mapping[str, Any] = {
        key: tuple(np.asarray(part) * 1.01 for part in value) if isinstance(value, tuple) else value * 1.01
        for key, value in fit.statistics.items()
    }
    assert not verify_fit(replace(fit, statistics=wrong)).passed


def test_a_merge_that_loses_rows_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, before = fit_and_laws("coin")
    assert [law.passed for law in before.laws] == [True, True]
    broken = replace(fit.module, merged=lambda left, right: left)
    sabotaged = replace(fit)
    sabotaged.__dict__["module"] = broken
    assert [law.passed for law in verify_fit(sabotaged).laws] == [True, False]


def small_mixture() -> pw.Model:
    m = pw.Model("mixture")
    row, kind = m.plate("row", 4), m.plate("kind", 2)
    m.share = pw.Dirichlet(1, over=kind)
    m.mu = pw.Normal(0, sd=2, plates=kind)
    m.z = pw.Categorical(m.share, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    return m


@pytest.mark.parametrize("by", ["enumeration", "annealed"])
def test_a_method_for_the_evidence_proves_the_plan_that_it_stands_on(by: str) -> None:
    found = small_mixture().derive(["y"], goal="evidence", by=by).verify()
    assert found.laws and found.passed, str(found)


@pytest.mark.parametrize(
    "name", ["normal_gamma", "regression", "coin", "table", "direction", "normal_wishart", "groups"]
)
def test_a_mode_proves_itself(name: str) -> None:
    model, data = example(name)
    known = [key for key in data if key in model.variables and model.variables[key].kind != "input"]
    found = model.derive(known, goal="map").verify()
    assert found.passed and "the mode is higher" in str(found)


def test_a_point_beside_the_mode_is_found_out() -> None:
    model, data = example("normal_gamma")
    fit = model.learn(data, goal="map")
    moved = {name: value * 1.05 for name, value in fit.estimate.items()}
    fit.posterior.__dict__["modes"] = moved
    assert not verify_fit(fit).passed


@pytest.mark.parametrize("by", ["enumeration", "chib", "annealed", "laplace"])
def test_every_method_for_the_evidence_proves_itself(by: str) -> None:
    model = pw.Model("counts of two kinds")
    row, kind = model.plate("row"), model.plate("kind", 2)
    model.share = pw.Dirichlet(1, over=kind)
    model.rate = pw.Gamma(2, rate=1, plates=kind)
    model.z = pw.Categorical(model.share, plates=row)
    model.y = pw.Poisson(model.rate[model.z], plates=row)
    found = model.derive(["y"], goal="evidence", by=by).verify()
    assert found.laws and found.passed, str(found)


def test_vague_priors_leave_data_on_which_the_laws_can_be_seen() -> None:
    """Draws of sd 1000 below an exponential would overflow, and scales of Gamma(0.001, 0.001) vanish."""
    m = pw.Model("vague")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.a = pw.Normal(0, sd=1000)
    m.b = pw.Normal(0, sd=1000)
    m.tau = pw.Gamma(0.001, rate=0.001)
    m.e = pw.Normal(0, precision=m.tau, plates=row)
    m.y = pw.Poisson(pw.exp(m.a + m.b * m.x + m.e), plates=row)
    for seed in range(5):
        found = m.derive(["y"], by="gibbs").verify(seed)
        assert found.laws and found.passed, str(found)


def forbidding(kind: str) -> pw.Model:
    """Models whose inputs cannot be just any numbers."""
    m = pw.Model(kind)
    row = m.plate("row")
    m.low, m.high = pw.Input(plates=row), pw.Input(plates=row)
    m.rate = pw.Gamma(2, rate=1.0)
    match kind:
        case "interval":
            m.y = pw.Censored(pw.Exponential(rate=m.rate), lower=m.low, upper=m.high, plates=row)
        case "below":
            m.y = pw.Censored(pw.Exponential(rate=m.rate), upper=m.low, plates=row)
        case "above":
            m.y = pw.Censored(pw.Normal(m.rate, sd=1.0), lower=m.low, plates=row)
        case _:  # pairs that can meet among so many
            m.y = pw.Exponential(rate=m.low * (m.low - 1) / 2 * m.rate, plates=row)
    return m


@pytest.mark.parametrize("kind", ["interval", "below", "above", "pairs"])
def test_made_up_data_are_such_as_the_model_allows(kind: str) -> None:
    for seed in range(3):
        found = forbidding(kind).derive(known=["y"]).verify(seed)
        assert found.passed, str(found)


@pytest.mark.parametrize("by", ["collapsed-gibbs", "gibbs", "mean-field"])
def test_a_plan_for_missing_cells_proves_itself_on_cells_seen_or_not(by: str) -> None:
    m = pw.Model("holes")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p, m.q = pw.Dirichlet(2.0, over=k), pw.Beta(1.0, 2.0, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.w = pw.Bernoulli(m.q[m.z], plates=n)
    fit = m.learn({"w": [1.0, 0.0, np.nan, 1.0]}, by=by, **({} if by == "mean-field" else {"draws": 20, "warm_up": 5}))
    for seed in range(3):
        found = fit.plan.verify(seed)
        assert found.passed, str(found)


def test_matrices_that_are_given_are_made_up_positive_definite() -> None:
    m = pw.Model("given matrix")
    row, axis = m.plate("row"), m.plate("axis", 2)
    other = m.plate("other", like=axis)
    m.known = pw.Input(plates=(axis, other))
    m.centre = pw.MultivariateNormal(0.0, precision=m.known, over=axis)
    m.spread = pw.Wishart(4, scale=pw.identity(axis), over=axis)
    m.x = pw.MultivariateNormal(m.centre, precision=m.spread, over=axis, plates=row)
    assert m.derive(known=["x"]).verify().passed
