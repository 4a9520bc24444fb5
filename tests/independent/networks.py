"""Tables, conditional Gaussians, undirected parts and chain graphs with known parts."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import stats

import platewright as pw
from independent.checking import Point, Problem, problems_of

norm, gamma, beta = stats.norm, stats.gamma, stats.beta


def _inside(p: np.ndarray) -> np.ndarray:
    return p / p.sum()


def a_table_with_three_parents() -> Problem:
    m = pw.Model("three parents")
    n, a, b, c, k = m.plate("n"), m.plate("a", 2), m.plate("b", 3), m.plate("c", 2), m.plate("k", 2)
    m.pa, m.pb = pw.Dirichlet(1.0, over=a), pw.Dirichlet([1.0, 2.0, 0.5], over=b)
    m.x, m.y = pw.Categorical(m.pa, plates=n), pw.Categorical(m.pb, plates=n)
    m.z = pw.Input(plates=n, levels=c)
    m.t = pw.Dirichlet([2.0, 1.0], over=k, plates=(a, b, c))
    m.v = pw.Categorical(m.t[m.x, m.y, m.z], plates=n)
    rng = np.random.default_rng(1)
    x, y, z, v = rng.integers(0, 2, 9), rng.integers(0, 3, 9), rng.integers(0, 2, 9), rng.integers(0, 2, 9)

    def joint(p: Point) -> float:
        total = stats.dirichlet([1.0, 1.0]).logpdf(_inside(p["pa"]))
        total += stats.dirichlet([1.0, 2.0, 0.5]).logpdf(_inside(p["pb"]))
        for at in itertools.product(range(2), range(3), range(2)):
            total += stats.dirichlet([2.0, 1.0]).logpdf(_inside(p["t"][at]))
        for i in range(9):
            total += np.log(p["pa"][x[i]]) + np.log(p["pb"][y[i]]) + np.log(p["t"][x[i], y[i], z[i], v[i]])
        return float(total)

    return Problem(m, {"x": x, "y": y, "z": z, "v": v}, joint)


def a_conditional_gaussian_network() -> Problem:
    m = pw.Model("clg")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Beta(1, 2)
    m.c = pw.Bernoulli(m.p, plates=n)
    m.t1 = pw.Gamma(2, rate=1, plates=k)
    m.m1 = pw.Normal(0, precision=0.5 * m.t1, plates=k)
    m.x = pw.Normal(m.m1[m.c], precision=m.t1[m.c], plates=n)
    m.t2 = pw.Gamma(2, rate=1, plates=k)
    m.a = pw.Normal(0, precision=0.5 * m.t2, plates=k)
    m.b = pw.Normal(0, precision=0.5 * m.t2, plates=k)
    m.y = pw.Normal(m.a[m.c] + m.b[m.c] * m.x, precision=m.t2[m.c], plates=n)
    rng = np.random.default_rng(2)
    c, x, y = rng.integers(0, 2, 8), rng.normal(size=8), rng.normal(size=8)

    def joint(p: Point) -> float:
        total = beta(1, 2).logpdf(p["p"]) + stats.bernoulli(p["p"]).logpmf(c).sum()
        for t, means in (("t1", ["m1"]), ("t2", ["a", "b"])):
            total += gamma(2).logpdf(p[t]).sum()
            for name in means:
                total += norm(0, (0.5 * p[t]) ** -0.5).logpdf(p[name]).sum()
        total += norm(p["m1"][c], p["t1"][c] ** -0.5).logpdf(x).sum()
        return float(total + norm(p["a"][c] + p["b"][c] * x, p["t2"][c] ** -0.5).logpdf(y).sum())

    return Problem(m, {"c": c, "x": x, "y": y}, joint)


def a_hidden_cause_of_known_probabilities() -> Problem:
    m = pw.Model("hidden cause")
    n = m.plate("n")
    m.c = pw.Bernoulli(0.3, plates=n)
    m.x = pw.Normal(pw.where(m.c, 2.0, -1.0), sd=pw.where(m.c, 0.5, 1.0), plates=n)
    m.y = pw.Poisson(pw.where(m.c, 4.0, 1.0), plates=n)
    x, y = np.array([2.0, 0.0, -1.0]), np.array([3, 1, 0])

    def joint(p: Point) -> float:
        c = np.asarray(p["c"], int)
        total = (
            stats.bernoulli(0.3).logpmf(c).sum() + norm(np.where(c, 2.0, -1.0), np.where(c, 0.5, 1.0)).logpdf(x).sum()
        )
        return float(total + stats.poisson(np.where(c, 4.0, 1.0)).logpmf(y).sum())

    return Problem(m, {"x": x, "y": y}, joint)


def two_hidden_causes_that_explain_each_other_away() -> Problem:
    m = pw.Model("explaining away")
    m.rain, m.sprinkler = pw.Bernoulli(0.2), pw.Bernoulli(0.4)
    m.wet = pw.Bernoulli(pw.where(m.rain, pw.where(m.sprinkler, 0.99, 0.9), pw.where(m.sprinkler, 0.8, 0.05)))
    table = np.array([[0.05, 0.8], [0.9, 0.99]])

    def joint(p: Point) -> float:
        r, s = int(p["rain"]), int(p["sprinkler"])
        return float(stats.bernoulli(0.2).logpmf(r) + stats.bernoulli(0.4).logpmf(s) + np.log(table[r, s]))

    return Problem(m, {"wet": 1}, joint)


def exact_zeros_of_a_hidden_gate() -> Problem:
    """Zero-inflated counts with a known rate, as a user writes them."""
    m = pw.Model("zero inflated")
    n = m.plate("n")
    m.z = pw.Bernoulli(0.6, plates=n)
    m.y = pw.Poisson(pw.where(m.z, 1.7, 0), plates=n)
    y = np.array([0, 2, 0, 1])

    def joint(p: Point) -> float:
        z = np.asarray(p["z"], int)
        return float(stats.bernoulli(0.6).logpmf(z).sum() + stats.poisson(1.7 * z).logpmf(y).sum())

    return Problem(m, {"y": y}, joint)


def impossible_pairs_of_a_table() -> Problem:
    m = pw.Model("table with zeros")
    a, b, n = m.plate("a", 2), m.plate("b", 3), m.plate("n")
    m.x = pw.Categorical([0.5, 0.5], over=a, plates=n)
    table = np.array([[0.0, 0.4, 0.6], [1.0, 0.0, 0.0]])
    m.y = pw.Categorical(pw.array(table, over=(a, b))[m.x], over=b, plates=n)
    y = np.array([0, 1, 2])

    def joint(p: Point) -> float:
        x = np.asarray(p["x"], int)
        return float(3 * np.log(0.5) + np.log(table[x, y]).sum())

    return Problem(m, {"y": y}, joint)


def an_undirected_triangle_with_a_known_corner() -> Problem:
    m = pw.Model("triangle")
    m.a, m.b, m.c = (pw.Undirected(levels=2) for _ in range(3))
    m.potential("ab", 0.7 * pw.equal(m.a, m.b))
    m.potential("bc", -0.4 * pw.equal(m.b, m.c))
    m.potential("ca", 0.3 * m.c * m.a)

    def score(a: int, b: int, c: int) -> float:
        return 0.7 * (a == b) - 0.4 * (b == c) + 0.3 * c * a

    scores = [score(*at) for at in itertools.product((0, 1), repeat=3)]

    def joint(p: Point) -> float:
        return float(score(int(p["a"]), int(p["b"]), 1) - np.logaddexp.reduce(scores))

    return Problem(m, {"c": 1}, joint)


def a_chain_graph_with_a_directed_parent() -> Problem:
    m = pw.Model("chain graph")
    m.u = pw.Bernoulli(0.3)
    m.a, m.b = pw.Undirected(levels=2), pw.Undirected(levels=2)
    m.potential("ab", 0.7 * pw.equal(m.a, m.b) + 0.9 * m.u * m.a, of=[m.a, m.b])
    m.v = pw.Normal(2.0 * m.b, sd=1.0)

    def score(u: int, a: int, b: int) -> float:
        return 0.7 * (a == b) + 0.9 * u * a

    def joint(p: Point) -> float:
        u, a, b = (int(p[name]) for name in "uab")
        z = np.logaddexp.reduce([score(u, *at) for at in itertools.product((0, 1), repeat=2)])
        return float(stats.bernoulli(0.3).logpmf(u) + score(u, a, b) - z + norm(2.0 * b, 1).logpdf(1.2))

    return Problem(m, {"v": 1.2}, joint)


def a_known_lattice_row_with_a_gaussian_below() -> Problem:
    m = pw.Model("row")
    m.a, m.b, m.c = (pw.Undirected(levels=3) for _ in range(3))
    m.potential("ab", 0.5 * pw.equal(m.a, m.b))
    m.potential("bc", 0.5 * pw.equal(m.b, m.c))
    m.x = pw.Normal(pw.where(pw.equal(m.b, 2), 1.0, -1.0), sd=0.7)

    def score(a: int, b: int, c: int) -> float:
        return 0.5 * (a == b) + 0.5 * (b == c)

    scores = [score(*at) for at in itertools.product(range(3), repeat=3)]

    def joint(p: Point) -> float:
        b = int(p["b"])
        below = norm(1.0 if b == 2 else -1.0, 0.7).logpdf(0.4)
        return float(score(0, b, int(p["c"])) - np.logaddexp.reduce(scores) + below)

    return Problem(m, {"a": 0, "x": 0.4}, joint)


def effects_of_hidden_bits_that_enter_linearly() -> Problem:
    """Bits in a mean with all else known."""
    m = pw.Model("bits")
    m.a, m.b = pw.Bernoulli(0.3), pw.Bernoulli(0.6)
    m.y = pw.Normal(2 * m.a - 3 * m.b + m.a * m.b, sd=1)

    def joint(p: Point) -> float:
        a, b = int(p["a"]), int(p["b"])
        total = stats.bernoulli(0.3).logpmf(a) + stats.bernoulli(0.6).logpmf(b)
        return float(total + norm(2 * a - 3 * b + a * b, 1).logpdf(-0.5))

    return Problem(m, {"y": -0.5}, joint)


def a_hidden_bit_with_an_unknown_probability() -> Problem:
    """One hidden bit: summed out, its probability stays a Beta or mixture of two, which no family has."""
    m = pw.Model("hidden bit")
    n = m.plate("n")
    m.p = pw.Beta(1, 1)
    m.z = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Normal(m.z, sd=1, plates=n)
    return Problem(m, {"y": [0.1, 0.9]}, declined="p")


def a_gate_between_two_unknown_rates() -> Problem:
    m = pw.Model("known gate")
    n = m.plate("n")
    m.z = pw.Input(plates=n, levels=2)
    m.a, m.b = pw.Gamma(2, rate=1), pw.Gamma(3, rate=2)
    m.y = pw.Poisson(pw.where(m.z, m.a, 2 * m.b), plates=n)
    z, y = np.array([0, 1, 1, 0]), np.array([2, 3, 0, 1])

    def joint(p: Point) -> float:
        total = gamma(2).logpdf(p["a"]) + gamma(3, scale=0.5).logpdf(p["b"])
        return float(total + stats.poisson(np.where(z, p["a"], 2 * p["b"])).logpmf(y).sum())

    return Problem(m, {"z": z, "y": y}, joint)


PROBLEMS = problems_of(globals())
