"""Dangers that a model holds whatever the data are told with its plan."""

from __future__ import annotations

import pytest

import platewright as pw
from platewright.errors import ImproperPosterior


def mixture(flat: bool) -> pw.Model:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.share = pw.Dirichlet(1, over=k)
    m.tau = pw.Flat(lower=0, plates=k) if flat else pw.Gamma(2, rate=1, plates=k)
    m.mu = pw.Flat(plates=k)
    m.z = pw.Categorical(m.share, plates=n)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def curve() -> pw.Model:
    m = pw.Model("curve")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Flat(), pw.Flat()
    m.y = pw.Bernoulli(logit=m.a + m.b * m.x, plates=n)
    return m


@pytest.mark.parametrize(("by", "goal"), [("em", "map"), ("gibbs", "posterior"), ("mean-field", "posterior")])
def test_a_scale_that_may_shrink_is_told_at_plan_time(by: str, goal: str) -> None:
    plan = mixture(flat=True).derive(["y"], by=by, goal=goal)
    assert any("`tau` is picked by the hidden `z`" in caution and "unbounded" in caution for caution in plan.cautions)
    assert "take care:" in plan.explain()
    assert not any("unbounded" in caution for caution in mixture(flat=False).derive(["y"], by=by, goal=goal).cautions)


def test_a_proper_model_needs_no_caution() -> None:
    m = pw.Model("coin")
    m.p = pw.Beta(1, 1)
    m.x = pw.Bernoulli(m.p, plates=m.plate("n"))
    for by in ("exact", "gibbs"):
        plan = m.derive(["x"], by=by)
        assert plan.cautions == () and "take care" not in plan.explain()


def test_separated_outcomes_are_told_before_and_refused_after() -> None:
    m = curve()
    assert "`a`, `b` have no proper prior" in m.derive(["y"]).cautions[0]
    mixed = m.learn({"x": [-2.0, -1.0, 1.0, 2.0], "y": [0, 1, 0, 1]}, chains=2, draws=100, warm_up=100)
    assert "take care: `a`, `b` have no proper prior" in str(mixed.summary())
    with pytest.raises(ImproperPosterior, match="ran away"):
        m.learn({"x": [-2.0, -1.0, 1.0, 2.0], "y": [0, 0, 1, 1]}, chains=2, draws=200, warm_up=200)


def test_a_censored_cell_has_the_mass_of_its_interval() -> None:
    m = pw.Model("lifetimes")
    n = m.plate("n")
    m.end = pw.Input(plates=n)
    m.r = pw.Gamma(1, rate=1)
    m.t = pw.Censored(pw.Exponential(rate=m.r), lower=m.end, plates=n)
    assert m.derive(by="gibbs").cautions == ()
