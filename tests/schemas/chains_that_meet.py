"""Hidden chains that meet other hidden variables: classes of sequences, values of one step, and other chains."""

from __future__ import annotations

import numpy as np

import platewright as pw
from schemas.small_instance import Case


def _series(title: str) -> tuple[pw.Model, pw.Plate, pw.Plate, pw.Plate, pw.Plate]:
    m = pw.Model(title)
    series = m.plate("series")
    step = m.plate("step", ordered=True, within=series)
    kind, k = m.plate("kind", 2), m.plate("k", 2)
    m.p = pw.Dirichlet(1.5, over=kind)
    m.c = pw.Categorical(m.p, plates=series)
    return m, series, step, kind, k


def kinds_of_moves() -> pw.Model:
    m, _, step, kind, k = _series("kinds of sequences that move otherwise")
    before, symbol = m.plate("before", like=k), m.plate("symbol", 3)
    m.begin = pw.Dirichlet(1.5, over=k, plates=kind)
    m.move = pw.Dirichlet(1.5, over=k, plates=(kind, before))
    m.shown = pw.Dirichlet(1.2, over=symbol, plates=k)
    m.z = pw.Categorical(m.move[m.c, m.lag("z")], start=m.begin[m.c], plates=step)
    m.y = pw.Categorical(m.shown[m.z], plates=step)
    return m


def kinds_of_readings() -> pw.Model:
    m, _, step, kind, k = _series("kinds of sequences that show otherwise")
    before = m.plate("before", like=k)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    m.tau = pw.Gamma(3, rate=2, plates=kind)
    m.mu = pw.Normal(0, precision=0.3 * m.tau, plates=(kind, k))
    m.y = pw.Normal(m.mu[m.c, m.z], precision=m.tau[m.c], plates=step)
    return m


def kinds_seen_beside() -> pw.Model:
    """The class has data of its own, and only the start depends on it."""
    m, series, step, kind, k = _series("kinds with a column of their own")
    before = m.plate("before", like=k)
    m.begin = pw.Dirichlet(1.5, over=k, plates=kind)
    m.move = pw.Dirichlet(1.5, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin[m.c], plates=step)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.level = pw.Normal(0, sd=2, plates=kind)
    m.y = pw.Poisson(m.rate[m.z], plates=step)
    m.u = pw.Normal(m.level[m.c], sd=1, plates=series)
    return m


def two_classes() -> pw.Model:
    m, series, step, kind, k = _series("two classes that depend on each other")
    before, side = m.plate("before", like=k), m.plate("side", 2)
    m.q = pw.Dirichlet(1.5, over=side, plates=kind)
    m.d = pw.Categorical(m.q[m.c], plates=series)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=(kind, before))
    m.z = pw.Categorical(m.move[m.c, m.lag("z")], start=m.begin, plates=step)
    m.mu = pw.Normal(0, sd=2, plates=(side, k))
    m.y = pw.Normal(m.mu[m.d, m.z], sd=1, plates=step)
    return m


def class_of_a_region() -> pw.Model:
    m = pw.Model("one class for several sequences")
    region = m.plate("region")
    series = m.plate("series", within=region)
    step = m.plate("step", ordered=True, within=series)
    kind, k = m.plate("kind", 2), m.plate("k", 2)
    before = m.plate("before", like=k)
    m.p = pw.Dirichlet(1.5, over=kind)
    m.c = pw.Categorical(m.p, plates=region)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=(kind, before))
    m.z = pw.Categorical(m.move[m.c, m.lag("z")], start=m.begin, plates=step)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=step)
    return m


def _chain(m: pw.Model, step: pw.Plate, k: pw.Plate, name: str = "z") -> pw.Plate:
    """A chain with its start and moves; the plate of its values before."""
    before = m.plate(f"{name}_before", like=k)
    setattr(m, f"{name}_begin", pw.Dirichlet(1.5, over=k))
    setattr(m, f"{name}_move", pw.Dirichlet(1.5, over=k, plates=before))
    moves = getattr(m, f"{name}_move")
    setattr(m, name, pw.Categorical(moves[m.lag(name)], start=getattr(m, f"{name}_begin"), plates=step))
    return before


def mixed_readings() -> pw.Model:
    m = pw.Model("readings of a state are a mixture")
    step, k, part = m.plate("step", ordered=True), m.plate("k", 2), m.plate("part", 2)
    _chain(m, step, k)
    m.q = pw.Dirichlet(1.5, over=part, plates=k)
    m.w = pw.Categorical(m.q[m.z], plates=step)
    m.mu = pw.Normal(0, sd=2, plates=(k, part))
    m.y = pw.Normal(m.mu[m.z, m.w], sd=1, plates=step)
    return m


def events() -> pw.Model:
    """A hidden value of the step that depends on the state before it, and on another of its own step."""
    m = pw.Model("events between states")
    step, k, e, a = m.plate("step", ordered=True), m.plate("k", 2), m.plate("e", 2), m.plate("a", 2)
    before = _chain(m, step, k)
    m.first = pw.Dirichlet(1.5, over=e)
    m.chance = pw.Dirichlet(1.5, over=e, plates=(before, k))
    m.w = pw.Categorical(m.chance[m.lag("z"), m.z], start=m.first, plates=step)
    m.told = pw.Dirichlet(1.5, over=a, plates=e)
    m.v = pw.Categorical(m.told[m.w], plates=step)
    m.mu = pw.Normal(0, sd=2, plates=a)
    m.y = pw.Normal(m.mu[m.v], sd=1, plates=step)
    return m


def many_cells() -> pw.Model:
    m = pw.Model("several cells of a step, each with a hidden value")
    step, k, j, e = m.plate("step", ordered=True), m.plate("k", 2), m.plate("j", 2), m.plate("e", 2)
    _chain(m, step, k)
    m.q = pw.Dirichlet(1.5, over=e, plates=(k, j))
    m.w = pw.Categorical(m.q[m.z], plates=(step, j))
    m.rate = pw.Gamma(2, rate=1, plates=(j, e))
    m.y = pw.Poisson(m.rate[j.index, m.w], plates=(step, j))
    return m


def factorial() -> pw.Model:
    m = pw.Model("two chains that meet in what is seen")
    step, k, h = m.plate("step", ordered=True), m.plate("k", 2), m.plate("h", 3)
    _chain(m, step, k)
    _chain(m, step, h, "x")
    m.mu = pw.Normal(0, sd=2, plates=(k, h))
    m.y = pw.Normal(m.mu[m.z, m.x], sd=1, plates=step)
    return m


def sum_of_chains() -> pw.Model:
    """Readings that add up effects of both chains."""
    m = pw.Model("effects of two chains add up")
    step, k, h = m.plate("step", ordered=True), m.plate("k", 2), m.plate("h", 2)
    _chain(m, step, k)
    _chain(m, step, h, "x")
    m.tau = pw.Gamma(3, rate=2)
    m.a = pw.Normal(0, precision=0.5 * m.tau, plates=k)
    m.b = pw.Normal(0, precision=0.5 * m.tau, plates=h)
    m.y = pw.Normal(m.a[m.z] + m.b[m.x], precision=m.tau, plates=step)
    return m


def coupled() -> pw.Model:
    m = pw.Model("a chain that follows another")
    step, k, h = m.plate("step", ordered=True), m.plate("k", 2), m.plate("h", 2)
    before = _chain(m, step, k)
    x_before = m.plate("x_before", like=h)
    m.x_begin = pw.Dirichlet(1.5, over=h, plates=k)
    m.x_move = pw.Dirichlet(1.5, over=h, plates=(before, k, x_before))
    m.x = pw.Categorical(m.x_move[m.lag("z"), m.z, m.lag("x")], start=m.x_begin[m.z], plates=step)
    m.rate = pw.Gamma(2, rate=1, plates=h)
    m.y = pw.Poisson(m.rate[m.x], plates=step)
    return m


def inputs_choose_moves() -> pw.Model:
    m, _, step, kind, k = _series("inputs choose the moves")
    before, press = m.plate("before", like=k), m.plate("press", 2)
    m.pressed = pw.Input(plates=step, levels=press)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=(kind, press, before))
    m.z = pw.Categorical(m.move[m.c, m.pressed, m.lag("z")], start=m.begin, plates=step)
    m.phi = pw.Normal(0, sd=1, plates=k)
    m.y = pw.Normal(m.phi[m.z] * m.lag("y"), sd=1, start=0.3, plates=step)
    return m


def everything_at_once() -> pw.Model:
    m, _, step, kind, k = _series("classes, chains and hidden values of steps")
    h, part = m.plate("h", 2), m.plate("part", 2)
    _chain(m, step, k)
    x_before = m.plate("x_before", like=h)
    m.x_move = pw.Dirichlet(1.5, over=h, plates=(kind, x_before))
    m.x = pw.Categorical(m.x_move[m.c, m.lag("x")], start=m.x_move[0, 0], plates=step)
    m.q = pw.Dirichlet(1.5, over=part, plates=(kind, k))
    m.w = pw.Categorical(m.q[m.c, m.z], plates=step)
    m.mu = pw.Normal(0, sd=2, plates=(h, part))
    m.y = pw.Normal(m.mu[m.x, m.w], sd=1, plates=step)
    return m


STEPS = {"step": 4}
SERIES = {"step": 6, "series": 3}
GROUPS = {"step": (0, 0, 0, 1, 2, 2)}
REGIONS = {**GROUPS, "series": (0, 1, 1)}
PRESSED = {"pressed": np.array([0, 1, 1, 0, 0, 1])}

MEETING: tuple[Case, ...] = (
    Case("kinds_of_moves", kinds_of_moves, ("y",), SERIES, GROUPS),
    Case("kinds_of_readings", kinds_of_readings, ("y",), SERIES, GROUPS),
    Case("kinds_seen_beside", kinds_seen_beside, ("y", "u"), SERIES, GROUPS),
    Case("two_classes", two_classes, ("y",), {"step": 4, "series": 2}, {"step": (0, 0, 0, 1)}),
    Case("class_of_a_region", class_of_a_region, ("y",), {**SERIES, "region": 2}, REGIONS),
    Case("inputs_choose_moves", inputs_choose_moves, ("y",), SERIES, GROUPS, PRESSED),
    Case("mixed_readings", mixed_readings, ("y",), STEPS),
    Case("events", events, ("y",), {"step": 3}),
    Case("many_cells", many_cells, ("y",), {"step": 3, "j": 2}),
    Case("factorial", factorial, ("y",), {"step": 3}),
    Case("sum_of_chains", sum_of_chains, ("y",), STEPS),
    Case("coupled", coupled, ("y",), STEPS),
    Case("everything_at_once", everything_at_once, ("y",), {"step": 3, "series": 2}, {"step": (0, 0, 1)}),
)
