"""Evidence by quadrature over the few numbers that exact elimination leaves (`backends/kernels/quadrature.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from platewright.backends.kernels import quadrature as kernel
from platewright.backends.kernels.quadrature import MOST_POINTS, Improper, Surface, TooLarge, first_grid, integrated
from platewright.errors import ImproperPosterior, NotSolvable, PlatewrightError, SizeError
from platewright.family import Array
from platewright.run.checks.sanity import check_counts
from platewright.run.evidence.evidence import Evidence
from platewright.run.samplers.evidence_given import evidence_given
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.evidence import EvidencePlan


def quadrature(
    plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int], *, most: int = MOST_POINTS
) -> Evidence:
    """The log evidence by quadrature."""
    check_counts(most=most)
    surface = surface_of(plan, columns, sizes)
    with told(plan.proper):
        value, error = integrated(surface, most)
    shown = (
        f"{surface.points:,} points of {', '.join(plan.hidden)}, the last halving of the step changed it by {error:.0e}"
    )
    return Evidence(value, "quadrature", max(error, np.finfo(float).eps * abs(value)), shown, plan.proper)


def surface_of(plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Surface:
    """The exact log evidence over the coordinates of the numbers that are held."""
    nodes = [plan.graph.nodes[name] for name in plan.hidden]
    ends = {node.name: node.domain.open_ends for node in nodes}
    assert plan.complete is not None
    return kernel.Surface(evidence_given(plan.complete.program, columns, sizes), unconstrained(nodes, sizes), ends)


def why_not(plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> str:
    """Why the integral over given data cannot be had this way, as the coarsest grid tells; or nothing."""
    try:
        with told(plan.proper):
            first_grid(surface_of(plan, columns, sizes), MOST_POINTS)
    except PlatewrightError as error:
        return error.found
    return ""


@contextmanager
def told(proper: bool) -> Iterator[None]:
    """What stops the kernel, as our errors."""
    try:
        yield
    except Improper as reason:
        if proper:
            seen = str(reason).split(":")[0]
            raise NotSolvable(f"{seen}: its tails are too heavy for a grid", hint="use by='chib'") from reason
        raise ImproperPosterior(str(reason), hint="give proper priors, or use by='chib'") from reason
    except TooLarge as reason:
        raise SizeError(str(reason), hint="most= allows more; or use by='chib'") from reason
    except ArithmeticError as reason:
        raise PlatewrightError(str(reason), hint="check data and priors") from reason
