"""Crossed, overlapping, nested, ragged and repeated plates; indices of indices; `like=`."""

from __future__ import annotations

import numpy as np
from scipy import stats

import platewright as pw
from independent.checking import Point, Problem, problems_of

norm, gamma, beta, poisson = stats.norm, stats.gamma, stats.beta, stats.poisson


def crossed_known_scales() -> Problem:
    m = pw.Model("crossed")
    u, i = m.plate("u"), m.plate("i")
    m.a = pw.Normal(0, sd=2, plates=u)
    m.b = pw.Normal(1, sd=0.5, plates=i)
    m.y = pw.Normal(m.a + 2 * m.b, sd=0.7, plates=(u, i))
    y = np.random.default_rng(1).normal(2, 1, (3, 4))

    def joint(p: Point) -> float:
        total = norm(0, 2).logpdf(p["a"]).sum() + norm(1, 0.5).logpdf(p["b"]).sum()
        for r in range(3):
            for c in range(4):
                total += norm(p["a"][r] + 2 * p["b"][c], 0.7).logpdf(y[r, c])
        return float(total)

    return Problem(m, {"y": y}, joint)


def crossed_written_the_other_way_round() -> Problem:
    m = pw.Model("transposed")
    u, i = m.plate("u", 3), m.plate("i", 4)
    m.a = pw.Normal(0, sd=2, plates=(i, u))
    m.x = pw.Input(plates=(u, i))
    m.y = pw.Normal(m.a * m.x, sd=0.7, plates=(u, i))
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))

    def joint(p: Point) -> float:
        total = norm(0, 2).logpdf(p["a"]).sum()
        for r in range(3):
            for c in range(4):
                total += norm(p["a"][c, r] * x[r, c], 0.7).logpdf(y[r, c])
        return float(total)

    return Problem(m, {"x": x, "y": y}, joint)


def square_plates_of_equal_size() -> Problem:
    """Two plates of size 3: nothing may be taken for the other because the sizes agree."""
    m = pw.Model("square")
    u, i = m.plate("u", 3), m.plate("i", 3)
    m.rate = pw.Gamma(2, rate=1, plates=u)
    m.e = pw.Input(plates=i)
    m.y = pw.Poisson(m.rate * m.e, plates=(i, u))
    rng = np.random.default_rng(3)
    e, y = rng.uniform(1, 3, 3), rng.poisson(3, (3, 3))

    def joint(p: Point) -> float:
        total = gamma(2).logpdf(p["rate"]).sum()
        for r in range(3):
            for c in range(3):
                total += poisson(p["rate"][c] * e[r]).logpmf(y[r, c])
        return float(total)

    return Problem(m, {"e": e, "y": y}, joint)


def ragged_groups_three_deep() -> Problem:
    m = pw.Model("three deep")
    school = m.plate("school")
    room = m.plate("room", within=school)
    pupil = m.plate("pupil", within=room)
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.s = pw.Normal(m.mu, precision=0.5 * m.tau, plates=school)
    m.r = pw.Normal(m.s, precision=0.7 * m.tau, plates=room)
    m.y = pw.Normal(m.r, precision=m.tau, plates=pupil)
    rng = np.random.default_rng(4)
    of_room = np.array([0, 0, 1, 2, 2, 2])
    of_pupil = np.array([0, 1, 1, 2, 3, 3, 3, 4, 5, 5, 0])
    y = rng.normal(size=11)

    def joint(p: Point) -> float:
        t = float(p["tau"])
        total = gamma(3, scale=1 / 2).logpdf(t) + norm(0, (0.1 * t) ** -0.5).logpdf(p["mu"])
        total += norm(p["mu"], (0.5 * t) ** -0.5).logpdf(p["s"]).sum()
        for k in range(6):
            total += norm(p["s"][of_room[k]], (0.7 * t) ** -0.5).logpdf(p["r"][k])
        for k in range(11):
            total += norm(p["r"][of_pupil[k]], t**-0.5).logpdf(y[k])
        return float(total)

    return Problem(m, {"y": y, "room": of_pupil, "school": of_room}, joint)


def pupils_look_past_their_room() -> Problem:
    m = pw.Model("skip a level")
    school = m.plate("school")
    room = m.plate("room", within=school)
    pupil = m.plate("pupil", within=room)
    m.p = pw.Beta(2, 3, plates=school)
    m.y = pw.Bernoulli(m.p, plates=pupil)
    m.q = pw.Beta(1, 1, plates=room)
    m.v = pw.Bernoulli(m.q, plates=pupil)
    of_room = np.array([1, 0, 1])
    of_pupil = np.array([0, 2, 2, 1, 1, 0, 0])
    y, v = np.array([1, 0, 0, 1, 1, 1, 0]), np.array([0, 0, 1, 1, 0, 1, 0])

    def joint(p: Point) -> float:
        total = beta(2, 3).logpdf(p["p"]).sum() + beta(1, 1).logpdf(p["q"]).sum()
        for k in range(7):
            total += stats.bernoulli(p["p"][of_room[of_pupil[k]]]).logpmf(y[k])
            total += stats.bernoulli(p["q"][of_pupil[k]]).logpmf(v[k])
        return float(total)

    return Problem(m, {"y": y, "v": v, "room": of_pupil, "school": of_room}, joint)


def index_of_an_index() -> Problem:
    m = pw.Model("index of index")
    n, town = m.plate("n"), m.plate("town", 4)
    county = m.plate("county", 2)
    m.where = pw.Input(plates=n, levels=town)
    m.belongs = pw.Input(plates=town, levels=county)
    m.mu = pw.Normal(0, sd=3, plates=county)
    m.y = pw.Normal(m.mu[m.belongs[m.where]], sd=1.5, plates=n)
    where, belongs = np.array([0, 1, 2, 3, 3, 0, 2]), np.array([1, 0, 1, 1])
    y = np.random.default_rng(5).normal(size=7)

    def joint(p: Point) -> float:
        total = norm(0, 3).logpdf(p["mu"]).sum()
        for k in range(7):
            total += norm(p["mu"][belongs[where[k]]], 1.5).logpdf(y[k])
        return float(total)

    return Problem(m, {"y": y, "where": where, "belongs": belongs}, joint)


def a_town_rate_indexed_twice() -> Problem:
    m = pw.Model("rates through an index of an index")
    n, town, county = m.plate("n"), m.plate("town", 4), m.plate("county", 2)
    m.where = pw.Input(plates=n, levels=town)
    m.belongs = pw.Input(plates=town, levels=county)
    m.size = pw.Input(plates=town)
    m.rate = pw.Gamma(2, rate=3, plates=county)
    m.y = pw.Poisson(m.rate[m.belongs[m.where]] * m.size[m.where], plates=n)
    where, belongs = np.array([0, 1, 2, 3, 3, 0, 2]), np.array([1, 0, 1, 1])
    size = np.array([1.0, 2.5, 0.5, 4.0])
    y = np.random.default_rng(6).poisson(2, 7)

    def joint(p: Point) -> float:
        total = gamma(2, scale=1 / 3).logpdf(p["rate"]).sum()
        for k in range(7):
            total += poisson(p["rate"][belongs[where[k]]] * size[where[k]]).logpmf(y[k])
        return float(total)

    return Problem(m, {"y": y, "where": where, "belongs": belongs, "size": size}, joint)


def matches_between_players_of_one_set() -> Problem:
    m = pw.Model("like")
    player = m.plate("player", 4)
    game = m.plate("game")
    m.first = pw.Input(plates=game, levels=player)
    m.second = pw.Input(plates=game, levels=player)
    m.skill = pw.Normal(0, sd=1, plates=player)
    m.margin = pw.Normal(m.skill[m.first] - m.skill[m.second], sd=0.5, plates=game)
    first, second = np.array([0, 1, 2, 3, 0]), np.array([1, 2, 3, 0, 2])
    margin = np.random.default_rng(7).normal(size=5)

    def joint(p: Point) -> float:
        total = norm(0, 1).logpdf(p["skill"]).sum()
        for k in range(5):
            total += norm(p["skill"][first[k]] - p["skill"][second[k]], 0.5).logpdf(margin[k])
        return float(total)

    return Problem(m, {"first": first, "second": second, "margin": margin}, joint)


def a_player_meets_itself() -> Problem:
    m = pw.Model("self match")
    player = m.plate("player", 3)
    game = m.plate("game")
    m.first = pw.Input(plates=game, levels=player)
    m.second = pw.Input(plates=game, levels=player)
    m.skill = pw.Normal(0, sd=1, plates=player)
    m.total = pw.Normal(m.skill[m.first] + m.skill[m.second], sd=0.5, plates=game)
    first, second = np.array([0, 1, 2, 2, 0]), np.array([0, 2, 1, 2, 2])
    total_seen = np.random.default_rng(8).normal(size=5)

    def joint(p: Point) -> float:
        total = norm(0, 1).logpdf(p["skill"]).sum()
        for k in range(5):
            total += norm(p["skill"][first[k]] + p["skill"][second[k]], 0.5).logpdf(total_seen[k])
        return float(total)

    return Problem(m, {"first": first, "second": second, "total": total_seen}, joint)


def two_players_of_a_like_plate() -> Problem:
    """The same set crossed with itself."""
    m = pw.Model("pairs")
    one = m.plate("one", 3)
    two = m.plate("two", like=one)
    m.send = pw.Normal(0, sd=1, plates=one)
    m.take = pw.Normal(0, sd=2, plates=one)
    m.y = pw.Normal(m.send[one.index] + m.take[two.index] * 0.5, sd=0.5, plates=(one, two))
    y = np.random.default_rng(9).normal(size=(3, 3))

    def joint(p: Point) -> float:
        total = norm(0, 1).logpdf(p["send"]).sum() + norm(0, 2).logpdf(p["take"]).sum()
        for r in range(3):
            for c in range(3):
                total += norm(p["send"][r] + 0.5 * p["take"][c], 0.5).logpdf(y[r, c])
        return float(total)

    return Problem(m, {"y": y}, joint)


def transition_table_of_known_states() -> Problem:
    m = pw.Model("transitions")
    state = m.plate("state", 3)
    origin = m.plate("origin", like=state)
    series = m.plate("series")
    step = m.plate("step", within=series, ordered=True)
    m.begin = pw.Dirichlet([1.0, 2.0, 3.0], over=state)
    m.move = pw.Dirichlet([0.5, 1.0, 1.5], over=state, plates=origin)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    z = np.array([0, 1, 1, 2, 0, 2, 2, 1, 1])
    series_of = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2])

    def joint(p: Point) -> float:
        total = stats.dirichlet([1.0, 2.0, 3.0]).logpdf(_inside(p["begin"]))
        for k in range(3):
            total += stats.dirichlet([0.5, 1.0, 1.5]).logpdf(_inside(p["move"][k]))
        for k in range(9):
            if k == 0 or series_of[k] != series_of[k - 1]:
                total += np.log(p["begin"][z[k]])
            else:
                total += np.log(p["move"][z[k - 1]][z[k]])
        return float(total)

    return Problem(m, {"z": z, "series": series_of}, joint)


def _inside(p: np.ndarray) -> np.ndarray:
    """Summing to one as scipy wants it."""
    return p / p.sum()


def autoregression_of_known_series() -> Problem:
    m = pw.Model("ar")
    series = m.plate("series")
    step = m.plate("step", within=series, ordered=True)
    m.tau = pw.Gamma(2, rate=1)
    m.c = pw.Normal(0, precision=0.3 * m.tau)
    m.phi = pw.Normal(0.5, precision=2 * m.tau)
    m.y = pw.Normal(
        m.c + m.phi * m.lag("y"), precision=m.tau, start=pw.Normal(m.c, precision=0.25 * m.tau), plates=step
    )
    y = np.random.default_rng(10).normal(size=8)
    of = np.array([0, 0, 0, 1, 1, 2, 2, 2])

    def joint(p: Point) -> float:
        t = float(p["tau"])
        total = gamma(2).logpdf(t) + norm(0, (0.3 * t) ** -0.5).logpdf(p["c"])
        total += norm(0.5, (2 * t) ** -0.5).logpdf(p["phi"])
        for k in range(8):
            if k == 0 or of[k] != of[k - 1]:
                total += norm(p["c"], (0.25 * t) ** -0.5).logpdf(y[k])
            else:
                total += norm(p["c"] + p["phi"] * y[k - 1], t**-0.5).logpdf(y[k])
        return float(total)

    return Problem(m, {"y": y, "series": of}, joint)


def counts_that_depend_on_the_last_count() -> Problem:
    m = pw.Model("inar")
    series = m.plate("series")
    step = m.plate("step", within=series, ordered=True)
    m.rate = pw.Gamma(2, rate=1)
    m.begin = pw.Gamma(3, rate=1)
    m.y = pw.Poisson(m.rate * (1 + m.lag("y")), start=m.begin, plates=step)
    y, of = np.array([2, 3, 0, 1, 4, 2]), np.array([0, 0, 0, 1, 1, 1])

    def joint(p: Point) -> float:
        total = gamma(2).logpdf(p["rate"]) + gamma(3).logpdf(p["begin"])
        for k in range(6):
            if k == 0 or of[k] != of[k - 1]:
                total += poisson(p["begin"]).logpmf(y[k])
            else:
                total += poisson(p["rate"] * (1 + y[k - 1])).logpmf(y[k])
        return float(total)

    return Problem(m, {"y": y, "series": of}, joint)


def dirichlet_over_two_plates() -> Problem:
    m = pw.Model("tables on two plates")
    a, b, k, n = m.plate("a", 2), m.plate("b", 3), m.plate("k", 2), m.plate("n")
    m.x, m.w = pw.Input(plates=n, levels=a), pw.Input(plates=n, levels=b)
    m.theta = pw.Dirichlet([1.0, 2.0], over=k, plates=(b, a))
    m.y = pw.Categorical(m.theta[m.w, m.x], plates=n)
    rng = np.random.default_rng(11)
    x, w, y = rng.integers(0, 2, 12), rng.integers(0, 3, 12), rng.integers(0, 2, 12)

    def joint(p: Point) -> float:
        total = 0.0
        for r in range(3):
            for c in range(2):
                total += stats.dirichlet([1.0, 2.0]).logpdf(_inside(p["theta"][r, c]))
        for i in range(12):
            total += np.log(p["theta"][w[i], x[i], y[i]])
        return float(total)

    return Problem(m, {"x": x, "w": w, "y": y}, joint)


def concentration_that_differs_by_plate() -> Problem:
    m = pw.Model("concentrations")
    g, k, n = m.plate("g", 2), m.plate("k", 3), m.plate("n")
    m.z = pw.Input(plates=n, levels=g)
    alpha = np.array([[0.5, 1.0, 2.0], [3.0, 1.0, 0.7]])
    m.theta = pw.Dirichlet(pw.array(alpha, over=(g, k)), over=k, plates=g)
    m.y = pw.Categorical(m.theta[m.z], plates=n)
    z, y = np.array([0, 1, 1, 0, 1]), np.array([2, 1, 0, 0, 2])

    def joint(p: Point) -> float:
        total = sum(stats.dirichlet(alpha[r]).logpdf(_inside(p["theta"][r])) for r in range(2))
        return float(total + sum(np.log(p["theta"][z[i], y[i]]) for i in range(5)))

    return Problem(m, {"z": z, "y": y}, joint)


def multinomial_rows_in_groups() -> Problem:
    m = pw.Model("multinomial groups")
    g, k, n = m.plate("g", 2), m.plate("k", 3), m.plate("n")
    m.z = pw.Input(plates=n, levels=g)
    m.theta = pw.Dirichlet([1.0, 1.0, 1.0], over=k, plates=g)
    m.y = pw.Multinomial(6, m.theta[m.z], over=k, plates=n)
    z = np.array([0, 1, 1])
    y = np.array([[1, 2, 3], [0, 0, 6], [2, 2, 2]])

    def joint(p: Point) -> float:
        total = sum(stats.dirichlet([1.0] * 3).logpdf(_inside(p["theta"][r])) for r in range(2))
        return float(total + sum(stats.multinomial(6, _inside(p["theta"][z[i]])).logpmf(y[i]) for i in range(3)))

    return Problem(m, {"z": z, "y": y}, joint)


def sum_over_a_plate_of_unknowns() -> Problem:
    """Only the total of the effects is seen."""
    m = pw.Model("total")
    k, n = m.plate("k", 3), m.plate("n")
    m.a = pw.Normal(1, sd=2, plates=k)
    m.y = pw.Normal(pw.sum(m.a, over=k), sd=1, plates=n)
    y = np.array([2.0, 3.5])

    def joint(p: Point) -> float:
        return float(norm(1, 2).logpdf(p["a"]).sum() + norm(p["a"].sum(), 1).logpdf(y).sum())

    return Problem(m, {"y": y}, joint)


def one_data_plate_inside_and_one_outside() -> Problem:
    """A column of one value for each group stands beside rows within groups."""
    m = pw.Model("two levels of data")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.slope = pw.Normal(0, sd=1)
    m.mu = pw.Normal(0, sd=2, plates=g)
    m.w = pw.Normal(m.mu, sd=0.3, plates=g)
    m.x = pw.Input(plates=n)
    m.y = pw.Normal(m.mu + m.slope * m.x, sd=1, plates=n)
    of = np.array([0, 1, 1, 0, 2])
    rng = np.random.default_rng(12)
    w, x, y = rng.normal(size=3), rng.normal(size=5), rng.normal(size=5)

    def joint(p: Point) -> float:
        total = norm(0, 1).logpdf(p["slope"]) + norm(0, 2).logpdf(p["mu"]).sum()
        total += norm(p["mu"], 0.3).logpdf(w).sum()
        for i in range(5):
            total += norm(p["mu"][of[i]] + p["slope"] * x[i], 1).logpdf(y[i])
        return float(total)

    return Problem(m, {"w": w, "x": x, "y": y, "g": of}, joint)


PROBLEMS = problems_of(globals())
