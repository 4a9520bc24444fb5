"""A mode at the edge of a range where a density is infinite: refused by name, and no defect of the derivation."""

from __future__ import annotations

import pytest

import platewright as pw
from platewright.errors import Unbounded


def test_a_rate_that_runs_to_nought_under_a_small_shape_is_named() -> None:
    m = pw.Model("shrunken rates")
    row, k = m.plate("row"), m.plate("k", 2)
    m.h = pw.Exponential(rate=1.0)
    m.s = pw.Gamma(m.h, rate=m.h, plates=k)
    m.g = pw.Input(plates=row, levels=k)
    m.y = pw.Poisson(m.s[m.g] + 1.0, plates=row)
    with pytest.raises(Unbounded, match=r"`s(\[1\])?`"):
        m.learn({"g": [0, 0, 1, 1], "y": [3, 4, 0, 0]}, goal="map", integrate=[])


def test_a_mode_at_an_edge_with_a_finite_density_is_found() -> None:
    m = pw.Model("no background")
    row = m.plate("row")
    m.s = pw.Gamma(2.0, rate=1.0)
    m.b = pw.Exponential(rate=1.0)
    m.y = pw.Poisson(m.s + m.b, plates=row)
    fit = m.learn({"y": [3, 2, 4]}, goal="map")
    assert fit["b"].value < 1e-6
    assert fit["s"].value == pytest.approx((2 + 9 - 1) / (1 + 3), rel=1e-4)
