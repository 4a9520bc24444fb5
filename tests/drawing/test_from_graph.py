"""The picture of a graph shows what a reader should see."""

from __future__ import annotations

import pytest

import platewright as pw
from platewright.drawing.from_graph import picture_of
from platewright.drawing.parts import connected_part, part_of
from platewright.drawing.picture import check_picture, picture_text
from platewright.drawing.svg import picture_svg
from platewright.graph.graph import read_graph
from shown_models import MAKERS, NAMES, chain, field, groups, known_in, made, pieces, regression, table


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_every_model_has_a_legal_picture(maker: object) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    picture = check_picture(picture_of(read_graph(model, known_in(model, data))))
    assert not any("@" in node.name for node in picture.nodes)
    assert picture_svg(picture).startswith("<svg")


def test_an_inner_plate_is_drawn_within_its_outer_one() -> None:
    model, _ = made(groups)
    assert picture_text(picture_of(read_graph(model, ["y"]), {"group": 3, "row": 40})) == (
        "picture\n"
        "plate group: 3\n"
        "plate row: 40\n"
        "node tau: random, unknown\n"
        "node mu: random, unknown\n"
        "node th: random, unknown, on group\n"
        "node y: random, known, on group row\n"
        "arc tau -> mu\n"
        "arc tau -> th\n"
        "arc mu -> th\n"
        "arc tau -> y\n"
        "arc th -> y\n"
    )


def test_axes_inside_a_value_are_no_plates() -> None:
    model, _ = made(table)
    picture = picture_of(read_graph(model, ["x"]))
    assert [(plate.name, plate.size) for plate in picture.plates] == [("row", "?"), ("cause", "2")]


def test_functions_inputs_and_known_nodes_keep_their_kinds() -> None:
    model, _ = made(regression)
    nodes = {node.name: (node.kind, node.known) for node in picture_of(read_graph(model, ["y"])).nodes}
    assert nodes["mean"] == ("deterministic", False)
    assert nodes["X"] == ("input", True)
    assert nodes["y"] == ("random", True)


def test_optional_arcs_are_marked() -> None:
    model, _ = made(pieces)
    arcs = {(arc.source, arc.target): arc.optional for arc in picture_of(read_graph(model)).arcs}
    assert arcs["var1", "x1"] and not arcs["var1", "var2"]


def test_a_node_that_follows_itself_is_marked() -> None:
    model, _ = made(chain)
    label = next(node.label for node in picture_of(read_graph(model, ["z"])).nodes if node.name == "z")
    assert label == "z \N{ANTICLOCKWISE OPEN CIRCLE ARROW}"


def test_neighbours_of_a_potential_are_joined_by_a_line() -> None:
    arcs = picture_of(read_graph(field(), ["c"])).arcs
    assert {(arc.source, arc.target) for arc in arcs if not arc.directed} == {("a", "b")}
    assert {(arc.source, arc.target) for arc in arcs if arc.directed} == {("h", "a"), ("h", "b"), ("b", "c")}


def test_plates_of_plain_levels_are_left_out() -> None:
    m = pw.Model("levels")
    m.x = pw.Input(plates=m.plate("row"), levels=3)
    assert [plate.name for plate in picture_of(read_graph(m)).plates] == ["row"]


def test_a_part_keeps_the_arcs_and_plates_of_its_nodes() -> None:
    model, _ = made(pieces)
    whole = picture_of(read_graph(model))
    part = part_of(whole, {"sigma1", "mu1"})
    assert [node.name for node in part.nodes] == ["sigma1", "mu1"]
    assert [plate.name for plate in part.plates] == ["one"]
    assert connected_part(whole, ["theta1"]) == whole
