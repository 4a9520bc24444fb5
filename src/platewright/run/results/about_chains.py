"""What a result says of its chains and labels, in words: what to make of its numbers."""

from __future__ import annotations

import warnings

import numpy as np

from platewright.errors import ConvergenceWarning, users_line
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.results.followers import plates_without_size
from platewright.run.results.result import Result
from platewright.run.samplers.convergence import LEAST_SIZE, MOST_R_HAT, without_labels
from platewright.run.samplers.effective_size import frozen_elements
from platewright.run.samplers.extending import slowest_of
from platewright.run.samplers.sampled import Summed
from platewright.run.samplers.sampling import SampledFit

MOST_NAMED = 5
"""Unknowns that one note names, the worst first."""


def about_labels(fit: Result) -> list[str]:
    """Labels that could be swapped, and what was done about it."""
    match fit:
        case SampledFit():
            done = "draws were relabelled to agree" if fit.matching.switched else "all draws agree"
            if any(name in fit.sums for symmetry in fit.symmetries for name in (*symmetry.levelled, *symmetry.along)):
                done = "draws that were not kept are summed under the labels that they had"
        case EstimatedFit() | MeanFieldFit():
            done = "one of them is shown"
        case _:
            return []
    return [f"{symmetry.sentence}; {done}" for symmetry in fit.symmetries]


def warn_of_chains(fit: SampledFit) -> None:
    """Name the unknown whose chains are worst, where they are not good enough; labels that could be swapped aside."""
    worst = slowest_of(fit.derivation.graph, without_labels(fit.symmetries, fit.chains))
    if worst is None or not worst.is_amiss:
        return
    warnings.warn(
        f"the chains are not good enough, least of all for the numbers of {worst}: wanted are R-hat {MOST_R_HAT} or "
        f"less and {LEAST_SIZE:.0f} effective draws or more; run longer (warm_up=, draws=), and look at fit.summary()",
        ConvergenceWarning,
        stacklevel=users_line(),
    )


def about_chains(fit: Result) -> list[str]:
    """Unknowns and functions of them whose numbers are not yet those of the posterior."""
    if not isinstance(fit, SampledFit):
        return []
    slow = sorted((one for one in fit.slow if one.is_amiss), key=lambda one: -one.burden)
    apart = [str(one) for one in slow if one.r_hat > MOST_R_HAT]
    for name in (name for name in fit.sums if not fit.derivation.graph.nodes[name].domain.is_discrete):
        r_hat = float(np.max(Summed(name, fit.sums[name]).r_hat, initial=1.0))
        apart += [f"{name} (R-hat {r_hat:.3f})"] if r_hat > MOST_R_HAT else []
    few = [str(one) for one in slow if one.r_hat <= MOST_R_HAT]
    notes = [f"the chains disagree about {_some(apart)}: run longer, with more warm-up"] if apart else []
    notes += [f"fewer than {LEAST_SIZE:.0f} effective draws of {_some(few)}: their numbers are rough"] if few else []
    discrete = (name for name in fit.matched if fit.derivation.graph.nodes[name].domain.is_discrete)
    for name in discrete:
        if held := frozen_elements(fit.matched[name]):
            shown = name if np.ndim(fit.matched[name]) == 2 else f"{held} elements of {name}"
            notes.append(
                f"the chains are frozen: {shown} never changed in any of them, and they differ; all that depends on it "
                "is held too, and a longer run will not mend it"
            )
    return notes


def about_sizes(fit: Result) -> list[str]:
    """Unknowns that are not shown because their plate has no size; nothing was learned about them."""
    graph = fit.derivation.graph
    gone = [name for name in graph.unknown if plates_without_size(graph, name, fit.sizes)]
    return [f"{', '.join(gone)}: no size of the plate is known, so the prior is not shown"] if gone else []


def _some(named: list[str]) -> str:
    """The first of a list."""
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return ", ".join(named[:MOST_NAMED]) + more
