"""Functions of unknowns and predictions follow from the draws of a sampler."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.errors import UnknownName
from platewright.run.samplers.deviance import deviance
from platewright.run.samplers.monitoring import Drawn
from platewright.run.samplers.sampling import SampledFit


@pytest.fixture(scope="module")
def fit() -> SampledFit:
    m = pw.Model("two scales")
    row, group = m.plate("row"), m.plate("group", 2)
    m.g = pw.Input(plates=row, levels=group)
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, sd=3, plates=group)
    m.sigma = m.tau**-0.5
    m.gap = m.mu[1] - m.mu[0]
    m.new = pw.Normal(m.mu, precision=m.tau, plates=group)
    m.y = pw.Normal(m.mu[m.g], precision=m.tau, plates=row)
    data = {"g": [0, 0, 1, 1, 1], "y": [0.1, -0.4, 2.2, 1.7, 2.5]}
    found = m.learn(data, by="gibbs", chains=2, draws=200, warm_up=50, backend="numpy")
    assert isinstance(found, SampledFit)
    return found


def test_a_function_of_unknowns_is_that_function_of_their_draws(fit: SampledFit) -> None:
    np.testing.assert_allclose(fit["sigma"].values, fit["tau"].values ** -0.5, rtol=1e-12)
    np.testing.assert_allclose(fit["gap"].values, fit["mu"].values[:, 1] - fit["mu"].values[:, 0], rtol=1e-12)
    assert fit["gap"].chains.shape == (2, 200)


def test_a_prediction_is_drawn_around_its_parents(fit: SampledFit) -> None:
    standard = (fit["new"].values - fit["mu"].values) * fit["tau"].values[:, None] ** 0.5
    assert abs(standard.mean()) < 0.15 and 0.85 < standard.std() < 1.15


def test_the_deviance_is_that_of_the_rows(fit: SampledFit) -> None:
    drawn = Drawn(fit.plan.graph, fit.chains, fit.columns, fit.sizes)
    y, g = np.array([0.1, -0.4, 2.2, 1.7, 2.5]), np.array([0, 0, 1, 1, 1])
    mu, tau = fit["mu"].values[:, g], fit["tau"].values[:, None]
    wanted = -2 * (0.5 * np.log(tau / (2 * np.pi)) - 0.5 * tau * (y - mu) ** 2).sum(axis=1)
    np.testing.assert_allclose(deviance(drawn).ravel(), wanted, rtol=1e-10)


def test_missing_cells_are_found_and_seen_ones_stay() -> None:
    m = pw.Model("holes")
    row = m.plate("row")
    m.mu = pw.Normal(0, sd=3)
    m.tau = pw.Gamma(2, rate=1)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=row)
    found = m.learn({"y": [0.5, np.nan, 1.5]}, by="gibbs", chains=2, draws=100, warm_up=20, backend="numpy")
    drawn = Drawn(found.plan.graph, found.chains, found.columns, found.sizes)
    cells = drawn.cells({"seen": ("y", (0,)), "missing": ("y", (1,))})
    assert (cells["seen"] == 0.5).all()
    assert cells["missing"].std() > 0.1
    y = np.array([0.5, 1.5])
    mu, tau = found["mu"].values[:, None], found["tau"].values[:, None]
    wanted = -2 * (0.5 * np.log(tau / (2 * np.pi)) - 0.5 * tau * (y - mu) ** 2).sum(axis=1)
    np.testing.assert_allclose(deviance(drawn).ravel(), wanted, rtol=1e-10)


def test_an_unknown_name_is_told(fit: SampledFit) -> None:
    with pytest.raises(UnknownName, match="sigmma"):
        fit["sigmma"]
