"""What an operation does not do, and the sentence it gives."""

from __future__ import annotations

import numpy as np
import pytest

from discrete_models import conditional, network
from learning_models import Bernoulli, Categorical, Dirichlet, Normal, figure_11
from platewright.families.flat import FLAT
from platewright.graph.graph import read_graph
from platewright.language.distribution import Constructor
from platewright.language.model import Model
from platewright.operation import Declined
from platewright.operations.add_known_arc import add_known_arc
from platewright.operations.decompose import Decomposition, decompose, evidence_is_product
from platewright.operations.drop_settled_arcs import drop_settled_arcs
from platewright.operations.drop_undirected_arc import drop_undirected_arc
from platewright.operations.merge_clique import merge_clique
from platewright.operations.remove_barren import remove_barren
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.reverse_arc import reverse_arc


def reason(result: object) -> str:
    assert isinstance(result, Declined), result
    return result.reason


def test_lemma_2_2_as_printed_would_cut_a_dependence() -> None:
    graph = network("a - b")
    table = conditional(graph, ["a", "b"])
    independent = table.sum(0, keepdims=True) * table.sum(1, keepdims=True)
    assert np.abs(table - independent).max() > 1e-3
    assert reason(drop_undirected_arc(graph, "a", "b")).startswith("a is unknown")


def test_an_unknown_common_neighbour_keeps_the_arc() -> None:
    graph = network("a - b, b - c, a - c", known=["a", "b"])
    assert "c, a common neighbour of a and b, is unknown" in reason(drop_undirected_arc(graph, "a", "b"))


def test_an_unknown_parent_keeps_the_arc_because_of_the_normaliser() -> None:
    graph = network("p, p -> a, a - b, b - c", known=["a", "b", "c"])
    assert "normaliser" in reason(drop_undirected_arc(graph, "b", "c"))


@pytest.mark.parametrize(
    ("arcs", "known", "node", "word"),
    [
        ("a -> b", ["a"], "b", "unknown"),
        ("a -> b", ["b"], "b", "parent a"),
        ("a - b", ["a", "b"], "a", "undirected"),
        ("a -> b", [], "c", "no node"),
    ],
)
def test_arcs_that_are_not_settled_stay(arcs: str, known: list[str], node: str, word: str) -> None:
    assert word in reason(drop_settled_arcs(network(arcs, known), node))


def test_only_unknown_nodes_without_children_are_barren() -> None:
    graph = network("a -> b, b -> c, x - y", known=["c", "x"])
    assert "child" in reason(remove_barren(graph, "a"))
    assert "known" in reason(remove_barren(graph, "c"))
    assert "x is known" in reason(remove_barren(graph, "y"))


def test_a_node_with_an_improper_density_or_in_a_potential_is_not_barren() -> None:
    m = Model("improper")
    m.a = Constructor(FLAT)()
    m.b = Normal(0, sd=1)
    m.potential("soft", m.b)
    graph = read_graph(m)
    assert "improper" in reason(remove_barren(graph, "a"))
    assert "potential soft" in reason(remove_barren(graph, "b"))


def test_reversal_is_refused_where_it_would_close_a_circle_or_needs_an_integral() -> None:
    graph = network("a -> b, b -> c, a -> c, u - v, c -> u")
    assert "through b" in reason(reverse_arc(graph, "a", "c"))
    assert "no arc" in reason(reverse_arc(graph, "b", "a"))
    assert "no conditional" in reason(reverse_arc(graph, "c", "u"))
    m = Model("gaussian")
    row = m.plate("row")
    m.mu = Normal(0, sd=1)
    m.y = Normal(m.mu, sd=1)
    m.theta = Bernoulli(0.5)
    m.z = Bernoulli(0.2 + 0.5 * m.theta, plates=row)
    graph = read_graph(m)
    assert "integral" in reason(reverse_arc(graph, "mu", "y"))
    assert "different plates" in reason(reverse_arc(graph, "theta", "z"))


def test_reversal_is_refused_along_a_lag() -> None:
    m = Model("chain")
    k = m.plate("k", 2)
    origin = m.plate("origin", like=k)
    step = m.plate("step", 4, ordered=True)
    m.begin = Dirichlet(1.0, over=k)
    m.move = Dirichlet(1.0, over=k, plates=origin)
    m.s = Categorical(m.move[m.lag("s")], start=m.begin, plates=step)
    m.x = Normal(1.0 * m.s, sd=1, plates=step)
    assert "another element" in reason(reverse_arc(read_graph(m), "s", "x"))


def test_a_clique_must_be_one_and_have_the_same_surroundings() -> None:
    graph = network("p, p -> a, a - b, b - c, a -> d", known=["b"])
    assert "not neighbours" in reason(merge_clique(graph, ["a", "c"]))
    assert "only one is known" in reason(merge_clique(graph, ["a", "b"]))
    assert "different parents" in reason(merge_clique(network("p, p -> a, a - b"), ["a", "b"]))
    assert "different children" in reason(merge_clique(network("a - b, a -> d"), ["a", "b"]))
    assert "not undirected" in reason(merge_clique(graph, ["p", "a"]))


def test_a_function_that_is_data_and_a_copy_between_components_stay() -> None:
    m = Model("function")
    m.a = Normal(0, sd=1)
    m.d = 2 * m.a
    assert "constraint" in reason(remove_deterministic(read_graph(m, ["d"]), "d"))
    assert "not deterministic" in reason(remove_deterministic(read_graph(m), "a"))
    assert "no deterministic" in reason(remove_deterministic(network("a -> b")))
    assert "become a member" in reason(remove_deterministic(network("a - b, a -> x, x - y")))


def test_a_component_spread_over_pieces_has_no_product_of_evidences() -> None:
    graph = network("x - k, k - y", known=["k"])
    pieces = decompose(graph)
    assert isinstance(pieces, Decomposition)
    assert pieces.unknowns == (("x",), ("y",))
    verdict = evidence_is_product(graph)
    assert not verdict
    assert "one normaliser" in verdict.reason


def test_an_arc_from_an_unknown_node_needs_a_new_decomposition() -> None:
    graph = figure_11(known=["var1", "x1", "x2"])
    pieces = decompose(graph)
    assert isinstance(pieces, Decomposition)
    changed = figure_11(second=True).nodes
    assert "var2" in reason(add_known_arc(pieces, [changed["x1"], changed["mu1"], changed["sigma1"]]))
    assert "nothing is unknown" in reason(decompose(network("a", known=["a"])))
