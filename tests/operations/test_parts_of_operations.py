"""What operations lean on, each by itself: idle densities have mass one, counts are those of their own plate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import platewright as pw
from discrete_models import network
from platewright.algebra.build import multiply
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Constant, Size
from platewright.graph.graph import read_graph
from platewright.operations.decompose import Decomposition, decompose, evidence_is_product
from platewright.operations.remove_deterministic import _with_options
from platewright.operations.remove_plate import _with_count
from platewright.operations.split_partly_known import _idle, missing_name, observed_name

REALS = np.linspace(-12, 60, 720_001)
COUNTS = np.arange(0, 200)
HOLED: dict[str, tuple[Callable[[], object], np.ndarray]] = {
    "Normal": (lambda: pw.Normal(0, sd=1), REALS),
    "Gamma": (lambda: pw.Gamma(2, rate=1), REALS[REALS > 0]),
    "Beta": (lambda: pw.Beta(2, 1), REALS[(REALS > 0) & (REALS < 1)]),
    "Uniform": (lambda: pw.Uniform(1.0, 3.5), REALS[(REALS > 1.0) & (REALS < 3.5)]),
    "VonMises": (lambda: pw.VonMises(0.0, 1.0), REALS[np.abs(REALS) < np.pi]),
    "Poisson": (lambda: pw.Poisson(2.0), COUNTS),
    "Geometric": (lambda: pw.Geometric(0.3), COUNTS[1:]),
    "Binomial": (lambda: pw.Binomial(4, 0.3), COUNTS[:5]),
}


@pytest.mark.parametrize("name", HOLED)
def test_what_stands_for_a_cell_that_was_seen_has_mass_one(name: str) -> None:
    family, grid = HOLED[name]
    m = pw.Model(name)
    n = m.plate("n")
    m.y = family().on(n) if hasattr(family(), "on") else replace(family(), plates=(n,))  # type: ignore[type-var]
    node = read_graph(m).nodes["y"]
    idle = _idle(node)
    assert idle is not None
    values = {observed_name("y"): np.ones(len(grid)), missing_name("y"): grid}
    density = np.exp(evaluate(idle, Environment(values, {"n": len(grid)}), node.plates))
    step = 1.0 if grid.dtype.kind == "i" else grid[1] - grid[0]
    assert float(density.sum() * step) == pytest.approx(1.0, abs=1e-3)


def test_the_count_of_a_plate_is_put_in_for_its_own_size_only() -> None:
    both = multiply(Size("n"), Size("k"))
    assert _with_count(both, "n", Constant(5.0)) == multiply(5.0, Size("k"))
    assert _with_count(both, "j", Constant(5.0)) == both


def test_a_component_in_one_piece_has_a_product_of_evidences() -> None:
    graph = network("p, p -> a, a - b, b - c, q")
    pieces = decompose(graph)
    assert isinstance(pieces, Decomposition) and len(pieces.unknowns) == 2
    verdict = evidence_is_product(graph)
    assert verdict and "Corollary 6.1.1" in verdict.reason


def test_optional_arcs_from_a_function_come_from_what_it_is_a_function_of() -> None:
    m = pw.Model("options")
    m.a, m.b, m.c = pw.Normal(0, sd=1), pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.d = m.a * m.b
    m.y = pw.Normal(0, sd=1)
    graph = read_graph(m)
    node = replace(graph.nodes["y"], optional=("d", "c"))
    assert _with_options(graph, node, {"d"}).optional == ("a", "b", "c")
    assert _with_options(graph, node, {"e"}).optional == ("d", "c")
