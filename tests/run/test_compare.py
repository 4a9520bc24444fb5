"""Models weighed against each other by their evidence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

import platewright as pw
from platewright.errors import ImproperPosterior, PlatewrightError
from platewright.run.exact.fit import Fit

TOSSES = [1, 1, 1, 0, 1]


def unknown_coin(tosses: object = TOSSES, a: float = 1.0) -> Fit:
    m = pw.Model("unknown coin")
    n = m.plate("n")
    m.p = pw.Beta(a, a)
    m.x = pw.Bernoulli(m.p, plates=n)
    return m.learn({"x": tosses})


def fair_coin(tosses: object = TOSSES) -> Fit:
    m = pw.Model("fair coin")
    n = m.plate("n")
    m.x = pw.Bernoulli(0.5, plates=n)
    return m.learn({"x": tosses})


def test_the_bayes_factor_of_a_coin_by_hand() -> None:
    found = pw.compare([fair_coin(), unknown_coin()])
    expected = betaln(5, 2) - betaln(1, 1) - 5 * np.log(0.5)
    assert found.log_bayes_factor() == pytest.approx(expected, rel=1e-12)
    assert found.bayes_factor(0, 1) == pytest.approx(np.exp(-expected), rel=1e-12)
    odds = np.exp(expected)
    np.testing.assert_allclose(found.probabilities, [1 / (1 + odds), odds / (1 + odds)])


def test_prior_weights_multiply_the_odds() -> None:
    fits = [fair_coin(), unknown_coin()]
    even, uneven = pw.compare(fits).probabilities, pw.compare(fits, prior=[3, 1]).probabilities
    assert uneven[0] / uneven[1] == pytest.approx(3 * even[0] / even[1])
    np.testing.assert_allclose(pw.compare(fits, prior=[0, 1]).probabilities, [0, 1])


def test_the_order_of_models_does_not_matter() -> None:
    one, two = fair_coin(), unknown_coin()
    np.testing.assert_allclose(pw.compare([one, two]).probabilities, pw.compare([two, one]).probabilities[::-1])


def test_far_apart_models_do_not_overflow() -> None:
    tosses = np.ones(5000, dtype=int)
    found = pw.compare([fair_coin(tosses), unknown_coin(tosses)])
    np.testing.assert_allclose(found.probabilities, [0, 1])
    assert np.isfinite(found.log_bayes_factor())


def test_predictions_are_averaged_over_the_models() -> None:
    fits = [fair_coin(), unknown_coin()]
    found = pw.compare(fits)
    drawn = found.predict(1, count=40_000)["x"]
    expected = found.probabilities @ [0.5, 5 / 7]
    assert drawn.mean[0] == pytest.approx(expected, abs=5 * drawn.mcse[0])


def test_averaged_moments_and_densities_are_exact_where_those_of_the_models_are() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=20)
    data = {"x": x, "y": 0.4 * x + rng.normal(size=20)}
    fits = []
    for slopes in (True, False):
        m = pw.Model("line" if slopes else "flat")
        row = m.plate("row")
        m.tau = pw.Gamma(2, rate=1)
        m.a = pw.Normal(0, precision=m.tau)
        if slopes:
            m.b = pw.Normal(0, precision=m.tau)
            m.x = pw.Input(plates=row)
        m.y = pw.Normal(m.a + m.b * m.x if slopes else m.a, precision=m.tau, plates=row)
        fits.append(m.learn(data if slopes else {"y": data["y"]}))
    both = pw.compare(fits)
    new = {"x": [1.0, -2.0]}
    found = both.predict(new, count=40_000)["y"]
    each = [fits[0].predict(new)["y"], fits[1].predict(2)["y"]]
    mean = both.probabilities @ [part.mean for part in each]
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    second = both.probabilities @ [part.variance + part.mean**2 for part in each]
    np.testing.assert_allclose(found.variance, second - mean**2, rtol=1e-12)
    np.testing.assert_allclose(found.values.mean(axis=0), mean, atol=5 * found.sd.max() / 200)
    scored = both.log_predictive({**new, "y": [0.3, 0.1]})
    np.testing.assert_allclose(found.log_density([0.3, 0.1]), scored, rtol=1e-10)
    assert not found.mcse.any()


def test_the_table_names_the_models() -> None:
    shown = str(pw.compare([fair_coin(), unknown_coin()]))
    assert "fair coin" in shown and "unknown coin" in shown


def test_an_improper_prior_is_refused() -> None:
    m = pw.Model("flat")
    n = m.plate("n")
    m.mu = pw.Flat()
    m.x = pw.Normal(m.mu, sd=1, plates=n)
    fit = m.learn({"x": [1.0, 2.0]})
    with pytest.raises(ImproperPosterior, match="`flat` has an improper prior"):
        pw.compare([fit, fit])


def test_fits_to_different_values_are_refused() -> None:
    with pytest.raises(PlatewrightError, match="different values of `x`"):
        pw.compare([fair_coin(), unknown_coin([1, 1, 1, 0, 0])])


def test_fits_to_different_variables_are_refused() -> None:
    m = pw.Model("other")
    n = m.plate("n")
    m.z = pw.Bernoulli(0.5, plates=n)
    with pytest.raises(PlatewrightError, match="x, z"):
        pw.compare([fair_coin(), m.learn({"z": TOSSES})])


@pytest.mark.parametrize("prior", [[1], [1, 2, 3], [-1, 2], [0, 0], [np.nan, 1], "ab", [[1, 1]]])
def test_prior_weights_must_be_weights(prior: object) -> None:
    with pytest.raises(PlatewrightError, match="prior probabilities"):
        pw.compare([fair_coin(), unknown_coin()], prior=prior)  # type: ignore[arg-type]


@pytest.mark.parametrize("fits", [[], "fits", 3, [1, 2], None])
def test_only_fits_are_compared(fits: object) -> None:
    with pytest.raises(PlatewrightError, match=r"fits|0 model"):
        pw.compare(fits)  # type: ignore[arg-type]


def test_one_model_is_not_compared() -> None:
    with pytest.raises(PlatewrightError, match="1 model"):
        pw.compare([fair_coin()])


def test_a_model_that_is_not_there_has_no_bayes_factor() -> None:
    with pytest.raises(PlatewrightError, match="no model 2"):
        pw.compare([fair_coin(), unknown_coin()]).bayes_factor(2, 0)


def test_a_fit_for_the_mode_has_no_evidence_to_compare() -> None:
    m = pw.Model("coin")
    n = m.plate("n")
    m.p = pw.Beta(2, 2)
    m.x = pw.Bernoulli(m.p, plates=n)
    with pytest.raises(PlatewrightError, match="no evidence"):
        _ = pw.compare([m.learn({"x": TOSSES}, goal="map"), unknown_coin()]).probabilities


def kinds(count: int) -> pw.Model:
    m = pw.Model(f"{count} kinds")
    n, k = m.plate("n"), m.plate("k", count)
    m.share = pw.Dirichlet(1, over=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.share, plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def one_kind() -> pw.Model:
    m = pw.Model("one kind")
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.rate, plates=m.plate("n"))
    return m


def test_models_with_hidden_values_are_compared_by_the_evidence_that_they_have() -> None:
    data = {"y": [0, 1, 0, 9, 8]}
    several = [one_kind().learn(data), kinds(2).learn(data, goal="evidence"), kinds(3).learn(data, goal="evidence")]
    found = pw.compare(several)
    np.testing.assert_allclose(found.log_evidence, [fit.log_evidence for fit in several])
    assert "enumeration" in str(found)
    drawn = kinds(2).learn(data, chains=2, draws=200, warm_up=50)
    close = pw.compare([several[1], drawn])
    assert "chib, +-" in str(close)
    assert abs(close.log_bayes_factor()) < 0.5
    with pytest.raises(PlatewrightError, match="has no predict"):
        found.predict({})


def test_a_lower_bound_is_not_compared() -> None:
    data = {"y": [0, 1, 0, 9, 8]}
    with pytest.raises(PlatewrightError, match="a lower bound of its evidence only"):
        pw.compare([one_kind().learn(data), kinds(2).learn(data, by="mean-field")])
