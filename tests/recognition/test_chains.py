"""Which Gaussian unknowns are a chain, by the rows that they meet in; near misses are one problem for all steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.program.statements import Triangularise
from platewright.schema import Plan
from platewright.schemas.exact import plan_exact

Blocks = list[tuple[tuple[str, ...], tuple[str, ...], str | None]]


def blocks_of(model: pw.Model, known: tuple[str, ...], chains: bool = True) -> Blocks:
    """Variables, batch and steps of each elimination."""
    plan = plan_exact(read_graph(model, known), "posterior", chains=chains)
    assert isinstance(plan, Plan), plan
    return [
        (
            tuple(column.variable for column in step.columns[: step.eliminated]),
            tuple(index.plate for index in step.batch),
            step.along,
        )
        for step in plan.program.body
        if isinstance(step, Triangularise)
    ]


def _level(step_of: Callable[[pw.Model], object] = lambda m: m.lag("z")) -> tuple[pw.Model, pw.Plate]:
    m = pw.Model("level")
    t = m.plate("t", ordered=True)
    m.z = pw.Normal(step_of(m), sd=1, start=0.0, plates=t)
    return m, t


def test_a_level_is_a_chain() -> None:
    m, t = _level()
    m.y = pw.Normal(m.z, sd=1, plates=t)
    assert blocks_of(m, ("y",)) == [(("z",), (), "t")]
    assert blocks_of(m, ("y",), chains=False) == [(("z",), (), None)]


def test_weights_stay_outside_of_a_chain_in_whatever_order_they_are_written() -> None:
    for first in (True, False):
        m = pw.Model("level with weights")
        t, j = m.plate("t", ordered=True), m.plate("j")
        m.x = pw.Input(plates=(t, j))
        if first:
            m.w = pw.Normal(0, sd=1, plates=j)
        m.z = pw.Normal(m.lag("z"), sd=1, start=0.0, plates=t)
        if not first:
            m.w = pw.Normal(0, sd=1, plates=j)
        m.y = pw.Normal(m.z + pw.dot(m.x, m.w, over=j), sd=1, plates=t)
        assert blocks_of(m, ("y", "x")) == [(("z",), (), "t"), (("w",), (), None)]


def test_what_meets_a_chain_at_each_step_alone_goes_first() -> None:
    m, t = _level()
    m.e = pw.Normal(0, sd=2, plates=t)
    m.y = pw.Normal(m.z + m.e, sd=1, plates=t)
    assert set(blocks_of(m, ("y",))) in (
        {(("e",), ("t",), None), (("z",), (), "t")},
        {(("z", "e"), (), "t")},
    )


def test_what_is_unknown_at_a_step_and_the_one_before_is_part_of_the_state() -> None:
    m = pw.Model("shocks")
    t = m.plate("t", ordered=True)
    m.a = pw.Normal(0, sd=1, plates=t)
    m.z = pw.Normal(0.5 * m.lag("z") + m.a, sd=1, start=0.0, plates=t)
    m.y = pw.Normal(m.z, sd=1, plates=t)
    assert blocks_of(m, ("y",)) == [(("a", "z"), (), "t")]


def test_chains_side_by_side_fall_apart() -> None:
    m = pw.Model("panel")
    s, t = m.plate("s"), m.plate("t", ordered=True)
    m.z = pw.Normal(m.lag("z"), sd=1, start=0.0, plates=(s, t))
    m.y = pw.Normal(m.z, sd=1, plates=(s, t))
    assert blocks_of(m, ("y",)) == [(("z",), ("s",), "t")]


def test_steps_that_meet_by_a_code_are_no_chain() -> None:
    m, t = _level()
    n = m.plate("n")
    m.one = pw.Input(plates=n, levels=t)
    m.two = pw.Input(plates=n, levels=t)
    m.y = pw.Normal(m.z[m.one] - m.z[m.two], sd=1, plates=n)
    assert blocks_of(m, ("y",)) == [(("z",), (), None)]


def test_a_step_that_all_rows_look_at_is_no_chain() -> None:
    m, t = _level()
    m.y = pw.Normal(m.z + m.z[0], sd=1, plates=t)
    assert blocks_of(m, ("y",)) == [(("z",), (), None)]


def test_a_sum_over_all_steps_is_no_chain() -> None:
    m, t = _level()
    m.total = pw.Normal(pw.sum(m.z, over=t), sd=1)
    assert blocks_of(m, ("total",)) == [(("z",), (), None)]


def test_without_a_step_back_steps_are_independent() -> None:
    m, t = _level(lambda m: 0.0 * m.lag("z"))
    m.y = pw.Normal(m.z, sd=1, plates=t)
    assert all(along is None for *_, along in blocks_of(m, ("y",)))


@pytest.mark.parametrize("steps", [1, 2, 7, 12])
def test_a_chain_is_learned_as_one_problem_would_be(steps: int) -> None:
    def model(at_once: bool) -> pw.Model:
        m = pw.Model("level with weights")
        t, j = m.plate("t", ordered=True), m.plate("j", 2)
        m.x = pw.Input(plates=(t, j))
        m.zero = pw.Input()
        m.tau = pw.Gamma(3, rate=2)
        m.w = pw.Normal(0, precision=0.5 * m.tau, plates=j)
        m.z = pw.Normal(0.9 * m.lag("z"), precision=2 * m.tau, start=0.0, plates=t)
        # where all rows look at the first step, were it with weight zero, there is no chain
        seen = m.z + m.zero * m.z[0] if at_once else m.z + m.zero
        m.y = pw.Normal(seen + pw.dot(m.x, m.w, over=j), precision=m.tau, plates=t)
        return m

    generator = np.random.default_rng(steps)
    data = {"x": generator.normal(size=(steps, 2)), "y": 3 + generator.normal(size=steps)}
    chain, whole = (model(at_once).learn({**data, "zero": 0.0}) for at_once in (False, True))
    # Sizes are known: of one or two steps there is nothing to gain by going step by step.
    assert steps <= 2 or any(isinstance(s, Triangularise) and s.along for s in chain.plan.program.body)
    assert not any(isinstance(s, Triangularise) and s.along for s in whole.plan.program.body)
    assert chain.log_evidence == pytest.approx(whole.log_evidence, rel=1e-10)
    for name in ("z", "w"):
        np.testing.assert_allclose(chain[name].mean, whole[name].mean, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(chain[name].sd, whole[name].sd, rtol=1e-8)
