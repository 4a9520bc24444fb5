"""The metric of Hamiltonian blocks: against full tables, and what is learned; and the climb before the first path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import platewright as pw
from platewright.backends.kernels.climb import climbed
from platewright.backends.kernels.coordinates import Joined, Plain
from platewright.backends.kernels.curvature import Bends, Split, bends_at, corrected, curvature_from, mean_of, split_of
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.metric import Curvature, Metric
from platewright.family import Array
from platewright.run.samplers.block_density import BlockDensity
from platewright.run.samplers.native_gibbs import compiled_gibbs
from platewright.run.samplers.native_gibbs_chains import Counts, run_chains
from platewright.run.samplers.native_gibbs_moves import AT, NativeHamiltonian
from platewright.schemas.blocks import HamiltonianBlock
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas.coupled import COUPLED
from schemas.small_instance import Case, instance
from schemas.test_native_conditionals import needs_compiler


def full(found: Curvature) -> Array:
    """The precision as one table, in the order of the coordinates."""
    count, size = len(found.leaves), len(found.order)
    table = np.zeros((size, size))
    table[:count, :count] = np.diag(found.leaves)
    for leaf in range(count):
        for place, value in zip(found.ties[leaf], found.across[leaf], strict=True):
            table[leaf, count + place] += value
            table[count + place, leaf] += value
    table[count:, count:] = found.trunk
    back = np.argsort(found.order)
    return table[np.ix_(back, back)]


def some_arrow(generator: np.random.Generator) -> Curvature:
    """Five leaves that meet some of three others, out of order."""
    across = generator.normal(size=(5, 3)) * (generator.random((5, 3)) < 0.6)
    leaves = generator.uniform(1, 2, 5)
    trunk = np.eye(3) + across.T @ (across / leaves[:, None])
    split = Split(generator.permutation(8), 5)
    return curvature_from(Bends(leaves, across, trunk), split, np.zeros(8))


def check_arrow() -> None:
    generator = np.random.default_rng(2)
    found, more = some_arrow(generator), generator.uniform(0, 1, 8)
    check_root(found.metric(more), full(found) + np.diag(more), generator)
    stretched = replace(found, free=np.full(8, 0.3), fixed=np.full(8, 1.7))
    fixed = generator.uniform(0, 9, 8)
    sizes = np.sqrt((0.3 + fixed) / 2.0)
    check_root(stretched.metric_given(fixed), sizes[:, None] * full(found) * sizes, generator)


def check_root(metric: Metric, wanted: Array, generator: np.random.Generator) -> None:
    root = np.array([metric.along(r) for r in np.eye(8)]).T
    np.testing.assert_allclose(root @ root.T @ wanted, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(np.array([metric.back(e) for e in np.eye(8)]).T, root.T, atol=1e-13)
    u = generator.normal(size=(4, 8))
    np.testing.assert_allclose(np.hstack(metric.whitened(u)), np.linalg.solve(root, u.T).T, atol=1e-12)


def test_a_metric_of_leaves_and_trunk_is_that_of_the_full_table() -> None:
    check_arrow()


def block_of(case: Case) -> HamiltonianBlock | None:
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    return next((block for block in plan.blocks if isinstance(block, HamiltonianBlock)), None)


MOVED = [case for case in COUPLED if block_of(case) is not None]


def density_of(case: Case, seed: int) -> tuple[HamiltonianBlock, BlockDensity, Array]:
    """The density of a block at a draw of the model."""
    block, small = block_of(case), instance(case, seed)
    assert block is not None
    density = BlockDensity(small.graph, block.variables, block.factors, block.slopes, small.sizes, block.scaled)
    density.given(small.values)
    return block, density, density.coordinates.free(small.values)


def check_leaves(case: Case) -> int:
    """Second derivatives between leaves are nothing, and a look finds all others."""
    block, density, u = density_of(case, 0)
    every = split_of(density.coordinates)
    table = bends_at(density, u, every, np.random.default_rng(0)).trunk
    split = split_of(density.coordinates, block.leaves)
    inside = split.order[: split.leaves]
    found = bends_at(density, u, split, np.random.default_rng(0))
    size = np.abs(table).max()
    between = table[np.ix_(inside, inside)]
    np.testing.assert_allclose(between - np.diag(np.diag(between)), 0, atol=1e-5 * size)
    np.testing.assert_allclose(found.leaves, np.diag(between), atol=1e-5 * size)
    np.testing.assert_allclose(found.across, table[np.ix_(inside, split.order[split.leaves :])], atol=1e-5 * size)
    return split.leaves


@pytest.mark.parametrize("case", MOVED, ids=str)
def test_leaves_do_not_meet(case: Case) -> None:
    check_leaves(case)


def check_all_leaves() -> None:
    assert sum(check_leaves(case) > 0 for case in MOVED) >= 5


def test_there_are_leaves() -> None:
    check_all_leaves()


def test_a_curvature_with_leaves_is_that_of_all_second_derivatives() -> None:
    case = next(case for case in COUPLED if case.name == "conjugate_scale")
    block, density, u = density_of(case, 1)
    split = split_of(density.coordinates, block.leaves)
    assert 0 < split.leaves < len(u)
    fixed = density.known_precision()
    generator = np.random.default_rng(0)
    wanted = bends_at(density, u, split_of(density.coordinates), generator).trunk
    found = curvature_from(bends_at(density, u, split, generator), split, fixed)
    np.testing.assert_allclose(full(found), wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.free + fixed, np.diag(wanted), rtol=1e-4, atol=1e-4)


def check_corrected(leaves: int) -> None:
    """Looks at a wrong curvature are put right by draws: those of leaves by themselves, those of a trunk together."""
    generator = np.random.default_rng(5)
    count = 20_000
    right = some_arrow(generator)
    if not leaves:
        split = Split(np.arange(3), 0)
        root = np.linalg.cholesky(np.array([[2.0, 0.9, 0.0], [0.9, 1.0, 0.2], [0.0, 0.2, 3.0]]))
        draws = np.linalg.solve(root.T, generator.standard_normal((3, count))).T
        found = corrected(Bends(np.zeros(0), np.zeros((0, 3)), np.eye(3)), split, draws, np.zeros(3))
        np.testing.assert_allclose(full(found), root @ root.T, atol=0.15)
        return
    metric = right.metric()
    draws = np.array([metric.along(r) for r in generator.standard_normal((count, 8))])
    across = np.zeros((5, 3))
    np.put_along_axis(across, right.ties, right.across, axis=1)
    wrong = Bends(4 * right.leaves, 4 * across, 4 * right.trunk)
    found = corrected(wrong, Split(right.order, 5), draws, np.zeros(8))
    np.testing.assert_allclose(full(found), full(right), atol=0.25)


@pytest.mark.parametrize("leaves", [0, 5])
def test_draws_put_a_curvature_right(leaves: int) -> None:
    check_corrected(leaves)


def test_few_draws_of_what_was_expected_change_nothing() -> None:
    generator = np.random.default_rng(3)
    bends, split = Bends(np.zeros(0), np.zeros((0, 20)), np.eye(20)), Split(np.arange(20), 0)
    found = corrected(bends, split, generator.standard_normal((30, 20)), np.zeros(20))
    assert np.linalg.cond(found.trunk) < 1.5  # the spread of 30 draws itself has about 100


def counts_of_groups() -> pw.Model:
    """Counts with a covariate up to 1000, so that most starts are out of all bounds."""
    m = pw.Model("counts with a wide covariate")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.a, m.b = pw.Normal(0, sd=100), pw.Normal(0, sd=100)
    m.e = pw.Normal(0, precision=m.tau, plates=n)
    m.y = pw.Poisson(pw.exp(m.a + m.b * m.x + m.e), plates=n)
    return m


X = np.array([0.0, 10, 33, 100, 333, 1000] * 2)
Y = np.array([15, 16, 16, 27, 33, 20, 21, 18, 26, 41, 38, 27])


def test_wide_covariates_are_sampled_from_any_start() -> None:
    for backend in ("numpy", "c"):
        fit = counts_of_groups().learn({"x": X, "y": Y}, draws=200, warm_up=200, seed=3, backend=backend)
        for name in ("a", "b"):
            chains = fit.chains[name]
            spread = chains.std(axis=1).mean()
            assert np.ptp(chains.mean(axis=1)) < 1.5 * spread


def hill(u: Array) -> tuple[float, Array]:
    """Three coordinates with a top at (300, 2, 0), steep and flat, of a density out of all bounds at the start."""
    gap = u - (300.0, 2.0, 0.0)
    wall = np.exp(-gap[0])
    slope = np.array([-1e-2 * gap[0] + wall, -1e4 * gap[1], -gap[2]])
    return float(-0.5e-2 * gap[0] ** 2 - wall - 0.5e4 * gap[1] ** 2 - 0.5 * gap[2] ** 2), slope


class Hill(Density):
    """A density by hand."""

    def __init__(self) -> None:
        super().__init__(Joined([Plain("u", (3,))]), lambda _: 0.0)

    def with_gradient(self, u: Array) -> tuple[float, Array]:
        return hill(u)

    def log_density(self, u: Array) -> float:
        return hill(u)[0]

    def known_precision(self) -> Array:
        return np.zeros(3)


def test_a_climb_ends_near_the_top_and_holds_what_it_is_told() -> None:
    check_climb()


def check_climb() -> None:
    start = np.array([-20.0, -7.0, 9.0])
    density = Hill()
    assert hill(start)[0] < -1e138
    split, generator = split_of(density.coordinates), np.random.default_rng(0)
    found = climbed(density, start, np.array([False, False, True]), split, generator)
    assert found[2] == 9.0
    top = hill(np.array([300.0, 2.0, 9.0]))[0]
    assert top - 4 < hill(found)[0]
    near = np.array([300.0, 2.0, 0.5])
    np.testing.assert_array_equal(climbed(density, near, np.zeros(3, dtype=bool), split, generator), near)


def test_scales_are_held() -> None:
    held = {case.name: block_of(case).held for case in MOVED}  # type: ignore[union-attr]
    assert held["gamma_both"] == ("shape", "level")
    m = pw.Model("a scale without ends")
    n = m.plate("n", 5)
    m.log_scale, m.middle = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.e = pw.StudentT(5, mean=m.middle, scale=pw.exp(m.log_scale), plates=n)
    m.y = pw.Poisson(pw.exp(m.e), plates=n)
    block = block_of(Case("scale", lambda: m, ("y",), {}))
    assert block is not None and "log_scale" in block.variables and block.held == ("log_scale",)


@needs_compiler
def test_few_steps_do_where_effects_of_groups_trade_off_with_an_intercept() -> None:
    """Eighty effects and two weights that are almost one: without their curvature paths have hundreds of steps."""
    m = pw.Model("effects of groups with two weights")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.a, m.b = pw.Normal(0, sd=10), pw.Normal(0, sd=10)
    m.e = pw.Normal(0, precision=m.tau, plates=n)
    m.y = pw.Poisson(pw.exp(m.a + m.b * m.x + m.e), plates=n)
    generator = np.random.default_rng(1)
    x = 3 + 0.1 * generator.normal(size=80)
    y = generator.poisson(np.exp(0.5 * x + generator.normal(size=80)))
    plan = plan_gibbs(Case("effects", lambda: m, ("y",), {}).graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    native = compiled_gibbs(plan, {"x": x, "y": y}, {"n": 80})
    numbers = []
    made = NativeHamiltonian.end_warm_up

    def kept(self: NativeHamiltonian) -> None:
        made(self)
        numbers.append(self.numbers)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NativeHamiltonian, "end_warm_up", kept)
        start = {"tau": np.array(1.0), "a": np.array(0.0), "b": np.array(0.0), "e": np.zeros(80)}
        run_chains(native, Counts(2, 50, 300, 1), 0, 1, lambda _: start, lambda _, __: None, lambda _: None)
    for found in numbers:
        assert found[AT["STEPS"]] <= 31 and found[AT["STEP"]] > 0.15


def check_looks() -> None:
    """Effects about a mean, seen while their precision is small, moderate and large: as if it were moderate."""

    def seen(precision: float) -> Array:
        return np.array([[precision, -precision], [-precision, precision]])

    split, rests = Split(np.array([1, 0]), 1), [np.array([0.0, size]) for size in (0.1, 1.0, 10.0)]
    looks = [
        Bends(np.array([table[1, 1]]), table[1:, :1], table[:1, :1]) for table in (seen(rest[1]) for rest in rests)
    ]
    found = mean_of(looks, split, rests, np.array([0.0, 1.0]))
    np.testing.assert_allclose(found.leaves, 1.0, rtol=1e-2)
    np.testing.assert_allclose(found.across, np.mean([-np.sqrt(rest[1]) for rest in rests]), rtol=1e-2)


def test_tight_looks_do_not_outweigh_the_others() -> None:
    check_looks()
