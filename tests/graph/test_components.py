"""Chain components, determinism, blankets and separation on graphs small enough to check by eye."""

from __future__ import annotations

import pytest
from numpy.random import default_rng

from discrete_models import Writer, network
from learning_models import Normal, figure_11, figure_15
from platewright.errors import CycleError, UnknownName
from platewright.graph.blanket import markov_blanket
from platewright.graph.components import chain_components, component_network
from platewright.graph.determinism import det_children, det_parents, nd_children, nd_parents, settled
from platewright.graph.graph import Graph, read_graph
from platewright.graph.normaliser import log_normaliser, normalised_log_joint
from platewright.graph.separation import separated
from platewright.language.distribution import Undirected
from platewright.language.functions import tanh
from platewright.language.model import Model

FIGURE_8 = "a, b, a -> c, b -> d, c - d, d -> e, c -> f, e - f, f - g, g -> h"


def sets(*words: str) -> list[frozenset[str]]:
    return [frozenset(word) for word in words]


def test_figure_8_decomposes_into_components_and_their_network() -> None:
    graph = network(FIGURE_8)
    below = dict(component_network(graph))
    a, b, cd, efg, h = sets("a", "b", "cd", "efg", "h")
    below = {part: parents for part, parents in below.items() if not any(name.startswith("copy") for name in part)}
    assert list(below) == [a, b, cd, efg, h]
    assert below[cd] == {a, b}
    assert below[h] == {efg}
    assert {name for part in below[efg] for name in part} == {"copy_of_c", "copy_of_d"}


def test_the_components_of_a_bayesian_network_are_single_nodes() -> None:
    graph = network("a -> b, b -> c, a -> c")
    assert list(chain_components(graph)) == sets("a", "b", "c")


def test_a_circle_through_an_undirected_arc_is_refused() -> None:
    writer = Writer("circle", default_rng(0))
    writer.undirected("x")
    writer.categorical("z", ["x"])
    writer.undirected("y")
    writer.potential(("x", "y"))
    writer.potential(("z", "y"))
    graph = Graph("circle", writer.model.plates, writer.model.variables, writer.model.potentials)
    with pytest.raises(CycleError):
        chain_components(graph)


def feed_forward() -> Graph:
    """The learning problem of Figure 23, with one hidden unit and one output."""
    m = Model("network")
    row = m.plate("row")
    m.x = Normal(0, sd=1, plates=row)
    m.w = Normal(0, sd=1)
    m.v = Normal(0, sd=1)
    m.h = tanh(m.w * m.x)
    m.m = tanh(m.v * m.h)
    m.y = Normal(m.m, sd=1, plates=row)
    return read_graph(m, ["x", "y"])


def test_paths_through_functions_make_non_deterministic_parents_and_children() -> None:
    graph = feed_forward()
    assert nd_children(graph, "w") == {"y"}
    assert nd_parents(graph, "y") == {"w", "v", "x"}
    assert det_children(graph, "w") == {"h"}
    assert det_parents(graph, "y") == {"m"}
    assert nd_parents(graph, "h") == {"w", "x"}
    assert markov_blanket(graph, "w") == {"y", "v", "x"}


def test_a_function_of_known_nodes_is_settled() -> None:
    m = Model("settled")
    m.x = Normal(0, sd=1)
    m.a = m.x + 1
    m.b = m.a * m.a
    m.y = Normal(m.b, sd=1)
    assert settled(read_graph(m, ["x"])) == {"x", "a", "b"}
    assert settled(read_graph(m)) == frozenset()


def test_the_blanket_of_a_bayesian_network_is_parents_children_and_their_parents() -> None:
    graph = network("a -> u, u -> c, b -> c, c -> d, e")
    assert markov_blanket(graph, "u") == {"a", "b", "c"}
    assert markov_blanket(graph, "e") == frozenset()


def test_the_blanket_of_a_chain_graph_has_all_parents_of_the_childrens_components() -> None:
    graph = network("a, b, a -> x, x - y, b -> y")
    assert markov_blanket(graph, "a") == {"x", "b"}
    assert markov_blanket(graph, "x") == {"a", "y"}


def test_a_common_child_that_is_given_connects() -> None:
    graph = network("a, b, a -> c, b -> c, c -> d")
    assert separated(graph, "a", "b", [])
    assert not separated(graph, "a", "b", ["c"])
    assert not separated(graph, "a", "b", ["d"])
    assert separated(graph, "a", "d", "c")


def test_by_default_what_is_known_is_given() -> None:
    assert separated(network("a -> b, b -> c", known=["b"]), "a", "c")
    assert not separated(network("a -> b, b -> c"), "a", "c")


def test_parents_of_one_component_are_married() -> None:
    graph = network("a, b, a -> x, x - y, b -> y")
    assert separated(graph, "a", "b", [])
    assert not separated(graph, "a", "b", ["x", "y"])


def test_plates_are_expanded_for_separation() -> None:
    graph = figure_15()
    assert separated(graph, "class_[0]", "class_[1]", ["phi", "theta1", "theta2", "theta3"])
    assert not separated(graph, "class_[0]", "class_[1]", [])
    assert not separated(graph, "theta1", "theta2")
    assert separated(graph, "phi", "theta1", [])
    assert separated(figure_11(), "theta1", "theta2")
    with pytest.raises(UnknownName):
        separated(graph, "class_[9]", "phi")


def test_a_function_of_what_is_given_blocks() -> None:
    graph = feed_forward()
    assert not separated(graph, "w", "v")
    assert separated(graph, "m", "w", ["h", "v", "x"])


def test_a_component_without_levels_has_no_normaliser_and_says_why() -> None:
    m = Model("field")
    m.a = Undirected()
    m.b = Undirected(levels=2)
    m.potential("tie", -((m.a - m.b) ** 2))
    graph = read_graph(m)
    assert "a real number" in str(log_normaliser(graph, frozenset("ab")))
    assert isinstance(normalised_log_joint(graph), str)
