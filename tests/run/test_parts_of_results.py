"""Small parts of results that a law of the whole does not see: errors of estimates, draws, tables, counted rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.backends.kernels.log_means import error_of_independent
from platewright.errors import DataError, PlatewrightError
from platewright.operation import Declined
from platewright.run.evidence.evidence_chib import Chib
from platewright.run.exact.row_densities import nodes_apart
from run.row_examples import chosen, example, same_posterior

Y = np.array([0.3, 1.1, 2.0, 0.7])


def test_the_error_of_a_mean_of_weights_knows_no_scale() -> None:
    logs = np.random.default_rng(0).normal(size=50)
    weights = np.exp(logs)
    wanted = stats.sem(weights) / weights.mean()
    for shift in (0.0, -5000.0, 5000.0):
        assert error_of_independent(logs + shift) == pytest.approx(wanted)


def test_particles_far_from_one_are_still_worth_something() -> None:
    m = pw.Model("far")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1)
    m.tau = pw.Gamma(2, rate=1)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    fit = m.learn({"y": np.linspace(-9, 9, 2000)}, goal="evidence", by="annealed", particles=3, powers=3)
    assert fit.log_evidence < -3000
    assert "nan" not in fit.evidence.detail and "inf" not in fit.evidence.detail


def two_poissons() -> pw.Model:
    """Counts of rows in two classes: two blocks, so that the density of the first is an average."""
    m = pw.Model("two")
    n, k = m.plate("n"), m.plate("k", 2)
    m.rate = pw.Gamma(2.0, rate=0.5, plates=k)
    m.z = pw.Categorical(pw.array([0.4, 0.6], over=k), plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def test_the_error_that_is_told_is_the_spread_of_the_estimates() -> None:
    m, data = two_poissons(), {"y": [1, 6, 2]}
    exact = m.learn(data, goal="evidence", by="enumeration").log_evidence
    fits = [
        m.learn(data, goal="evidence", by="chib", chains=2, draws=120, warm_up=30, seed=seed).evidence
        for seed in range(8)
    ]
    spread = np.sqrt(np.mean([(found.value - exact) ** 2 for found in fits]))
    told = float(np.median([float(found.error or 0.0) for found in fits]))
    assert spread < 0.2  # else a root would not be told from the error itself
    assert 0.4 < told / spread < 2.0


def of_scale(name: str) -> pw.Model:
    m = pw.Model(name)
    n = m.plate("n")
    if name == "variance":
        m.v = pw.InverseGamma(3.0, scale=1.0)
        m.y = pw.Normal(0.5, variance=m.v, plates=n)
    elif name == "log":
        m.v = pw.LogNormal(0.2, sd=0.5)
        m.y = pw.Normal(pw.log(m.v), sd=1.0, plates=n)
    else:
        m.v = pw.Weibull(2.0, rate=1.0)
        m.y = pw.Normal(0.0, precision=m.v**2, plates=n)
    return m


@pytest.mark.parametrize("name", ["variance", "log", "root"])
def test_draws_of_a_function_of_what_a_family_knows_have_its_quantiles(name: str) -> None:
    fit = of_scale(name).learn({"y": Y}, by="exact")
    drawn = np.sort(np.asarray(fit.draws(20_000, seed=1)["v"]))
    at = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(np.quantile(drawn, at), fit["v"].quantile(at), rtol=0.03)
    grid = np.linspace(1e-3, 40, 400_001)
    density = np.exp([_joint(name, grid)])[0]
    whole = np.cumsum(density) / density.sum()
    np.testing.assert_allclose(np.interp(at, whole, grid), fit["v"].quantile(at), rtol=2e-3)


def _joint(name: str, v: np.ndarray) -> np.ndarray:
    """Log prior and likelihood by SciPy, up to a constant."""
    if name == "variance":
        logs = stats.invgamma.logpdf(v, 3.0) + stats.norm.logpdf(Y[:, None], 0.5, np.sqrt(v)).sum(axis=0)
    elif name == "log":
        logs = stats.lognorm.logpdf(v, 0.5, scale=np.exp(0.2))
        logs = logs + stats.norm.logpdf(Y[:, None], np.log(v), 1.0).sum(axis=0)
    else:
        logs = stats.weibull_min.logpdf(v, 2.0) + stats.norm.logpdf(Y[:, None], 0.0, 1 / v).sum(axis=0)
    return np.asarray(logs - logs.max())


def test_a_quantile_beyond_one_is_refused() -> None:
    fit = of_scale("variance").learn({"y": Y}, by="exact")
    for wrong in (1.5, -0.1):
        with pytest.raises(PlatewrightError, match="probabilities from 0 to 1"):
            fit["v"].quantile(wrong)


def test_an_unknown_answer_has_the_probability_of_the_sum() -> None:
    m = pw.Model("answer")
    n = m.plate("n")
    m.z = pw.Bernoulli(0.3)
    m.y = pw.Normal(pw.where(m.z, 1.5, 0.0), sd=1.0, plates=n)
    fit = m.learn({"y": Y}, by="exact")
    weights = [p * stats.norm.pdf(Y, mean, 1.0).prod() for p, mean in ((0.7, 0.0), (0.3, 1.5))]
    assert float(fit["z"].mean) == pytest.approx(weights[1] / sum(weights))
    assert fit.log_evidence == pytest.approx(np.log(sum(weights)))


@pytest.mark.parametrize("name", ["coin", "regression"])
def test_rows_are_counted_from_the_end_too(name: str) -> None:
    model, data = example(name)
    fit = model.learn(data)
    same_posterior(fit.forget([-1, -3]), fit.forget([29, 27]))
    same_posterior(fit.forget([-1, -3]), model.learn(chosen(data, np.setdiff1d(np.arange(30), [27, 29]))))
    with pytest.raises(DataError, match="row -31"):
        fit.forget([-31])


def test_a_plate_of_unknowns_is_not_one_of_rows() -> None:
    m = pw.Model("groups")
    n, k = m.plate("n"), m.plate("k", 3)
    m.g = pw.Input(plates=n, levels=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.g], sd=1, plates=n)
    g = np.array([0, 1, 2, 1, 0])
    data = {"g": g, "y": np.array([0.3, 1.1, 2.0, 0.7, -0.4])}
    begun = m.learn(chosen(data, slice(0, 3)))
    same_posterior(begun.update(chosen(data, slice(3, None))), m.learn(data))


def test_pieces_are_shown_apart() -> None:
    m = pw.Model("pieces")
    n = m.plate("n")
    m.a, m.b = pw.Normal(0, sd=1), pw.Beta(1, 1)
    m.y = pw.Normal(m.a, sd=1, plates=n)
    m.w = pw.Bernoulli(m.b, plates=n)
    shown = [step.operation for step in m.learn({"y": Y, "w": [0, 1, 1, 0]}).plan.steps]
    assert shown.count("decompose") == 1


def test_hidden_numbers_are_named_in_the_summary_of_em() -> None:
    m = pw.Model("factor")
    n, d = m.plate("n"), m.plate("d", 3)
    m.loading = pw.Normal(0, sd=2, plates=d)
    m.psi = pw.InverseGamma(3.0, scale=1.0, plates=d)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.x = pw.Normal(m.loading * m.z, variance=m.psi, plates=(n, d))
    plan = m.derive(["x"], "map", "em").plan
    assert plan.latent.summary == "z"


def test_the_mode_of_one_answer_is_the_likelier() -> None:
    m = pw.Model("answer")
    n = m.plate("n")
    m.z = pw.Bernoulli(0.3)
    m.y = pw.Normal(pw.where(m.z, 1.5, 0.0), sd=1.0, plates=n)
    fit = m.learn({"y": Y + 0.5}, goal="map", by="exact")
    assert int(fit.estimate["z"]) == 1


def test_cells_that_share_an_unknown_class_have_no_density_of_their_own() -> None:
    m = pw.Model("shared")
    n, d = m.plate("n"), m.plate("d", 2)
    m.z = pw.Bernoulli(0.3)
    m.y = pw.Normal(pw.where(m.z, 1.5, 0.0), sd=1.0, plates=(n, d))
    fit = m.learn({"y": np.array([[0.3, 1.1], [2.0, 0.7]])}, by="exact")
    found = nodes_apart(fit.plan.graph, fit.posterior, "n")
    assert isinstance(found, Declined) and "share parameters" in found.reason


@pytest.mark.filterwarnings("ignore::platewright.errors.ConvergenceWarning")
def test_the_density_of_the_first_block_is_averaged_over_all_draws() -> None:
    y = np.array([1, 6, 2])
    fit = two_poissons().learn({"y": y}, by="gibbs", chains=2, draws=25, warm_up=5)
    run = Chib(fit.derivation, fit.columns, fit.sizes, fit.chains)
    point = run.state(0, 3)
    rate, z = (np.asarray(fit.chains[name]).reshape(50, -1) for name in ("rate", "z"))
    if run.plan.blocks[0].variables == ("z",):
        odds = np.array([0.4, 0.6]) * stats.poisson.pmf(y[:, None], rate[:, None, :])
        each = (odds / odds.sum(axis=2, keepdims=True))[:, np.arange(3), point["z"].astype(int)].prod(axis=1)
    else:
        inside = z[:, :, None] == np.arange(2)
        shape, speed = 2.0 + (y[:, None] * inside).sum(axis=1), 0.5 + inside.sum(axis=1)
        each = stats.gamma.pdf(point["rate"], shape, scale=1 / speed).prod(axis=1)
    assert run.first_ordinate(point, [])[0] == pytest.approx(np.log(each.mean()), abs=1e-9)


@pytest.mark.parametrize("far", [1e4, 1e6, 1e7])
def test_equal_components_count_once_however_far_they_are(far: float) -> None:
    m = pw.Model("copies")
    n, k = m.plate("n"), m.plate("k", 2)
    m.z = pw.Categorical(pw.array([0.5, 0.5], over=k), plates=n)
    m.mu = pw.Normal(far, sd=2.0, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1.0, plates=n)
    near = pw.Model("near")
    n, k = near.plate("n"), near.plate("k", 2)
    near.z = pw.Categorical(pw.array([0.5, 0.5], over=k), plates=n)
    near.mu = pw.Normal(0.0, sd=2.0, plates=k)
    near.y = pw.Normal(near.mu[near.z], sd=1.0, plates=n)
    fit = m.learn({"y": [far + 0.3]}, goal="evidence", by="laplace")
    wanted = near.learn({"y": [0.3]}, goal="evidence", by="laplace")
    assert "modes that differ" not in fit.evidence.detail
    assert fit.log_evidence == pytest.approx(wanted.log_evidence, abs=1e-3)


def test_a_prediction_under_a_switched_scale_is_a_mixture() -> None:
    m = pw.Model("switched")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.z = pw.Bernoulli(0.3)
    m.b = pw.Normal(0, sd=2)
    m.y = pw.Normal(m.b * m.x, precision=pw.where(m.z, 1.0, 4.0), plates=n)
    fit = m.learn({"x": [1.0, 2.0], "y": [0.1, 0.5]}, by="exact")
    weights, means = [], []
    for share, precision in ((0.7, 4.0), (0.3, 1.0)):
        spread = np.eye(2) / precision + 4.0 * np.outer([1, 2], [1, 2])
        weights.append(share * stats.multivariate_normal(np.zeros(2), spread).pdf([0.1, 0.5]))
        means.append(precision * 1.1 / (0.25 + 5 * precision))
    found = fit.predict({"x": [1.0]})["y"]
    assert float(np.asarray(found.mean).ravel()[0]) == pytest.approx(np.average(means, weights=weights), abs=0.03)
