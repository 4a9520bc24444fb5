"""Improper posteriors are refused, saying how many observations are missing."""

from __future__ import annotations

import re

import numpy as np
import pytest

import platewright as pw
from laws.identity import check_identity
from platewright.errors import ImproperPosterior, PlatewrightError

RNG = np.random.default_rng(4)


def refused(model: pw.Model, data: dict[str, object]) -> str:
    with pytest.raises(ImproperPosterior) as caught:
        model.learn(data)
    return str(caught.value)


def missing(message: str) -> int:
    found = re.search(r"at least (\d+) more", message)
    assert found, message
    return int(found.group(1))


def normal(scale: str) -> pw.Model:
    m = pw.Model("normal")
    n = m.plate("n")
    m.mu = pw.Flat()
    m.s = pw.Flat(lower=0)
    m.y = pw.Normal(m.mu, plates=n, **{scale: m.s})
    return m


def test_mean_and_sd_need_three_rows() -> None:
    for rows in range(3):
        message = refused(normal("sd"), {"y": RNG.normal(size=rows)})
        assert 1 <= missing(message) <= 3 - rows
    assert missing(refused(normal("sd"), {"y": [0.3]})) == 2
    assert missing(refused(normal("sd"), {"y": [0.3, 0.4]})) == 1
    assert "`s`" in refused(normal("sd"), {"y": [0.3, 0.4]})
    check_identity(normal("sd").learn({"y": RNG.normal(size=3)}))


def test_mean_and_precision_need_two_rows() -> None:
    for rows in range(2):
        refused(normal("precision"), {"y": RNG.normal(size=rows)})
    check_identity(normal("precision").learn({"y": RNG.normal(size=2)}))


def test_mean_and_variance_need_four_rows() -> None:
    for rows in range(4):
        refused(normal("variance"), {"y": RNG.normal(size=rows)})
    assert missing(refused(normal("variance"), {"y": [0.1, 0.2, 0.4]})) == 1
    check_identity(normal("variance").learn({"y": RNG.normal(size=4)}))


def test_rows_without_spread_do_not_tell_a_scale() -> None:
    message = refused(normal("sd"), {"y": [2.0, 2.0, 2.0, 2.0]})
    assert "`s`" in message and "rate is 0" in message


def regression(noise: bool) -> pw.Model:
    m = pw.Model("regression")
    n, c = m.plate("n"), m.plate("c")
    m.X = pw.Input(plates=(n, c))
    m.w = pw.Flat(plates=c)
    if noise:
        m.tau = pw.Gamma(1, rate=1)
    m.y = pw.Normal(pw.dot(m.X, m.w, over=c), precision=m.tau if noise else 1.0, plates=n)
    return m


@pytest.mark.parametrize("noise", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_three_weights_need_three_rows(rows: int, noise: bool) -> None:
    message = refused(regression(noise), {"X": RNG.normal(size=(rows, 3)), "y": RNG.normal(size=rows)})
    assert missing(message) == 3 - rows


def test_rows_that_say_the_same_do_not_count() -> None:
    x = RNG.normal(size=(8, 3))
    x[:, 2] = x[:, 0] + x[:, 1]
    assert missing(refused(regression(True), {"X": x, "y": RNG.normal(size=8)})) == 1


def test_enough_rows_are_enough() -> None:
    check_identity(regression(True).learn({"X": RNG.normal(size=(3, 3)), "y": RNG.normal(size=3)}))


def test_a_group_without_rows_needs_one() -> None:
    m = pw.Model("groups")
    n, k = m.plate("n"), m.plate("k", 3)
    m.z = pw.Input(plates=n, levels=k)
    m.mu = pw.Flat(plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    assert missing(refused(m, {"z": [0, 0, 1], "y": [1.0, 2.0, 3.0]})) == 1


def test_a_flat_rate_needs_a_row_and_a_flat_probability_none() -> None:
    m = pw.Model("rate")
    n = m.plate("n")
    m.rate = pw.Flat(lower=0)
    m.y = pw.Poisson(m.rate, plates=n)
    assert "`rate`" in refused(m, {"y": np.zeros(0, dtype=int)})
    check_identity(m.learn({"y": [0]}))
    p = pw.Model("probability")
    n = p.plate("n")
    p.p = pw.Flat(lower=0, upper=1)
    p.y = pw.Bernoulli(p.p, plates=n)
    assert p.learn({"y": np.zeros(0, dtype=int)}).log_evidence == 0.0


def test_a_flat_prior_scores_no_first_row() -> None:
    m = pw.Model("flat")
    n = m.plate("n")
    m.mu = pw.Flat()
    m.y = pw.Normal(m.mu, sd=1.0, plates=n)
    with pytest.raises(ImproperPosterior, match="first row"):
        m.learn({"y": [1.0, 2.0]}).prequential()


def test_forgetting_may_not_leave_too_few_rows() -> None:
    fit = normal("sd").learn({"y": RNG.normal(size=3)})
    with pytest.raises(ImproperPosterior):
        _ = fit.forget([0]).log_evidence


def test_the_scale_of_an_exponential_needs_two_rows() -> None:
    m = pw.Model("scale")
    n = m.plate("n")
    m.s = pw.Flat(lower=0)
    m.y = pw.Exponential(scale=m.s, plates=n)
    assert missing(refused(m, {"y": np.zeros(0)})) == 2


def test_a_block_says_which_unknowns_are_improper() -> None:
    message = refused(regression(False), {"X": RNG.normal(size=(1, 3)), "y": RNG.normal(size=1)})
    assert "`w`" in message


@pytest.mark.parametrize("rows", [2, 8])
def test_too_few_degrees_for_a_size_that_comes_from_the_data(rows: int) -> None:
    m = pw.Model("wishart")
    n, d = m.plate("n"), m.plate("d")
    m.S = pw.Wishart(2, scale=pw.identity(d), over=d)
    m.x = pw.MultivariateNormal(0, precision=m.S, over=d, plates=n)
    with pytest.raises(PlatewrightError):
        m.learn({"x": RNG.normal(size=(rows, 4))})


def test_no_rows_and_no_groups_leave_the_prior() -> None:
    m = pw.Model("hierarchy")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.mu = pw.Normal(0, sd=1)
    m.th = pw.Normal(m.mu, sd=1, plates=g)
    m.y = pw.Normal(m.th, sd=1, plates=n)
    assert m.learn({"y": np.zeros(0), "g": np.zeros(0, dtype=int)}).log_evidence == 0.0


@pytest.mark.parametrize("scale, least", [("precision", 1), ("sd", 5), ("variance", 6)])
def test_a_block_says_how_many_rows_its_scale_lacks_too(scale: str, least: int) -> None:
    """Three flat weights and a flat scale: the refusal counts for both, and with that many rows all is well."""
    m = pw.Model("regression")
    n, c = m.plate("n"), m.plate("c")
    m.X, m.w, m.s = pw.Input(plates=(n, c)), pw.Flat(plates=c), pw.Flat(lower=0)
    m.y = pw.Normal(pw.dot(m.X, m.w, over=c), plates=n, **{scale: m.s})
    rng = np.random.default_rng(1)
    for rows in range(3):
        message = refused(m, {"X": rng.normal(size=(rows, 3)), "y": rng.normal(size=rows)})
        assert f"at least {3 - rows} more independent observations are needed for `w`" in message
        if scale != "precision":
            assert f"at least {least - rows} more observation" in message and "for `s`" in message
    enough = max(least, 4)
    check_identity(m.learn({"X": rng.normal(size=(enough, 3)), "y": rng.normal(size=enough)}))
