"""Gaussian models as users write them, that no list of ours names: each function returns a model and its data."""

from __future__ import annotations

import numpy as np

import platewright as pw

Problem = tuple[pw.Model, dict[str, object]]
N = 24


def _rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def two_slopes_and_their_product_with_a_known_covariate() -> Problem:
    m = pw.Model("interaction")
    n = m.plate("n")
    m.x, m.z = pw.Input(plates=n), pw.Input(plates=n)
    m.a, m.b, m.c = pw.Normal(0, sd=1), pw.Normal(0, sd=2), pw.Normal(1, sd=3)
    m.y = pw.Normal(m.a * m.x + m.b * m.z + m.c * m.x * m.z - 3, sd=0.5, plates=n)
    rng = _rng()
    return m, {"x": rng.normal(size=N), "z": rng.normal(size=N), "y": rng.normal(size=N)}


def known_covariate_inside_the_variance() -> Problem:
    m = pw.Model("heteroscedastic")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.b = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.b * m.x, variance=(1 + m.x**2) / m.tau, plates=n)
    rng = _rng()
    return m, {"x": rng.normal(size=N), "y": rng.normal(size=N)}


def known_standard_errors_by_exponential() -> Problem:
    m = pw.Model("log sd")
    n = m.plate("n")
    m.logsd = pw.Input(plates=n)
    m.mu = pw.Normal(0, sd=10)
    m.y = pw.Normal(m.mu, sd=pw.exp(m.logsd), plates=n)
    rng = _rng()
    return m, {"logsd": rng.normal(size=N), "y": rng.normal(size=N)}


def one_mean_seen_by_two_instruments() -> Problem:
    m = pw.Model("two instruments")
    a, b = m.plate("a"), m.plate("b")
    m.mu = pw.Normal(0, sd=3)
    m.y = pw.Normal(m.mu, sd=1, plates=a)
    m.z = pw.Normal(2 * m.mu + 1, sd=2, plates=b)
    rng = _rng()
    return m, {"y": rng.normal(size=5), "z": rng.normal(size=9)}


def shared_precision_across_two_data_plates() -> Problem:
    m = pw.Model("two plates one precision")
    a, b = m.plate("a"), m.plate("b")
    m.tau = pw.Gamma(1, rate=1)
    m.mu = pw.Normal(
        0,
        precision=m.tau,
    )
    m.nu = pw.Normal(5, precision=0.2 * m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=a)
    m.z = pw.Normal(m.nu + m.mu, precision=4 * m.tau, plates=b)
    rng = _rng()
    return m, {"y": rng.normal(size=5), "z": rng.normal(size=9)}


def unknown_in_the_mean_and_in_the_prior_mean() -> Problem:
    m = pw.Model("echo")
    n = m.plate("n")
    m.a = pw.Normal(0, sd=1)
    m.b = pw.Normal(m.a, sd=1)
    m.c = pw.Normal(m.a + m.b, sd=1)
    m.y = pw.Normal(m.a - m.b + 2 * m.c, sd=1, plates=n)
    return m, {"y": _rng().normal(size=N)}


def schools_in_towns_in_countries() -> Problem:
    m = pw.Model("within within within")
    country = m.plate("country")
    town = m.plate("town", within=country)
    school = m.plate("school", within=town)
    m.top = pw.Normal(0, sd=5)
    m.c = pw.Normal(m.top, sd=2, plates=country)
    m.t = pw.Normal(m.c, sd=1, plates=town)
    m.y = pw.Normal(m.t, sd=0.5, plates=school)
    rng = _rng()
    town_of = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 4])
    country_of = np.array([0, 0, 1, 1, 1])
    return m, {"y": rng.normal(size=10), "town": town_of, "country": country_of[town_of]}


def nested_with_one_precision_for_all() -> Problem:
    m = pw.Model("nested scale")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.tau = pw.Gamma(2, rate=2)
    m.mu = pw.Normal(0, precision=0.01 * m.tau)
    m.b = pw.Normal(0, precision=m.tau)
    m.x = pw.Input(plates=n)
    m.th = pw.Normal(m.mu, precision=3 * m.tau, plates=g)
    m.y = pw.Normal(m.th + m.b * m.x, precision=m.tau, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "x": rng.normal(size=N), "g": rng.permutation(np.arange(N) % 4)}


def group_covariate_from_the_outer_plate() -> Problem:
    m = pw.Model("contextual")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.size = pw.Input(plates=g)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.b * m.size, sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "g": np.arange(N) % 3, "size": np.array([1.0, 2.0, 4.0])}


def crossed_effects_with_a_product_of_covariates() -> Problem:
    m = pw.Model("crossed")
    u, i = m.plate("u"), m.plate("i")
    m.x, m.z = pw.Input(plates=u), pw.Input(plates=i)
    m.a = pw.Normal(0, sd=1, plates=u)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.a * m.z + m.b * m.x * m.z, sd=1, plates=(u, i))
    rng = _rng()
    return m, {"y": rng.normal(size=(4, 3)), "x": rng.normal(size=4), "z": rng.normal(size=3)}


def crossed_plates_written_the_other_way_round() -> Problem:
    m = pw.Model("transposed")
    u, i = m.plate("u"), m.plate("i")
    m.tau = pw.Gamma(1, rate=1)
    m.a = pw.Normal(0, precision=m.tau, plates=u)
    m.y = pw.Normal(m.a, precision=m.tau, plates=(i, u))
    return m, {"y": _rng().normal(size=(3, 4))}


def three_way_crossing() -> Problem:
    m = pw.Model("three way")
    a, b, c = m.plate("a", 2), m.plate("b", 3), m.plate("c", 2)
    m.f = pw.Normal(0, sd=1, plates=a)
    m.g = pw.Normal(0, sd=1, plates=(a, b))
    m.h = pw.Normal(0, sd=1, plates=(b, c))
    m.y = pw.Normal(m.f + m.g + m.h, sd=1, plates=(a, b, c))
    return m, {"y": _rng().normal(size=(2, 3, 2))}


def constants_as_indices() -> Problem:
    m = pw.Model("constant index")
    n, k = m.plate("n"), m.plate("k", 3)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[0] - m.mu[2], sd=1, plates=n)
    return m, {"y": _rng().normal(size=N)}


def mean_picked_by_a_bernoulli() -> Problem:
    m = pw.Model("bernoulli index")
    n, arm = m.plate("n"), m.plate("arm", 2)
    m.p = pw.Beta(1, 1)
    m.treated = pw.Bernoulli(m.p, plates=n)
    m.mu = pw.Normal(0, sd=2, plates=arm)
    m.y = pw.Normal(m.mu[m.treated], sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "treated": rng.integers(0, 2, N)}


def two_categories_pick_one_mean() -> Problem:
    m = pw.Model("two indices")
    n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 3)
    m.u, m.v = pw.Input(plates=n, levels=a), pw.Input(plates=n, levels=b)
    m.tau = pw.Gamma(1, rate=1, plates=a)
    m.mu = pw.Normal(0, precision=m.tau, plates=(a, b))
    m.y = pw.Normal(m.mu[m.u, m.v], precision=m.tau[m.u], plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "u": rng.integers(0, 2, N), "v": rng.integers(0, 3, N)}


def where_picks_between_two_unknowns() -> Problem:
    m = pw.Model("where")
    n = m.plate("n")
    m.late = pw.Input(plates=n, levels=2)
    m.before, m.after = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.y = pw.Normal(pw.where(m.late, m.after, m.before), sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "late": rng.integers(0, 2, N)}


def equal_of_two_categories_is_a_bonus() -> Problem:
    m = pw.Model("matching")
    n, k = m.plate("n"), m.plate("k", 3)
    m.home, m.away = pw.Input(plates=n, levels=k), pw.Input(plates=n, levels=k)
    m.bonus = pw.Normal(0, sd=1)
    m.skill = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Normal(m.skill[m.home] - m.skill[m.away] + m.bonus * pw.equal(m.home, m.away), sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "home": rng.integers(0, 3, N), "away": rng.integers(0, 3, N)}


def change_point_at_a_known_threshold() -> Problem:
    m = pw.Model("broken stick")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b, m.c = pw.Normal(0, sd=3), pw.Normal(0, sd=3), pw.Normal(0, sd=3)
    m.y = pw.Normal(m.a + m.b * m.x + m.c * pw.maximum(m.x - 0.5, 0), sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "x": rng.normal(size=N)}


def seasonal_regression_by_sine_and_cosine() -> Problem:
    m = pw.Model("seasons")
    n = m.plate("n")
    m.t = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.a, m.b = pw.Normal(0, precision=m.tau), pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.a * pw.sin(0.5 * m.t) + m.b * pw.cos(0.5 * m.t), precision=m.tau, plates=n)
    return m, {"y": _rng().normal(size=N), "t": np.arange(N, dtype=float)}


def chain_of_deterministic_nodes() -> Problem:
    m = pw.Model("chain of functions")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a = pw.Normal(0, sd=1)
    m.u = 2 * m.a + 1
    m.v = m.u - m.a / 3
    m.w = m.v * m.x
    m.y = pw.Normal(m.w + m.u, sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "x": rng.normal(size=N)}


def linear_constraint_by_a_sharp_observation() -> Problem:
    m = pw.Model("sum to zero")
    n, k = m.plate("n"), m.plate("k", 3)
    m.z = pw.Input(plates=n, levels=k)
    m.effect = pw.Normal(0, sd=2, plates=k)
    m.total = pw.Normal(pw.sum(m.effect, over=k), sd=0.01)
    m.y = pw.Normal(m.effect[m.z], sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "z": rng.integers(0, 3, N), "total": 0.0}


def random_walk_with_lag() -> Problem:
    m = pw.Model("random walk")
    t = m.plate("t", ordered=True)
    m.level = pw.Normal(m.lag("level"), sd=0.5, start=0.0, plates=t)
    m.y = pw.Normal(m.level, sd=1, plates=t)
    return m, {"y": _rng().normal(size=8)}


def lagged_input_as_a_regressor() -> Problem:
    m = pw.Model("distributed lag")
    t = m.plate("t", ordered=True)
    m.x = pw.Input(plates=t)
    m.b, m.c = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.y = pw.Normal(m.b * m.x + m.c * m.lag("x"), sd=1, start=0.0, plates=t)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "x": rng.normal(size=N)}


def autoregression_in_several_series() -> Problem:
    m = pw.Model("panel ar")
    s = m.plate("s")
    t = m.plate("t", within=s, ordered=True)
    m.tau = pw.Gamma(1, rate=1)
    m.phi = pw.Normal(0, precision=m.tau, plates=s)
    m.y = pw.Normal(m.phi * m.lag("y"), precision=m.tau, start=0.0, plates=t)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "s": np.repeat(np.arange(3), N // 3)}


def autoregression_with_the_lag_of_another_series() -> Problem:
    m = pw.Model("granger")
    t = m.plate("t", ordered=True)
    m.tau = pw.Gamma(1, rate=1)
    m.a, m.b = pw.Normal(0, precision=m.tau), pw.Normal(0, precision=m.tau)
    m.x = pw.Normal(0.5 * m.lag("x"), sd=1, start=0.0, plates=t)
    m.y = pw.Normal(m.a * m.lag("y") + m.b * m.lag("x"), precision=m.tau, start=0.0, plates=t)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "x": rng.normal(size=N)}


def multi_output_regression_with_own_noise() -> Problem:
    m = pw.Model("outputs with own noise")
    n, c, d = m.plate("n"), m.plate("c"), m.plate("d")
    m.X = pw.Input(plates=(n, c))
    m.tau = pw.Gamma(1, rate=1, plates=d)
    m.B = pw.Normal(0, precision=m.tau, plates=(c, d))
    m.Y = pw.Normal(pw.dot(m.X, m.B, over=c), precision=m.tau, plates=(n, d))
    rng = _rng()
    return m, {"Y": rng.normal(size=(N, 2)), "X": rng.normal(size=(N, 3))}


def multi_output_in_long_form_with_missing_outputs() -> Problem:
    m = pw.Model("long outputs")
    n, d = m.plate("n"), m.plate("d", 2)
    m.which = pw.Input(plates=n, levels=d)
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(1, rate=1, plates=d)
    m.a = pw.Normal(0, precision=m.tau, plates=d)
    m.b = pw.Normal(0, precision=m.tau, plates=d)
    m.y = pw.Normal(m.a[m.which] + m.b[m.which] * m.x, precision=m.tau[m.which], plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "x": rng.normal(size=N), "which": rng.integers(0, 2, N)}


def errors_in_a_known_linear_map() -> Problem:
    m = pw.Model("sensor")
    k, s = m.plate("k", 2), m.plate("s", 3)
    m.state = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Normal(
        pw.dot(pw.array([[1.0, 0.5], [0.0, 1.0], [2.0, -1.0]], over=(s, k)), m.state, over=k), sd=0.3, plates=s
    )
    return m, {"y": [0.3, -0.2, 1.4]}


def multivariate_mean_with_known_covariance() -> Problem:
    m = pw.Model("known covariance")
    n, d = m.plate("n"), m.plate("d", 2)
    m.mu = pw.MultivariateNormal(0, covariance=[[2.0, 0.3], [0.3, 1.0]], over=d)
    m.x = pw.MultivariateNormal(m.mu, precision=pw.identity(d), over=d, plates=n)
    return m, {"x": _rng().normal(size=(N, 2))}


def one_wishart_for_two_groups() -> Problem:
    m = pw.Model("pooled covariance")
    n, g, d = m.plate("n"), m.plate("g", 2), m.plate("d", 2)
    m.z = pw.Input(plates=n, levels=g)
    m.S = pw.Wishart(4, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(0, precision=m.S, over=d, plates=g)
    m.x = pw.MultivariateNormal(m.mu[m.z], precision=m.S, over=d, plates=n)
    rng = _rng()
    return m, {"x": rng.normal(size=(N, 2)), "z": rng.integers(0, 2, N)}


def own_wishart_for_each_group() -> Problem:
    m = pw.Model("own covariance")
    n, g, d = m.plate("n"), m.plate("g", 2), m.plate("d", 2)
    m.z = pw.Input(plates=n, levels=g)
    m.S = pw.Wishart(4, scale=pw.identity(d), over=d, plates=g)
    m.mu = pw.MultivariateNormal(0, precision=m.S, over=d, plates=g)
    m.x = pw.MultivariateNormal(m.mu[m.z], precision=m.S[m.z], over=d, plates=n)
    rng = _rng()
    return m, {"x": rng.normal(size=(N, 2)), "z": rng.integers(0, 2, N)}


def log_normal_regression() -> Problem:
    m = pw.Model("log regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.b = pw.Normal(0, precision=m.tau)
    m.y = pw.LogNormal(m.b * pw.log(m.x), precision=m.tau, plates=n)
    rng = _rng()
    return m, {"x": rng.uniform(1, 3, N), "y": rng.lognormal(size=N)}


def latent_rows_under_a_regression() -> Problem:
    m = pw.Model("latent rows")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=1)
    m.true = pw.Normal(m.b * m.x, sd=0.5, plates=n)
    m.y = pw.Normal(m.true, sd=0.2, plates=n)
    m.z = pw.Normal(m.true + 1, sd=0.4, plates=n)
    rng = _rng()
    return m, {"x": rng.normal(size=6), "y": rng.normal(size=6), "z": rng.normal(size=6)}


def one_factor_with_known_loadings() -> Problem:
    m = pw.Model("factor")
    n, d = m.plate("n"), m.plate("d", 3)
    m.f = pw.Normal(0, sd=1, plates=n)
    m.y = pw.Normal(m.f * pw.array([1.0, 2.0, -1.0], over=d), sd=1, plates=(n, d))
    return m, {"y": _rng().normal(size=(6, 3))}


def one_factor_with_unknown_loadings() -> Problem:
    m = pw.Model("factor analysis")
    n, d = m.plate("n"), m.plate("d", 3)
    m.load = pw.Normal(0, sd=1, plates=d)
    m.f = pw.Normal(0, sd=1, plates=n)
    m.y = pw.Normal(m.f * m.load, sd=1, plates=(n, d))
    return m, {"y": _rng().normal(size=(6, 3))}


def square_of_an_unknown_in_the_mean() -> Problem:
    m = pw.Model("square")
    n = m.plate("n")
    m.a = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.a**2, sd=1, plates=n)
    return m, {"y": _rng().normal(size=N)}


def independent_scales_for_prior_and_data() -> Problem:
    m = pw.Model("two scales")
    n = m.plate("n")
    m.tau, m.rho = pw.Gamma(1, rate=1), pw.Gamma(1, rate=1)
    m.mu = pw.Normal(0, precision=m.rho)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    return m, {"y": _rng().normal(size=N)}


def known_part_of_a_mean_vector() -> Problem:
    m = pw.Model("half seen effects")
    k = m.plate("k", 3)
    m.mu = pw.Normal(0, sd=1)
    m.effect = pw.Normal(m.mu, sd=1, plates=k)
    m.sum = pw.Normal(m.effect[0] + 2 * m.effect[1] - m.effect[2], sd=1)
    return m, {"sum": 1.5}


def spline_basis_as_a_table() -> Problem:
    m = pw.Model("basis")
    n, k = m.plate("n", 6), m.plate("k", 3)
    basis = np.vander(np.linspace(0, 1, 6), 3)
    m.tau = pw.Gamma(2, rate=2)
    m.w = pw.Normal(0, precision=m.tau, plates=k)
    m.f = pw.dot(pw.array(basis, over=(n, k)), m.w, over=k)
    m.y = pw.Normal(m.f, precision=m.tau, plates=n)
    return m, {"y": _rng().normal(size=6)}


def differences_of_neighbours_as_a_prior() -> Problem:
    m = pw.Model("smooth")
    k, n = m.plate("k", 4, ordered=True), m.plate("n")
    m.z = pw.Input(plates=n, levels=k)
    m.level = pw.Normal(m.lag("level"), sd=0.3, start=pw.Normal(0, sd=5), plates=k)
    m.y = pw.Normal(m.level[m.z], sd=1, plates=n)
    rng = _rng()
    return m, {"y": rng.normal(size=N), "z": rng.integers(0, 4, N)}


PROBLEMS = tuple(
    found for name, found in list(globals().items()) if callable(found) and not name.startswith(("_", "P"))
)
