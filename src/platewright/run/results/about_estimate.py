"""Draws about an estimate: those of the Gaussian about it (Laplace's method) show how far it may be off.

An estimate has no draws of its own. Where there is no such Gaussian, all draws are the estimate.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from platewright.errors import NotLearned, PlatewrightError
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.evidence.evidence_laplace import draws_about
from platewright.run.results.likelihood import check_rows
from platewright.run.results.outcome import Outcome
from platewright.schemas.evidence import plan_laplace


def draws_about_estimate(
    fit: Outcome, hidden: Iterable[str], count: int, seed: int | None
) -> tuple[dict[str, Array], str]:
    """Draws about an estimate; Gaussian hidden variables are coordinates like any other, and left out again."""
    try:
        plan = plan_laplace(fit.derivation.graph, "evidence")
        if isinstance(plan, Declined):
            raise NotLearned(plan.reason)
        check_rows(fit.derivation.graph, fit.columns)
        start = {**fit.point, **{name: fit.expected(name) for name in hidden}}
        drawn = draws_about(plan, fit.columns, fit.sizes, start, count, fit.seed if seed is None else seed)
    except PlatewrightError as error:
        same = {name: np.broadcast_to(value, (count, *np.shape(value))) for name, value in fit.point.items()}
        return same, f"the estimate again and again: {error.found}"
    return {name: values for name, values in drawn.items() if name in fit.point}, "the Gaussian about the estimate"
