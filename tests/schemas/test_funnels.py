"""A scale and the few unknowns that it scales are moved together too, though each has a closed form given the other."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.run.samplers.diagnosing import array_stats
from platewright.schemas.blocks import ScaleBlock
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from platewright.schemas.rough import MOST_IN_A_FUNNEL


def groups(count: int | None, shared: bool = False) -> pw.Model:
    """Groups with a scale of their own, or with that of the rows: then all is drawn at once."""
    m = pw.Model("groups")
    g, n = m.plate("g", size=count), m.plate("n")
    m.within = pw.Gamma(3, rate=2)
    m.between = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, precision=m.within if shared else m.between, plates=g)
    m.y = pw.Normal(m.mu, precision=m.within, plates=(g, n))
    m.z = pw.Normal(0, precision=m.between, plates=n)
    return m


def along(model: pw.Model) -> list[tuple[str, ...]]:
    plan = plan_gibbs(read_graph(model, ("y", "z")), "posterior")
    assert isinstance(plan, GibbsPlan)
    return [block.variables for block in plan.blocks if isinstance(block, ScaleBlock)]


@pytest.mark.parametrize("count", [2, MOST_IN_A_FUNNEL])
def test_few_are_moved_along_their_scale(count: int) -> None:
    assert along(groups(count)) == [("between", "mu")]


@pytest.mark.parametrize("count", [1, MOST_IN_A_FUNNEL + 1, None])
def test_one_or_many_or_an_unknown_number_are_not(count: int | None) -> None:
    assert along(groups(count)) == []


def test_what_is_drawn_with_its_scale_is_not_moved_again() -> None:
    assert along(groups(3, shared=True)) == []


def test_weak_data_about_few_groups_mix() -> None:
    """The scale of six groups that hardly differ: drawn in turn, 4,000 sweeps are worth about 70 draws of it."""
    m = pw.Model("weak")
    g, n = m.plate("g", size=6), m.plate("n")
    m.between, m.within = pw.Gamma(0.001, rate=0.001), pw.Gamma(0.001, rate=0.001)
    m.mu = pw.Normal(0, precision=m.between, plates=g)
    m.y = pw.Normal(m.mu, precision=m.within, plates=(g, n))
    y = np.random.default_rng(1).normal(size=(6, 5)) * 50 + np.linspace(-40, 40, 6)[:, None]
    fit = m.learn({"y": y}, by="gibbs", chains=4, draws=1000, warm_up=500, seed=1)
    assert "along their scale" in fit.how
    spread = np.log(fit.chains["between"])
    assert float(array_stats().ess(spread, chain_axis=0, draw_axis=1, method="mean")) > 1000
