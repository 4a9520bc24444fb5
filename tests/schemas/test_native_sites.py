"""Sites in C: their log weights are ratios of the joint, sweeps keep the joint, and what has no C is named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.expression import Unprintable
from platewright.backends.c_gibbs.gibbs import gibbs_source
from platewright.run.samplers.native_gibbs import NativeGibbs, compiled_gibbs, gibbs_in_memory, integer_names
from platewright.schemas.gibbs import SiteBlock
from schemas.joint_distribution import compare
from schemas.small_instance import Case, instance, log_joint
from schemas.test_conditional_ratio import plan_of
from schemas.test_native_conditionals import needs_compiler
from schemas.test_native_joint_distribution import Sweeper
from schemas.test_sites import TIED, image, neighbours

TOLERANCE = 1e-10
Builder = Callable[..., NativeGibbs]


def occupied() -> pw.Model:
    """Places that are settled or left from year to year, seen by chance: chains side by side, told apart by codes."""
    m = pw.Model("occupancy")
    place, year, visit = m.plate("place", 3), m.plate("year", 3, ordered=True), m.plate("visit")
    m.where, m.when = pw.Input(plates=visit, levels=place), pw.Input(plates=visit, levels=year)
    m.stay, m.come, m.seen = pw.Beta(3, 2), pw.Beta(2, 3), pw.Beta(2, 2)
    before = m.lag("z")
    m.z = pw.Bernoulli(before * m.stay + (1 - before) * m.come, start=pw.Bernoulli(0.4), plates=(place, year))
    m.y = pw.Bernoulli(0.1 + 0.8 * m.z[m.where, m.when] * m.seen, plates=visit)
    return m


def coloured() -> pw.Model:
    """Three colours on a ring: every row of the tie looks at two sites."""
    m = pw.Model("ring of colours")
    site, colour = m.plate("site", 5), m.plate("colour", 3)
    m.after = pw.Input(plates=site, levels=site)
    m.x = pw.Undirected(levels=colour, plates=site)
    m.potential("tie", 0.9 * pw.equal(m.x, m.x[m.after]) + 0.2 * m.x)
    m.y = pw.Normal(1.0 * m.x, sd=1.2, plates=site)
    return m


def bipartite() -> pw.Model:
    """Hidden units below seen ones, tied to each other: the rows of a tie have an axis that its sites have not."""
    m = pw.Model("bipartite")
    row, seen, unit = m.plate("row"), m.plate("seen", 3), m.plate("unit", 2)
    m.x = pw.Undirected(levels=2, plates=(row, seen))
    m.y = pw.Undirected(levels=2, plates=(row, unit))
    m.potential("tie", pw.array([[1.0, -1.0], [0.5, 0.5], [-1.0, 2.0]], over=(seen, unit)) * m.x * m.y)
    m.after = pw.Input(plates=unit, levels=unit)
    m.potential("near", 0.7 * m.y * m.y[m.after])  # without it each unit stands alone given what is seen
    return m


a, b = neighbours(3)
CASES = (
    Case("occupied", occupied, ("y",), {"visit": 8}),
    Case("coloured", coloured, ("y",), {}, inputs={"after": np.array([1, 2, 3, 4, 0])}),
    TIED,
    Case("bipartite", bipartite, ("x",), {"row": 2}, inputs={"after": np.array([1, 0])}),
    Case("image", lambda: image(side=3), ("y",), {"edge": len(a)}, inputs={"a": a, "b": b}),
)


def check_weights(case: Case, build: Builder = compiled_gibbs) -> None:
    plan = plan_of(case)
    compared = 0
    for seed in range(3):
        small = instance(case, seed)
        chain = build(plan, small.columns, small.sizes).chain(small.hidden, np.random.default_rng(seed))
        for number, block in enumerate(plan.blocks):
            if not isinstance(block, SiteBlock):
                continue
            (name,) = block.variables
            levels = 3 if case.name == "coloured" else 2
            found = chain.log_weights(number, levels).reshape(-1, levels)
            state = np.array(small.values[name])
            np.testing.assert_array_equal(chain.arrays[name], state)  # looking leaves it as it was
            for site, weights in enumerate(found):
                joint = []
                for level in range(levels):
                    tried = state.copy()
                    tried.flat[site] = level
                    joint.append(log_joint(plan.factors, {**small.values, name: tried}, small.sizes))
                assert np.max(np.abs(np.diff(weights) - np.diff(joint))) < TOLERANCE * (1 + np.max(np.abs(joint)))
                compared += 1
    assert compared


@needs_compiler
@pytest.mark.parametrize("build", [compiled_gibbs, gibbs_in_memory], ids=["compiled", "in_memory"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_weights_of_a_site_in_c_are_the_joint_up_to_a_constant(case: Case, build: Builder) -> None:
    check_weights(case, build)


@needs_compiler
@pytest.mark.parametrize("build", [compiled_gibbs, gibbs_in_memory], ids=["compiled", "in_memory"])
def test_a_sweep_over_sites_in_c_keeps_the_joint_distribution(build: Builder) -> None:
    found = compare(CASES[0], Sweeper(build))
    assert found.passed, found


def follows() -> pw.Model:
    m = pw.Model("a site that decides which site is looked at")
    n = m.plate("n", 2)
    other = m.plate("other", like=n)
    m.z = pw.Categorical(pw.array([0.4, 0.6], over=other), plates=n, over=other)
    m.y = pw.Normal(1.0 * m.z[m.z], sd=0.8, plates=n)
    return m


def test_a_site_that_decides_which_site_is_looked_at_has_no_c_and_says_so() -> None:
    case = Case("follows", follows, ("y",), {})
    with pytest.raises(Unprintable, match="decides in `y` which of its sites is looked at"):
        gibbs_source(plan_of(case), integer_names(instance(case).columns))
