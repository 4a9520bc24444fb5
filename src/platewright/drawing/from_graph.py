"""The picture of a graph: what a reader should see of it, and nothing that is only there for the machine.

    th on plate doc, y on plate word within doc, y uses th[doc@word[word]]

        plate doc  [ th -> plate word [ y ] ]

Membership columns (`doc@word`), the marks of where sequences begin (`first@step`) and the plates of plain levels
(`z.levels`) are not drawn; a node on an inner plate is drawn on the outer ones too. Axes inside one value, such as the
simplex of a Dirichlet, are no plates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from platewright.algebra.expression import Lag, Reference, walk
from platewright.drawing.picture import Picture, PictureArc, PictureNode, PicturePlate
from platewright.graph.graph import Graph
from platewright.language.plate import Plate
from platewright.language.variable import Variable

LAGGED = "\N{ANTICLOCKWISE OPEN CIRCLE ARROW}"


def picture_of(graph: Graph, sizes: Mapping[str, int] | None = None, title: str = "") -> Picture:
    """The picture of a graph; `sizes` are those that the data gave to plates."""
    nodes = {name: node for name, node in graph.nodes.items() if is_drawn(name)}
    drawn = tuple(
        PictureNode(
            name,
            node_label(node),
            node.role or node.kind,
            graph.is_known(name) if _has_its_parents(graph, node) else name in graph.known,
            drawn_plates(graph, (axis.plate for axis in node.plates)),
        )
        for name, node in nodes.items()
    )
    used = {plate for node in drawn for plate in node.plates}
    arcs = (*_directed(graph, nodes), *_undirected(graph, nodes))
    return Picture(drawn, arcs, picture_plates(graph, used, sizes or {}), title)


def is_drawn(name: str) -> bool:
    """Whether a node has a place in the picture; hidden columns have an @ in their names."""
    return "@" not in name


def drawn_plates(graph: Graph, plates: Iterable[str]) -> tuple[str, ...]:
    """The plates a node is drawn on: its own and all around them, without those of plain levels."""
    found: dict[str, None] = {}
    for name in plates:
        for plate in (*_around(graph, name), name):
            if not plate.endswith((".levels", ".rows")):
                found[plate] = None
    return tuple(found)


def _around(graph: Graph, name: str) -> list[str]:
    """The plates that a plate lies within, outermost first."""
    found: list[str] = []
    while name in graph.plates and (outer := graph.plates[name].within) is not None:
        found.insert(0, outer)
        name = outer
    return found


def picture_plates(graph: Graph, used: Iterable[str], sizes: Mapping[str, int]) -> tuple[PicturePlate, ...]:
    """The plates in use, in declared order, with their sizes as far as they are known.

    Colours are numbered over all plates of the graph, so that a plate looks the same in every picture of a derivation.
    """
    wanted = set(used)
    return tuple(
        PicturePlate(name, plate_size(plate, sizes), colour=number)
        for number, (name, plate) in enumerate(graph.plates.items())
        if name in wanted
    )


def plate_size(plate: Plate, sizes: Mapping[str, int]) -> str:
    """The size as text: a number, or a question mark until the data tell."""
    size = plate.size if plate.size is not None else sizes.get(plate.name)
    return "?" if size is None else f"{size:,}"


def refers_to_its_past(node: Variable) -> bool:
    """Whether a node depends on itself at an earlier element."""
    return any(
        isinstance(part, Reference) and part.name == node.name and any(isinstance(at, Lag) for at in part.indices)
        for part in walk(node.log_density if node.definition is None else node.definition)
    )


def node_label(node: Variable) -> str:
    """The name, with a turned arrow when the node depends on its own past."""
    return f"{node.name} {LAGGED}" if refers_to_its_past(node) else node.name


def _has_its_parents(graph: Graph, node: Variable) -> bool:
    """After an elimination a density may still name nodes that are gone."""
    return all(parent in graph.nodes for parent in node.parents)


def _directed(graph: Graph, nodes: Mapping[str, Variable]) -> list[PictureArc]:
    """An arc from each parent that is drawn."""
    found = []
    for name, node in nodes.items():
        parents = _parents(graph, node)
        found += [
            PictureArc(parent, name, directed=True, optional=parent in node.optional)
            for parent in nodes
            if parent in parents and parent != name
        ]
        found += [PictureArc(seen, name) for seen in node.knows if seen in nodes]
    return found


def _parents(graph: Graph, node: Variable) -> set[str]:
    """The parents of a node, those of a hidden parent in its place."""
    found: set[str] = set()
    waiting = list(graph.parents[node.name])
    seen: set[str] = set()
    while waiting:
        parent = waiting.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if is_drawn(parent):
            found.add(parent)
        elif parent in graph.nodes:
            waiting += graph.parents[parent]
    return found


def _undirected(graph: Graph, nodes: Mapping[str, Variable]) -> list[PictureArc]:
    """One line between each pair of neighbours; dashed where only optional potentials tie them."""
    order = {name: place for place, name in enumerate(nodes)}
    always = replace(graph, potentials={n: found for n, found in graph.potentials.items() if not found.optional})
    return [
        PictureArc(name, other, directed=False, optional=other not in always.neighbours[name])
        for name in nodes
        for other in sorted(graph.neighbours[name], key=lambda near: order.get(near, -1))
        if other in order and order[name] < order[other]
    ]
