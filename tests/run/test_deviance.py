"""What the data say: censored cells and potentials count, and DIC and WAIC are made of the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import PlatewrightError
from platewright.run.samplers.deviance import criteria, deviance
from platewright.run.samplers.monitored import drawn_of

NA = float("nan")
CENSORED = "model { for (i in 1:3) { t[i] ~ dexp(r) C(c[i], ) } r ~ dgamma(1, 1) }"
ZEROS = """model {
  for (i in 1:3) { z[i] <- 0  z[i] ~ dloglik(phi[i])  phi[i] <- d[i] * log(r) - t[i] * r }
  r ~ dgamma(1, 1)
}"""


def learned(text: str, data: dict[str, Any]) -> Any:
    model = pw.read_bugs(text, data)
    return model.learn(model.read_from.data())


def test_a_censored_cell_says_the_probability_of_its_interval() -> None:
    """By hand: r | data is Gamma(3, 9), and the mean of -2 (2 log r - 8 r) is 10.43."""
    fit = learned(CENSORED, {"t": [1, 2, NA], "c": [0, 0, 5]})
    drawn = drawn_of(fit)
    r = drawn.chains["r"]
    np.testing.assert_allclose(deviance(drawn), -2 * (2 * np.log(r) - 8 * r), rtol=1e-10)
    assert deviance(drawn).mean() == pytest.approx(10.43, abs=0.15)


def test_a_potential_that_looks_at_data_counts() -> None:
    drawn = drawn_of(learned(ZEROS, {"t": [1, 2, 5], "d": [1, 1, 0]}))
    r = drawn.chains["r"]
    np.testing.assert_allclose(deviance(drawn), -2 * (2 * np.log(r) - 8 * r), rtol=1e-10)


def test_a_density_of_something_known_counts_though_it_looks_at_no_data() -> None:
    text = "model { for (i in 1:2) { t[i] ~ dexp(r) } z <- 0 z ~ dloglik(phi) phi <- -5 * r  r ~ dgamma(1, 1) }"
    drawn = drawn_of(learned(text, {"t": [1, 2]}))
    r = drawn.chains["r"]
    np.testing.assert_allclose(deviance(drawn), -2 * (2 * np.log(r) - 8 * r), rtol=1e-10)


def test_a_prior_potential_does_not_count() -> None:
    m = pw.Model("prior")
    row = m.plate("row")
    m.mu = pw.Flat()
    m.potential("prior", -0.5 * m.mu**2)
    m.y = pw.Normal(m.mu, sd=1, plates=row)
    fit = m.learn({"y": [0.5, 1.5]}, by="gibbs", chains=1, draws=50, warm_up=10)
    drawn = drawn_of(fit)
    mu = drawn.chains["mu"]
    wanted = (0.5 - mu) ** 2 + (1.5 - mu) ** 2 + 2 * np.log(2 * np.pi)
    np.testing.assert_allclose(deviance(drawn), wanted, rtol=1e-10)


def test_dic_and_waic_are_made_of_the_cells() -> None:
    fit = learned(CENSORED, {"t": [1, 2, NA], "c": [0, 0, 5]})
    drawn = drawn_of(fit)
    found, r = criteria(drawn), drawn.chains["r"].ravel()
    cells = np.stack([np.log(r) - r, np.log(r) - 2 * r, -5 * r])
    lppd = np.log(np.exp(cells).mean(axis=1)).sum()
    count = cells.var(axis=1, ddof=1).sum()
    assert found.waic == pytest.approx(-2 * (lppd - count), rel=1e-10)
    assert found.dic == pytest.approx(found.deviance.mean() + found.deviance.var() / 2, rel=1e-10)


def test_the_criteria_of_a_closed_form_are_those_by_hand() -> None:
    m = pw.Model("one mean")
    row = m.plate("row")
    m.mu = pw.Normal(0, sd=10)
    m.y = pw.Normal(m.mu, sd=1, plates=row)
    y = np.array([0.3, 1.1, -0.4, 2.0])
    said = pw.criteria(m.learn({"y": y}))
    spread = 1 / (4 + 0.01)
    mean = spread * y.sum()
    expected = ((y - mean) ** 2).sum() + 4 * spread + 4 * np.log(2 * np.pi)
    assert said.deviance.mean() == pytest.approx(expected, abs=0.1)
    assert said.dic == pytest.approx(expected + 1, abs=0.3)
    predictive = -0.5 * (y - mean) ** 2 / (1 + spread) - 0.5 * np.log(2 * np.pi * (1 + spread))
    assert said.waic_parameters == pytest.approx(((y - mean) ** 2 * spread + spread**2 / 2).sum(), rel=0.05)
    assert said.waic == pytest.approx(-2 * (predictive.sum() - said.waic_parameters), abs=0.05)


def test_a_fit_without_draws_has_no_criteria() -> None:
    m = pw.Model("two means")
    row, k = m.plate("row"), m.plate("k", 2)
    m.mu = pw.Normal(0, sd=10, plates=k)
    m.z = pw.Categorical(probabilities=[0.5, 0.5], over=k, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    with pytest.raises(PlatewrightError, match="no draws"):
        pw.criteria(m.learn({"y": [0.5, 1.5, 4.0]}, goal="map"))
