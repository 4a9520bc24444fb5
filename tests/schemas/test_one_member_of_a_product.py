"""One product of unknowns leaves a Gaussian block whole but for one member."""

from __future__ import annotations

import platewright as pw
from platewright.schemas.blocks import ExactBlock
from platewright.schemas.gibbs import GibbsPlan


def _measured_with_error() -> pw.Model:
    m = pw.Model("measured_with_error")
    group, row = m.plate("group", 3), m.plate("row")
    for name in ("mu", "slope", "trend", "centre"):
        setattr(m, name, pw.Normal(0.0, sd=10.0))
    for name in ("of_u", "of_v", "of_x", "of_w", "of_y"):
        setattr(m, name, pw.Gamma(1.0, rate=1.0))
    m.g, m.z = pw.Input(plates=row, levels=group), pw.Input(plates=row)
    m.u = pw.Normal(0.0, precision=m.of_u, plates=group)
    m.v = pw.Normal(0.0, precision=m.of_v, plates=group)
    m.x = pw.Normal(m.centre, precision=m.of_x, plates=row)
    m.w = pw.Normal(m.x, precision=m.of_w, plates=row)
    mean = m.mu + (m.slope + m.v[m.g]) * m.x + m.trend * m.z + m.u[m.g]
    m.y = pw.Normal(mean, precision=m.of_y, plates=row)
    return m


def test_all_but_one_member_of_the_product_are_drawn_together() -> None:
    derived = _measured_with_error().derive({"g", "z", "w", "y"}, by="gibbs")
    assert isinstance(derived.plan, GibbsPlan)
    blocks = [set(block.variables) for block in derived.plan.blocks if isinstance(block, ExactBlock)]
    assert {"x"} in blocks and {"mu", "slope", "trend", "centre", "u", "v"} in blocks and len(blocks) == 3
    assert all(law.passed for law in derived.verify().laws)


def test_the_order_of_writing_does_not_keep_the_smaller_set() -> None:
    m = pw.Model("loading_first")
    row = m.plate("row")
    m.load = pw.Normal(0.0, sd=1.0)
    m.a, m.b = pw.Normal(0.0, sd=1.0, plates=row), pw.Normal(0.0, sd=1.0, plates=row)
    m.y = pw.Normal(m.load * m.a, sd=1.0, plates=row)
    m.z = pw.Normal(m.load * m.b, sd=1.0, plates=row)
    m.s = pw.Normal(m.a + m.b, sd=1.0, plates=row)
    derived = m.derive({"y", "z", "s"}, by="gibbs")
    assert isinstance(derived.plan, GibbsPlan)
    exact = [block.variables for block in derived.plan.blocks if isinstance(block, ExactBlock)]
    assert ("a", "b") in exact and ("load",) in exact
