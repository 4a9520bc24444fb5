"""A tree as a picture: what is asked, the answers along the lines, and at each leaf its rows and what they say.

              (age < 40)
             yes /    \\ no
        [12: 0.9 0.1]  (colour ?) ...

Leaves stand side by side, a question above the middle of its branches. SVG text without scripts or references.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from platewright.drawing.lettering import clean_text, shortened, text_width
from platewright.drawing.svg import FAINT, FONT, INK, LINE, PAPER, number, text_svg
from platewright.language.split import Attribute, Split, leaves_of, shares_of
from platewright.trees.leaves import ClassLeaf, Leaf
from platewright.trees.rows import grouped_statistics, leaf_places

SIZE, SMALL = 13.0, 11.0
HIGH, BOX, GAP, MARGIN = 74.0, 26.0, 14.0, 18.0
LONGEST = 40


class Placed(NamedTuple):
    """One node of the picture around its centre: a question or a leaf, and those below with what leads to each."""

    x: float
    y: float
    text: str
    is_leaf: bool
    below: tuple[tuple[str, Placed], ...]


def tree_svg(
    shape: Split | None,
    attributes: Mapping[str, Attribute],
    leaf: Leaf,
    values: Mapping[str, NDArray[Any]],
    target: NDArray[Any],
    title: str = "",
) -> str:
    """A settled shape with the rows of its leaves."""
    shares = np.array(tuple(shares_of(shape)))
    found = grouped_statistics(leaf, leaf_places(shape, values, len(target)), target, leaves_of(shape))
    texts = [_said(leaf, statistics, float(share)) for statistics, share in zip(found, shares, strict=True)]
    top = MARGIN + (24.0 if title else 0.0)
    root, width, _ = _placed(shape, attributes, iter(texts), MARGIN, top + BOX / 2)
    width = max(width, text_width(title, SIZE) + 2 * MARGIN)
    height = _lowest(root) + BOX / 2 + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}"'
        f' viewBox="0 0 {number(width)} {number(height)}" role="img" font-family="{escape(FONT)}">',
        f"<title>{escape(clean_text(title) or 'tree')}</title>",
        f'<rect x="0" y="0" width="{number(width)}" height="{number(height)}" fill="{PAPER}"/>',
    ]
    if title:
        lines.append(text_svg(shortened(title, 80), width / 2, MARGIN + 8, 15.0, INK, "middle", "600"))
    return "\n".join([*lines, *_drawn(root), "</svg>"]) + "\n"


def _said(leaf: Leaf, statistics: NDArray[np.float64], share: float) -> str:
    """Rows, and the probabilities of classes or the place of numbers."""
    if isinstance(leaf, ClassLeaf):
        rows, shown = statistics.sum(), leaf.probabilities(statistics, share)
        order = np.argsort(-shown, kind="stable")[:3]
        names = leaf.labels or tuple(range(leaf.size))
        return f"{rows:.0f}: " + ", ".join(f"{names[k]} {shown[k]:.2f}" for k in order)
    _, centre, scale = leaf.student(statistics)
    return f"{statistics[0]:.0f}: {float(centre):.4g} \u00b1 {float(scale):.2g}"


def _answers(shape: Split, attribute: Attribute) -> list[str]:
    if shape.is_binary:
        return ["yes", "no"]
    return [str(level) for level in (attribute.labels or range(len(shape.branches)))]


def _placed(
    shape: Split | None, attributes: Mapping[str, Attribute], texts: Any, left: float, y: float
) -> tuple[Placed, float, float]:
    """The node, the right end of all below it with a margin, and where the next one may begin."""
    if shape is None:
        text = shortened(next(texts), LONGEST)
        width = text_width(text, SMALL) + 14.0
        return Placed(left + width / 2, y, text, True, ()), left + width + MARGIN, left + width + GAP
    below, begin, right = [], left, left
    for word, branch in zip(_answers(shape, attributes[shape.on]), shape.branches, strict=True):
        placed, right, begin = _placed(branch, attributes, texts, begin, y + HIGH)
        below.append((shortened(word, 16), placed))
    labels = attributes[shape.on].labels
    level = labels[int(shape.level)] if labels and shape.level is not None else shape.level  # type: ignore[call-overload]
    text = shortened(Split(shape.on, below=shape.below, level=level).question, LONGEST)
    middle = (below[0][1].x + below[-1][1].x) / 2
    lacking = max(0.0, left + text_width(text, SIZE) / 2 + 12.0 - middle)
    x = middle + lacking
    end = max(right, x + text_width(text, SIZE) / 2 + 12.0 + MARGIN)
    return Placed(x, y, text, False, tuple(below)), end, max(begin, end - MARGIN + GAP)


def _lowest(node: Placed) -> float:
    return max((_lowest(found) for _, found in node.below), default=node.y)


def _drawn(node: Placed) -> list[str]:
    lines = []
    for word, found in node.below:
        start, end = node.y + BOX / 2, found.y - BOX / 2
        lines.append(
            f'<path d="M {number(node.x)} {number(start)} L {number(found.x)} {number(end)}" stroke="{LINE}"'
            ' stroke-width="1.2" fill="none"/>'
        )
        lines += _drawn(found)
        halo = f' stroke="{PAPER}" stroke-width="4" paint-order="stroke"'
        x, y = (node.x + 2 * found.x) / 3, (start + 2 * end) / 3
        lines.append(text_svg(word, x, y, SMALL, LINE, "middle", "400", halo))
    size = SMALL if node.is_leaf else SIZE
    width = text_width(node.text, size) + (14.0 if node.is_leaf else 24.0)
    round_by, fill = ("3", FAINT) if node.is_leaf else (number(BOX / 2), PAPER)
    lines.append(
        f'<rect x="{number(node.x - width / 2)}" y="{number(node.y - BOX / 2)}" width="{number(width)}"'
        f' height="{number(BOX)}" rx="{round_by}" fill="{fill}" stroke="{INK}" stroke-width="1.2"/>'
    )
    lines.append(text_svg(node.text, node.x, node.y + size * 0.35, size, INK, "middle", "400"))
    return lines
