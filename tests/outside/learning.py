"""Learn until the answer is good enough or the time is up, by whatever the planner chooses.

Closed forms and points are drawn from independently. Samplers run in stages, each longer than the last, until every
monitored quantity has mixed; a stage that would not fit in the time left is shortened or left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from platewright.errors import UnknownName
from platewright.run.exact.fit import Fit
from platewright.run.points.fit import QuadratureFit
from platewright.run.samplers.diagnosing import array_stats
from platewright.run.samplers.monitoring import Drawn
from platewright.run.samplers.sampling import SampledFit

INDEPENDENT = 20_000
PROBE = 12
LEAST, FIRST, MOST, WARM_UP = 250, 250, 16_000, 0.5
"""Draws of each of four chains: at least, in the first stage, and at most; and the share of warm-up before them."""

GOOD_R_HAT, GOOD_SIZE = 1.02, 1000.0
MIXED_R_HAT, MIXED_SIZE = 1.1, 100.0
"""Stop early at the first pair; below the second nothing can pass."""

Monitor = Callable[[Drawn], Mapping[str, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Learned:
    """Draws of the monitored quantities, chain by chain, and how they came about."""

    how: str
    why: str
    quantities: Mapping[str, np.ndarray]
    first: float
    total: float
    remark: str
    r_hat: float
    size: float

    @property
    def mixed(self) -> bool:
        """Whether the chains agree well enough to say anything."""
        return self.r_hat <= MIXED_R_HAT and self.size >= MIXED_SIZE


def learn(
    model: Any, data: Mapping[str, Any], monitor: Monitor, seconds: float, start: float, seed: int = 1
) -> Learned:
    """Learn a model within a time limit; `start` is when work on the case began."""
    began = perf_counter()
    probe = _probed(model, data, seed)
    first = perf_counter() - start
    why = _why(probe.plan)
    if isinstance(probe, Fit | QuadratureFit):
        quantities = monitor(_independent(probe, seed))
        return Learned(probe.how, why, quantities, first, perf_counter() - start, "", *_diagnosed(quantities))
    sweep = (perf_counter() - began) / (PROBE + 1)
    found: Learned | None = None
    before, draws = 0, FIRST
    while True:
        possible = (seconds - (perf_counter() - start)) * 0.8 / (4 * sweep * (1 + WARM_UP))
        draws = min(draws, max(LEAST, int(possible)))
        if draws < 1.5 * before:
            break
        before, warm_up = draws, int(WARM_UP * draws)
        began = perf_counter()
        fit = model.learn(data, chains=4, warm_up=warm_up, draws=draws, seed=seed)
        assert isinstance(fit, SampledFit)
        sweep = (perf_counter() - began) / (4 * (warm_up + draws))
        if fit.backend == "c":
            sweep = min(sweep, _paced(model, data, seed))
        quantities = monitor(Drawn(fit.plan.graph, fit.chains, fit.columns, fit.sizes))
        r_hat, size = _diagnosed(quantities)
        remark = f"4 x {draws} draws, {1e3 * sweep:.2g} ms a sweep, R-hat {r_hat:.3f}, effective size {size:.0f}"
        total = perf_counter() - start
        found = Learned(fit.how, why, quantities, first, total, remark, r_hat, size)
        if r_hat < GOOD_R_HAT and size > GOOD_SIZE:
            break
        draws = min(4 * draws, MOST)
    assert found is not None
    return found


def _independent(fit: Fit | QuadratureFit, seed: int) -> Drawn:
    """Independent draws of a closed form, or of points, as one chain."""
    drawn = fit.draws(INDEPENDENT, seed=seed)
    unknown = set(fit.plan.graph.unknown) - set(fit.derivation.barren)
    chains = {name: np.asarray(values)[None] for name, values in drawn.items() if name in unknown}
    return Drawn(fit.plan.graph, chains, fit.columns, fit.sizes)


def _probed(model: Any, data: Mapping[str, Any], seed: int) -> Any:
    """A closed form, or a very short run of a sampler."""
    try:
        return model.learn(data, chains=1, warm_up=PROBE, draws=1, seed=seed)
    except UnknownName as error:
        if "options of exact" not in str(error):
            raise
    return model.learn(data, seed=seed)


def _paced(model: Any, data: Mapping[str, Any], seed: int) -> float:
    """Seconds a sweep of a sampler that is compiled already."""
    began = perf_counter()
    model.learn(data, chains=4, warm_up=PROBE, draws=PROBE, seed=seed, backend="c")
    return (perf_counter() - began) / (8 * PROBE)


def _why(plan: Any) -> str:
    """Why no better schema was chosen."""
    return "; ".join(f"{schema} declined: {reason}" for schema, reason in plan.declined)


def _diagnosed(quantities: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """The worst R-hat and the least effective size of quantities that vary."""
    r_hat, size = 1.0, float("inf")
    stats = array_stats()
    for values in quantities.values():
        if np.ptp(values) == 0:
            continue
        if not np.isfinite(values).all():
            return float("inf"), 0.0
        if len(values) > 1:
            r_hat = max(r_hat, float(stats.rhat(values, chain_axis=0, draw_axis=1)))
            size = min(size, float(stats.ess(values, chain_axis=0, draw_axis=1, method="mean")))
        else:
            size = min(size, float(values.size))
    return r_hat, size


def errors(values: np.ndarray) -> tuple[float, float, float, float]:
    """Mean and standard deviation of a quantity, and the Monte Carlo error of each."""
    mean, sd = float(values.mean()), float(values.std())
    if np.ptp(values) == 0:
        return mean, sd, 0.0, 0.0
    if len(values) == 1:
        size = values.size
        fourth = float(((values - mean) ** 4).mean())
        return mean, sd, sd / size**0.5, (max(fourth - sd**4, 0.0) / size) ** 0.5 / (2 * sd)
    stats = array_stats()
    one = float(stats.mcse(values, chain_axis=0, draw_axis=1, method="mean"))
    return mean, sd, one, float(stats.mcse(values, chain_axis=0, draw_axis=1, method="sd"))
