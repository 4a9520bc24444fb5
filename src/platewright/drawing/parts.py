"""A part of a picture: some of its nodes with the arcs between them, or all that hangs together with some."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from platewright.drawing.picture import Picture


def part_of(picture: Picture, names: Collection[str]) -> Picture:
    """The picture with only these nodes; plates without a node go too."""
    nodes = tuple(node for node in picture.nodes if node.name in names)
    arcs = tuple(arc for arc in picture.arcs if arc.source in names and arc.target in names)
    used = {plate for node in nodes for plate in node.plates}
    return replace(picture, nodes=nodes, arcs=arcs, plates=tuple(p for p in picture.plates if p.name in used))


def connected_part(picture: Picture, names: Collection[str]) -> Picture:
    """The nodes that some nodes reach along arcs, in either direction."""
    neighbours: dict[str, list[str]] = {node.name: [] for node in picture.nodes}
    for arc in picture.arcs:
        neighbours[arc.source].append(arc.target)
        neighbours[arc.target].append(arc.source)
    found = {name for name in names if name in neighbours}
    waiting = sorted(found)
    while waiting:
        for other in neighbours[waiting.pop()]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return part_of(picture, found)
