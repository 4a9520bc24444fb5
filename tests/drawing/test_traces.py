"""Scores along a search are drawn as they were, however many."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import platewright as pw
from platewright.drawing.traces import HEIGHT, thinned, traces_svg
from platewright.errors import ModelError
from structure.tables import categories

SVG = "{http://www.w3.org/2000/svg}"


def heights(svg: str) -> list[list[float]]:
    """What each line goes through, from the lowest place upwards."""
    lines = [line.attrib["points"].split() for line in ElementTree.fromstring(svg).iter(f"{SVG}polyline")]
    places = [[float(point.split(",")[1]) for point in line] for line in lines]
    ground = max(max(line) for line in places)
    return [[ground - y for y in line] for line in places]


def test_heights_are_in_proportion_to_scores() -> None:
    first, second = heights(traces_svg([np.array([-10.0, -5.0, 0.0]), np.array([-10.0, 0.0])]))
    np.testing.assert_allclose(first, [0, HEIGHT / 2, HEIGHT], atol=0.2)
    np.testing.assert_allclose(second, [0, HEIGHT], atol=0.2)


def test_no_dip_of_a_long_line_is_lost() -> None:
    values = np.sin(np.arange(100_000) / 900.0)
    values[54_321], values[77_777] = -9.0, 8.0
    found = thinned(values)
    assert (54_321, -9.0) in found and (77_777, 8.0) in found and len(found) <= 800
    assert [step for step, _ in found] == sorted(step for step, _ in found)


def test_a_level_line_one_point_and_what_is_not_finite_are_drawn() -> None:
    for trace in ([-1.0, -1.0], [-1.0], [-np.inf, -1.0], []):
        ElementTree.fromstring(traces_svg([np.array(trace)], "a <b> & c"))


def test_searches_and_chains_draw_theirs() -> None:
    table = categories(60)
    family = pw.Structures(table)
    (line,) = heights(family.search(table, by="tabu", restarts=3).trace_svg())
    assert len(line) == 3
    assert len(heights(family.sample(table, draws=400, chains=4).trace_svg())) == 4
    with pytest.raises(ModelError, match="no search"):
        family.score(table, []).trace_svg()
