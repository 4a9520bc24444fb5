"""Scores along a search or along chains as a picture: one line each, the number of the step across, the score upwards.

Long lines are thinned: of each stretch of steps the lowest and the highest score are drawn, so that no dip is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from platewright.drawing.svg import FONT, INK, LINE, PAPER, PLATE_COLOURS, TITLE_ROOM, TITLE_SIZE, number, text_svg

WIDTH, HEIGHT = 520.0, 220.0
LEFT, BELOW, MARGIN = 84.0, 34.0, 16.0
MOST_STRETCHES = 400


def traces_svg(traces: Sequence[NDArray[np.float64]], title: str = "", across: str = "step") -> str:
    """Lines of one scale as SVG text; what is not finite is left out."""
    top = TITLE_ROOM if title else MARGIN
    finite = [values[np.isfinite(values)] for values in traces]
    shown = [values for values in finite if values.size]
    low = min((float(values.min()) for values in shown), default=0.0)
    high = max((float(values.max()) for values in shown), default=0.0)
    longest = max((len(values) for values in shown), default=1)
    bottom, right = top + HEIGHT, LEFT + WIDTH

    def place(step: float, score: float) -> str:
        x = LEFT + WIDTH * (step / (longest - 1) if longest > 1 else 0.5)
        y = bottom - HEIGHT * ((score - low) / (high - low) if high > low else 0.5)
        return f"{number(x)},{number(y)}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(right + MARGIN)} {number(bottom + BELOW)}"'
        f' width="{number(right + MARGIN)}" height="{number(bottom + BELOW)}" font-family="{FONT}">',
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
    ]
    if title:
        parts.append(text_svg(title, LEFT, TITLE_SIZE + 6, TITLE_SIZE, INK, "start", "600"))
    axes = f"M {number(LEFT)} {number(top)} V {number(bottom)} H {number(right)}"
    parts.append(f'<path d="{axes}" fill="none" stroke="{LINE}" stroke-width="1"/>')
    for score in dict.fromkeys((high, low)):
        y = bottom - HEIGHT * ((score - low) / (high - low) if high > low else 0.5)
        parts.append(text_svg(f"{score:,.2f}", LEFT - 6, y + 4, 11, INK, "end", "400"))
    parts.append(text_svg(f"{across}, {longest} in all", right, bottom + 18, 11, INK, "end", "400"))
    for line, values in enumerate(shown):
        points = " ".join(place(step, score) for step, score in thinned(values))
        colour = PLATE_COLOURS[line % len(PLATE_COLOURS)]
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        if len(values) == 1:
            left, _, up = place(0.0, float(values[0])).partition(",")
            parts.append(f'<circle cx="{left}" cy="{up}" r="2.5" fill="{colour}"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def thinned(values: NDArray[np.float64]) -> list[tuple[int, float]]:
    """Steps and scores, of each stretch the lowest and the highest in their order."""
    if len(values) <= 2 * MOST_STRETCHES:
        return [(step, float(score)) for step, score in enumerate(values)]
    edges = np.linspace(0, len(values), MOST_STRETCHES + 1).astype(int)
    found = []
    for start, end in pairwise(edges):
        part = values[start:end]
        for step in sorted({int(part.argmin()), int(part.argmax())}):
            found.append((int(start) + step, float(part[step])))
    return found
