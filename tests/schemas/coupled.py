"""Models whose unknowns are coupled without a closed form: links, lags, simplexes, matrices, angles, counts, jumps."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def logistic_weights() -> pw.Model:
    m = pw.Model("logistic regression, weights on a plate")
    n, j = m.plate("n"), m.plate("j")
    m.x = pw.Input(plates=(n, j))
    m.w = pw.Normal(0, sd=1, plates=j)
    m.y = pw.Bernoulli(logit=pw.dot(m.x, m.w, over=j), plates=n)
    return m


def choices() -> pw.Model:
    m = pw.Model("choices by weights of each level")
    n, k = m.plate("n"), m.plate("k", 3)
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Normal(0, sd=1, plates=k), pw.Normal(0, sd=1, plates=k)
    m.total = pw.sum(pw.exp(m.a + m.b * m.x), over=k)
    m.y = pw.Categorical(pw.exp(m.a + m.b * m.x) / m.total, plates=n, over=k)
    return m


def random_effects() -> pw.Model:
    m = pw.Model("random effects in groups with an unknown scale")
    g, n = m.plate("g"), m.plate("n")
    m.group = pw.Input(plates=n, levels=g)
    m.sigma = pw.Uniform(0.1, 2)
    m.a = pw.Normal(0, sd=1)
    m.e = pw.Normal(m.a, sd=m.sigma, plates=g)
    m.y = pw.Poisson(pw.exp(m.e[m.group]), plates=n)
    return m


def conjugate_scale() -> pw.Model:
    m = pw.Model("random effects with a conjugate precision")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.b = pw.Normal(0, sd=1)
    m.e = pw.Normal(0, precision=m.tau, plates=n)
    m.y = pw.Binomial(5, logit=m.b * m.x + m.e, plates=n)
    return m


def nested_effects() -> pw.Model:
    m = pw.Model("effects below effects, all with one scale")
    g, n = m.plate("g"), m.plate("n")
    m.group = pw.Input(plates=n, levels=g)
    m.sigma = pw.Uniform(0.1, 2)
    m.top = pw.Normal(0, sd=m.sigma)
    m.e = pw.Normal(m.top, sd=2 * m.sigma, plates=g)
    m.y = pw.Poisson(pw.exp(m.e[m.group] + 0.5 * m.top), plates=n)
    return m


def noisy_covariate() -> pw.Model:
    m = pw.Model("a covariate seen with noise")
    n, d = m.plate("n"), m.plate("d", 2)
    m.z = pw.Input(plates=n)
    m.x = pw.Normal(m.z, sd=1, plates=n)
    m.w = pw.Normal(0.5, sd=1.5, plates=d)
    m.y = pw.Binomial(4, logit=m.w[0] + 2 * m.w[1] * m.x, plates=n)
    return m


def abilities() -> pw.Model:
    m = pw.Model("items of a test with a slope and a difficulty each")
    p, k = m.plate("p"), m.plate("k")
    m.ability = pw.Normal(0.5, sd=1, plates=p)
    m.slope = pw.Gamma(3, rate=3, plates=k)
    m.difficulty = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Bernoulli(logit=m.slope * m.ability - 0.5 * m.difficulty, plates=(p, k))
    return m


def products() -> pw.Model:
    m = pw.Model("rates that are products")
    n, k = m.plate("n"), m.plate("k", 2)
    m.a = pw.Normal(0, sd=0.7, plates=n)
    m.b = pw.Uniform(-1, 1, plates=k)
    m.y = pw.Poisson(pw.exp(m.a * m.b), plates=(n, k))
    return m


def volatility() -> pw.Model:
    m = pw.Model("stochastic volatility")
    t = m.plate("t", ordered=True)
    m.phi = pw.Uniform(0, 1)
    m.h = pw.Normal(m.phi * m.lag("h"), sd=0.7, start=pw.Normal(0, sd=1), plates=t)
    m.y = pw.Normal(0, sd=pw.exp(0.5 * m.h), plates=t)
    return m


def blended() -> pw.Model:
    m = pw.Model("a blend of known rates")
    n, k = m.plate("n"), m.plate("k", 3)
    m.x = pw.Input(plates=(n, k))
    m.p = pw.Dirichlet(2.0, over=k)
    m.y = pw.Poisson(pw.dot(m.x, m.p, over=k), plates=n)
    return m


def matrix_link() -> pw.Model:
    m = pw.Model("a precision matrix seen twice")
    n, d = m.plate("n"), m.plate("d", 2)
    m.S = pw.Wishart(6, scale=pw.identity(d), over=d)
    m.y = pw.MultivariateNormal(0, precision=m.S, over=d, plates=n)
    m.z = pw.Poisson(pw.exp(0.1 * m.S[0, 1]), plates=n)
    return m


def direction() -> pw.Model:
    m = pw.Model("an angle behind a link")
    n = m.plate("n")
    m.a = pw.VonMises(0.5, 2.0)
    m.y = pw.Normal(pw.cos(m.a) + m.a, sd=1, plates=n)
    return m


def hidden_count() -> pw.Model:
    m = pw.Model("an unknown number of trials")
    n = m.plate("n")
    m.p = pw.Beta(2, 2)
    m.size = pw.Poisson(4.0, plates=n)
    m.y = pw.Normal(m.p * m.size, sd=1, plates=n)
    return m


def counts_together() -> pw.Model:
    m = pw.Model("counts that are seen together")
    n = m.plate("n", 3)
    m.size = pw.Poisson(4.0, plates=n)
    m.y = pw.Normal(pw.sum(m.size, over=n), sd=1)
    return m


def coded_counts() -> pw.Model:
    m = pw.Model("animals seen by chance, in several visits to each place")
    place, visit = m.plate("place", 3), m.plate("visit")
    m.at = pw.Input(plates=visit, levels=place)
    m.level, m.shy = pw.Normal(1, sd=0.5), pw.Normal(0, sd=1)
    m.number = pw.Poisson(pw.exp(m.level), plates=place)
    m.y = pw.Binomial(m.number[m.at], logit=m.shy, plates=visit)
    return m


def jump() -> pw.Model:
    m = pw.Model("a level that jumps at an unknown place")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.place = pw.Uniform(0.5, 2)
    m.low, m.high = pw.Normal(0, sd=1), pw.Normal(2, sd=1)
    m.y = pw.Normal(pw.where(pw.less(m.x, m.place), m.low, m.high), sd=0.5, plates=n)
    return m


def weibull_shape() -> pw.Model:
    m = pw.Model("Weibull with a shape and a regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.shape = pw.Gamma(4, rate=3)
    m.a, m.b = pw.Normal(0, sd=0.7), pw.Normal(0, sd=0.7)
    m.y = pw.Weibull(m.shape, rate=pw.exp(m.a + m.b * m.x), plates=n)
    return m


def gamma_both() -> pw.Model:
    m = pw.Model("shape and mean of a Gamma")
    n = m.plate("n")
    m.shape = pw.Gamma(4, rate=2)
    m.level = pw.LogNormal(0, sd=0.5)
    m.y = pw.Gamma(m.shape, rate=m.shape / m.level, plates=n)
    return m


def truncated_latent() -> pw.Model:
    m = pw.Model("latent values above zero")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1)
    m.x = pw.Truncated(pw.Normal(m.mu, sd=1, plates=n), lower=0)
    m.y = pw.Normal(m.x, sd=0.5, plates=n)
    return m


def ordered_pair() -> pw.Model:
    m = pw.Model("one above the other")
    n = m.plate("n")
    m.low = pw.Normal(0, sd=1)
    m.high = pw.Truncated(pw.Normal(0, sd=2), lower=m.low)
    m.y = pw.Normal(m.low, sd=1, plates=n)
    m.z = pw.Normal(m.high, sd=1, plates=n)
    return m


def truncated_rate() -> pw.Model:
    m = pw.Model("counts with a rate between bounds")
    n = m.plate("n")
    m.rate = pw.Truncated(pw.Gamma(2, rate=1), lower=0.5, upper=3)
    m.y = pw.Poisson(m.rate, plates=n)
    return m


def concentration() -> pw.Model:
    m = pw.Model("shares of groups about shares of all, how close is unknown")
    n, g, k = m.plate("n"), m.plate("g", 2), m.plate("k", 3)
    m.group = pw.Input(plates=n, levels=g)
    m.close = pw.Gamma(4, rate=1)
    m.base = pw.Dirichlet(2.0, over=k)
    m.p = pw.Dirichlet(m.close * m.base, over=k, plates=g)
    m.y = pw.Categorical(m.p[m.group], plates=n, over=k)
    return m


def grouped_blends() -> pw.Model:
    m = pw.Model("a blend of rates in each group, all of one size")
    n, g, k = m.plate("n"), m.plate("g", 2), m.plate("k", 3)
    m.group = pw.Input(plates=n, levels=g)
    m.x = pw.Input(plates=(n, k))
    m.size = pw.Gamma(3, rate=2)
    m.p = pw.Dirichlet(2.0, over=k, plates=g)
    m.y = pw.Poisson(pw.dot(m.x, m.p[m.group], over=k) * m.size, plates=n)
    return m


def grouped_matrices() -> pw.Model:
    m = pw.Model("a precision matrix in each group, seen twice")
    n, g, d = m.plate("n"), m.plate("g", 2), m.plate("d", 2)
    m.group = pw.Input(plates=n, levels=g)
    m.level = pw.Gamma(3, rate=2)
    m.S = pw.Wishart(6, scale=pw.identity(d), over=d, plates=g)
    m.y = pw.MultivariateNormal(0, precision=m.S[m.group], over=d, plates=n)
    m.z = pw.Poisson(m.level * pw.exp(0.1 * m.S[m.group, 0, 1]), plates=n)
    return m


def jumping_shares() -> pw.Model:
    m = pw.Model("a level that jumps where a share is passed")
    n, k = m.plate("n"), m.plate("k", 3)
    m.x = pw.Input(plates=n)
    m.p = pw.Dirichlet(2.0, over=k)
    m.y = pw.Normal(pw.where(pw.less(0.3 * m.x, m.p[1]), 0.0, m.p[0]), sd=0.5, plates=n)
    return m


def directions() -> pw.Model:
    m = pw.Model("directions about an unknown one, how close is unknown")
    n = m.plate("n")
    m.middle = pw.VonMises(0.5, 2.0)
    m.close = pw.Gamma(3, rate=1)
    m.y = pw.VonMises(m.middle, m.close, plates=n)
    return m


def cut_waiting_times() -> pw.Model:
    m = pw.Model("waiting times, short ones not seen")
    n = m.plate("n")
    m.rate = pw.LogNormal(0, sd=0.5)
    m.y = pw.Truncated(pw.Gamma(2.0, rate=m.rate, plates=n), lower=0.2)
    return m


def thresholds() -> pw.Model:
    m = pw.Model("thresholds that are known but for their order")
    n, j = m.plate("n"), m.plate("j", 2)
    m.x = pw.Input(plates=n)
    m.place = pw.Normal(0, sd=1, plates=j)
    m.low, m.high = pw.minimum(m.place[0], m.place[1]), pw.maximum(m.place[0], m.place[1])
    m.y = pw.Normal(pw.where(pw.less(m.x, m.low), 0.0, pw.where(pw.less(m.x, m.high), 1.0, 2.0)), sd=0.5, plates=n)
    return m


ROWS = {"n": 4}

COUPLED: tuple[Case, ...] = (
    Case("logistic_weights", logistic_weights, ("y",), {"n": 4, "j": 2}),
    Case("choices", choices, ("y",), ROWS),
    Case("random_effects", random_effects, ("y",), {"n": 5, "g": 3}),
    Case("nested_effects", nested_effects, ("y",), {"n": 5, "g": 3}),
    Case("noisy_covariate", noisy_covariate, ("y",), {"n": 3}),
    Case("abilities", abilities, ("y",), {"p": 4, "k": 3}),
    Case("products", products, ("y",), {"n": 3}),
    Case("counts_together", counts_together, ("y",), {}),
    Case("coded_counts", coded_counts, ("y",), {"visit": 6}),
    Case("volatility", volatility, ("y",), {"t": 4}),
    Case("matrix_link", matrix_link, ("y", "z"), {"n": 3}),
    Case("concentration", concentration, ("y",), {"n": 5}),
    Case("grouped_blends", grouped_blends, ("y",), {"n": 5}),
    Case("grouped_matrices", grouped_matrices, ("y", "z"), {"n": 5}),
    Case("jumping_shares", jumping_shares, ("y",), {"n": 5}),
    Case("directions", directions, ("y",), {"n": 4}),
    Case("cut_waiting_times", cut_waiting_times, ("y",), {"n": 4}),
    Case("thresholds", thresholds, ("y",), {"n": 5}),
    Case("ordered_pair", ordered_pair, ("y", "z"), {"n": 3}),
    Case("truncated_latent", truncated_latent, ("y",), {"n": 3}),
    Case("truncated_rate", truncated_rate, ("y",), {"n": 3}),
    *(
        Case(build.__name__, build, ("y",), ROWS)
        for build in (conjugate_scale, blended, direction, hidden_count, jump, weibull_shape, gamma_both)
    ),
)
