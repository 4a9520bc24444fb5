"""Undirected and tied discrete unknowns, site by site: against the sum over all states, and by ratios of the joint."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.backends.kernels.sites import SiteMover, greedy_colours
from platewright.errors import NotSolvable
from platewright.family import Array
from platewright.run.checks.verifying_moves import Moved, sampler_at
from platewright.run.samplers.gibbs import Sampler
from platewright.schemas.gibbs import GibbsPlan, SiteBlock, SliceBlock, plan_gibbs
from schemas.small_instance import Case, Instance, instance, log_joint

SIDE = 4
LEVEL = 1e-5


def neighbours(side: int = SIDE) -> tuple[Array, Array]:
    """The edges of a square grid."""
    grid = np.arange(side * side).reshape(side, side)
    return np.r_[grid[:, :-1].ravel(), grid[:-1].ravel()], np.r_[grid[:, 1:].ravel(), grid[1:].ravel()]


def image(coupling: object = 0.6, side: int = SIDE) -> pw.Model:
    """A black and white picture seen with noise: an Ising model with a field from the data."""
    m = pw.Model("Ising image")
    site, edge = m.plate("site", side * side), m.plate("edge")
    m.a, m.b = pw.Input(plates=edge, levels=site), pw.Input(plates=edge, levels=site)
    m.x = pw.Undirected(levels=2, plates=site)
    m.potential("tie", coupling * pw.equal(m.x[m.a], m.x[m.b]))
    m.y = pw.Normal(2.0 * m.x, sd=1.5, plates=site)
    return m


def data(side: int = SIDE, seed: int = 0) -> dict[str, Array]:
    a, b = neighbours(side)
    return {"a": a, "b": b, "y": np.random.default_rng(seed).normal(1.0, 1.5, side * side)}


def weights_of_states(found: dict[str, Array], coupling: float = 0.6) -> tuple[Array, Array]:
    """All states of the picture with their probabilities given the data."""
    states = np.array(list(product([0, 1], repeat=len(found["y"]))))
    logs = coupling * (states[:, found["a"]] == states[:, found["b"]]).sum(axis=1)
    logs = logs - 0.5 * (((found["y"] - 2.0 * states) / 1.5) ** 2).sum(axis=1)
    weights = np.exp(logs - logs.max())
    return states, weights / weights.sum()


def sampler_of(model: pw.Model, known: tuple[str, ...], columns: dict[str, Array], seed: int) -> Sampler:
    from platewright.graph.fixed_sizes import fixed_sizes
    from platewright.graph.graph import read_graph

    plan = plan_gibbs(read_graph(model, known), "posterior")
    assert isinstance(plan, GibbsPlan)
    sizes = {**fixed_sizes(plan.graph), "edge": len(columns["a"])}
    return Sampler(plan, columns, sizes, np.random.default_rng(seed), {"x": np.zeros(sizes["site"], dtype=np.int64)})


def check_marginals(sweeps: int = 6000) -> None:
    """Marginals and pairs of neighbours against the sum over all states, in units of the Monte Carlo error."""
    columns = data()
    sampler = sampler_of(image(), ("y",), columns, 3)
    states, weights = weights_of_states(columns)
    kept = []
    for _ in range(sweeps):
        sampler.sweep()
        kept.append(sampler.values["x"])
    drawn = np.array(kept[100:])

    def functions(x: Array) -> Array:
        return np.concatenate([x, x[:, columns["a"]] == x[:, columns["b"]]], axis=1).astype(float)

    wanted = weights @ functions(states)
    batches = functions(drawn)[: len(drawn) // 100 * 100].reshape(-1, 100, len(wanted)).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(len(batches))
    assert np.abs(batches.mean(axis=0) - wanted).max() < 0.03
    assert np.max(np.abs(batches.mean(axis=0) - wanted) / error) < 5.5  # 40 functions at 1e-5, t with 58 degrees


def test_the_marginals_of_a_picture_are_those_of_all_its_states() -> None:
    check_marginals()


def test_a_sweep_keeps_the_distribution_of_a_small_picture() -> None:
    """Started in the exact distribution, one sweep must not leave it; all 16 states are counted."""
    from scipy import stats

    columns = data(side=2)
    states, weights = weights_of_states(columns)
    sampler = sampler_of(image(side=2), ("y",), columns, 5)
    generator = np.random.default_rng(9)
    counts = np.zeros(len(states))
    for number in generator.choice(len(states), size=4000, p=weights):
        sampler.values["x"] = states[number]
        sampler.sweep()
        counts[int(sampler.values["x"] @ (8, 4, 2, 1))] += 1
    assert stats.chisquare(counts, weights * counts.sum()).pvalue > LEVEL


def test_a_grid_gets_two_colours() -> None:
    a, b = neighbours()
    colours = greedy_colours(SIDE * SIDE, [np.stack([a, b], axis=1)])
    assert set(colours) == {0, 1}
    assert (colours[a] != colours[b]).all()


def test_sites_that_all_meet_are_drawn_one_after_another() -> None:
    colours = greedy_colours(5, [np.arange(5)[None]])
    assert sorted(colours) == [0, 1, 2, 3, 4]


def tied_row() -> pw.Model:
    """A directed model whose hidden elements meet in one factor: no chain, no independence."""
    m = pw.Model("hidden switches and their number")
    n = m.plate("n", 4)
    m.p = pw.Beta(2, 2)
    m.z = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Normal(pw.sum(m.z, over=n), sd=0.8)
    return m


TIED = Case("tied_row", tied_row, ("y",), {})


def site_ratio(case: Case, seed: int) -> float:
    """How far the scores of single sites are from differences of the log joint."""
    small: Instance = instance(case, seed)
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    worst = 0.0
    for number, block in enumerate(plan.blocks):
        if not isinstance(block, SiteBlock):
            continue
        (name,) = block.variables
        moved = Moved(sampler_at(plan, small.values, small.sizes), number)
        mover, here = moved.mover, moved.everything({})
        assert isinstance(mover, SiteMover)
        mover.prepare(here)
        flat = np.array(small.values[name]).ravel()
        assert mover.classes
        for sites, rows in zip(mover.members, mover.classes, strict=True):
            scores = mover.scores(here, flat, sites, rows)
            for k, site in enumerate(sites):
                joint = []
                for level in range(mover.levels):
                    tried = flat.copy()
                    tried[site] = mover.lowest + level
                    values = {**small.values, name: tried.reshape(mover.shape)}
                    joint.append(log_joint(plan.factors, values, small.sizes))
                worst = max(worst, float(np.max(np.abs(np.diff(scores[k]) - np.diff(joint)))))
    return worst


def test_the_scores_of_a_site_are_the_joint_up_to_a_constant() -> None:
    for seed in range(3):
        assert site_ratio(TIED, seed) < 1e-9


def test_a_directed_model_with_tied_switches_is_sampled() -> None:
    from schemas.joint_distribution import compare

    found = compare(TIED)
    assert found.passed, found


def test_a_parameter_of_an_undirected_component_is_declined_with_the_reason() -> None:
    m = pw.Model("unknown coupling")
    site, edge = m.plate("site", 4), m.plate("edge")
    m.a, m.b = pw.Input(plates=edge, levels=site), pw.Input(plates=edge, levels=site)
    m.strength = pw.Gamma(2, rate=2)
    m.x = pw.Undirected(levels=2, plates=site)
    m.potential("tie", m.strength * pw.equal(m.x[m.a], m.x[m.b]))
    m.y = pw.Normal(2.0 * m.x, sd=1.5, plates=site)
    with pytest.raises(NotSolvable, match="normaliser of the undirected component of `x` depends on the unknown `stre"):
        m.derive("y", by="gibbs")


def test_parameters_outside_the_component_are_learned_beside_it() -> None:
    m = pw.Model("Ising image with unknown grey levels")
    site, edge = m.plate("site", 16), m.plate("edge")
    level = m.plate("level", 2)
    m.a, m.b = pw.Input(plates=edge, levels=site), pw.Input(plates=edge, levels=site)
    m.grey = pw.Normal(pw.array([0.0, 2.0], over=level), sd=0.5, plates=level)
    m.x = pw.Undirected(levels=level, plates=site)
    m.potential("tie", 0.6 * pw.equal(m.x[m.a], m.x[m.b]))
    m.y = pw.Normal(m.grey[m.x], sd=1.0, plates=site)
    plan = m.derive("y", by="gibbs")
    assert "{grey} exact" in plan.how and "{x} site by site" in plan.how
    fit = m.learn(data(), by="gibbs", chains=1, draws=50, warm_up=20)
    assert np.isfinite(fit["grey"].mean).all()


def chain_graph() -> pw.Model:
    """p(u) p(x1, x2 | u): an undirected pair below a directed parent; the normaliser depends on u."""
    m = pw.Model("chain graph")
    n, two = m.plate("n", 3), m.plate("two", 2)
    m.u = pw.Normal(0, sd=1)
    m.x1, m.x2 = pw.Undirected(levels=two, plates=n), pw.Undirected(levels=two, plates=n)
    m.potential("pair", m.u * pw.equal(m.x1, m.x2) + 0.5 * m.x1, of=[m.x1, m.x2])
    m.y = pw.Normal(m.x2, sd=0.7, plates=n)
    return m


def check_chain_graph() -> None:
    """The conditional of the parent of a component holds the component's normaliser, which is summed here by hand."""
    from platewright.graph.graph import read_graph

    plan = plan_gibbs(read_graph(chain_graph(), ("y",)), "posterior")
    assert isinstance(plan, GibbsPlan)
    (block,) = (block for block in plan.blocks if "u" in block.variables)
    assert isinstance(block, SliceBlock)
    values = {"x1": np.array([0, 1, 1]), "x2": np.array([0, 1, 0]), "y": np.array([0.2, 1.3, 0.9])}
    sizes = {"n": 3, "two": 2}

    def by_hand(u: float) -> float:
        pairs = [u * (a == b) + 0.5 * a for a, b in product((0, 1), repeat=2)]
        inside = sum(u * (a == b) + 0.5 * a for a, b in zip(values["x1"], values["x2"], strict=True))
        return -0.5 * u**2 + inside - 3 * float(np.logaddexp.reduce(pairs))

    for u in (-1.7, 0.4, 2.2):
        for factors in (block.factors, plan.factors):
            found = [log_joint(factors, {**values, "u": np.array(value)}, sizes) for value in (u, 0.0)]
            assert found[0] - found[1] == pytest.approx(by_hand(u) - by_hand(0.0), abs=1e-9)


def test_the_normaliser_of_a_component_is_part_of_the_posterior_of_its_parents() -> None:
    check_chain_graph()


def test_a_chain_graph_is_sampled() -> None:
    fit = chain_graph().learn({"y": [0.2, 1.3, 0.9]}, by="gibbs", chains=1, draws=60, warm_up=30)
    assert fit.chains["x1"].shape == (1, 60, 3)
    assert np.isfinite(fit["u"].mean)
