"""Evidence does not know where zero is: shifting data, prior means and all that is located leaves it as it is.

    log p(y + c | prior mean + c) = log p(y | prior mean),        log p(k y | k scales) = log p(y | scales) - N log k

Data are multiples of 1/1024, so that sums with shifts up to 1e12 are exact; a factor that is a power of two changes no
digit of anything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw

GRID = 1024.0
Located = Callable[[float, float], pw.Model]


def on_grid(values: np.ndarray) -> np.ndarray:
    return np.round(values * GRID) / GRID


def known_scale(shift: float, factor: float) -> pw.Model:
    m = pw.Model("known scale")
    row = m.plate("row")
    m.mu = pw.Normal(factor * (shift + 0.25), sd=factor * 3.0)
    m.y = pw.Normal(m.mu, sd=factor * 1.5, plates=row)
    return m


def unknown_scale(shift: float, factor: float) -> pw.Model:
    m = pw.Model("unknown scale")
    row = m.plate("row")
    m.tau = pw.Gamma(2.5, rate=factor**2 * 1.5)
    m.mu = pw.Normal(factor * (shift - 0.5), precision=0.3 * m.tau)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=row)
    return m


def line(shift: float, factor: float) -> pw.Model:
    m = pw.Model("line")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.a = pw.Normal(factor * shift, sd=factor * 2.0)
    m.b = pw.Normal(0.0, sd=factor * 3.0)
    m.y = pw.Normal(m.a + m.b * m.x, sd=factor * 0.7, plates=row)
    return m


def groups(shift: float, factor: float) -> pw.Model:
    m = pw.Model("groups")
    group = m.plate("group", 3)
    row = m.plate("row")
    m.g = pw.Input(plates=row, levels=group)
    m.mu = pw.Normal(factor * (shift + 1.0), sd=factor * 5.0)
    m.centre = pw.Normal(m.mu, sd=factor * 2.0, plates=group)
    m.y = pw.Normal(m.centre[m.g], sd=factor * 0.9, plates=row)
    return m


def weights(shift: float, factor: float) -> pw.Model:
    m = pw.Model("weights")
    row = m.plate("row")
    m.w = pw.Input(plates=row)
    m.mu = pw.Normal(factor * (shift - 1.0), sd=factor * 4.0)
    m.y = pw.Normal(m.mu, sd=factor * m.w, plates=row)
    return m


MODELS: list[Located] = [known_scale, unknown_scale, line, weights]


def learned(build: Located, rows: int, shift: float, factor: float, backend: str) -> float:
    rng = np.random.default_rng(rows)
    y = on_grid(rng.normal(0.3, 1.4, rows))
    data: dict[str, object] = {"y": factor * (shift + y)}
    model = build(shift, factor)
    extra = {
        "x": on_grid(rng.normal(size=rows)),
        "g": rng.integers(0, 3, rows),
        "w": on_grid(rng.uniform(0.5, 2.0, rows)),
    }
    data |= {name: values for name, values in extra.items() if name in model.variables}
    return float(model.learn(data, backend=backend).log_evidence)


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("rows", [1, 4, 37, 3000])
@pytest.mark.parametrize("build", MODELS)
def test_evidence_does_not_change_with_the_place_of_zero(build: Located, rows: int, backend: str) -> None:
    here = learned(build, rows, 0.0, 1.0, backend)
    for shift in (1e3, -1e6, 1e9, 1e12):
        assert learned(build, rows, shift, 1.0, backend) == pytest.approx(here, rel=1e-12, abs=1e-12), shift


@pytest.mark.parametrize("rows", [1, 4, 37, 3000])
def test_two_levels_lose_no_more_than_the_digits_of_the_shift(rows: int) -> None:
    """What the groups leave for their mean is handed on rounded: as many digits are lost as the shift has."""
    here = learned(groups, rows, 0.0, 1.0, "numpy")
    for shift in (1e3, -1e6, 1e9):
        lost = np.finfo(float).eps * abs(shift)
        assert learned(groups, rows, shift, 1.0, "numpy") == pytest.approx(here, rel=1e-12, abs=20 * lost + 1e-10), (
            shift
        )


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("build", [*MODELS, groups])
def test_evidence_changes_with_the_unit_by_its_jacobian(build: Located, backend: str) -> None:
    rows = 23
    here = learned(build, rows, 3.0, 1.0, backend)
    for power in (-40, -3, 7, 60):
        there = learned(build, rows, 3.0, 2.0**power, backend) + rows * power * np.log(2.0)
        # the logarithms of scales add up otherwise; the squares are the same to the bit
        assert there == pytest.approx(here, rel=1e-13, abs=4e-16 * rows * abs(power)), power
