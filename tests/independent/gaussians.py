"""Gaussian blocks: known constants, shared scales, chains of functions, gates, matrices, one row or none."""

from __future__ import annotations

import numpy as np
from scipy import stats

import platewright as pw
from independent.checking import Point, Problem, problems_of

norm, gamma = stats.norm, stats.gamma
mvn = stats.multivariate_normal


def sums_with_different_known_variances() -> Problem:
    m = pw.Model("known variances")
    n = m.plate("n")
    m.v = pw.Input(plates=n)
    m.a, m.b = pw.Normal(1, variance=2), pw.Normal(-1, precision=3)
    m.y = pw.Normal(3 * m.a - m.b / 2 + 0.25, variance=m.v**2 + 1, plates=n)
    v, y = np.array([0.1, 1.0, 3.0]), np.array([2.0, 4.0, -1.0])

    def joint(p: Point) -> float:
        total = norm(1, 2**0.5).logpdf(p["a"]) + norm(-1, 3**-0.5).logpdf(p["b"])
        return float(total + norm(3 * p["a"] - p["b"] / 2 + 0.25, np.sqrt(v**2 + 1)).logpdf(y).sum())

    return Problem(m, {"v": v, "y": y}, joint)


def chain_of_functions() -> Problem:
    m = pw.Model("functions of functions")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.line = m.a + m.b * m.x
    m.half = m.line / 2
    m.both = m.half + m.line - m.a
    m.y = pw.Normal(m.both, sd=1, plates=n)
    m.z = pw.Normal(m.half - m.x, sd=2, plates=n)
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, 4))

    def joint(p: Point) -> float:
        line = p["a"] + p["b"] * x
        total = norm.logpdf(p["a"]) + norm.logpdf(p["b"]) + norm(1.5 * line - p["a"], 1).logpdf(y).sum()
        return float(total + norm(line / 2 - x, 2).logpdf(z).sum())

    return Problem(m, {"x": x, "y": y, "z": z}, joint)


def several_likelihoods_share_a_scale() -> Problem:
    m = pw.Model("shared scale")
    n, k = m.plate("n"), m.plate("k")
    m.v = pw.InverseGamma(3, scale=2)
    m.mu = pw.Normal(1, variance=4 * m.v)
    m.nu = pw.Normal(m.mu, variance=m.v / 2)
    m.y = pw.Normal(m.mu, variance=m.v, plates=n)
    m.z = pw.Normal(2 * m.nu - m.mu, sd=3 * pw.sqrt(m.v), plates=k)
    rng = np.random.default_rng(2)
    y, z = rng.normal(size=4), rng.normal(size=3)

    def joint(p: Point) -> float:
        v = float(p["v"])
        total = stats.invgamma(3, scale=2).logpdf(v) + norm(1, (4 * v) ** 0.5).logpdf(p["mu"])
        total += norm(p["mu"], (v / 2) ** 0.5).logpdf(p["nu"]) + norm(p["mu"], v**0.5).logpdf(y).sum()
        return float(total + norm(2 * p["nu"] - p["mu"], 3 * v**0.5).logpdf(z).sum())

    return Problem(m, {"y": y, "z": z}, joint)


def standard_deviation_with_a_conjugate_power() -> Problem:
    """A Gamma precision written through its standard deviation."""
    m = pw.Model("sd")
    n = m.plate("n")
    m.tau = pw.Gamma(2, rate=3)
    m.sd = m.tau**-0.5
    m.mu = pw.Normal(0, sd=2 * m.sd)
    m.y = pw.Normal(m.mu, sd=m.sd, plates=n)
    y = np.array([0.3, -0.7, 1.1])

    def joint(p: Point) -> float:
        s = float(p["tau"]) ** -0.5
        return float(
            gamma(2, scale=1 / 3).logpdf(p["tau"]) + norm(0, 2 * s).logpdf(p["mu"]) + norm(p["mu"], s).logpdf(y).sum()
        )

    return Problem(m, {"y": y}, joint)


def scale_of_each_group_and_weights_of_rows() -> Problem:
    m = pw.Model("group scales")
    g, n = m.plate("g", 2), m.plate("n")
    m.z, m.w = pw.Input(plates=n, levels=g), pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1, plates=g)
    m.mu = pw.Normal(0, precision=0.5 * m.tau, plates=g)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z] * m.w, plates=n)
    z, w = np.array([0, 1, 1, 0, 1]), np.array([1.0, 2.0, 0.5, 3.0, 1.0])
    y = np.random.default_rng(3).normal(size=5)

    def joint(p: Point) -> float:
        t = p["tau"]
        total = gamma(2).logpdf(t).sum() + norm(0, (0.5 * t) ** -0.5).logpdf(p["mu"]).sum()
        return float(total + norm(p["mu"][z], (t[z] * w) ** -0.5).logpdf(y).sum())

    return Problem(m, {"z": z, "w": w, "y": y}, joint)


def a_known_gate_switches_an_effect_on() -> Problem:
    m = pw.Model("gate")
    n = m.plate("n")
    m.t = pw.Input(plates=n, levels=2)
    m.a, m.effect = pw.Normal(0, sd=1), pw.Normal(0, sd=2)
    m.y = pw.Normal(m.a + pw.where(m.t, m.effect, 0), sd=pw.where(m.t, 2.0, 0.5), plates=n)
    t, y = np.array([0, 1, 1, 0]), np.array([0.1, 2.0, 2.5, -0.2])

    def joint(p: Point) -> float:
        total = norm.logpdf(p["a"]) + norm(0, 2).logpdf(p["effect"])
        return float(total + norm(p["a"] + p["effect"] * t, np.where(t, 2.0, 0.5)).logpdf(y).sum())

    return Problem(m, {"t": t, "y": y}, joint)


def equal_of_two_known_labels_is_an_effect() -> Problem:
    m = pw.Model("same")
    n, k = m.plate("n"), m.plate("k", 3)
    m.u, m.v = pw.Input(plates=n, levels=k), pw.Input(plates=n, levels=k)
    m.base, m.home = pw.Normal(0, sd=1), pw.Normal(1, sd=1)
    m.y = pw.Normal(m.base + m.home * pw.equal(m.u, m.v) + pw.equal(m.u, 2), sd=1, plates=n)
    u, v, y = np.array([0, 1, 2, 2]), np.array([0, 2, 2, 1]), np.array([1.0, 0.0, 3.0, 1.0])

    def joint(p: Point) -> float:
        total = norm.logpdf(p["base"]) + norm(1, 1).logpdf(p["home"])
        return float(total + norm(p["base"] + p["home"] * (u == v) + (u == 2), 1).logpdf(y).sum())

    return Problem(m, {"u": u, "v": v, "y": y}, joint)


def outputs_with_a_matrix_scale() -> Problem:
    m = pw.Model("outputs")
    n, c, o = m.plate("n"), m.plate("c", 2), m.plate("o", 2)
    m.x = pw.Input(plates=(n, c))
    m.P = pw.Wishart(4, scale=[[1.0, 0.2], [0.2, 0.5]], over=o)
    m.B = pw.MultivariateNormal([0.0, 1.0], precision=0.5 * m.P, over=o, plates=c)
    m.y = pw.MultivariateNormal(pw.dot(m.B, m.x, over=c), precision=m.P, over=o, plates=n)
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))

    def joint(p: Point) -> float:
        cov = np.linalg.inv(p["P"])
        total = stats.wishart(4, np.array([[1.0, 0.2], [0.2, 0.5]])).logpdf(p["P"])
        total += sum(mvn([0.0, 1.0], 2 * cov).logpdf(p["B"][k]) for k in range(2))
        return float(total + sum(mvn(x[i] @ p["B"], cov).logpdf(y[i]) for i in range(5)))

    return Problem(m, {"x": x, "y": y}, joint)


def covariance_with_an_inverse_wishart() -> Problem:
    m = pw.Model("inverse wishart")
    n, o = m.plate("n"), m.plate("o", 2)
    m.S = pw.InverseWishart(5, scale=[[2.0, 0.3], [0.3, 1.0]], over=o)
    m.mu = pw.MultivariateNormal([0.0, 0.0], covariance=3 * m.S, over=o)
    m.y = pw.MultivariateNormal(m.mu, covariance=m.S, over=o, plates=n)
    y = np.random.default_rng(5).normal(size=(4, 2))

    def joint(p: Point) -> float:
        total = stats.invwishart(5, np.array([[2.0, 0.3], [0.3, 1.0]])).logpdf(p["S"])
        total += mvn([0.0, 0.0], 3 * p["S"]).logpdf(p["mu"])
        return float(total + sum(mvn(p["mu"], p["S"]).logpdf(row) for row in y))

    return Problem(m, {"y": y}, joint)


def a_vector_with_a_known_matrix_in_groups() -> Problem:
    m = pw.Model("known matrix")
    n, o, g = m.plate("n"), m.plate("o", 2), m.plate("g", 3)
    A = np.array([[1.0, 0.4], [0.4, 2.0]])
    m.z, m.x = pw.Input(plates=n, levels=g), pw.Input(plates=n)
    m.mu = pw.MultivariateNormal([1.0, -1.0], covariance=A, over=o, plates=g)
    m.y = pw.MultivariateNormal(m.mu[m.z] * m.x, precision=A, over=o, plates=n)
    rng = np.random.default_rng(6)
    z, x, y = np.array([0, 2, 2, 1]), rng.normal(size=4), rng.normal(size=(4, 2))

    def joint(p: Point) -> float:
        total = sum(mvn([1.0, -1.0], A).logpdf(p["mu"][k]) for k in range(3))
        return float(total + sum(mvn(p["mu"][z[i]] * x[i], np.linalg.inv(A)).logpdf(y[i]) for i in range(4)))

    return Problem(m, {"z": z, "x": x, "y": y}, joint)


def one_row() -> Problem:
    m = pw.Model("one row")
    n = m.plate("n")
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)

    def joint(p: Point) -> float:
        s = float(p["tau"]) ** -0.5
        return float(gamma(2).logpdf(p["tau"]) + norm(0, s).logpdf(p["mu"]) + norm(p["mu"], s).logpdf(3.0))

    return Problem(m, {"y": [3.0]}, joint)


def no_rows() -> Problem:
    m = pw.Model("no rows")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.mu, m.b = pw.Normal(0, precision=m.tau), pw.Normal(1, precision=2 * m.tau)
    m.y = pw.Normal(m.mu + m.b * m.x, precision=m.tau, plates=n)

    def joint(p: Point) -> float:
        s = float(p["tau"]) ** -0.5
        return float(gamma(2).logpdf(p["tau"]) + norm(0, s).logpdf(p["mu"]) + norm(1, s / 2**0.5).logpdf(p["b"]))

    return Problem(m, {"y": np.zeros(0), "x": np.zeros(0)}, joint)


def data_without_a_plate() -> Problem:
    m = pw.Model("one number")
    m.a, m.b = pw.Normal(0, sd=1), pw.Normal(0, sd=2)
    m.y = pw.Normal(m.a + m.b, sd=0.5)

    def joint(p: Point) -> float:
        return float(norm.logpdf(p["a"]) + norm(0, 2).logpdf(p["b"]) + norm(p["a"] + p["b"], 0.5).logpdf(1.5))

    return Problem(m, {"y": 1.5}, joint)


def a_large_offset() -> Problem:
    m = pw.Model("offset")
    n = m.plate("n")
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(1e12, precision=0.1 * m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    y = 1e12 + np.array([1.0, 2.0, 4.0, 0.5])

    def joint(p: Point) -> float:
        t = float(p["tau"])
        total = gamma(2).logpdf(t) + norm(0, (0.1 * t) ** -0.5).logpdf(p["mu"] - 1e12)
        return float(total + norm(0, t**-0.5).logpdf(y - p["mu"]).sum())

    return Problem(m, {"y": y}, joint, tolerance=1e-4)  # doubles near 1e12 are 1.2e-4 apart


def tiny_scales() -> Problem:
    m = pw.Model("tiny")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1e-12)
    m.y = pw.Normal(m.mu, sd=2e-12, plates=n)
    y = np.array([1e-12, -2e-12, 3e-12])

    def joint(p: Point) -> float:
        return float(norm(0, 1e-12).logpdf(p["mu"]) + norm(p["mu"], 2e-12).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


def random_slopes_with_a_common_mean() -> Problem:
    m = pw.Model("random slopes")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.a0, m.b0 = pw.Normal(0, precision=0.1 * m.tau), pw.Normal(0, precision=0.1 * m.tau)
    m.a = pw.Normal(m.a0, precision=0.5 * m.tau, plates=g)
    m.b = pw.Normal(m.b0 + 0.5 * m.a0, precision=2 * m.tau, plates=g)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=n)
    of = np.array([0, 0, 1, 1, 1, 2])
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=6), rng.normal(size=6)

    def joint(p: Point) -> float:
        s = float(p["tau"]) ** -0.5
        total = gamma(2).logpdf(p["tau"]) + norm(0, s * 10**0.5).logpdf(p["a0"]) + norm(0, s * 10**0.5).logpdf(p["b0"])
        total += norm(p["a0"], s * 2**0.5).logpdf(p["a"]).sum()
        total += norm(p["b0"] + 0.5 * p["a0"], s * 0.5**0.5).logpdf(p["b"]).sum()
        return float(total + norm(p["a"][of] + p["b"][of] * x, s).logpdf(y).sum())

    return Problem(m, {"x": x, "y": y, "g": of}, joint)


def local_level_of_known_variances() -> Problem:
    m = pw.Model("local level")
    s = m.plate("s")
    step = m.plate("step", within=s, ordered=True)
    m.level = pw.Normal(m.lag("level"), sd=0.5, start=pw.Normal(1, sd=2), plates=step)
    m.y = pw.Normal(m.level, sd=0.8, plates=step)
    of, y = np.array([0, 0, 0, 1, 1]), np.array([0.2, 0.5, 1.0, -1.0, 0.0])

    def joint(p: Point) -> float:
        level = p["level"]
        total = norm(level, 0.8).logpdf(y).sum()
        for k in range(5):
            first = k in (0, 3)
            total += norm(1, 2).logpdf(level[k]) if first else norm(level[k - 1], 0.5).logpdf(level[k])
        return float(total)

    return Problem(m, {"y": y, "s": of}, joint)


def constants_where_data_could_stand() -> Problem:
    m = pw.Model("constants")
    k, n = m.plate("k", 3), m.plate("n")
    m.w = pw.Normal(0, sd=1, plates=k)
    m.z = pw.Input(plates=n, levels=k)
    m.y = pw.Normal(m.w[m.z] * pw.array([1.0, 0.0, -2.0], over=k)[m.z], sd=1, plates=n)
    z, y = np.array([0, 1, 2, 2]), np.array([1.0, 0.5, 2.0, 1.0])
    c = np.array([1.0, 0.0, -2.0])

    def joint(p: Point) -> float:
        return float(norm.logpdf(p["w"]).sum() + norm((p["w"] * c)[z], 1).logpdf(y).sum())

    return Problem(m, {"z": z, "y": y}, joint)


def log_normal_with_both_unknown() -> Problem:
    m = pw.Model("log normal")
    n = m.plate("n")
    m.tau = pw.Gamma(2, rate=2)
    m.mu = pw.Normal(0, precision=m.tau)
    m.y = pw.LogNormal(m.mu, precision=m.tau, plates=n)
    y = np.array([0.5, 1.5, 2.5])

    def joint(p: Point) -> float:
        s = float(p["tau"]) ** -0.5
        total = gamma(2, scale=0.5).logpdf(p["tau"]) + norm(0, s).logpdf(p["mu"])
        return float(total + stats.lognorm(s, scale=np.exp(p["mu"])).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


def a_mean_in_its_own_variance() -> Problem:
    m = pw.Model("mean and variance")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mu, variance=1 + m.mu**2, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="mu")


def a_rate_as_mean_and_precision() -> Problem:
    m = pw.Model("mean is precision")
    n = m.plate("n")
    m.t = pw.Gamma(2, rate=1)
    m.y = pw.Normal(m.t, precision=m.t, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="t")


def products_of_two_unknowns() -> Problem:
    m = pw.Model("product")
    n = m.plate("n")
    m.a, m.b = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.y = pw.Normal(m.a * m.b, sd=1, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="a")


def a_truncated_mean() -> Problem:
    m = pw.Model("positive mean")
    n = m.plate("n")
    m.a = pw.HalfNormal(sd=1)
    m.y = pw.Normal(m.a, sd=1, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="a")


def a_square_of_an_effect() -> Problem:
    m = pw.Model("square")
    n = m.plate("n")
    m.a = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.a**2, sd=1, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="a")


def a_scale_shared_with_a_fixed_prior() -> Problem:
    m = pw.Model("no common scale")
    n = m.plate("n")
    m.tau = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="tau")


def an_absolute_value() -> Problem:
    m = pw.Model("absolute")
    n = m.plate("n")
    m.a = pw.Normal(0, sd=1)
    m.y = pw.Normal(pw.absolute(m.a), sd=1, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="a")


def a_squared_precision() -> Problem:
    m = pw.Model("squared precision")
    n = m.plate("n")
    m.t = pw.Gamma(2, rate=1)
    m.y = pw.Normal(0, precision=m.t**2, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="t")


def a_precision_plus_a_constant() -> Problem:
    m = pw.Model("shifted precision")
    n = m.plate("n")
    m.t = pw.Gamma(2, rate=1)
    m.y = pw.Normal(0, precision=1 + m.t, plates=n)
    return Problem(m, {"y": [1.0, 2.0]}, declined="t")


PROBLEMS = problems_of(globals())
