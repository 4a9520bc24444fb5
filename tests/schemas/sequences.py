"""Hidden Markov models of several kinds, one sequence or several."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def _chain(title: str, states: int = 2, several: bool = False) -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model(title)
    k = m.plate("k", states)
    before = m.plate("before", like=k)
    outer = m.plate("series") if several else None
    step = m.plate("step", ordered=True, within=outer)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    return m, step, k


def symbols(several: bool = False) -> pw.Model:
    m, step, k = _chain("categorical HMM", 2, several)
    symbol = m.plate("symbol", 3)
    m.shown = pw.Dirichlet(1.2, over=symbol, plates=k)
    m.y = pw.Categorical(m.shown[m.z], plates=step)
    return m


def gaussians(several: bool = False) -> pw.Model:
    m, step, k = _chain("Gaussian HMM", 3, several)
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau, plates=step)
    return m


def own_gaussians() -> pw.Model:
    m, step, k = _chain("Gaussian HMM, own precisions", 2)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, precision=0.3 * m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=step)
    return m


def counts(several: bool = False) -> pw.Model:
    m, step, k = _chain("Poisson HMM", 2, several)
    m.rate = pw.Gamma(2, rate=0.5, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=step)
    return m


def several_columns() -> pw.Model:
    m, step, k = _chain("HMM with several columns", 2)
    j = m.plate("j")
    m.mu = pw.Normal(0, sd=2, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=(step, j))
    return m


def switching_regression() -> pw.Model:
    m, step, k = _chain("switching autoregression", 2)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.phi = pw.Normal(0, precision=m.tau, plates=k)
    m.y = pw.Normal(m.phi[m.z] * m.lag("y"), precision=m.tau[m.z], start=0.3, plates=step)
    return m


def sticky_switch() -> pw.Model:
    m = pw.Model("two states with one chance of change")
    step = m.plate("step", ordered=True)
    m.q = pw.Beta(2, 5)
    m.mu = pw.Normal(1, sd=1)
    m.z = pw.Bernoulli(pw.where(m.lag("z"), 1 - m.q, m.q), start=0.5, plates=step)
    m.y = pw.Normal(pw.where(m.z, m.mu, 0.0), sd=1, plates=step)
    return m


def noisy_walk() -> pw.Model:
    m = pw.Model("random walk seen through noise")
    step = m.plate("step", ordered=True)
    m.noise = pw.Gamma(3, rate=2)
    m.drift = pw.Gamma(3, rate=2)
    m.x = pw.Normal(m.lag("x"), precision=m.drift, start=0.3, plates=step)
    m.y = pw.Normal(m.x, precision=m.noise, plates=step)
    return m


STEPS = {"step": 4}
SERIES = {"step": 5, "series": 3}
GROUPS = {"step": (0, 0, 1, 2, 2)}

CHAINS: tuple[Case, ...] = (
    Case("symbols", symbols, ("y",), STEPS),
    Case("gaussians", gaussians, ("y",), STEPS),
    Case("own_gaussians", own_gaussians, ("y",), STEPS),
    Case("counts", counts, ("y",), STEPS),
    Case("several_columns", several_columns, ("y",), {**STEPS, "j": 2}),
    Case("switching_regression", switching_regression, ("y",), STEPS),
    Case("sticky_switch", sticky_switch, ("y",), STEPS),
    Case("symbols_several", lambda: symbols(True), ("y",), SERIES, GROUPS),
    Case("gaussians_several", lambda: gaussians(True), ("y",), SERIES, GROUPS),
    Case("counts_several", lambda: counts(True), ("y",), SERIES, GROUPS),
)

WALKS: tuple[Case, ...] = (Case("noisy_walk", noisy_walk, ("y",), STEPS),)
