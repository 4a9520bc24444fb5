"""A picture: what is to be drawn, before anything has a place.

    picture "a coin"
    plate toss: N
    node theta: random, unknown
    node heads: random, known, on toss
    arc theta -> heads

A picture knows nothing of models or graphs, so every room may make one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["random", "deterministic", "input", "undirected", "statistic", "constant", "action", "utility"]


@dataclass(frozen=True)
class PictureNode:
    """One node: how it is called, how it is shaped (`kind`), shaded when `known`, and the plates it lies on."""

    name: str
    label: str
    kind: Kind
    known: bool
    plates: tuple[str, ...] = ()


@dataclass(frozen=True)
class PictureArc:
    """One arc; `optional` arcs belong to some models of a family and not to others, `weight` (0 to 1) is its width."""

    source: str
    target: str
    directed: bool = True
    optional: bool = False
    weight: float | None = None


@dataclass(frozen=True)
class PicturePlate:
    """One plate; `size` is text such as "N" or "3", `label` replaces the name when it is given.

    `colour` numbers the colours, so that a plate keeps its own in pictures that lack other plates; without it the plate
    takes that of its place in the picture.
    """

    name: str
    size: str
    label: str = ""
    colour: int | None = None


@dataclass(frozen=True)
class Picture:
    """Nodes, arcs and plates in the order in which they were declared, which the layout keeps where it can."""

    nodes: tuple[PictureNode, ...]
    arcs: tuple[PictureArc, ...] = ()
    plates: tuple[PicturePlate, ...] = ()
    title: str = ""


def check_picture(picture: Picture) -> Picture:
    """The same picture, once it is known that every name in it has a meaning; a `ValueError` says which has none.

    A plate without nodes is legal (a step may just have emptied it) and is not drawn.
    """
    check_distinct("node", (node.name for node in picture.nodes))
    check_distinct("plate", (plate.name for plate in picture.plates))
    plates = {plate.name for plate in picture.plates}
    for node in picture.nodes:
        check_node(node, plates)
    names = {node.name for node in picture.nodes}
    for arc in picture.arcs:
        check_arc(arc, names)
    check_distinct("arc", (arc_key(arc) for arc in picture.arcs))
    return picture


def check_distinct(what: str, names: Iterable[str]) -> None:
    """Refuse empty and repeated names."""
    seen: set[str] = set()
    for name in names:
        if not name:
            raise ValueError(f"a {what} of the picture has an empty name")
        if name in seen:
            raise ValueError(f"{what} `{name}` appears twice in the picture")
        seen.add(name)


def check_node(node: PictureNode, plates: set[str]) -> None:
    """Refuse a node of no known kind, or on a plate that the picture does not have."""
    if node.kind not in get_args(Kind):
        raise ValueError(f"node `{node.name}` has kind `{node.kind}`; expected one of {', '.join(get_args(Kind))}")
    for plate in node.plates:
        if plate not in plates:
            raise ValueError(f"node `{node.name}` is on plate `{plate}`, which the picture does not have")
    if len(set(node.plates)) < len(node.plates):
        raise ValueError(f"node `{node.name}` names a plate twice: {', '.join(node.plates)}")


def check_arc(arc: PictureArc, names: set[str]) -> None:
    """Refuse an arc from a node to itself, or with an end that the picture does not have."""
    for end in (arc.source, arc.target):
        if end not in names:
            raise ValueError(f"arc `{arc_key(arc)}` ends at node `{end}`, which the picture does not have")
    if arc.source == arc.target:
        raise ValueError(f"arc `{arc_key(arc)}` goes from a node to itself")


def arc_key(arc: PictureArc) -> str:
    """The arc in text; an undirected arc reads the same from both ends."""
    if arc.directed:
        return f"{arc.source} -> {arc.target}"
    first, second = sorted((arc.source, arc.target))
    return f"{first} -- {second}"


def picture_text(picture: Picture) -> str:
    """The stable text form: one line for each thing, in declared order."""
    lines = [f"picture {quoted(picture.title)}" if picture.title else "picture"]
    for plate in picture.plates:
        label = f", labelled {quoted(plate.label)}" if plate.label else ""
        lines.append(f"plate {plate.name}: {plate.size}{label}")
    for node in picture.nodes:
        label = f", labelled {quoted(node.label)}" if node.label != node.name else ""
        plates = f", on {' '.join(node.plates)}" if node.plates else ""
        lines.append(f"node {node.name}: {node.kind}, {'known' if node.known else 'unknown'}{label}{plates}")
    for arc in picture.arcs:
        lines.append(f"arc {arc_key(arc)}{', optional' if arc.optional else ''}")
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Text between double quotes on one line, whatever it holds."""
    return json.dumps(text, ensure_ascii=False)
