"""Law of levels that a row rules out: the fused pass gives the sum over all hidden values, without help of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import platewright as pw
from backends.test_c_em import assert_step, planned
from platewright.backends.c.compile import find_compiler
from platewright.errors import PlatewrightError
from platewright.run.hidden.native_em import NativeEM

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

ROWS = 700


def zero_inflated() -> pw.Model:
    m = pw.Model("zero inflated")
    n = m.plate("n")
    m.share, m.rate = pw.Beta(2, 2), pw.Gamma(2, rate=0.5)
    m.z = pw.Bernoulli(m.share, plates=n)
    m.y = pw.Poisson(m.rate * m.z, plates=n)
    return m


def occupied() -> pw.Model:
    m = pw.Model("occupied")
    n, visit = m.plate("n"), m.plate("visit", 3)
    m.share, m.seen = pw.Beta(2, 2), pw.Beta(2, 2, plates=visit)
    m.z = pw.Bernoulli(m.share, plates=n)
    m.y = pw.Bernoulli(m.seen * m.z, plates=(n, visit))
    return m


def alive() -> pw.Model:
    m = pw.Model("alive")
    animal = m.plate("animal")
    year = m.plate("year", ordered=True, within=animal)
    m.stays, m.seen = pw.Beta(2, 2), pw.Beta(2, 2)
    m.z = pw.Bernoulli(m.stays * m.lag("z"), start=1.0, plates=year)
    m.y = pw.Bernoulli(m.seen * m.z, plates=year)
    return m


def counts(seed: int) -> Any:
    generator = np.random.default_rng(seed)
    return generator.poisson(2.0, ROWS) * (generator.random(ROWS) < 0.5)


def test_counts_of_a_class_that_has_none_but_zeros() -> None:
    y = counts(0)
    em = NativeEM(planned(zero_inflated(), ("y",)), {"y": y}, {"n": ROWS, "z.levels": 2})
    assert em.native, em.left
    values = {"share": np.array(0.4), "rate": np.array(1.7)}
    assert_step(em, values)
    poisson = np.exp(y * np.log(1.7) - 1.7 - gammaln(y + 1))
    rows = np.log(0.4 * poisson + 0.6 * (y == 0)).sum()
    prior = np.log(6 * 0.4 * 0.6) + np.log(0.25 * 1.7) - 0.5 * 1.7
    assert em.step(values).objective == pytest.approx(rows + prior, rel=1e-12)
    wanted = np.where(y > 0, 1.0, 0.4 * poisson / (0.4 * poisson + 0.6))
    np.testing.assert_allclose(em.probabilities(values)["z.probability"][:, 1], wanted, rtol=1e-12)
    assert not em.by_numpy and not em.apart


def test_several_columns_rule_the_same_level_out() -> None:
    generator = np.random.default_rng(1)
    y = (generator.random(ROWS) < 0.6)[:, None] * (generator.random((ROWS, 3)) < [0.2, 0.5, 0.4])
    em = NativeEM(planned(occupied(), ("y",)), {"y": y.astype(float)}, {"n": ROWS, "visit": 3, "z.levels": 2})
    values = {"share": np.array(0.7), "seen": np.array([0.3, 0.4, 0.5])}
    assert_step(em, values)
    given = np.prod(np.where(y, values["seen"], 1 - values["seen"]), axis=1)
    rows = np.log(0.7 * given + 0.3 * ~y.any(axis=1)).sum()
    prior = np.log(6 * 0.7 * 0.3) + np.log(6 * values["seen"] * (1 - values["seen"])).sum()
    assert em.step(values).objective == pytest.approx(rows + prior, rel=1e-12)
    assert not em.by_numpy


def test_a_chain_whose_end_is_hidden() -> None:
    generator = np.random.default_rng(2)
    lives = np.cumprod(np.concatenate([np.ones((90, 1)), generator.random((90, 5)) < 0.8], axis=1), axis=1)
    y = lives * (generator.random((90, 6)) < 0.5)
    first = np.tile([1, 0, 0, 0, 0, 0], 90)
    em = NativeEM(
        planned(alive(), ("y",)), {"y": y.ravel(), "first@year": first}, {"year": 540, "animal": 90, "z.levels": 2}
    )
    assert em.native, em.left
    values = {"stays": np.array(0.75), "seen": np.array(0.4)}
    assert_step(em, values)
    whole = np.zeros(90)
    for last in range(6):  # alive up to that year
        given = np.where(y == 1, 0.4, 0.6)[:, : last + 1].prod(axis=1) * ~y[:, last + 1 :].any(axis=1)
        whole += 0.75**last * (0.25 if last < 5 else 1.0) * given
    prior = np.log(6 * 0.75 * 0.25) + np.log(6 * 0.4 * 0.6)
    assert em.step(values).objective == pytest.approx(np.log(whole).sum() + prior, rel=1e-12)
    assert not em.by_numpy


def test_a_row_that_no_level_allows_is_named() -> None:
    m = pw.Model("two kinds of nothing")
    n, k = m.plate("n"), m.plate("k", 2)
    m.share = pw.Dirichlet(2, over=k)
    m.z = pw.Categorical(m.share, plates=n)
    m.scale = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.scale * pw.array([0.0, 0.0], over=k)[m.z], plates=n)
    y = np.zeros(30_000)
    fit = m.learn({"y": y}, goal="map", backend="c")
    assert fit.log_likelihood == pytest.approx(0.0, abs=1e-9)
    y[20_000] = 1
    with pytest.raises(PlatewrightError, match="20000"):
        m.learn({"y": y}, goal="map", backend="c")


@pytest.mark.parametrize("least", [-0.5, 1e-60])
def test_functions_that_are_negative_or_tiny_are_left_to_numpy(least: float) -> None:
    plan = planned(zero_inflated(), ("y",))
    y = counts(3).astype(float)
    y[5] = least
    em = NativeEM(plan, {"y": y}, {"n": ROWS, "z.levels": 2})
    em.step({"share": np.array(0.4), "rate": np.array(1.7)})
    assert any("not finite" in reason for reason in em.by_numpy)
