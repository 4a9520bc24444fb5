"""Rows that are worked on in blocks give the log densities and gradients of NumPy, for few rows and for many."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.support import BLOCK
from platewright.backends.c_gibbs.gibbs import GibbsSource, gibbs_source
from platewright.family import Array
from platewright.graph.graph import read_graph
from platewright.run.samplers.block_density import BlockDensity
from platewright.run.samplers.native_gibbs import NativeGibbs, compiled_gibbs, integer_names
from platewright.schemas.blocks import HamiltonianBlock
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas.small_instance import Case, instance
from schemas.test_conditional_ratio import EVERY, plan_of
from schemas.test_native_conditionals import check_case, gap, needs_compiler

LONG = 1000
QUICK = frozenset(("logistic_weights", "choices", "random_effects", "abilities", "volatility", "pumps"))


def source_in_blocks(plan: GibbsPlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> GibbsSource:
    """As for long plates, whatever their sizes are."""
    return gibbs_source(plan, integer_names(columns), (), dict.fromkeys(sizes, LONG))


def built_in_blocks(plan: GibbsPlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> NativeGibbs:
    return compiled_gibbs(plan, columns, sizes, source_in_blocks(plan, columns, sizes))


def has_blocks(case: Case) -> bool:
    small = instance(case, 0)
    return "+= BLOCK" in source_in_blocks(plan_of(case), small.columns, small.sizes).body


def marked(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.slow])


@needs_compiler
@pytest.mark.parametrize("case", [marked(case) for case in EVERY])
def test_blocks_of_rows_compute_the_densities_of_numpy(case: Case) -> None:
    if not has_blocks(case):
        pytest.skip("no rows of this model go in blocks")
    check_case(case, 2, built_in_blocks)


def many_rows() -> tuple[pw.Model, dict[str, Array]]:
    """Sums over columns, levels of groups, choices among several, two plates, functions without vectors."""
    m = pw.Model("many rows")
    n, d, g, k = m.plate("n"), m.plate("d"), m.plate("g", 4), m.plate("k", 3)
    m.x = pw.Input(plates=(n, d))
    m.group = pw.Input(plates=n, levels=g)
    m.w = pw.Normal(0, sd=1, plates=d)
    m.e = pw.Normal(0, sd=1, plates=g)
    m.b = pw.Normal(0, sd=1, plates=(d, k))
    m.r = pw.Gamma(2, rate=1)
    eta = pw.dot(m.x, m.w, over=d) + m.e[m.group]
    m.y = pw.Bernoulli(logit=eta, plates=n)
    m.c = pw.Categorical(logits=pw.dot(m.x, m.b, over=d), over=k, plates=n)
    m.t = pw.NegativeBinomial(m.r, pw.logistic(eta), plates=n)
    m.z = pw.Bernoulli(logit=pw.tanh(m.w[0] * m.x) + m.r, plates=(n, d))
    generator = np.random.default_rng(0)
    rows = 2 * BLOCK + 88
    return m, {
        "x": generator.normal(size=(rows, 3)),
        "group": generator.integers(0, 4, rows),
        "y": generator.integers(0, 2, rows),
        "c": generator.integers(0, 3, rows),
        "t": generator.integers(0, 6, rows),
        "z": generator.integers(0, 2, (rows, 3)),
    }


@needs_compiler
def test_more_rows_than_a_block_are_added_up_as_numpy_does() -> None:
    model, columns = many_rows()
    plan = plan_gibbs(read_graph(model, tuple(columns)), "posterior")
    assert isinstance(plan, GibbsPlan)
    sizes = {"n": len(columns["y"]), "d": 3, "g": 4, "k": 3}
    start = {"w": np.ones(3), "e": np.ones(4), "b": np.ones((3, 3)), "r": np.array(1.0)}
    native = compiled_gibbs(plan, columns, sizes)
    assert native.source.body.count("+= BLOCK") >= 2
    for number, block in enumerate(plan.blocks):
        assert isinstance(block, HamiltonianBlock)
        density = BlockDensity(plan.graph, block.variables, block.factors, block.slopes, sizes, block.scaled)
        density.given({**columns, **start})
        chain = native.chain(start, np.random.default_rng(0))
        tried = [np.random.default_rng(seed).normal(size=density.coordinates.size) for seed in range(3)]
        expected = [density.with_gradient(u) for u in tried]
        found = [chain.gradients(number, u) for u in tried]
        for one in range(2):
            wanted = expected[one][0] - expected[one + 1][0]
            assert found[one][0] - found[one + 1][0] == pytest.approx(wanted, rel=1e-10)
        for (_, slope), other in zip(expected, found, strict=True):
            assert gap(other[1 : 1 + len(slope)], slope) < 1e-10


@needs_compiler
def test_rows_in_blocks_give_the_same_bits_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    m = pw.Model("logistic regression")
    n, d = m.plate("n"), m.plate("d")
    m.x = pw.Input(plates=(n, d))
    m.w = pw.Normal(0, sd=1, plates=d)
    m.y = pw.Bernoulli(logit=pw.dot(m.x, m.w, over=d), plates=n)
    generator = np.random.default_rng(0)
    rows = BLOCK + 40
    data = {"x": generator.normal(size=(rows, 2)), "y": generator.integers(0, 2, rows)}
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("PLATEWRIGHT_THREADS", threads)
        fit = m.learn(data, by="gibbs", backend="c", chains=2, draws=300, warm_up=60)
        found.append(fit.chains["w"])
    np.testing.assert_array_equal(found[0], found[1])
