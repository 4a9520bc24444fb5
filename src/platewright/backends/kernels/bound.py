"""Raise a lower bound: the distributions of hidden variables and of parameters in turn, until it stands still.

q(hidden)      from expected log factors, which need moments of the parameters
q(parameters)  from expected statistics, which need q(hidden)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from platewright.backends.kernels.accelerated import FALL, Unlimited
from platewright.family import Array


@dataclass(frozen=True, eq=False)
class Update:
    """What an update gives: the distribution of the parameters, its moments, the bound, and what is hidden."""

    values: Mapping[str, Array]
    moments: Mapping[str, Array]
    bound: float
    expectations: Any = None


@dataclass(frozen=True, eq=False)
class Track:
    """Updates so far: the moments that the next one starts from, the last one and where it started, the bounds."""

    moments: Mapping[str, Array]
    last: Any = None
    before: Any = None
    history: tuple[float, ...] = ()
    converged: bool = False


def rising(
    update: Callable[[Mapping[str, Array]], Update], run: Track, iterations: int, tolerance: float
) -> Iterator[Track]:
    """Updates until the lower bound stands still or the iterations are used up; each state can be gone on from."""
    while not run.converged and len(run.history) < iterations:
        made = update(run.moments)
        last = run.history[-1] if run.history else -np.inf
        if not np.isfinite(made.bound):
            raise Unlimited()
        if made.bound < last - FALL * (1 + abs(last)):
            raise RuntimeError(f"the lower bound fell from {last:.10g} to {made.bound:.10g}")
        still = bool(run.history) and abs(made.bound - last) <= tolerance * (1 + abs(made.bound))
        run = Track(made.moments, made, run.moments, (*run.history, made.bound), still)
        yield run
