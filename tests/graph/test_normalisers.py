"""Normalisers of undirected parts: sums pushed inwards, against enumeration, transfer matrices and closed forms."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, sums_within
from platewright.graph.components import undirected_components
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import read_graph
from platewright.graph.normaliser import TINY, elimination_order, log_normaliser

POINTS = np.linspace(-6, 6, 4001)


def field(edges: list[tuple[int, int]], count: int, levels: int = 2) -> pw.Model:
    """Units that like to be equal along edges, the more the larger the coupling, with a pull on the first."""
    m = pw.Model("field")
    m.j = pw.Normal(0.0, sd=1.0)
    for unit in range(count):
        setattr(m, f"x{unit}", pw.Undirected(levels=levels))
    for number, (a, b) in enumerate(edges):
        m.potential(f"e{number}", m.j * pw.equal(getattr(m, f"x{a}"), getattr(m, f"x{b}")) * (1.0 + 0.1 * number))
    m.potential("pull", 0.3 * m.x0)
    return m


def grid(side: int) -> list[tuple[int, int]]:
    every = [(i, k) for i in range(side) for k in range(side)]
    right = [(i * side + k, i * side + k + 1) for i, k in every if k + 1 < side]
    return right + [(i * side + k, (i + 1) * side + k) for i, k in every if i + 1 < side]


def normaliser(m: pw.Model, coupling: float) -> float:
    graph = read_graph(m, [name for name in m.variables if name != "j"])
    (component,) = undirected_components(graph)
    found = log_normaliser(graph, component)
    assert not isinstance(found, str), found
    environment = Environment({"j": np.array(coupling)}, fixed_sizes(graph))
    return float(evaluate(found.expression, environment, ()))


def enumerated(edges: list[tuple[int, int]], count: int, levels: int, coupling: float) -> float:
    weights = (1.0 + 0.1 * np.arange(len(edges))) * coupling
    heights = [
        sum(w * (x[a] == b_value) for w, (a, b) in zip(weights, edges, strict=True) for b_value in (x[b],)) + 0.3 * x[0]
        for x in product(range(levels), repeat=count)
    ]
    return float(np.logaddexp.reduce(heights))


@pytest.mark.parametrize("seed", range(12))
def test_any_graph_is_summed_as_by_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, levels = int(rng.integers(2, 8)), int(rng.integers(2, 4))
    tree = [(unit, int(rng.integers(unit))) for unit in range(1, count)]
    pairs = [(a, b) for a in range(count) for b in range(a) if rng.random() < 0.3 and (a, b) not in tree]
    edges = [*tree, *pairs]
    found = normaliser(field(edges, count, levels), 0.7)
    assert found == pytest.approx(enumerated(edges, count, levels, 0.7), rel=1e-12)


def test_rows_have_one_normaliser_each() -> None:
    """The same small field on every row of a plate, with a coupling of its own for each group of rows."""
    m = pw.Model("rows")
    row = m.plate("row", 3)
    m.j = pw.Normal(0.0, sd=1.0, plates=row)
    for unit in range(3):
        setattr(m, f"x{unit}", pw.Undirected(levels=2, plates=row))
    for unit in range(2):
        m.potential(f"e{unit}", m.j * pw.equal(getattr(m, f"x{unit}"), getattr(m, f"x{unit + 1}")))
    graph = read_graph(m, ["x0", "x1", "x2"])
    (component,) = undirected_components(graph)
    found = log_normaliser(graph, component)
    assert not isinstance(found, str)
    values = np.array([-1.0, 0.0, 2.0])
    shown = evaluate(found.expression, Environment({"j": values}, fixed_sizes(graph)), found.axes)
    np.testing.assert_allclose(shown, np.log(2) + 2 * np.log1p(np.exp(values)), rtol=1e-12)


def chain(count: int) -> tuple[pw.Model, dict[str, int]]:
    m = pw.Model("chain")
    m.j = pw.Normal(0.0, sd=1.0)
    for unit in range(count):
        setattr(m, f"x{unit}", pw.Undirected(levels=2))
    for unit in range(count - 1):
        m.potential(f"e{unit}", m.j * pw.equal(getattr(m, f"x{unit}"), getattr(m, f"x{unit + 1}")))
    return m, {f"x{unit}": int(np.random.default_rng(unit).integers(2)) for unit in range(count)}


def integrated(log_density: np.ndarray) -> tuple[float, float]:
    """Log evidence and mean over the lattice of couplings."""
    weight = np.exp(log_density - log_density.max())
    step = POINTS[1] - POINTS[0]
    return float(log_density.max() + np.log(weight.sum() * step)), float((weight * POINTS).sum() / weight.sum())


def prior() -> np.ndarray:
    return np.asarray(-0.5 * POINTS**2 - 0.5 * np.log(2 * np.pi))


def test_a_long_chain_is_learned_by_quadrature() -> None:
    m, data = chain(60)
    same = sum(data[f"x{unit}"] == data[f"x{unit + 1}"] for unit in range(59))
    evidence, mean = integrated(prior() + same * POINTS - np.log(2) - 59 * np.logaddexp(0, POINTS))
    fit: Any = m.learn(data)
    assert "quadrature" in fit.how
    assert fit.log_evidence == pytest.approx(evidence, abs=1e-8)
    assert float(fit["j"].mean) == pytest.approx(mean, abs=1e-7)


def test_a_grid_is_learned_as_by_transfer_matrices() -> None:
    side = 6
    m = pw.Model("grid")
    m.j = pw.Normal(0.0, sd=1.0)
    units = np.random.default_rng(3).integers(0, 2, side * side)
    for unit in range(side * side):
        setattr(m, f"x{unit}", pw.Undirected(levels=2))
    for number, (a, b) in enumerate(grid(side)):
        m.potential(f"e{number}", m.j * pw.equal(getattr(m, f"x{a}"), getattr(m, f"x{b}")))
    rows = np.array(list(product((0, 1), repeat=side)))
    within = (rows[:, 1:] == rows[:, :-1]).sum(axis=1)
    between = (rows[:, None, :] == rows[None, :, :]).sum(axis=2)
    same = sum(int(units[a] == units[b]) for a, b in grid(side))
    points = POINTS[::50]
    heights = []
    for at in points:
        along = at * within
        for _ in range(side - 1):
            along = at * within + np.logaddexp.reduce(along[:, None] + at * between, axis=0)
        heights.append(-0.5 * at**2 + same * at - np.logaddexp.reduce(along))
    weight = np.exp(np.array(heights) - max(heights))
    fit: Any = m.learn({f"x{unit}": int(value) for unit, value in enumerate(units)})
    assert float(fit["j"].mean) == pytest.approx(float((weight * points).sum() / weight.sum()), abs=1e-6)


def test_too_wide_a_part_is_refused_before_the_work() -> None:
    sizes = {Index(f"x{unit}", "k"): 2 for unit in range(900)}
    names = list(sizes)
    found = elimination_order(sizes, [frozenset((names[a], names[b])) for a, b in grid(30)])
    assert isinstance(found, str) and "tables of" in found


def test_where_tables_are_tiny_sums_are_shallow() -> None:
    m, data = chain(64)
    graph = read_graph(m, list(data))
    (component,) = undirected_components(graph)
    found = log_normaliser(graph, component)
    assert not isinstance(found, str)
    assert sums_within(found.expression) <= 8
    assert TINY < 2**8


def test_the_mode_of_a_coupling_is_found_along_deep_sums() -> None:
    """Each sum is computed once, on a line of its own: 64 units take 63 of them, within each other."""
    m, data = chain(64)
    units = np.array([data[f"x{unit}"] for unit in range(64)])
    same = int((units[1:] == units[:-1]).sum())
    fit: Any = m.learn(data, "map")
    heights = -0.5 * POINTS**2 + same * POINTS - 63 * np.logaddexp(0, POINTS)
    assert float(fit["j"].value) == pytest.approx(float(POINTS[heights.argmax()]), abs=2 * float(POINTS[1] - POINTS[0]))
    assert "sums within sums" not in fit.source()
