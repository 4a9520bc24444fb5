"""Unknowns that fix each other are drawn together or not at all: moved in turn, none would ever leave its value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.errors import PlatewrightError


def two_counts(total: bool = True) -> pw.Model:
    m = pw.Model("two counts")
    m.rate = pw.Gamma(2, rate=0.5)
    m.a = pw.Poisson(m.rate)
    m.b = pw.Poisson(2.0)
    m.t = pw.Input()
    m.potential("held", pw.log(pw.equal(m.t, m.a + m.b) if total else pw.equal(m.t, m.a)))
    return m


@pytest.mark.parametrize("by", ["auto", "gibbs"])
def test_counts_with_a_known_sum_are_not_moved_in_turn(by: str) -> None:
    with pytest.raises(PlatewrightError, match=r"`held` holds where .* no element of `a`, `b` can move alone"):
        two_counts().learn({"t": 6.0}, by=by)


def test_elements_of_one_unknown_with_a_known_sum_are_not_moved_in_turn() -> None:
    text = "model { for (i in 1:3) { x[i] ~ dpois(l[i]); l[i] ~ dgamma(2, 0.5) } y ~ dsum(x[1], x[2], x[3]) }"
    m = pw.read_bugs(text, {"y": 10})
    with pytest.raises(PlatewrightError, match="no element of `x` can move alone"):
        m.learn(m.read_from.data())


def test_a_vector_of_counts_is_not_moved_element_by_element() -> None:
    m = pw.Model("thinned")
    k = m.plate("k", 3)
    m.p = pw.Dirichlet(1.0, over=k)
    m.x = pw.Multinomial(10, m.p, over=k)
    m.y = pw.Binomial(m.x, 0.5, plates=k)
    with pytest.raises(PlatewrightError, match="`x` is a vector of counts with a fixed sum"):
        m.learn({"y": [1, 2, 2]})


def test_a_real_unknown_that_an_equality_fixes_has_no_density() -> None:
    m = pw.Model("pinned")
    m.a, m.b = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.potential("held", pw.log(pw.equal(m.a + m.b, 1.0)))
    with pytest.raises(PlatewrightError, match="leaves no density of `a`"):
        m.learn({})


def test_counts_that_are_drawn_together_may_fix_each_other() -> None:
    m = pw.read_bugs("model { y ~ dsum(a, b) a ~ dbin(0.4, 3) b ~ dbin(0.5, 4) }", {"y": 4})
    fit = m.learn(m.read_from.data())
    a = np.arange(4)
    weights = stats.binom.pmf(a, 3, 0.4) * stats.binom.pmf(4 - a, 4, 0.5)
    expected = (a * weights).sum() / weights.sum()
    assert fit.log_evidence == pytest.approx(np.log(weights.sum()), abs=1e-12)
    assert fit["a"].mean == pytest.approx(expected, abs=0.05)
    assert fit["b"].mean == pytest.approx(4 - expected, abs=0.05)


def test_a_count_that_only_known_values_fix_stays_there() -> None:
    fit = two_counts(total=False).learn({"t": 6.0}, draws=200, chains=2)
    np.testing.assert_array_equal(fit["a"].values, 6)
