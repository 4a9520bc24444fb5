"""Normalisers of undirected variables on plates against the sum over all their states."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.evaluate import Environment, evaluate
from platewright.errors import NotSolvable
from platewright.graph.components import chain_components
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph, read_graph
from platewright.graph.normaliser import log_normaliser, potentials_of
from platewright.schemas.exact import prepare

RING = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]


def ring() -> pw.Model:
    """Edges of the model's own, with a field at each site."""
    m = pw.Model("ring")
    site, edge, level = m.plate("site", 4), m.plate("edge", len(RING)), m.plate("level", 3)
    m.a, m.b = (pw.array([edge[end] for edge in RING], over=edge) for end in (0, 1))
    m.j, m.w = pw.Normal(0, sd=1), pw.Normal(0, sd=1, plates=site)
    m.x = pw.Undirected(levels=level, plates=site)
    m.potential("tie", m.j * pw.equal(m.x[m.a], m.x[m.b]))
    m.potential("field", m.w * pw.equal(m.x, 2))
    return m


def boltzmann() -> pw.Model:
    """Visible and hidden units of each row."""
    m = pw.Model("boltzmann")
    n, i, j, level = m.plate("n"), m.plate("i", 3), m.plate("k", 2), m.plate("level", 2)
    m.w, m.b = pw.Normal(0, sd=1, plates=(i, j)), pw.Normal(0, sd=1, plates=i)
    m.v, m.h = pw.Undirected(levels=level, plates=(n, i)), pw.Undirected(levels=level, plates=(n, j))
    m.potential("pair", m.w * pw.equal(m.v, 1) * pw.equal(m.h, 1))
    m.potential("bias", m.b * pw.equal(m.v, 1))
    return m


def full() -> pw.Model:
    """All pairs of units, by a sum over a plate like the first."""
    m = pw.Model("full")
    n, i, level = m.plate("n"), m.plate("i", 3), m.plate("level", 2)
    k = m.plate("k", like=i)
    m.w = pw.Normal(0, sd=1, plates=(i, k))
    m.x = pw.Undirected(levels=level, plates=(n, i))
    m.potential("pair", pw.sum(m.w * pw.equal(m.x[n, i], 1) * pw.equal(m.x[n, k], 1), over=k))
    return m


def line() -> pw.Model:
    """Neighbours on an ordered plate."""
    m = pw.Model("line")
    t, level = m.plate("t", 4, ordered=True), m.plate("level", 2)
    m.j = pw.Normal(0, sd=1)
    m.x = pw.Undirected(levels=level, plates=t)
    m.potential("tie", m.j * pw.equal(m.x, m.lag("x")))
    return m


def by_hand(graph: Graph, members: list[str], values: dict[str, np.ndarray], sizes: dict[str, int]) -> np.ndarray:
    """The log of the sum of all potentials over all states of all elements, for each row."""
    rows = sizes.get("n", 1)
    potentials = potentials_of(graph, frozenset(members))
    shapes = {name: [sizes[axis.plate] for axis in graph.nodes[name].axes] for name in members}
    cells = [
        (name, at)
        for name in members
        for at in product(*map(range, shapes[name]))
        if not at or "n" not in [axis.plate for axis in graph.nodes[name].axes] or at[0] == 0
    ]
    total = np.full(rows, -np.inf)
    for state in product(*(range(sizes[str(graph.nodes[name].domain.levels)]) for name, _ in cells)):
        states = {name: np.zeros(shapes[name], dtype=int) for name in members}
        for (name, at), value in zip(cells, state, strict=True):
            states[name][(slice(None), *at[1:]) if "n" in sizes else at] = value
        found = np.zeros(rows)
        for potential in potentials:
            at = np.array(evaluate(potential.expression, Environment({**values, **states}, sizes), potential.axes))
            found += at.reshape(rows, -1).sum(axis=1)
        total = np.logaddexp(total, found)
    return total


@pytest.mark.parametrize("model", [ring, boltzmann, full, line])
@pytest.mark.parametrize("seed", range(3))
def test_the_normaliser_is_the_sum_over_all_states(model: Callable[[], pw.Model], seed: int) -> None:
    built = model()
    data = [name for name, node in built.variables.items() if node.kind == "undirected"]
    graph = prepare(read_graph(built, data)).graph
    sizes = {**fixed_sizes(graph), **({"n": 2} if "n" in graph.plates else {})}
    sizes |= {name: sizes[str(plate.like)] for name, plate in graph.plates.items() if plate.like is not None}
    generator = np.random.default_rng(seed)
    values = {
        name: generator.normal(size=tuple(sizes[axis.plate] for axis in node.axes))
        for name, node in graph.nodes.items()
        if name not in data
    }
    if "first@t" in graph.nodes:
        values["first@t"] = np.array([1, 0, 0, 0])
    (component,) = [each for each in chain_components(graph) if each & set(data)]
    factor = log_normaliser(graph, component)
    assert not isinstance(factor, str), factor
    found = np.broadcast_to(evaluate(factor.expression, Environment(values, sizes), factor.axes), (sizes.get("n", 1),))
    assert found == pytest.approx(by_hand(graph, data, values, sizes), rel=1e-12)
    assert prod(found.shape) == sizes.get("n", 1)


def test_ends_that_only_data_know_are_refused_in_words() -> None:
    m = pw.Model("ends")
    site, edge, level = m.plate("site", 4), m.plate("edge", 3), m.plate("level", 2)
    m.a = pw.Input(plates=edge, levels=site)
    m.j = pw.Normal(0, sd=1)
    m.x = pw.Undirected(levels=level, plates=site)
    m.potential("tie", m.j * pw.equal(m.x[m.a], 1))
    with pytest.raises(NotSolvable, match=r"known with the data alone; m.end = pw.array"):
        m.derive(known=["x"])


def one_hidden() -> tuple[pw.Model, np.ndarray]:
    """A restricted Boltzmann machine with one hidden unit, and rows of it."""
    m = pw.Model("one")
    n, i, level = m.plate("n"), m.plate("i", 2), m.plate("level", 2)
    m.w = pw.Normal(0.5, sd=1, plates=i)
    m.v, m.h = pw.Undirected(levels=level, plates=(n, i)), pw.Undirected(levels=level, plates=n)
    m.potential("pair", m.w * pw.equal(m.v, 1) * pw.equal(m.h, 1))
    return m, np.array([[1, 1], [0, 0], [1, 1], [1, 0], [1, 1], [0, 0], [0, 1], [1, 1]])


def test_a_machine_with_hidden_units_is_learned() -> None:
    """Weights and evidence against a lattice."""
    m, rows = one_hidden()
    grid = np.linspace(-4.5, 5.5, 301)
    u, w = np.meshgrid(grid, grid, indexing="ij")
    log = -0.5 * ((u - 0.5) ** 2 + (w - 0.5) ** 2)
    states = [np.log(1 + np.exp(u * a + w * b)) for a, b in product((0, 1), (0, 1))]
    normaliser = np.logaddexp.reduce(states, axis=0)
    for a, b in rows:
        log += np.log(1 + np.exp(u * a + w * b)) - normaliser
    share = np.exp(log - log.max())
    fit = m.learn({"v": rows}, by="gibbs", seed=1)
    mean = float((share * u).sum() / share.sum())
    sd = float(np.sqrt((share * (u - mean) ** 2).sum() / share.sum()))
    assert float(fit["w"].mean[0]) == pytest.approx(mean, abs=0.12 * sd)
    area = (grid[1] - grid[0]) ** 2 / (2 * np.pi)
    evidence = m.learn({"v": rows}, goal="evidence", by="laplace").evidence
    assert evidence.value == pytest.approx(float(np.log(share.sum() * area) + log.max()), abs=0.1)


def test_laplace_knows_the_normaliser() -> None:
    """exp(j) / (2 + 2 exp(j)) for one pair that agrees, whatever the number of pairs that could."""
    m = pw.Model("pair")
    m.a, m.b = pw.Undirected(levels=2), pw.Undirected(levels=2)
    m.j = pw.Normal(0, sd=1.0)
    m.potential("tie", m.j * pw.equal(m.a, m.b))
    about = m.learn({"a": 1, "b": 1}, goal="evidence", by="laplace").evidence.value
    assert about == pytest.approx(m.learn({"a": 1, "b": 1}, goal="evidence").evidence.value, abs=0.02)
