"""Plates written out, element by element."""

from __future__ import annotations

import pytest

from learning_models import Categorical, Dirichlet, Normal, figure_10, figure_15
from platewright.errors import SizeError
from platewright.graph.expansion import contract, expand_plates
from platewright.graph.graph import read_graph
from platewright.language.distribution import Input, Undirected
from platewright.language.functions import dot
from platewright.language.model import Model


@pytest.mark.parametrize("cases", [1, 2, 5])
def test_figure_10_is_figure_15_expanded(cases: int) -> None:
    groups = {
        "class_": [f"class_{i}" for i in range(cases)],
        **{f"var{j}": [f"var{j}_{i}" for i in range(cases)] for j in (1, 2, 3)},
    }
    written_out = expand_plates(figure_10(cases))
    assert contract(written_out, groups) == expand_plates(figure_15(), {"case": cases})
    assert written_out != expand_plates(figure_15(), {"case": cases})


def test_figure_13_repeats_the_coin_and_not_its_bias() -> None:
    m = Model("coin")
    toss = m.plate("toss")
    m.theta = Normal(0, sd=1)
    m.heads = Normal(m.theta, sd=1, plates=toss)
    instances = expand_plates(read_graph(m, ["heads"]), {"toss": 2})
    assert instances.nodes == {"theta", "heads[0]", "heads[1]"}
    assert instances.directed == {("theta", "heads[0]"), ("theta", "heads[1]")}
    assert instances.known == {"heads[0]", "heads[1]"}


def test_an_arc_joins_instances_that_agree_on_shared_plates() -> None:
    m = Model("crossed")
    user, item = m.plate("user", 2), m.plate("item", 2)
    m.a = Normal(0, sd=1, plates=user)
    m.b = Normal(0, sd=1, plates=item)
    m.y = Normal(m.a * m.b, sd=1, plates=(user, item))
    arcs = expand_plates(read_graph(m)).directed
    assert ("a[0]", "y[0, 1]") in arcs
    assert ("a[1]", "y[0, 1]") not in arcs
    assert ("b[1]", "y[0, 1]") in arcs
    assert len(arcs) == 8


def test_an_index_that_is_a_variable_points_from_every_element() -> None:
    m = Model("mixture")
    row, k = m.plate("row", 2), m.plate("k", 3)
    m.phi = Dirichlet(1.0, over=k)
    m.mu = Normal(0, sd=1, plates=k)
    m.z = Categorical(m.phi, plates=row)
    m.y = Normal(m.mu[m.z], sd=1, plates=row)
    m.first = Normal(m.mu[2], sd=1)
    arcs = expand_plates(read_graph(m)).directed
    assert {tail for tail, head in arcs if head == "y[1]"} == {"mu[0]", "mu[1]", "mu[2]", "z[1]"}
    assert {tail for tail, head in arcs if head == "first"} == {"mu[2]"}


def test_a_lag_points_from_the_element_before() -> None:
    m = Model("walk")
    step = m.plate("step", 3, ordered=True)
    m.z = Normal(m.lag("z"), sd=1, start=0.0, plates=step)
    arcs = {arc for arc in expand_plates(read_graph(m)).directed if "@" not in arc[0]}
    assert arcs == {("z[0]", "z[1]"), ("z[1]", "z[2]")}


def test_a_sum_takes_all_elements_even_of_a_plate_the_node_is_on() -> None:
    m = Model("centred")
    row, column = m.plate("row", 2), m.plate("column", 2)
    m.w = Normal(0, sd=1, plates=column)
    m.x = Input(plates=(row, column))
    m.y = Normal(dot(m.w, m.x, over=column), sd=1, plates=row)
    m.s = m.y - dot(m.y, 1.0, over=row)
    arcs = expand_plates(read_graph(m)).directed
    assert {tail for tail, head in arcs if head == "y[0]"} == {"w[0]", "w[1]", "x[0, 0]", "x[0, 1]"}
    assert {tail for tail, head in arcs if head == "s[0]"} == {"y[0]", "y[1]"}


def test_membership_points_from_one_group_when_the_column_is_given() -> None:
    m = Model("words")
    doc = m.plate("doc", 2)
    word = m.plate("word", 3, within=doc)
    m.a = Normal(0, sd=1, plates=doc)
    m.b = Normal(m.a, sd=1, plates=word)
    graph = read_graph(m)
    anywhere = expand_plates(graph).directed
    placed = expand_plates(graph, columns={"doc@word": [0, 1, 1]}).directed
    assert {("a[0]", "b[2]"), ("a[1]", "b[2]")} <= anywhere
    assert ("a[1]", "b[2]") in placed
    assert ("a[0]", "b[2]") not in placed


def test_undirected_arcs_stay_inside_an_element_and_cross_by_lag() -> None:
    m = Model("field")
    step = m.plate("step", 3, ordered=True)
    m.x = Undirected(levels=2, plates=step)
    m.y = Undirected(levels=2, plates=step)
    m.h = Normal(0, sd=1)
    m.potential("pair", m.h * m.x * m.y)
    m.potential("chain", m.x * m.lag("x"))
    instances = expand_plates(read_graph(m))
    pairs = {tuple(sorted(pair)) for pair in instances.undirected}
    assert pairs == {("x[0]", "y[0]"), ("x[1]", "y[1]"), ("x[2]", "y[2]"), ("x[0]", "x[1]"), ("x[1]", "x[2]")}
    assert ("h", "x[0]") in instances.directed


def test_a_huge_expansion_is_refused_before_it_is_made() -> None:
    with pytest.raises(SizeError):
        expand_plates(figure_15(), {"case": 10**9})
