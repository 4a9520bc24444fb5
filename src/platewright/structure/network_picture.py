"""Networks as pictures; where arcs have probabilities, the width of an arc is its probability."""

from __future__ import annotations

from collections.abc import Mapping

from platewright.drawing.picture import Picture, PictureArc, PictureNode
from platewright.drawing.svg import picture_svg
from platewright.structure.network import Arc, Network

FAINT = 0.05
"""Arcs that are less probable are not drawn."""


def network_svg(network: Network, title: str = "") -> str:
    """A network as SVG text."""
    listed = tuple(PictureNode(name, name, "random", False) for name in network.nodes)
    return picture_svg(Picture(listed, tuple(PictureArc(*arc) for arc in sorted(network.arcs)), title=title))


def weighed_svg(nodes: tuple[str, ...], arcs: Mapping[Arc, float], title: str = "") -> str:
    """Arcs with a width for their probability; of two opposite arcs the more probable one is drawn for both."""
    drawn: dict[Arc, float] = {}
    for (parent, child), weight in sorted(arcs.items()):
        back = arcs.get((child, parent), 0.0)
        if weight + back < FAINT or back > weight or (back == weight and (child, parent) in drawn):
            continue
        drawn[parent, child] = weight + back
    listed = tuple(PictureNode(name, name, "random", False) for name in nodes)
    pairs = tuple(PictureArc(*arc, weight=weight, optional=weight < 0.5) for arc, weight in drawn.items())
    return picture_svg(Picture(listed, pairs, title=title))


def edges_svg(nodes: tuple[str, ...], edges: Mapping[Arc, float | None], title: str = "") -> str:
    """Undirected edges, with a width for their probability where they have one."""
    listed = tuple(PictureNode(name, name, "random", False) for name in nodes)
    drawn = tuple(
        PictureArc(*edge, directed=False, weight=weight, optional=weight is not None and weight < 0.5)
        for edge, weight in sorted(edges.items())
        if weight is None or weight >= FAINT
    )
    return picture_svg(Picture(listed, drawn, title=title))
