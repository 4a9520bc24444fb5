"""Evidence by annealed importance sampling: the particles of the printed program, with progress and Ctrl-C around them.

The program is `backends/numpy/annealed.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels.impossible import ImpossibleData
from platewright.backends.kernels.log_means import error_of_independent, log_mean
from platewright.errors import NotFinite
from platewright.family import Array
from platewright.run.checks.sanity import check_counts, impossible_data
from platewright.run.evidence.evidence import Evidence
from platewright.run.execute import improper
from platewright.run.hidden.printed import printed_annealed
from platewright.run.ticking import progress
from platewright.schemas.evidence import EvidencePlan


def annealed(
    plan: EvidencePlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
    particles: int = 40,
    powers: int = 100,
    sweeps: int = 1,
) -> tuple[Evidence, int]:
    """The log evidence from independent particles, with its Monte Carlo error, and how many particles there were."""
    check_counts(2, particles=particles)
    check_counts(1, powers=powers, sweeps=sweeps)
    printed = printed_annealed(plan)
    size, weighed, cut = printed.sized(sizes), list[float](), ""
    generators = np.random.default_rng(seed).spawn(particles)
    try:
        with np.errstate(divide="ignore"):
            data = printed("prepared")(printed.named(columns), size)
        for k in progress(range(particles), "annealed"):
            weighed.append(printed("log_weight")(data, size, generators[k], powers, sweeps))
    except ImpossibleData as impossible:
        raise impossible_data(impossible) from impossible
    except ArithmeticError as error:
        raise improper(error) from error
    except KeyboardInterrupt:
        if np.isfinite(weighed).sum() < 2:
            raise  # no estimate yet, nor how far off it may be
        cut = f"interrupted: {len(weighed)} of "
    logs = np.array(weighed)
    if np.isneginf(logs).all():
        raise NotFinite("every particle met data of probability zero", hint="use more particles, or by='chib'")
    if np.isnan(logs).any():
        raise NotFinite("the likelihood of a particle is NaN", hint="look for values at the edge of their range")
    weights = np.exp(logs - logs.max())
    worth = weights.sum() ** 2 / (weights**2).sum()
    detail = f"{cut}{particles} particles over {powers} powers, worth {worth:.0f} of equal weight"
    return Evidence(log_mean(logs), "annealed", error_of_independent(logs), detail), len(weighed)
