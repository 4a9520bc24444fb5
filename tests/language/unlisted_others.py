"""Counts, scales, tables and undirected parts as users write them: each function returns a model and its data."""

from __future__ import annotations

import numpy as np

import platewright as pw

Problem = tuple[pw.Model, dict[str, object]]
N = 24


def _rng(seed: int = 11) -> np.random.Generator:
    return np.random.default_rng(seed)


def rate_per_known_exposure_and_group() -> Problem:
    m = pw.Model("exposure by group")
    n, k = m.plate("n"), m.plate("k", 3)
    m.z, m.e = pw.Input(plates=n, levels=k), pw.Input(plates=n)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.y = pw.Poisson(m.rate[m.z] * m.e, plates=n)
    rng = _rng()
    return m, {"y": rng.poisson(2, N), "z": rng.integers(0, 3, N), "e": rng.uniform(1, 2, N)}


def log_linear_exposure() -> Problem:
    m = pw.Model("log exposure")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.rate * pw.exp(0.3 * m.x - 1), plates=n)
    rng = _rng()
    return m, {"y": rng.poisson(2, N), "x": rng.normal(size=N)}


def rate_as_the_exponential_of_an_unknown() -> Problem:
    m = pw.Model("poisson regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Poisson(pw.exp(m.b * m.x), plates=n)
    rng = _rng()
    return m, {"y": rng.poisson(2, N), "x": rng.normal(size=N)}


def products_of_row_and_column_rates() -> Problem:
    m = pw.Model("two-way rates")
    u, i = m.plate("u"), m.plate("i")
    m.a = pw.Gamma(1, rate=1, plates=u)
    m.b = pw.Gamma(1, rate=1, plates=i)
    m.y = pw.Poisson(m.a * m.b, plates=(u, i))
    return m, {"y": _rng().poisson(2, (3, 4))}


def one_rate_for_counts_and_waits() -> Problem:
    m = pw.Model("counts and waits")
    a, b = m.plate("a"), m.plate("b")
    m.rate = pw.Gamma(2, rate=1)
    m.count = pw.Poisson(3 * m.rate, plates=a)
    m.wait = pw.Exponential(rate=m.rate, plates=b)
    m.more = pw.Gamma(2.5, rate=2 * m.rate, plates=b)
    rng = _rng()
    return m, {"count": rng.poisson(2, 5), "wait": rng.exponential(size=7), "more": rng.exponential(size=7)}


def standard_deviation_as_a_flat_unknown() -> Problem:
    m = pw.Model("flat sd")
    n = m.plate("n")
    m.s = pw.Flat(lower=0)
    m.y = pw.Normal(1.5, sd=m.s, plates=n)
    return m, {"y": _rng().normal(size=N)}


def variance_as_a_multiple_of_an_inverse_gamma() -> Problem:
    m = pw.Model("scaled variance")
    n = m.plate("n")
    m.v = pw.InverseGamma(3, scale=2)
    m.w = 4 * m.v
    m.y = pw.Normal(0, variance=m.w, plates=n)
    return m, {"y": _rng().normal(size=N)}


def scale_of_a_gamma() -> Problem:
    m = pw.Model("gamma scale")
    n = m.plate("n")
    m.s = pw.InverseGamma(3, scale=2)
    m.y = pw.Gamma(2, scale=m.s, plates=n)
    return m, {"y": _rng().gamma(2, size=N)}


def scale_of_a_half_normal_and_a_laplace() -> Problem:
    m = pw.Model("half normal and laplace")
    a, b = m.plate("a"), m.plate("b")
    m.tau = pw.Gamma(2, rate=1)
    m.x = pw.HalfNormal(sd=m.tau**-0.5, plates=a)
    m.s = pw.InverseGamma(2, scale=1)
    m.y = pw.Laplace(0, scale=m.s, plates=b)
    rng = _rng()
    return m, {"x": abs(rng.normal(size=6)), "y": rng.laplace(size=7)}


def square_root_as_a_scale() -> Problem:
    m = pw.Model("sqrt")
    n = m.plate("n")
    m.v = pw.InverseGamma(2, scale=1)
    m.y = pw.Normal(0, sd=pw.sqrt(m.v), plates=n)
    return m, {"y": _rng().normal(size=N)}


def weibull_scale_with_known_shape() -> Problem:
    m = pw.Model("weibull")
    n = m.plate("n")
    m.t = pw.Gamma(2, rate=1)
    m.y = pw.Weibull(2, scale=m.t**-0.5, plates=n)
    return m, {"y": _rng().weibull(2, size=N)}


def pareto_shape_in_groups() -> Problem:
    m = pw.Model("pareto")
    n, k = m.plate("n"), m.plate("k", 2)
    m.z = pw.Input(plates=n, levels=k)
    m.a = pw.Gamma(2, rate=1, plates=k)
    m.y = pw.Pareto(m.a[m.z], scale=1.0, plates=n)
    rng = _rng()
    return m, {"y": 1 + rng.pareto(2, size=N), "z": rng.integers(0, 2, N)}


def inverse_gaussian_with_known_mean() -> Problem:
    m = pw.Model("inverse gaussian")
    n = m.plate("n")
    m.lam = pw.Gamma(2, rate=1)
    m.y = pw.InverseGaussian(1.5, m.lam, plates=n)
    return m, {"y": _rng().wald(1.5, 2.0, size=N)}


def gamma_rate_with_a_gamma_rate_above() -> Problem:
    m = pw.Model("rates of rates")
    k, n = m.plate("k", 3), m.plate("n")
    m.z = pw.Input(plates=n, levels=k)
    m.top = pw.Gamma(2, rate=1)
    m.rate = pw.Gamma(2, rate=m.top, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    rng = _rng()
    return m, {"y": rng.poisson(2, N), "z": rng.integers(0, 3, N)}


def table_over_two_parents() -> Problem:
    m = pw.Model("two parents")
    n, a, b, k = m.plate("n"), m.plate("a", 2), m.plate("b", 3), m.plate("k", 2)
    m.pa, m.pb = pw.Dirichlet(1, over=a), pw.Dirichlet(1, over=b)
    m.u = pw.Categorical(m.pa, plates=n)
    m.v = pw.Categorical(m.pb, plates=n)
    m.t = pw.Dirichlet(0.5, over=k, plates=(a, b))
    m.x = pw.Categorical(m.t[m.u, m.v], plates=n)
    rng = _rng()
    return m, {"u": rng.integers(0, 2, N), "v": rng.integers(0, 3, N), "x": rng.integers(0, 2, N)}


def naive_bayes_with_known_classes() -> Problem:
    m = pw.Model("naive bayes")
    n, c, w = m.plate("n"), m.plate("c", 2), m.plate("w")
    m.pi = pw.Dirichlet(1, over=c)
    m.t = pw.Beta(1, 1, plates=(c, w))
    m.kind = pw.Categorical(m.pi, plates=n)
    m.has = pw.Bernoulli(m.t[m.kind], plates=(n, w))
    rng = _rng()
    return m, {"kind": rng.integers(0, 2, N), "has": rng.integers(0, 2, (N, 4))}


def one_coin_seen_in_three_ways() -> Problem:
    m = pw.Model("three views")
    a, b = m.plate("a"), m.plate("b")
    m.p = pw.Beta(2, 2)
    m.heads = pw.Bernoulli(m.p, plates=a)
    m.wins = pw.Binomial(10, p=m.p, plates=b)
    m.waits = pw.Geometric(m.p, plates=b)
    rng = _rng()
    return m, {"heads": rng.integers(0, 2, 8), "wins": rng.integers(0, 11, 5), "waits": rng.integers(1, 5, 5)}


def complement_of_a_probability() -> Problem:
    m = pw.Model("complement")
    n = m.plate("n")
    m.p = pw.Beta(2, 3)
    m.q = 1 - m.p
    m.y = pw.Bernoulli(m.q, plates=n)
    return m, {"y": _rng().integers(0, 2, N)}


def trials_from_a_column() -> Problem:
    m = pw.Model("trials")
    n = m.plate("n")
    m.t = pw.Input(plates=n)
    m.p = pw.Beta(1, 1)
    m.y = pw.Binomial(m.t, p=m.p, plates=n)
    return m, {"y": [1, 2, 3, 0], "t": [4.0, 5.0, 3.0, 2.0]}


def multinomial_rows() -> Problem:
    m = pw.Model("multinomial rows")
    n, k = m.plate("n"), m.plate("k", 3)
    m.t = pw.Dirichlet([1.0, 2.0, 3.0], over=k)
    m.y = pw.Multinomial(5, probabilities=m.t, plates=n)
    return m, {"y": _rng().multinomial(5, [0.2, 0.3, 0.5], size=6)}


def markov_chain_with_a_second_emission() -> Problem:
    m = pw.Model("known hmm")
    k, t, s = m.plate("k", 2), m.plate("t", ordered=True), m.plate("s", 3)
    o = m.plate("o", like=k)
    m.begin = pw.Dirichlet(1, over=k)
    m.move = pw.Dirichlet(1, over=k, plates=o)
    m.emit = pw.Dirichlet(1, over=s, plates=k)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=t)
    m.x = pw.Categorical(m.emit[m.z], plates=t)
    rng = _rng()
    return m, {"z": rng.integers(0, 2, N), "x": rng.integers(0, 3, N)}


def hidden_markov_chain() -> Problem:
    m = pw.Model("hmm")
    k, t = m.plate("k", 2), m.plate("t", ordered=True)
    o = m.plate("o", like=k)
    m.z = pw.Categorical(
        pw.array([[0.9, 0.1], [0.2, 0.8]], over=(o, k))[m.lag("z")], start=[0.5, 0.5], over=k, plates=t
    )
    m.x = pw.Bernoulli(pw.array([0.1, 0.7], over=k)[m.z], plates=t)
    return m, {"x": [1, 0, 1, 1]}


def hidden_class_of_one_row() -> Problem:
    m = pw.Model("one hidden class")
    k = m.plate("k", 3)
    m.z = pw.Categorical([0.2, 0.3, 0.5], over=k)
    m.x = pw.Normal(pw.array([-1.0, 0.0, 1.0], over=k)[m.z], sd=1)
    return m, {"x": 0.4}


def mixture_with_known_components() -> Problem:
    m = pw.Model("known mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.z = pw.Categorical([0.4, 0.6], over=k, plates=n)
    m.x = pw.Normal(pw.array([-1.0, 1.0], over=k)[m.z], sd=0.5, plates=n)
    return m, {"x": _rng().normal(size=6)}


def mixture_with_unknown_means() -> Problem:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.z = pw.Categorical([0.4, 0.6], over=k, plates=n)
    m.x = pw.Normal(m.mu[m.z], sd=0.5, plates=n)
    return m, {"x": _rng().normal(size=6)}


def explaining_away() -> Problem:
    m = pw.Model("noisy or")
    m.a, m.b = pw.Bernoulli(0.2), pw.Bernoulli(0.4)
    m.c = pw.Bernoulli(1 - (1 - 0.1) * (1 - 0.7 * m.a) * (1 - 0.5 * m.b))
    return m, {"c": 1}


def diagnosis_for_many_patients() -> Problem:
    m = pw.Model("patients")
    n = m.plate("n")
    m.ill = pw.Bernoulli(0.1, plates=n)
    m.test = pw.Bernoulli(pw.where(m.ill, 0.95, 0.05), plates=n)
    m.again = pw.Bernoulli(pw.where(m.ill, 0.9, 0.1), plates=n)
    rng = _rng()
    return m, {"test": rng.integers(0, 2, 7), "again": rng.integers(0, 2, 7)}


def undirected_triangle() -> Problem:
    m = pw.Model("triangle")
    m.a, m.b, m.c = pw.Undirected(levels=2), pw.Undirected(levels=3), pw.Undirected(levels=2)
    m.potential("ab", 0.5 * pw.equal(m.a, m.b))
    m.potential("bc", -0.3 * pw.equal(m.b, m.c))
    m.potential("ca", 0.2 * m.a * m.c)
    return m, {"b": 2}


def undirected_pairs_in_a_plate() -> Problem:
    m = pw.Model("pairs")
    n = m.plate("n")
    m.a, m.b = pw.Undirected(levels=2, plates=n), pw.Undirected(levels=3, plates=n)
    m.potential("ab", 0.7 * pw.equal(m.a, m.b) - 0.1 * m.a)
    return m, {"b": [0, 1, 2, 2]}


def undirected_pair_over_a_hidden_cause() -> Problem:
    m = pw.Model("chain graph")
    m.cause = pw.Bernoulli(0.3)
    m.a, m.b = pw.Undirected(levels=2), pw.Undirected(levels=2)
    m.potential("ab", m.a * m.b * (1 + m.cause) - 0.5 * m.a)
    return m, {"a": 1, "b": 1}


def potential_on_a_directed_unknown() -> Problem:
    m = pw.Model("extra factor")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mu, sd=1, plates=n)
    m.potential("pull", -0.5 * (m.mu - 2) ** 2)
    return m, {"y": _rng().normal(size=N)}


def uniform_width_above_a_known_floor() -> Problem:
    m = pw.Model("width")
    n = m.plate("n")
    m.top = pw.Pareto(2, scale=1)
    m.y = pw.Uniform(0, m.top, plates=n)
    m.z = pw.Uniform(0, m.top, plates=n)
    rng = _rng()
    return m, {"y": rng.uniform(0, 3, N), "z": rng.uniform(0, 3, N)}


def uniform_top_in_groups() -> Problem:
    m = pw.Model("tops")
    n, k = m.plate("n"), m.plate("k", 3)
    m.z = pw.Input(plates=n, levels=k)
    m.top = pw.Pareto(2, scale=1, plates=k)
    m.y = pw.Uniform(0, m.top[m.z], plates=n)
    rng = _rng()
    return m, {"y": rng.uniform(0, 3, N), "z": rng.integers(0, 2, N)}


def directions_with_known_offsets() -> Problem:
    m = pw.Model("offset directions")
    n = m.plate("n")
    m.t = pw.VonMises(0.0, 1.0)
    m.x = pw.VonMises(m.t, 2.0, plates=n)
    m.w = pw.VonMises(m.t + 0.5, 2.0, plates=n)
    rng = _rng()
    return m, {"x": rng.uniform(-3, 3, 6), "w": rng.uniform(-3, 3, 6)}


def unknown_location_of_a_student() -> Problem:
    m = pw.Model("student")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.StudentT(4, m.mu, scale=1.0, plates=n)
    return m, {"y": _rng().normal(size=N)}


def student_by_its_mixture() -> Problem:
    m = pw.Model("scale mixture")
    n = m.plate("n")
    m.w = pw.Gamma(2, rate=2, plates=n)
    m.y = pw.Normal(1.0, precision=m.w, plates=n)
    return m, {"y": _rng().normal(size=6)}


def logistic_regression() -> Problem:
    m = pw.Model("logistic")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Bernoulli(logit=m.b * m.x, plates=n)
    rng = _rng()
    return m, {"y": rng.integers(0, 2, N), "x": rng.normal(size=N)}


def gamma_part_inside_a_mean() -> Problem:
    m = pw.Model("positive shift")
    n = m.plate("n")
    m.mu, m.shift = pw.Normal(0, sd=1), pw.Gamma(2, rate=1)
    m.y = pw.Normal(m.mu + m.shift, sd=1, plates=n)
    return m, {"y": _rng().normal(size=N)}


def scale_times_a_standard_effect() -> Problem:
    m = pw.Model("non centred")
    n = m.plate("n")
    m.s, m.e = pw.Gamma(2, rate=1), pw.Normal(0, sd=1)
    m.y = pw.Normal(m.s * m.e, sd=1, plates=n)
    return m, {"y": _rng().normal(size=N)}


def half_normal_weight() -> Problem:
    m = pw.Model("positive weight")
    n = m.plate("n")
    m.w = pw.HalfNormal(sd=1)
    m.y = pw.Normal(m.w, sd=1, plates=n)
    return m, {"y": _rng().normal(size=N)}


def everything_known() -> Problem:
    m = pw.Model("nothing to learn")
    n = m.plate("n")
    m.y = pw.Normal(0, sd=1, plates=n)
    return m, {"y": _rng().normal(size=N)}


def nothing_known() -> Problem:
    m = pw.Model("only a prior")
    m.p = pw.Beta(2, 3)
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, precision=m.tau)
    return m, {}


def unknown_trials() -> Problem:
    m = pw.Model("unknown trials")
    m.n = pw.Poisson(4.0)
    m.y = pw.Binomial(m.n, p=0.5)
    return m, {"y": 2}


def lag_of_a_category_picks_a_mean() -> Problem:
    m = pw.Model("after effects")
    t, k = m.plate("t", ordered=True), m.plate("k", 2)
    m.z = pw.Input(plates=t, levels=k)
    m.mu = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Normal(m.mu[m.lag("z")], sd=1, start=0.0, plates=t)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "z": rng.integers(0, 2, N)}


def documents_with_their_own_word_tables() -> Problem:
    m = pw.Model("documents")
    doc, v = m.plate("doc"), m.plate("v", 3)
    word = m.plate("word", within=doc)
    m.t = pw.Dirichlet(1, over=v, plates=doc)
    m.w = pw.Categorical(m.t, plates=word)
    rng = _rng()
    return m, {"w": rng.integers(0, 3, N), "doc": rng.permutation(np.arange(N) % 4)}


def tables_that_share_a_plate_twice() -> Problem:
    m = pw.Model("pairs of one set")
    n, k = m.plate("n"), m.plate("k", 3)
    j = m.plate("j", like=k)
    m.a, m.b = pw.Input(plates=n, levels=k), pw.Input(plates=n, levels=k)
    m.t = pw.Beta(1, 1, plates=(k, j))
    m.y = pw.Bernoulli(m.t[m.a, m.b], plates=n)
    rng = _rng()
    return m, {"y": rng.integers(0, 2, N), "a": rng.integers(0, 3, N), "b": rng.integers(0, 3, N)}


PROBLEMS = tuple(
    found for name, found in list(globals().items()) if callable(found) and not name.startswith(("_", "P"))
)
