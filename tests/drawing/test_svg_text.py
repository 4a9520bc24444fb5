"""The SVG text: well formed, without scripts, and everything inside its frame."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as some

from platewright.drawing.lettering import text_width
from platewright.drawing.picture import Picture, PictureArc, PictureNode, PicturePlate
from platewright.drawing.shapes import LABEL_SIZE, Shape, edge_point, node_label, node_size
from platewright.drawing.svg import KNOWN, PLATE_COLOURS, picture_svg

SPACE = "{http://www.w3.org/2000/svg}"


def coin(label: str = "heads", size: str = "N", title: str = "a coin", kind: str = "random") -> Picture:
    nodes = (PictureNode("theta", "theta", kind, False, ()), PictureNode("heads", label, "random", True, ("toss",)))
    return Picture(nodes, (PictureArc("theta", "heads"),), (PicturePlate("toss", size),), title)


@settings(max_examples=60, deadline=None)
@given(some.text(), some.text(), some.text())
def test_any_label_gives_well_formed_svg_and_stays_text(label: str, size: str, title: str) -> None:
    root = ElementTree.fromstring(picture_svg(coin(label, size, title)))
    allowed = {"svg", "title", "rect", "text", "path", "polygon", "ellipse", "g"}
    assert {element.tag.removeprefix(SPACE) for element in root.iter()} <= allowed


def test_a_label_with_markup_is_escaped() -> None:
    text = picture_svg(coin('<script>"&', "<b>", "<i>"))
    assert "<script" not in text and "<b>" not in text and "<i>" not in text
    assert "&lt;script&gt;&quot;&amp;" in text


def test_the_same_picture_gives_the_same_bytes() -> None:
    assert picture_svg(coin()) == picture_svg(coin())


def test_the_plate_carries_its_name_and_size() -> None:
    assert ">toss: N</text>" in picture_svg(coin())


def test_only_known_nodes_are_shaded() -> None:
    assert picture_svg(coin()).count(f'fill="{KNOWN}"') == 1


def test_a_deterministic_node_has_two_ovals() -> None:
    assert picture_svg(coin(kind="deterministic")).count("<ellipse") == 3


def test_only_directed_arcs_have_heads_and_only_optional_arcs_are_dashed() -> None:
    nodes = tuple(PictureNode(name, name, "random", False, ()) for name in "ab")
    plain = picture_svg(Picture(nodes, (PictureArc("a", "b"),)))
    assert plain.count("<polygon") == 1 and "dasharray" not in plain
    field = picture_svg(Picture(nodes, (PictureArc("a", "b", directed=False),)))
    assert "<polygon" not in field
    assert "dasharray" in picture_svg(Picture(nodes, (PictureArc("a", "b", optional=True),)))


@given(some.text(alphabet="abcdefghijklmWMQ @_0123456789", max_size=40))
def test_a_label_fits_its_ellipse(label: str) -> None:
    node = PictureNode("x", label, "random", False, ())
    width, height = node_size(node)
    half = text_width(node_label(node), LABEL_SIZE) / 2
    assert (half / (width / 2)) ** 2 + (LABEL_SIZE / 2 / (height / 2)) ** 2 < 1


def test_arcs_end_on_the_edge_of_the_ellipse() -> None:
    shape = Shape(0.0, 0.0, 60.0, 40.0, True)
    x, y = edge_point(shape, 50.0, 80.0)
    assert abs((x / 30) ** 2 + (y / 20) ** 2 - 1) < 1e-9


def test_everything_drawn_lies_within_the_view() -> None:
    root = ElementTree.fromstring(picture_svg(coin(title="a rather long title above a rather narrow picture")))
    left, top, width, height = (float(part) for part in root.attrib["viewBox"].split())
    for ellipse in root.iter(f"{SPACE}ellipse"):
        assert left < float(ellipse.attrib["cx"]) < left + width
        assert top < float(ellipse.attrib["cy"]) < top + height


def test_a_plate_keeps_its_colour_where_others_are_gone() -> None:
    nodes = (PictureNode("x", "x", "random", False, ("a",)), PictureNode("y", "y", "random", False, ("b",)))
    plates = (PicturePlate("a", "2", colour=0), PicturePlate("b", "3", colour=1))
    both = picture_svg(Picture(nodes, (), plates))
    alone = picture_svg(Picture(nodes[1:], (), plates[1:]))
    assert PLATE_COLOURS[1] in both and PLATE_COLOURS[1] in alone
    assert PLATE_COLOURS[0] in both and PLATE_COLOURS[0] not in alone


def test_labels_of_plates_have_a_rim_of_paper() -> None:
    nodes = (PictureNode("x", "x", "random", False, ("a",)),)
    text = picture_svg(Picture(nodes, (), (PicturePlate("a", "2"),)))
    label = next(line for line in text.splitlines() if "a: 2" in line)
    assert 'paint-order="stroke"' in label
