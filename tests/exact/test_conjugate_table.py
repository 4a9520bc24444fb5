"""Posterior, evidence and marginals of every row of the conjugate table, against the table's formulas in scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw
from exact.conjugate_rows import ROWS, Array, Row, gamma_term, log_det
from laws.identity import check_identity

LEVELS = [0.02, 0.25, 0.5, 0.9]
BY_NAME = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def close(found: object, wanted: object, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def written(row: Row, groups: int = 0) -> Any:
    """The row as a model; with groups, one parameter for each."""
    m = pw.Model(row.name)
    n = m.plate("n")
    if not groups:
        row.parameters(m, ())
        m.x = row.observe(m, lambda parameter: parameter, n)
        return m
    group = m.plate("group", groups)
    row.parameters(m, group)
    m.z = pw.Input(plates=n, levels=group)
    m.x = row.observe(m, lambda parameter: parameter[m.z], n)
    return m


def check_marginal(found: Any, wanted: Any) -> None:
    """Mean, variance and quantiles of a marginal against a frozen distribution, or a list of them."""
    if hasattr(wanted, "scale") and np.ndim(wanted.scale) == 2:  # Wishart: has no quantiles
        close(found.mean, wanted.mean())
        close(found.variance, wanted.var())
        return
    several = wanted if isinstance(wanted, list) else [wanted]
    if several[0].dist.name == "vonmises":  # a circle has neither a mean nor quantiles without a cut
        angle, concentration = found.parameters["mean"], found.parameters["concentration"]
        close(concentration * np.exp(1j * angle), wanted.args[0] * np.exp(1j * wanted.kwds["loc"]))
        return
    close(found.mean, [one.mean() for one in several] if isinstance(wanted, list) else wanted.mean())
    if found.family.quantile is None:
        return
    quantiles = np.reshape(found.quantile(LEVELS), (len(LEVELS), -1))
    for column, one in enumerate(several):
        close(one.cdf(quantiles[:, column]), LEVELS)


@BY_NAME
def test_posterior_and_evidence_are_those_of_the_table(row: Row) -> None:
    x = row.simulate(np.random.default_rng(1), 12)
    fit = written(row).learn({"x": x})
    evidence, marginals = row.update(x)
    close(fit.log_evidence, evidence)
    for name, wanted in marginals.items():
        check_marginal(fit[name], wanted)
    check_identity(fit)


@BY_NAME
def test_each_group_learns_from_its_own_rows(row: Row) -> None:
    x = row.simulate(np.random.default_rng(2), 11)
    z = np.array([0, 2, 2, 0, 2, 3, 3, 0, 2, 0, 3])  # group 1 has no row
    fit = written(row, groups=4).learn({"x": x, "z": z})
    answers = [row.update(x[z == k]) for k in range(4)]
    close(fit.log_evidence, sum(evidence for evidence, _ in answers))
    for name in answers[0][1]:
        for k, (_, marginals) in enumerate(answers):
            check_marginal(_element(fit[name], k), marginals[name])
    check_identity(fit)


def _element(marginal: Any, k: int) -> Any:
    from dataclasses import replace

    return replace(marginal, parameters={key: np.asarray(value)[k] for key, value in marginal.parameters.items()})


@BY_NAME
def test_without_rows_the_posterior_is_the_prior(row: Row) -> None:
    none = row.simulate(np.random.default_rng(3), 0)
    fit = written(row).learn({"x": none})
    assert abs(fit.log_evidence) < 1e-12
    _, prior = row.update(none)
    for name, wanted in prior.items():
        check_marginal(fit[name], wanted)


@BY_NAME
def test_the_density_of_new_rows_is_the_ratio_of_the_tables_evidence(row: Row) -> None:
    """Each new row by itself, in and outside of groups: `p(new | x) = evidence(x, new) / evidence(x)`."""
    generator = np.random.default_rng(6)
    x, new = row.simulate(generator, 10), row.simulate(generator, 3)
    before = row.update(x)[0]
    expected = [row.update(np.concatenate([x, new[k : k + 1]]))[0] - before for k in range(3)]
    fit = written(row).learn({"x": x})
    predicted = fit.predict(3)
    close(predicted["x"].log_density(new), expected)
    close(predicted.log_density({"x": new}), expected)
    z, at = np.array([0, 2, 2, 0, 2, 3, 3, 0, 2, 0]), np.array([2, 1, 0])
    grouped = written(row, groups=4).learn({"x": x, "z": z})
    expected = []
    for k in range(3):
        own = x[z == at[k]]
        expected.append(row.update(np.concatenate([own, new[k : k + 1]]))[0] - row.update(own)[0])
    close(grouped.predict({"z": at})["x"].log_density(new), expected)


@BY_NAME
def test_rows_in_any_order_say_the_same(row: Row) -> None:
    x = row.simulate(np.random.default_rng(4), 9)
    m = written(row)
    close(m.learn({"x": x}).log_evidence, m.learn({"x": x[::-1].copy()}).log_evidence, 1e-12)


# -- regression ------------------------------------------------------------------------------------------------------


def regression_answer(x: Array, y: Array) -> tuple[float, Array, Array, float, float]:
    """NIG regression with L = 0.5 I, m = 0.2: evidence, mean, L', a', b'."""
    n, d = x.shape
    prior, start, a, b = 0.5 * np.eye(d), np.full(d, 0.2), 2.5, 1.5
    after = prior + x.T @ x
    mean = np.linalg.solve(after, prior @ start + x.T @ y)
    a_new = a + n / 2
    b_new = b + (y @ y + start @ prior @ start - mean @ after @ mean) / 2
    evidence = -n / 2 * np.log(2 * np.pi) + (log_det(prior) - log_det(after)) / 2 + gamma_term(a, b, a_new, b_new)
    return float(evidence), mean, after, a_new, b_new


@pytest.mark.parametrize("scale", ["variance", "precision"])
def test_linear_regression_is_that_of_the_table(scale: str) -> None:
    generator = np.random.default_rng(5)
    x, y = generator.normal(size=(10, 3)), generator.normal(size=10)
    m = pw.Model("regression")
    n, column = m.plate("n"), m.plate("column")
    m.X = pw.Input(plates=(n, column))
    if scale == "variance":
        m.s = pw.InverseGamma(2.5, scale=1.5)
        m.w = pw.Normal(0.2, variance=m.s / 0.5, plates=column)
        m.y = pw.Normal(pw.dot(m.X, m.w, over=column), variance=m.s, plates=n)
    else:
        m.s = pw.Gamma(2.5, rate=1.5)
        m.w = pw.Normal(0.2, precision=m.s * 0.5, plates=column)
        m.y = pw.Normal(pw.dot(m.X, m.w, over=column), precision=m.s, plates=n)
    fit = m.learn({"X": x, "y": y})
    evidence, mean, after, a, b = regression_answer(x, y)
    close(fit.log_evidence, evidence)
    spread = np.sqrt(b / a * np.diag(np.linalg.inv(after)))
    check_marginal(fit["w"], [stats.t(2 * a, mean[j], spread[j]) for j in range(3)])
    check_marginal(fit["s"], stats.invgamma(a, scale=b) if scale == "variance" else stats.gamma(a, scale=1 / b))
    close(fit["w"].covariance, b / (a - 1) * np.linalg.inv(after))
    check_identity(fit)


@pytest.mark.parametrize("inverse", [False, True])
def test_regression_with_several_outputs_is_that_of_the_table(inverse: bool) -> None:
    generator = np.random.default_rng(6)
    n, d, q, v = 9, 3, 2, 4.5
    x, y = generator.normal(size=(n, d)), generator.normal(size=(n, q))
    s = np.array([[1.5, 0.2], [0.2, 0.9]])
    k = 0.7 * np.eye(d)
    m = pw.Model("several outputs")
    row, column, output = m.plate("row"), m.plate("column"), m.plate("output", q)
    m.X = pw.Input(plates=(row, column))
    if inverse:
        m.S = pw.InverseWishart(v, scale=s, over=output)
        m.B = pw.MultivariateNormal(0, covariance=m.S / 0.7, over=output, plates=column)
        m.Y = pw.MultivariateNormal(pw.dot(m.X, m.B, over=column), covariance=m.S, over=output, plates=row)
    else:
        m.S = pw.Wishart(v, scale=np.linalg.inv(s), over=output)
        m.B = pw.MultivariateNormal(0, precision=0.7 * m.S, over=output, plates=column)
        m.Y = pw.MultivariateNormal(pw.dot(m.X, m.B, over=column), precision=m.S, over=output, plates=row)
    fit = m.learn({"X": x, "Y": y})
    after = k + x.T @ x
    mean = np.linalg.solve(after, x.T @ y)
    scatter = s + y.T @ y - mean.T @ after @ mean
    lg = special.multigammaln
    evidence = -n * q / 2 * np.log(np.pi) + q / 2 * (log_det(k) - log_det(after)) + lg((v + n) / 2, q) - lg(v / 2, q)
    evidence += v / 2 * log_det(s) - (v + n) / 2 * log_det(scatter)
    close(fit.log_evidence, evidence)
    close(fit["B"].mean, mean)
    free = v + n - q + 1
    spread = np.sqrt(np.outer(np.diag(np.linalg.inv(after)), np.diag(scatter)) / free)
    for i in range(d):
        for j in range(q):
            close(stats.t(free, mean[i, j], spread[i, j]).cdf(fit["B"].quantile(LEVELS)[:, i, j]), LEVELS)
    close(fit["S"].mean, scatter / (v + n - q - 1) if inverse else (v + n) * np.linalg.inv(scatter))
    check_identity(fit)


# -- known constants and exposures -------------------------------------------------------------------------------------


def test_a_poisson_rate_with_exposures() -> None:
    generator = np.random.default_rng(7)
    e, x = generator.uniform(0.5, 3.0, 8), generator.poisson(2.0, 8)
    m = pw.Model("exposure")
    n = m.plate("n")
    m.e = pw.Input(plates=n)
    m.rate = pw.Gamma(2.5, rate=1.5)
    m.x = pw.Poisson(3.0 * m.rate * m.e, plates=n)
    fit = m.learn({"e": e, "x": x})
    shape, rate = 2.5 + x.sum(), 1.5 + 3 * e.sum()
    constant = (x * np.log(3 * e)).sum() - special.gammaln(x + 1).sum()
    close(fit.log_evidence, gamma_term(2.5, 1.5, shape, rate) + constant)
    check_marginal(fit["rate"], stats.gamma(shape, scale=1 / rate))


def test_binomial_counts_with_known_trials() -> None:
    trials, x = np.array([3, 9, 1, 12]), np.array([1, 4, 0, 11])
    m = pw.Model("trials")
    n = m.plate("n")
    m.trials = pw.Input(plates=n)
    m.p = pw.Beta(1.5, 2.5)
    m.x = pw.Binomial(m.trials, m.p, plates=n)
    fit = m.learn({"trials": trials, "x": x})
    a, b = 1.5 + x.sum(), 2.5 + (trials - x).sum()
    close(fit.log_evidence, np.log(special.comb(trials, x)).sum() + special.betaln(a, b) - special.betaln(1.5, 2.5))
    check_marginal(fit["p"], stats.beta(a, b))


def test_multinomial_counts() -> None:
    counts = np.array([[2, 1, 0], [0, 3, 1], [1, 1, 5]])
    m = pw.Model("counts")
    n, k = m.plate("n"), m.plate("k", 3)
    m.total = pw.Input(plates=n)
    m.p = pw.Dirichlet([0.5, 1.5, 2.0], over=k)
    m.x = pw.Multinomial(m.total, m.p, over=k, plates=n)
    fit = m.learn({"x": counts, "total": counts.sum(axis=1)})
    prior = np.array([0.5, 1.5, 2.0])
    wanted = sum(
        stats.dirichlet_multinomial(prior + counts[:i].sum(axis=0), counts[i].sum()).logpmf(counts[i]) for i in range(3)
    )
    close(fit.log_evidence, wanted)
    close(fit["p"].mean, (prior + counts.sum(axis=0)) / (prior.sum() + counts.sum()))


def test_a_weibull_rate_with_known_shape() -> None:
    x = stats.weibull_min(1.7, scale=2.0).rvs(9, random_state=1)
    m = pw.Model("lifetimes")
    n = m.plate("n")
    m.rate = pw.Gamma(2.5, rate=1.5)
    m.x = pw.Weibull(1.7, rate=m.rate, plates=n)
    fit = m.learn({"x": x})
    shape, rate = 2.5 + len(x), 1.5 + (x**1.7).sum()
    close(fit.log_evidence, gamma_term(2.5, 1.5, shape, rate) + (np.log(1.7) + 0.7 * np.log(x)).sum())
    check_marginal(fit["rate"], stats.gamma(shape, scale=1 / rate))


def test_a_pareto_shape_with_known_scale() -> None:
    x = stats.pareto(2.2, scale=1.4).rvs(9, random_state=2)
    m = pw.Model("incomes")
    n = m.plate("n")
    m.shape = pw.Gamma(2.5, rate=1.5)
    m.x = pw.Pareto(m.shape, 1.4, plates=n)
    fit = m.learn({"x": x})
    shape, rate = 2.5 + len(x), 1.5 + np.log(x / 1.4).sum()
    close(fit.log_evidence, gamma_term(2.5, 1.5, shape, rate) - np.log(x).sum())
    check_marginal(fit["shape"], stats.gamma(shape, scale=1 / rate))


def test_a_standard_deviation_is_a_precision_in_disguise() -> None:
    """s enters by log s and s^-2 only, so s^-2 is Gamma; a prior on s of that form is conjugate."""
    x = np.random.default_rng(8).normal(size=7)
    m = pw.Model("sd")
    n = m.plate("n")
    m.v = pw.InverseGamma(2.5, scale=1.5)
    m.s = pw.sqrt(m.v)
    m.x = pw.Normal(0.4, sd=2 * m.s, plates=n)
    fit = m.learn({"x": x})
    a, b = 2.5 + 3.5, 1.5 + ((x - 0.4) ** 2).sum() / 8
    close(fit.log_evidence, -3.5 * np.log(2 * np.pi * 4) + gamma_term(2.5, 1.5, a, b))
    check_marginal(fit["v"], stats.invgamma(a, scale=b))


def test_known_weights_of_rows() -> None:
    """Row n has variance s / weight[n]: a weighted mean."""
    generator = np.random.default_rng(9)
    w, x = generator.uniform(0.5, 4.0, 8), generator.normal(size=8)
    m = pw.Model("weights")
    n = m.plate("n")
    m.w = pw.Input(plates=n)
    m.tau = pw.Gamma(2.5, rate=1.5)
    m.mu = pw.Normal(0.7, precision=0.8 * m.tau)
    m.x = pw.Normal(m.mu, precision=m.tau * m.w, plates=n)
    fit = m.learn({"w": w, "x": x})
    k = 0.8 + w.sum()
    mean = (0.8 * 0.7 + (w * x).sum()) / k
    a, b = 2.5 + 4, 1.5 + ((w * (x - mean) ** 2).sum() + 0.8 * (mean - 0.7) ** 2) / 2
    wanted = -4 * np.log(2 * np.pi) + gamma_term(2.5, 1.5, a, b) + np.log(0.8 / k) / 2 + np.log(w).sum() / 2
    close(fit.log_evidence, wanted)
    check_marginal(fit["mu"], stats.t(2 * a, mean, np.sqrt(b / (a * k))))
