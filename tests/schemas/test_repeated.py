"""Copies of a model at points: the density of each is that of the exact plan run there alone, and of brute force."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.run.points.apart import Apart
from platewright.run.points.fit import QuadratureFit
from platewright.schemas import repeated
from platewright.schemas.few_numbers import QuadraturePlan

Data = dict[str, np.ndarray]


def walk(steps: int = 25, offset: float = 0.0) -> tuple[pw.Model, Data]:
    """A random walk seen through noise."""
    m = pw.Model("walk")
    t = m.plate("t", ordered=True)
    m.s_w = pw.HalfNormal(sd=1)
    m.s_e = pw.HalfNormal(sd=1)
    m.x = pw.Normal(m.lag("x"), sd=m.s_w, start=pw.Normal(offset, sd=10), plates=t)
    m.y = pw.Normal(m.x, sd=m.s_e, plates=t)
    generator = np.random.default_rng(0)
    return m, {"y": offset + np.cumsum(0.5 * generator.normal(size=steps)) + generator.normal(size=steps)}


def seasons(steps: int = 24) -> tuple[pw.Model, Data]:
    """A level and seasons: three scales."""
    m = pw.Model("level and seasons")
    t, quarter = m.plate("t", ordered=True), m.plate("quarter", 4)
    m.quarter = pw.Input(plates=t, levels=quarter)
    m.s_w, m.s_e, m.s_q = pw.HalfNormal(sd=1), pw.HalfNormal(sd=1), pw.HalfNormal(sd=1)
    m.season = pw.Normal(0, sd=m.s_q, plates=quarter)
    m.x = pw.Normal(m.lag("x"), sd=m.s_w, start=pw.Normal(0, sd=10), plates=t)
    m.y = pw.Normal(m.x + m.season[m.quarter], sd=m.s_e, plates=t)
    generator = np.random.default_rng(1)
    y = np.cumsum(0.5 * generator.normal(size=steps)) + generator.normal(size=steps)
    return m, {"y": y + np.tile(generator.normal(size=4), steps // 4), "quarter": np.arange(steps) % 4}


def persistent(steps: int = 30) -> tuple[pw.Model, Data]:
    """An autoregression seen through noise: its coefficient is held as well."""
    m = pw.Model("persistent")
    t = m.plate("t", ordered=True)
    m.phi = pw.Uniform(-1, 1)
    m.s_w, m.s_e = pw.HalfNormal(sd=1), pw.HalfNormal(sd=1)
    m.x = pw.Normal(m.phi * m.lag("x"), sd=m.s_w, start=pw.Normal(0, sd=1), plates=t)
    m.y = pw.Normal(m.x, sd=m.s_e, plates=t)
    return m, {"y": np.random.default_rng(2).normal(size=steps).cumsum() * 0.5}


def crowd(elements: int = 12) -> tuple[pw.Model, Data]:
    """Rates of groups, which are no Gaussians."""
    m = pw.Model("crowd")
    group = m.plate("group")
    m.shape, m.rate = pw.Gamma(2, rate=1), pw.Gamma(2, rate=1)
    m.each = pw.Gamma(m.shape, rate=m.rate, plates=group)
    m.y = pw.Poisson(m.each, plates=group)
    return m, {"y": np.arange(elements) % 5}


MODELS: dict[str, Callable[[], tuple[pw.Model, Data]]] = {
    "walk": walk, "seasons": seasons, "persistent": persistent, "crowd": crowd,
}  # fmt: skip


def plan_of(m: pw.Model, data: Data) -> QuadraturePlan:
    plan = m.derive(set(data), by="quadrature").plan
    assert isinstance(plan, QuadraturePlan)
    return plan


def at_points(plan: QuadraturePlan, seed: int = 0) -> Data:
    generator = np.random.default_rng(seed)
    return {name: generator.uniform(0.2, 0.9, 7) for name in plan.held}


@pytest.mark.parametrize("name", MODELS)
def test_all_points_together_have_the_density_of_each_alone(name: str) -> None:
    m, data = MODELS[name]()
    fit = m.learn(data, by="quadrature")
    assert isinstance(fit, QuadratureFit) and isinstance(fit.eliminated, Apart)
    assert fit.eliminated.together is not None
    values = at_points(fit.derivation)
    alone = replace(fit.eliminated, together=None).log_density(values)
    assert np.isfinite(alone).all()
    assert fit.eliminated.log_density(values) == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_density_after_elimination_times_the_conditional_is_the_joint(name: str) -> None:
    m, data = MODELS[name]()
    (law,) = m.derive(set(data), by="quadrature").verify(1).laws
    assert law.passed and law.error < 1e-9, law


def by_covariance(y: np.ndarray, s_w: float, s_e: float, offset: float) -> float:
    """`log p(y, s_w, s_e)` of the walk by the covariance of all its steps."""
    steps = np.arange(len(y))
    covariance = 100.0 + s_w**2 * np.minimum.outer(steps, steps) + s_e**2 * np.eye(len(y))
    prior = stats.halfnorm.logpdf(s_w) + stats.halfnorm.logpdf(s_e)
    return float(stats.multivariate_normal(np.full(len(y), offset), covariance).logpdf(y) + prior)


@pytest.mark.parametrize(("offset", "near"), [(0.0, 1e-9), (1e6, 1e-7)])
def test_the_density_of_a_walk_is_that_of_brute_force(offset: float, near: float) -> None:
    m, data = walk(offset=offset)
    fit = m.learn(data, by="quadrature")
    values = at_points(fit.derivation)
    wanted = [by_covariance(data["y"], *scales, offset) for scales in zip(values["s_w"], values["s_e"], strict=True)]
    assert fit.eliminated.log_density(values) == pytest.approx(wanted, abs=near)


def test_three_scales_of_a_chain_are_gone_over_and_the_emitted_file_gives_the_same(tmp_path: Path) -> None:
    m, data = seasons()
    fit = m.learn(data, by="quadrature")
    assert isinstance(fit, QuadratureFit), fit.how
    (tmp_path / "file.py").write_text(fit.source("numpy"))
    columns = {name.replace("@", "_of_"): np.asarray(values) for name, values in fit.columns.items()}
    alone = runpy.run_path(str(tmp_path / "file.py"))["learn"](columns, dict(fit.sizes))
    assert alone["log_evidence"] == pytest.approx(fit.log_evidence, rel=1e-13)
    for name in fit.derivation.held:
        assert alone[f"{name}.mean"] == pytest.approx(float(fit[name].mean), rel=1e-12)


def test_moments_of_a_chain_are_those_of_its_draws() -> None:
    m, data = walk()
    fit = m.learn(data)
    assert isinstance(fit, QuadratureFit)
    drawn = fit.draws(4000, 1)["x"]
    error = np.asarray(fit["x"].sd) / np.sqrt(600)  # draws are made about so many points
    assert np.abs(drawn.mean(axis=0) - fit["x"].mean) / error == pytest.approx(0.0, abs=4.0)
    assert drawn.std(axis=0) == pytest.approx(np.asarray(fit["x"].sd), rel=0.1)


@pytest.mark.parametrize("wrong", ["the size of points", "a coefficient"])
def test_a_planted_defect_is_noticed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if wrong == "the size of points":
        monkeypatch.setattr(repeated, "ONE", repeated.add(1, 1))
    else:
        multiply = repeated.multiply
        monkeypatch.setattr(repeated, "multiply", lambda *factors: multiply(1.001, *factors))
    with pytest.raises(AssertionError):
        test_all_points_together_have_the_density_of_each_alone("walk")
