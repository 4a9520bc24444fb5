"""Many groups: each is eliminated by itself, inner ones first, so that no table grows with their square."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from laws.identity import check_identity
from platewright.errors import SizeError
from platewright.run.checks.allocation import check_allocations


def three_levels() -> pw.Model:
    m = pw.Model("three levels")
    school = m.plate("school")
    room = m.plate("room", within=school)
    pupil = m.plate("pupil", within=room)
    m.mu = pw.Normal(0, sd=3)
    m.a = pw.Normal(m.mu, sd=1.5, plates=school)
    m.b = pw.Normal(m.a, sd=0.7, plates=room)
    m.y = pw.Normal(m.b, sd=1, plates=pupil)
    return m


def groups(schools: int, rooms: int, pupils: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    of_room, of_pupil = rng.integers(0, schools, rooms), rng.integers(0, rooms, pupils)
    of_room[:schools], of_pupil[:rooms] = np.arange(schools), np.arange(rooms)
    return {"y": rng.normal(size=pupils), "room": of_pupil, "school": of_room}


def test_three_levels_are_those_of_one_large_gaussian() -> None:
    data = groups(3, 7, 20)
    school = data["school"][data["room"]]
    same_room, same_school = np.equal.outer(data["room"], data["room"]), np.equal.outer(school, school)
    covariance = 9 + 2.25 * same_school + 0.49 * same_room + np.eye(20)
    fit = three_levels().learn(data)
    expected = stats.multivariate_normal(np.zeros(20), covariance).logpdf(data["y"])
    assert fit.log_evidence == pytest.approx(expected, abs=1e-9)
    seen = np.linalg.solve(covariance, data["y"])
    np.testing.assert_allclose(fit["mu"].mean, 9 * seen.sum(), atol=1e-10)
    for name, count, of, prior in (("a", 3, school, 9 + 2.25), ("b", 7, data["room"], 9 + 2.25 + 0.49)):
        for k in range(count):
            with_y = 9.0 + 2.25 * (school == (k if name == "a" else data["school"][k]))
            with_y = with_y + (0.49 * (of == k) if name == "b" else 0.0)
            np.testing.assert_allclose(fit[name].mean[k], with_y @ seen, atol=1e-10)
            spread = prior - with_y @ np.linalg.solve(covariance, with_y)
            np.testing.assert_allclose(fit[name].sd[k] ** 2, spread, atol=1e-10)
    check_identity(fit)


def test_twenty_thousand_rooms_are_eliminated_one_by_one() -> None:
    data = groups(2_000, 20_000, 60_000)
    fit = three_levels().learn(data)
    largest = max(np.size(value) for value in fit.computed.values())
    assert largest < 20_000 * 20
    assert np.isfinite(fit.log_evidence) and abs(fit["mu"].mean) < 0.2


def test_slopes_with_a_common_mean_leave_the_common_mean_for_last() -> None:
    m = pw.Model("slopes")
    g, c = m.plate("g"), m.plate("c")
    n = m.plate("n", within=g)
    m.X = pw.Input(plates=(n, c))
    m.w = pw.Normal(0, sd=2, plates=c)
    m.W = pw.Normal(m.w, sd=0.5, plates=(g, c))
    m.y = pw.Normal(pw.dot(m.X, m.W, over=c), sd=1, plates=n)
    rng = np.random.default_rng(4)

    def data(count: int, rows: int) -> dict[str, np.ndarray]:
        return {"X": rng.normal(size=(rows, 3)), "y": rng.normal(size=rows), "g": np.arange(rows) % count}

    small = data(4, 15)
    x, same = small["X"], np.equal.outer(small["g"], small["g"])
    covariance = 4 * x @ x.T + 0.25 * same * (x @ x.T) + np.eye(15)
    fit = m.learn(small)
    assert fit.log_evidence == pytest.approx(
        stats.multivariate_normal(np.zeros(15), covariance).logpdf(small["y"]), abs=1e-9
    )
    check_identity(fit)
    assert np.isfinite(m.learn(data(10_000, 40_000)).log_evidence)


def crossed(first: int, second: int) -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("crossed")
    one, two, n = m.plate("one"), m.plate("two"), m.plate("n")
    m.i, m.j = pw.Input(plates=n, levels=one), pw.Input(plates=n, levels=two)
    m.a = pw.Normal(0, sd=2, plates=one)
    m.b = pw.Normal(0, sd=0.5, plates=two)
    m.y = pw.Normal(m.a[m.i] + m.b[m.j], sd=1, plates=n)
    rng = np.random.default_rng(5)
    rows = 3 * max(first, second)
    i, j = rng.integers(0, first, rows), rng.integers(0, second, rows)
    i[:first], j[:second] = np.arange(first), np.arange(second)
    return m, {"i": i, "j": j, "y": rng.normal(size=rows)}


def test_a_plan_that_does_not_fit_is_derived_again_for_the_sizes_at_hand() -> None:
    """Written with the short plate first, the long one would be columns; learned, it is the batch."""
    m, data = crossed(3, 9_000)
    plan = m.derive(["y"]).plan
    with pytest.raises(SizeError):
        check_allocations(plan.program, {"one": 3, "two": 9_000, "n": 27_000})
    fit = m.learn(data)
    i, j, y = data["i"], data["j"], data["y"]
    # the long plate integrated out by hand: rows of one j share the variance 0.25
    count = np.bincount(j)
    shrink = 0.25 / (1 + 0.25 * count)
    one_hot = np.eye(3)[i]
    sums = np.stack([np.bincount(j, one_hot[:, k]) for k in range(3)], axis=1)
    total = np.bincount(j, y)
    precision = np.eye(3) / 4 + one_hot.T @ one_hot - (sums.T * shrink) @ sums
    right = one_hot.T @ y - (sums.T * shrink) @ total
    np.testing.assert_allclose(fit["a"].mean, np.linalg.solve(precision, right), atol=1e-9)
    quadratic = y @ y - shrink @ total**2 - right @ np.linalg.solve(precision, right)
    spread = np.log1p(0.25 * count).sum() + np.linalg.slogdet(precision)[1] + 3 * np.log(4)
    expected = -0.5 * (len(y) * np.log(2 * np.pi) + spread + quadratic)
    assert fit.log_evidence == pytest.approx(expected, rel=1e-10)
