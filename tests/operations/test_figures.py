"""Operations on the paper's figures; each test names its figure."""

from __future__ import annotations

import numpy as np

from discrete_models import conditional, joint_table, network
from learning_models import figure_11, figure_15
from platewright.graph.equation import joint_equation
from platewright.graph.graph import Graph
from platewright.operation import Declined, Step
from platewright.operations.add_known_arc import add_known_arc
from platewright.operations.decompose import Decomposition, decompose, evidence_is_product
from platewright.operations.drop_settled_arcs import drop_settled_arcs
from platewright.operations.merge_clique import merge_clique
from platewright.operations.reverse_arc import reverse_arc


def after(step: Step | Declined) -> Graph:
    assert isinstance(step, Step), step
    return step.after


def pieces_of(graph: Graph) -> Decomposition:
    found = decompose(graph)
    assert isinstance(found, Decomposition), found
    return found


FIGURE_5A = "Age, Age -> Occ, Age -> Clim, Occ -> Clim, Age -> Dis, Occ -> Dis, Clim -> Dis, Age -> Symp, Dis -> Symp"
KNOWN = ["Age", "Occ", "Clim", "Symp"]


def test_figure_5a_and_5b_give_the_same_conditional() -> None:
    graph = network(FIGURE_5A, KNOWN)
    simpler = graph
    for name in ("Age", "Occ", "Clim"):
        simpler = after(drop_settled_arcs(simpler, name))
    assert joint_equation(simpler) == "p(Dis | Age, Occ, Clim) p(Symp | Age, Dis)"
    assert after(drop_settled_arcs(graph)) == simpler
    np.testing.assert_allclose(conditional(simpler, list(graph.nodes)), conditional(graph, list(graph.nodes)))


def test_figure_5_keeps_the_arc_from_age_to_symptoms() -> None:
    step = drop_settled_arcs(network(FIGURE_5A, KNOWN), "Symp")
    assert step == Declined("drop_settled_arcs", "parent Dis of Symp is unknown")


def test_figure_6_becomes_figure_7() -> None:
    above = ", ".join(f"{a} -> {d}" for a in ("Age", "Occ", "Clim") for d in ("Heart", "Lung"))
    below = ", ".join(f"{d} -> {s}" for d in ("Heart", "Lung") for s in ("A", "B", "C"))
    graph = network(f"Age, Occ, Clim, Heart - Lung, {above}, A - B, A - C, B - C, {below}")
    merged = after(merge_clique(after(merge_clique(graph, ["A", "B", "C"], "Symp")), ["Heart", "Lung"], "Dis"))
    assert joint_equation(merged) == "p(Age) p(Occ) p(Clim) p(Dis | Age, Occ, Clim) p(Symp | Dis)"
    order = ["Age", "Occ", "Clim", "Heart", "Lung", "A", "B", "C"]
    table = joint_table(merged, ["Age", "Occ", "Clim", "Dis", "Symp"]).reshape([2] * 8)
    np.testing.assert_allclose(table, joint_table(graph, order), atol=1e-10)


def test_figure_16_nodes_share_their_parents_after_reversal() -> None:
    graph = network("P, Q, S, P -> b, S -> b, S -> a, Q -> a, b -> a")
    turned = after(reverse_arc(graph, "b", "a"))
    assert turned.parents["a"] == {"P", "Q", "S"}
    assert turned.parents["b"] == {"P", "Q", "S", "a"}


def test_figure_16_reversal_is_bayes_theorem_for_the_classifier_of_figure_9() -> None:
    graph = network("c, c -> v1, c -> v2")
    turned = after(reverse_arc(after(reverse_arc(graph, "c", "v1")), "c", "v2"))
    assert turned.parents["c"] == {"v1", "v2"}
    assert turned.children["c"] == frozenset()
    order = list(graph.nodes)
    np.testing.assert_allclose(joint_table(turned, order), joint_table(graph, order), atol=1e-12)


def test_figure_11_decomposes_as_figure_24() -> None:
    pieces = pieces_of(figure_11())
    found = {frozenset(names) for names in pieces.unknowns}
    assert found == {
        frozenset({"theta1"}),
        frozenset({"theta2"}),
        frozenset({"mu1", "sigma1"}),
        frozenset({"mu2", "sigma2"}),
    }
    assert evidence_is_product(figure_11())
    shown = [joint_equation(piece) for piece in pieces.pieces]
    assert shown == [
        "p(theta1) prod_case p(var1[case] | theta1)",
        "prod_one p(theta2[one]) prod_case p(var2[case] | theta2, var1[case])",
        "prod_one (p(sigma1[one]) p(mu1[one] | sigma1[one])) prod_case p(x1[case] | var1[case], sigma1, mu1)",
        "prod_one (p(sigma2[one]) p(mu2[one] | sigma2[one])) prod_case p(x2[case] | var1[case], x1[case], sigma2, mu2)",
    ]


def test_figure_25_an_unknown_x1_holds_the_bottom_together() -> None:
    pieces = pieces_of(figure_11(known=["var1", "var2", "x2"]))
    assert set(map(frozenset, pieces.unknowns)) == {
        frozenset({"theta1"}),
        frozenset({"theta2"}),
        frozenset({"mu1", "sigma1", "x1", "mu2", "sigma2"}),
    }


def test_figure_26_one_arc_changes_one_piece() -> None:
    first, second = figure_11(), figure_11(second=True)
    pieces = pieces_of(first)
    updated = add_known_arc(pieces, [second.nodes[name] for name in ("x1", "mu1", "sigma1")])
    assert isinstance(updated, Decomposition)
    again = pieces_of(second)
    assert updated.unknowns == again.unknowns
    for old, new, expected in zip(pieces.pieces, updated.pieces, again.pieces, strict=True):
        assert (new is old) == ("mu1" not in old.nodes)
        assert new.nodes == expected.nodes
        assert new.known == expected.known
    assert "var2" in updated.pieces[2].nodes


def test_figure_15_cannot_be_decomposed_while_the_class_is_hidden() -> None:
    assert len(pieces_of(figure_15()).pieces) == 1
    supervised = pieces_of(figure_15(known=["class_", "var1", "var2", "var3"]))
    assert supervised.unknowns == (("phi",), ("theta1",), ("theta2",), ("theta3",))
