"""Computed probabilities add up to one, at the start, in `verify` and at the end; the error names the row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

import platewright as pw
from platewright.errors import ParameterError

TOSSES = [0, 1] * 4


def coin(share: list[float]) -> pw.Model:
    """A coin whose two faces have the chances p share."""
    m = pw.Model("coin")
    toss, face = m.plate("toss"), m.plate("face", 2)
    m.p = pw.Beta(1.0, 1.0)
    m.x = pw.Categorical(m.p * pw.array(share, over=face), plates=toss)
    return m


def tables(rows: list[list[float]]) -> pw.Model:
    """Rows of a computed table, looked up by a known group."""
    m = pw.Model("tables")
    group, face = m.plate("group", 3), m.plate("face", 2)
    row = m.plate("row")
    m.p = pw.Beta(1.0, 1.0)
    m.g = pw.Input(plates=row, levels=group)
    m.share = pw.array(rows, over=(group, face))
    m.t = m.p * m.share + (1 - m.p) * 0.5
    m.x = pw.Categorical(m.t[m.g], plates=row)
    return m


@pytest.mark.parametrize("by", ["auto", "gibbs"])
@pytest.mark.parametrize("goal", ["posterior", "map", "evidence"])
def test_probabilities_that_sum_to_two_are_refused(by: str, goal: str) -> None:
    if by == "gibbs" and goal != "posterior":
        return
    with pytest.raises(ParameterError, match="probabilities of `x` add up to"):
        coin([1.0, 1.0]).learn({"x": TOSSES}, goal, by=by)


def test_the_row_of_the_table_is_named() -> None:
    data = {"g": [0, 1, 2], "x": [0, 1, 1]}
    assert tables([[0.2, 0.8], [0.5, 0.5], [0.3, 0.7]]).learn(data)["p"].mean > 0
    with pytest.raises(ParameterError, match="`t`, the probabilities of `x`, adds up to") as found:
        tables([[0.2, 0.8], [0.5, 0.5], [0.9, 0.7]]).learn(data)
    assert "row group 2" in str(found.value)


def test_verify_says_so_too() -> None:
    good, bad = (tables([[0.2, 0.8], [0.5, 0.5], [last, 0.7]]).derive(["g", "x"]).verify() for last in (0.3, 0.9))
    assert good.passed
    assert "holds" in str(good) and "probabilities of x add up to one" in str(good)
    assert not bad.passed
    assert "FAILS  probabilities of x add up to one" in str(bad)


def test_a_row_that_is_wrong_only_where_the_run_ends_is_found_there() -> None:
    """One for moderate values, and more far out: only the values that were reached can show it."""
    m = pw.Model("far")
    face, row = m.plate("face", 2), m.plate("row")
    m.a = pw.Normal(0.0, sd=100.0)
    m.chance = pw.array([0.5, 0.5], over=face) + pw.where(pw.less(20.0, m.a), 0.25, 0.0)
    m.y = pw.Normal(m.a, sd=1.0, plates=row)
    m.x = pw.Categorical(m.chance, plates=row)
    assert abs(m.learn({"y": [0.0, 1.0], "x": [0, 1]}, draws=100)["a"].mean - 0.5) < 0.5
    with pytest.raises(ParameterError, match=r"adds up to 1\.5"):
        m.learn({"y": [30.0, 31.0], "x": [0, 1]}, draws=100)


def test_an_unknown_within_others_is_left_to_the_start_of_the_run() -> None:
    """Two chances below one half each and what they leave: single values of theirs would be out of range."""
    m = pw.Model("bounds")
    face, row = m.plate("face", 3), m.plate("row")
    m.a = pw.Uniform(0.0, 1.0)
    m.b = pw.Uniform(0.0, 1.0 - m.a)
    m.t = (
        m.a * pw.array([1.0, 0.0, 0.0], over=face)
        + m.b * pw.array([0.0, 1.0, 0.0], over=face)
        + (1 - m.a - m.b) * pw.array([0.0, 0.0, 1.0], over=face)
    )
    m.x = pw.Categorical(m.t, plates=row)
    fit = m.learn({"x": [0, 0, 1, 2]}, draws=200)
    assert 0.2 < fit["a"].mean < 0.7


def test_a_state_that_nothing_reaches_may_have_a_row_of_zeros() -> None:
    m = pw.Model("unreached")
    group, face, row = m.plate("group", 2), m.plate("face", 2), m.plate("row")
    m.p = pw.Beta(1.0, 1.0)
    m.g = pw.Input(plates=row, levels=group)
    m.t = pw.where(pw.equal(pw.array([0.0, 1.0], over=face), 1.0), m.p, 1.0 - m.p) * pw.array([1.0, 0.0], over=group)
    m.x = pw.Categorical(m.t[m.g], plates=row)
    assert abs(m.learn({"g": [0, 0, 0], "x": [0, 1, 1]})["p"].mean - 3 / 5) < 0.01


def test_thresholds_whose_priors_put_them_in_order_are_taken() -> None:
    """Ordered grades with the ends held: moderate thresholds lie below the first, those near their priors do not.

    The means are those of a lattice over all four unknowns.
    """
    m = pw.Model("grades")
    row, grade = m.plate("row"), m.plate("grade", 4)
    m.mu = pw.Normal(3.0, sd=2.0)
    m.t = pw.Normal(2.5, sd=0.3)
    below = [0.5 + 0.5 * pw.erf((end - m.mu) / 2**0.5) for end in (1.5, m.t, 4.5)]
    shares = [below[0], *(pw.maximum(below[k + 1] - below[k], 0.0) for k in (0, 1)), 1.0 - below[2]]
    m.p = sum(share * pw.array(np.eye(4)[k], over=grade) for k, share in enumerate(shares))
    m.y = pw.Categorical(m.p, plates=row)
    assert m.derive(known=["y"]).verify().passed
    counts = np.array([4, 3, 5, 2])
    mu, t = np.meshgrid(np.linspace(-3, 8, 801), np.linspace(1.5, 4.5, 601), indexing="ij")
    ends = ndtr(np.stack([np.full_like(mu, 1.5), t, np.full_like(mu, 4.5)]) - mu)
    chances = np.diff(np.concatenate([0 * mu[None], ends, 1 + 0 * mu[None]]), axis=0)
    with np.errstate(divide="ignore"):
        log = np.tensordot(counts, np.log(chances), 1) - 0.5 * ((mu - 3) / 2) ** 2 - 0.5 * ((t - 2.5) / 0.3) ** 2
    share = np.exp(log - log.max())
    for seed in range(3):
        fit = m.learn({"y": np.repeat(np.arange(4), counts)}, by="gibbs", seed=seed)
        assert float(fit["mu"].mean) == pytest.approx(float((share * mu).sum() / share.sum()), abs=0.06)
        assert float(fit["t"].mean) == pytest.approx(float((share * t).sum() / share.sum()), abs=0.06)


def test_a_sum_that_is_right_only_at_the_mean_of_a_prior_is_refused() -> None:
    m = pw.Model("centre")
    face = m.plate("face", 2)
    m.a = pw.Uniform(0.0, 1.0)
    m.x = pw.Categorical(m.a * pw.array([1.0, 0.0], over=face) + pw.array([0.0, 0.5], over=face), plates=m.plate("row"))
    with pytest.raises(ParameterError, match="add up to"):
        m.learn({"x": [0, 1]})
