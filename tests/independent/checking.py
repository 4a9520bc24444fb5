"""Check a fit against a log joint that was written by hand with scipy.stats and plain loops.

    by hand(data, point) = fit.log_joint_at(point)                      the model means what its text says
    fit.log_joint_at(point) - fit.posterior.log_density(point)          is the log evidence, at any point

The first line is independent of our algebra: plates, indices and parameterisations are read a second time, by a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import platewright as pw

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Problem:
    """A model, its data, and its log joint written by hand; without one the model must be declined."""

    model: pw.Model
    data: Mapping[str, Any]
    by_hand: Callable[[Point], float] | None = None
    declined: str = ""
    """A word that the refusal must hold."""
    tolerance: float = 1e-8


def problems_of(space: Mapping[str, Any]) -> tuple[Callable[[], Problem], ...]:
    """The problems that a module defines, in the order of writing."""
    own = [found for name, found in space.items() if not name.startswith("_") and callable(found)]
    return tuple(found for found in own if getattr(found, "__module__", "") == space["__name__"])


def check_against_hand(problem: Problem, count: int = 3) -> Any:
    """Both lines above, at draws of the posterior and between them."""
    assert problem.by_hand is not None
    tolerance = problem.tolerance
    fit = problem.model.learn(dict(problem.data), by="exact", backend="numpy")
    drawn = fit.draws(count + 1, seed=5)
    for k in range(count):
        point = {name: _between(fit, name, drawn[name][k], drawn[name][k + 1]) for name in fit.posterior.unknown}
        expected, found = problem.by_hand(point), fit.log_joint_at(point)
        size = 1 + abs(expected)
        assert abs(found - expected) <= tolerance * size, f"log joint {found}, by hand {expected}"
        density = fit.posterior.log_density(point)
        evidence = expected - density
        size = 1 + abs(expected) + abs(density)
        assert abs(fit.log_evidence - evidence) <= tolerance * size, f"evidence {fit.log_evidence}, by hand {evidence}"
    return fit


def _between(fit: Any, name: str, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """A point that is not a draw itself, where the values are a convex set; a draw where they are discrete."""
    if fit.plan.graph.nodes[name].domain.kind in ("integer", "levels"):
        return one
    return 0.7 * one + 0.3 * two
