"""Counts, waits and probabilities: exposures, offsets inside logs, shared parameters, exact zeros, huge counts."""

from __future__ import annotations

import numpy as np
from scipy import stats

import platewright as pw
from independent.checking import Point, Problem, problems_of

gamma, beta, poisson, expon = stats.gamma, stats.beta, stats.poisson, stats.expon


def offsets_inside_a_log_link() -> Problem:
    m = pw.Model("log offset")
    n = m.plate("n")
    m.e, m.x = pw.Input(plates=n), pw.Input(plates=n)
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(pw.exp(pw.log(m.rate) + pw.log(m.e) + 0.3 * m.x), plates=n)
    e, x, y = np.array([1.0, 2.0, 0.5]), np.array([0.1, -1.0, 2.0]), np.array([1, 3, 0])

    def joint(p: Point) -> float:
        return float(gamma(2).logpdf(p["rate"]) + poisson(p["rate"] * e * np.exp(0.3 * x)).logpmf(y).sum())

    return Problem(m, {"e": e, "x": x, "y": y}, joint)


def one_rate_for_three_kinds_of_data() -> Problem:
    m = pw.Model("three kinds")
    a, b, c = m.plate("a"), m.plate("b"), m.plate("c")
    m.rate = pw.Gamma(2, scale=0.5)
    m.count = pw.Poisson(m.rate * 3, plates=a)
    m.wait = pw.Exponential(rate=m.rate / 2, plates=b)
    m.long = pw.Gamma(3, scale=1 / m.rate, plates=c)
    count, wait, long = np.array([1, 2]), np.array([0.5, 1.5]), np.array([2.0])

    def joint(p: Point) -> float:
        r = float(p["rate"])
        total = gamma(2, scale=0.5).logpdf(r) + poisson(3 * r).logpmf(count).sum()
        return float(total + expon(scale=2 / r).logpdf(wait).sum() + gamma(3, scale=1 / r).logpdf(long).sum())

    return Problem(m, {"count": count, "wait": wait, "long": long}, joint)


def one_probability_for_four_kinds_of_data() -> Problem:
    m = pw.Model("four kinds")
    a, b, c, d = (m.plate(name) for name in "abcd")
    m.p = pw.Beta(2, 3)
    m.coin = pw.Bernoulli(m.p, plates=a)
    m.many = pw.Binomial(5, m.p, plates=b)
    m.tries = pw.Geometric(m.p, plates=c)
    m.fails = pw.NegativeBinomial(3, m.p, plates=d)
    coin, many, tries, fails = np.array([1, 0]), np.array([2, 5]), np.array([1, 4]), np.array([0, 2])

    def joint(p: Point) -> float:
        q = float(p["p"])
        total = beta(2, 3).logpdf(q) + stats.bernoulli(q).logpmf(coin).sum() + stats.binom(5, q).logpmf(many).sum()
        return float(total + stats.geom(q).logpmf(tries).sum() + stats.nbinom(3, q).logpmf(fails).sum())

    return Problem(m, {"coin": coin, "many": many, "tries": tries, "fails": fails}, joint)


def a_coin_seen_from_both_sides() -> Problem:
    m = pw.Model("both sides")
    a, b = m.plate("a"), m.plate("b")
    m.p = pw.Beta(2, 3)
    m.heads = pw.Bernoulli(m.p, plates=a)
    m.tails = pw.Bernoulli(1 - m.p, plates=b)
    heads, tails = np.array([1, 0, 1]), np.array([1, 0, 0])

    def joint(p: Point) -> float:
        q = float(p["p"])
        return float(
            beta(2, 3).logpdf(q) + stats.bernoulli(q).logpmf(heads).sum() + stats.bernoulli(1 - q).logpmf(tails).sum()
        )

    return Problem(m, {"heads": heads, "tails": tails}, joint)


def trials_from_a_column() -> Problem:
    m = pw.Model("trials")
    n = m.plate("n")
    m.t = pw.Input(plates=n)
    m.p = pw.Beta(1, 1)
    m.y = pw.Binomial(m.t, m.p, plates=n)
    t, y = np.array([3, 0, 7]), np.array([1, 0, 7])

    def joint(p: Point) -> float:
        return float(beta(1, 1).logpdf(p["p"]) + stats.binom(t, p["p"]).logpmf(y).sum())

    return Problem(m, {"t": t, "y": y}, joint)


def gamma_above_gamma_with_known_shape() -> Problem:
    """A hierarchy of rates: the lower ones are integrated out first, the upper one has no closed form."""
    m = pw.Model("hierarchy of rates")
    g, n = m.plate("g"), m.plate("n")
    m.top = pw.Gamma(2, rate=1)
    m.rate = pw.Gamma(3, rate=m.top, plates=g)
    m.y = pw.Poisson(m.rate, plates=(g, n))
    return Problem(m, {"y": np.array([[1, 2], [3, 4]])}, declined="top")


def rates_seen_directly_with_a_gamma_above() -> Problem:
    """The middle rates are known: the top one is conjugate."""
    m = pw.Model("known rates")
    g = m.plate("g")
    m.top = pw.Gamma(2, rate=1)
    m.k = pw.Input(plates=g)
    m.rate = pw.Gamma(m.k, rate=2 * m.top, plates=g)
    k, rate = np.array([1.5, 2.0, 3.0]), np.array([0.5, 1.0, 2.0])

    def joint(p: Point) -> float:
        return float(gamma(2).logpdf(p["top"]) + gamma(k, scale=1 / (2 * p["top"])).logpdf(rate).sum())

    return Problem(m, {"k": k, "rate": rate}, joint)


def rates_scaled_by_covariates_in_groups() -> Problem:
    m = pw.Model("covariate rates")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.x = pw.Input(plates=n)
    m.area = pw.Input(plates=g)
    m.rate = pw.Gamma(2, rate=1, plates=g)
    m.y = pw.Poisson(m.rate * m.area * m.x**2, plates=n)
    of, x, area, y = np.array([0, 0, 1]), np.array([1.0, -2.0, 0.5]), np.array([0.3, 2.0]), np.array([1, 4, 0])

    def joint(p: Point) -> float:
        return float(gamma(2).logpdf(p["rate"]).sum() + poisson(p["rate"][of] * area[of] * x**2).logpmf(y).sum())

    return Problem(m, {"g": of, "x": x, "area": area, "y": y}, joint)


def weibull_with_a_known_shape() -> Problem:
    m = pw.Model("weibull")
    n = m.plate("n")
    m.r = pw.Gamma(2, rate=1)
    m.y = pw.Weibull(1.5, scale=m.r ** (-1 / 1.5), plates=n)
    y = np.array([0.5, 1.0, 2.0])

    def joint(p: Point) -> float:
        scale = float(p["r"]) ** (-1 / 1.5)
        return float(gamma(2).logpdf(p["r"]) + stats.weibull_min(1.5, scale=scale).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


def pareto_with_an_unknown_index() -> Problem:
    m = pw.Model("pareto")
    n = m.plate("n")
    m.a = pw.Gamma(2, rate=1)
    m.y = pw.Pareto(m.a, scale=1.5, plates=n)
    y = np.array([1.6, 2.0, 5.0])

    def joint(p: Point) -> float:
        return float(gamma(2).logpdf(p["a"]) + stats.pareto(p["a"], scale=1.5).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


def uniform_in_groups_with_a_pareto_end() -> Problem:
    m = pw.Model("ends")
    g, n = m.plate("g", 3), m.plate("n")
    m.z = pw.Input(plates=n, levels=g)
    m.end = pw.Pareto(2, scale=1, plates=g)
    m.y = pw.Uniform(0, m.end[m.z], plates=n)
    z, y = np.array([0, 1, 1, 0]), np.array([0.5, 3.0, 2.0, 0.1])

    def joint(p: Point) -> float:
        total = stats.pareto(2, scale=1).logpdf(p["end"]).sum()
        return float(total + stats.uniform(0, p["end"][z]).logpdf(y).sum())

    return Problem(m, {"z": z, "y": y}, joint)


def laplace_with_a_known_centre() -> Problem:
    m = pw.Model("laplace")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = pw.InverseGamma(3, scale=1)
    m.y = pw.Laplace(m.x + 1, scale=2 * m.b, plates=n)
    x, y = np.array([0.0, 1.0]), np.array([0.5, 3.0])

    def joint(p: Point) -> float:
        total = stats.invgamma(3, scale=1).logpdf(p["b"])
        return float(total + stats.laplace(x + 1, 2 * p["b"]).logpdf(y).sum())

    return Problem(m, {"x": x, "y": y}, joint)


def directions_with_concentrations_of_rows() -> Problem:
    m = pw.Model("directions")
    n = m.plate("n")
    m.k = pw.Input(plates=n)
    m.mu = pw.VonMises(0.5, concentration=1.5)
    m.y = pw.VonMises(m.mu, concentration=m.k, plates=n)
    k, y = np.array([1.0, 4.0]), np.array([0.2, -1.0])

    def joint(p: Point) -> float:
        total = stats.vonmises(1.5, loc=0.5).logpdf(p["mu"])
        return float(total + sum(stats.vonmises(k[i], loc=p["mu"]).logpdf(y[i]) for i in range(2)))

    return Problem(m, {"k": k, "y": y}, joint)


def inverse_gaussian_with_row_means() -> Problem:
    m = pw.Model("inverse gaussian")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.s = pw.Gamma(2, rate=1)
    m.y = pw.InverseGaussian(m.x, m.s, plates=n)
    x, y = np.array([1.0, 2.0]), np.array([0.5, 3.0])

    def joint(p: Point) -> float:
        s = float(p["s"])
        return float(gamma(2).logpdf(s) + sum(stats.invgauss(x[i] / s, scale=s).logpdf(y[i]) for i in range(2)))

    return Problem(m, {"x": x, "y": y}, joint)


def beta_with_one_known_side() -> Problem:
    m = pw.Model("beta side")
    n = m.plate("n")
    m.a = pw.Gamma(2, rate=1)
    m.y = pw.Beta(m.a, 1, plates=n)
    y = np.array([0.2, 0.7])

    def joint(p: Point) -> float:
        return float(gamma(2).logpdf(p["a"]) + beta(p["a"], 1).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


def exact_zeros_of_a_known_gate() -> Problem:
    m = pw.Model("gate of a rate")
    n = m.plate("n")
    m.z = pw.Input(plates=n, levels=2)
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(pw.where(m.z, m.rate, 0), plates=n)
    z, y = np.array([0, 1, 1, 0]), np.array([0, 3, 0, 0])

    def joint(p: Point) -> float:
        return float(gamma(2).logpdf(p["rate"]) + poisson(p["rate"] * z).logpmf(y).sum())

    return Problem(m, {"z": z, "y": y}, joint)


def exact_zeros_and_ones_of_probabilities() -> Problem:
    m = pw.Model("certain")
    n = m.plate("n")
    m.z = pw.Input(plates=n, levels=3)
    m.p = pw.Beta(2, 1)
    m.y = pw.Bernoulli(pw.where(pw.equal(m.z, 0), m.p, pw.where(pw.equal(m.z, 1), 0, 1)), plates=n)
    z, y = np.array([0, 1, 2, 0, 2]), np.array([0, 0, 1, 1, 1])

    def joint(p: Point) -> float:
        q = np.where(z == 0, p["p"], np.where(z == 1, 0.0, 1.0))
        return float(beta(2, 1).logpdf(p["p"]) + stats.bernoulli(q).logpmf(y).sum())

    return Problem(m, {"z": z, "y": y}, joint)


def booleans_and_labels() -> Problem:
    m = pw.Model("labels")
    n = m.plate("n")
    level = m.plate("level", labels=["low", "mid", "high"])
    m.x = pw.Input(plates=n, levels=level)
    m.p = pw.Beta(2, 2, plates=level)
    m.y = pw.Bernoulli(m.p[m.x], plates=n)
    x, y = ["high", "low", "high", "low"], np.array([True, False, False, True])
    codes = np.array([2, 0, 2, 0])

    def joint(p: Point) -> float:
        return float(beta(2, 2).logpdf(p["p"]).sum() + stats.bernoulli(p["p"][codes]).logpmf(y.astype(int)).sum())

    return Problem(m, {"x": x, "y": y}, joint)


def sum_of_two_rates() -> Problem:
    m = pw.Model("sum of rates")
    n = m.plate("n")
    m.a, m.b = pw.Gamma(1, rate=1), pw.Gamma(1, rate=1)
    m.y = pw.Poisson(m.a + m.b, plates=n)
    return Problem(m, {"y": [1, 2]}, declined="a")


def a_powered_probability() -> Problem:
    m = pw.Model("power")
    n = m.plate("n")
    m.p = pw.Beta(1, 1)
    m.y = pw.Bernoulli(m.p**2, plates=n)
    return Problem(m, {"y": [1, 0]}, declined="p")


def half_a_probability() -> Problem:
    m = pw.Model("half")
    n = m.plate("n")
    m.p = pw.Beta(1, 1)
    m.y = pw.Bernoulli(0.5 * m.p, plates=n)
    return Problem(m, {"y": [1, 0]}, declined="p")


def a_rate_on_an_interval() -> Problem:
    m = pw.Model("bounded rate")
    n = m.plate("n")
    m.r = pw.Uniform(0, 3)
    m.y = pw.Poisson(m.r, plates=n)
    return Problem(m, {"y": [1, 0]}, declined="r")


def a_shape_and_a_rate() -> Problem:
    m = pw.Model("shape")
    n = m.plate("n")
    m.k = pw.Gamma(2, rate=1)
    m.y = pw.Gamma(m.k, rate=2, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="k")


def one_number_as_shape_and_rate() -> Problem:
    m = pw.Model("chi")
    n = m.plate("n")
    m.k = pw.Gamma(2, rate=1)
    m.y = pw.Gamma(m.k, rate=m.k, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="k")


def probabilities_of_two_coins_multiplied() -> Problem:
    m = pw.Model("product of coins")
    n = m.plate("n")
    m.p, m.q = pw.Beta(1, 1), pw.Beta(1, 1)
    m.y = pw.Bernoulli(m.p * m.q, plates=n)
    return Problem(m, {"y": [1, 0]}, declined="p")


def a_uniform_probability_is_a_beta() -> Problem:
    m = pw.Model("uniform prior")
    n = m.plate("n")
    m.p = pw.Uniform(0, 1)
    m.y = pw.Bernoulli(m.p, plates=n)
    y = np.array([1, 0, 1])

    def joint(p: Point) -> float:
        return float(stats.uniform().logpdf(p["p"]) + stats.bernoulli(p["p"]).logpmf(y).sum())

    return Problem(m, {"y": y}, joint)


def an_exponential_prior_is_a_gamma() -> Problem:
    m = pw.Model("exponential prior")
    n = m.plate("n")
    m.r = pw.Exponential(rate=2)
    m.y = pw.Poisson(m.r, plates=n)
    y = np.array([1, 0, 1])

    def joint(p: Point) -> float:
        return float(expon(scale=0.5).logpdf(p["r"]) + poisson(p["r"]).logpmf(y).sum())

    return Problem(m, {"y": y}, joint)


def a_chi_square_prior_of_a_precision() -> Problem:
    m = pw.Model("chi square prior")
    n = m.plate("n")
    m.c = pw.ChiSquare(3)
    m.y = pw.Normal(1, precision=m.c / 4, plates=n)
    y = np.array([1.0, 0.0, 1.5])

    def joint(p: Point) -> float:
        return float(stats.chi2(3).logpdf(p["c"]) + stats.norm(1, (p["c"] / 4) ** -0.5).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


def a_flat_rate() -> Problem:
    m = pw.Model("flat rate")
    n = m.plate("n")
    m.r = pw.Flat(lower=0)
    m.y = pw.Poisson(m.r, plates=n)
    y = np.array([1, 0, 1])

    def joint(p: Point) -> float:
        return float(poisson(p["r"]).logpmf(y).sum())

    return Problem(m, {"y": y}, joint)


def inverse_rates_with_an_inverse_gamma() -> Problem:
    m = pw.Model("means")
    n = m.plate("n")
    m.mean = pw.InverseGamma(3, scale=2)
    m.y = pw.Exponential(scale=m.mean, plates=n)
    y = np.array([1.0, 0.3, 2.0])

    def joint(p: Point) -> float:
        return float(stats.invgamma(3, scale=2).logpdf(p["mean"]) + expon(scale=p["mean"]).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


PROBLEMS = problems_of(globals())
