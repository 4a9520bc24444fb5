"""Gaussian unknowns that are a chain along an ordered plate, alone or with others in their state or outside of it."""

from __future__ import annotations

import numpy as np

import platewright as pw
from schemas.small_instance import Case


def _steps(title: str, several: bool = False) -> tuple[pw.Model, pw.Plate]:
    m = pw.Model(title)
    outer = m.plate("series") if several else None
    step = m.plate("step", ordered=True, within=outer)
    m.tau = pw.Gamma(3, rate=2)
    m.noise = pw.Gamma(3, rate=1)
    return m, step


def level() -> pw.Model:
    m, step = _steps("autoregression seen through noise, several series", several=True)
    m.phi = pw.Normal(0.5, sd=0.3)
    m.z = pw.Normal(m.phi * m.lag("z"), precision=m.tau, start=0.3, plates=step)
    m.y = pw.Normal(m.z, precision=m.noise, plates=step)
    return m


def trend() -> pw.Model:
    m, step = _steps("level and slope")
    m.slope = pw.Normal(m.lag("slope"), precision=4 * m.tau, start=0.2, plates=step)
    m.level = pw.Normal(m.lag("level") + m.lag("slope"), precision=m.tau, start=0.0, plates=step)
    m.y = pw.Normal(m.level, precision=m.noise, plates=step)
    return m


def regression() -> pw.Model:
    m, step = _steps("level with weights on the side", several=True)
    j = m.plate("j")
    m.x = pw.Input(plates=(step, j))
    m.drift = pw.Normal(0.1, sd=0.5)
    m.w = pw.Normal(0, sd=1, plates=j)
    m.z = pw.Normal(m.lag("z") + m.drift, precision=m.tau, start=0.0, plates=step)
    m.y = pw.Normal(m.z + pw.dot(m.x, m.w, over=j), precision=m.noise, plates=step)
    return m


def days() -> pw.Model:
    m, day = _steps("any number of readings a step")
    n = m.plate("n")
    m.day = pw.Input(plates=n, levels=day)
    m.z = pw.Normal(0.9 * m.lag("z"), precision=m.tau, start=0.5, plates=day)
    m.y = pw.Normal(m.z[m.day], precision=m.noise, plates=n)
    return m


def vector() -> pw.Model:
    m, step = _steps("states over a plate")
    d = m.plate("d", 2)
    origin = m.plate("origin", like=d)
    j = m.plate("j")
    m.A = pw.Normal(0.3, sd=0.4, plates=(d, origin))
    m.C = pw.Normal(0.5, sd=1, plates=(j, d))
    m.z = pw.Normal(pw.dot(m.A, m.lag("z")[origin], over=origin), precision=m.tau, start=0.0, plates=(step, d))
    m.y = pw.Normal(pw.dot(m.C, m.z, over=d), precision=m.noise, plates=(step, j))
    return m


def panel() -> pw.Model:
    m, step = _steps("chains side by side")
    s = m.plate("s")
    m.z = pw.Normal(0.8 * m.lag("z"), precision=m.tau, start=0.0, plates=(s, step))
    m.y = pw.Normal(m.z, precision=m.noise, plates=(s, step))
    return m


def common() -> pw.Model:
    m, step = _steps("chains with a common one")
    s = m.plate("s")
    m.c = pw.Normal(m.lag("c"), precision=m.tau, start=0.0, plates=step)
    m.z = pw.Normal(0.8 * m.lag("z"), precision=2 * m.tau, start=0.0, plates=(step, s))
    m.y = pw.Normal(m.z + m.c, precision=m.noise, plates=(step, s))
    return m


def shocks() -> pw.Model:
    m, step = _steps("shocks that move a chain and are seen in what follows")
    m.a = pw.Normal(0, precision=m.tau, plates=step)
    m.z = pw.Normal(0.7 * m.lag("z") + m.a, precision=2 * m.tau, start=0.0, plates=step)
    m.y = pw.Normal(m.z + 0.5 * m.lag("a"), precision=m.noise, start=m.z, plates=step)
    return m


STEPS = {"step": 5}
SEVERAL = {"step": (0, 0, 0, 1, 1)}
DAYS = {"day": np.array([0, 2, 2, 4, 1, 2])}

GAUSSIAN_CHAINS: tuple[Case, ...] = (
    Case("levels", level, ("y",), {**STEPS, "series": 2}, SEVERAL),
    Case("trend", trend, ("y",), STEPS),
    Case("trend_beside", regression, ("y",), {**STEPS, "series": 2, "j": 2}, SEVERAL),
    Case("readings_a_step", days, ("y",), {**STEPS, "n": 6}, inputs=DAYS),
    Case("vectors_along", vector, ("y",), {**STEPS, "j": 3}),
    Case("side_by_side", panel, ("y",), {**STEPS, "s": 2}),
    Case("common_chain", common, ("y",), {"step": 4, "s": 2}),
    Case("shocks", shocks, ("y",), STEPS),
)
