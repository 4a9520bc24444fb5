"""Run a plan of quadrature: one pass over the data, then lattices over the numbers that are held."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from platewright.backends.kernels.held_density import Endless, Unsettled
from platewright.backends.kernels.lattice import over_modes
from platewright.errors import ImproperPosterior, PlatewrightError
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.checks.computed import check_computed, computed_probabilities
from platewright.run.checks.sanity import check_counts
from platewright.run.points.fit import DRAWS, QuadratureFit
from platewright.run.points.given import density_of, given_points
from platewright.schemas.few_numbers import NAME, QuadraturePlan

SMALL = 5e-3
"""What `by="auto"` takes for a small error."""
SURE = 0.03
"""And where points are drawn: what a sampler leaves with a thousand independent draws."""
SETTLED = 1e-6
"""What is small where a grid of another kind could be laid instead."""
SHORT = 2_000
"""Where each point runs a program of its own, `by="auto"` takes plates of so many elements."""
LONG = 5_000
"""And of so many where they are taken together."""
LOOKED_AT = 4
"""Draws at which computed probabilities are added up, as many as a sampler has chains that end."""
MOST_COLUMNS = 500
"""Of the Gaussian unknowns that are eliminated together at each point."""


def run_quadrature(
    plan: QuadraturePlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    labels: Mapping[str, tuple[object, ...]],
    seed: int,
    options: Mapping[str, Any],
) -> QuadratureFit | Declined:
    """The fit; what makes it unfit for these data where that is no error of the model."""
    check_counts(**{word: value for word, value in options.items() if word in ("chains", "draws", "thin", "most")})
    check_counts(0, **{word: value for word, value in options.items() if word == "warm_up"})
    count = int(options.get("chains", 4)) * int(options.get("draws", DRAWS // 4))
    if refused := too_wide(plan, sizes):
        return refused
    given = given_points(plan, columns, sizes)
    most = int(options.get("most", plan.most))
    try:
        found = over_modes(density_of(plan, given), plan.tolerance, most)
    except Endless as reason:
        end = "its tails are too heavy for points" if plan.proper else "the posterior is improper, or its tails heavy"
        return Declined(NAME, f"{reason}: {end}")
    except Unsettled as reason:
        return Declined(NAME, str(reason))
    except np.linalg.LinAlgError:
        return Declined(NAME, "a precision at a point is not positive to the digits of the machine")
    small = SURE if found["freedom"] else SMALL
    allowed = SETTLED if plan.otherwise is not None else small if plan.is_chosen else np.inf
    if not float(found["error"]) <= allowed:
        return Declined(
            NAME, f"points leave an error of {float(found['error']):.1g} sd, at most {allowed:.1g} is small"
        )
    fit = QuadratureFit(plan, columns, sizes, found, labels=labels, seed=seed, count=count)
    fit.__dict__["eliminated"] = given  # which it would make anew from the columns
    if computed_probabilities(plan.graph):
        check_drawn(fit)
    return fit


def check_drawn(fit: QuadratureFit) -> None:
    """Probabilities that the model computes add up to one where the posterior lies, not at moderate values alone."""
    drawn = fit.draws(LOOKED_AT, fit.seed)
    for number in range(LOOKED_AT):
        at = {name: values[number] for name, values in drawn.items() if name in fit.learned}
        check_computed(fit.derivation.graph, fit.columns, fit.sizes, at)


def fits(plan: QuadraturePlan, sizes: Mapping[str, int], backend: str, others: Collection[str]) -> Declined | None:
    """Why `by="auto"` leaves data of these sizes, or a run with such wishes, to a sampler."""
    if others:
        return Declined(NAME, f"`{min(others)}` is for samplers")
    if backend == "c":
        return Declined(NAME, "it runs in NumPy, and C was asked for")
    longest = max(sizes, key=sizes.__getitem__, default="")
    short = SHORT if plan.together is None else LONG
    if plan.pointwise is None and longest and sizes[longest] > short:
        cost = f"each point would go over {sizes[longest]:,} elements of `{longest}`"
        return Declined(NAME, f"{cost}, at most {short:,} are quick")
    return too_wide(plan, sizes)


def too_wide(plan: QuadraturePlan, sizes: Mapping[str, int]) -> Declined | None:
    """Why a dense block at each point would be too large."""
    if plan.pointwise is None:
        return None
    width = sum(int(np.prod([sizes[axis.plate] for axis in column.dense])) for column in plan.pointwise.dense)
    if width <= MOST_COLUMNS:
        return None
    return Declined(NAME, f"{width:,} Gaussian unknowns would be eliminated together, at most {MOST_COLUMNS} are")


def refuse(declined: Declined) -> PlatewrightError:
    """The error where quadrature was asked for by name."""
    if "improper" in declined.reason:
        return ImproperPosterior(declined.reason, hint="give proper priors")
    return PlatewrightError(f"quadrature does not suit these data: {declined.reason}", hint="learn with by='gibbs'")
