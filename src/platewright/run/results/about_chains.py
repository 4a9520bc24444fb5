"""What a result says of its chains and labels, in words: what to make of its numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from platewright.errors import ConvergenceWarning, users_line
from platewright.family import Array
from platewright.recognition.exchangeable import Symmetry
from platewright.run.results.followers import plates_without_size
from platewright.run.results.outcome import Outcome
from platewright.run.samplers.convergence import LEAST_SIZE, MOST_R_HAT, Slow, without_labels
from platewright.run.samplers.effective_size import frozen_elements
from platewright.run.samplers.extending import slowest_of
from platewright.run.samplers.labels import Matching
from platewright.run.samplers.sampled import Summed
from platewright.run.samplers.sums_of_draws import Sums
from platewright.schemas.blocks import Block, JumpBlock
from platewright.schemas.mirrors import Mirror
from platewright.schemas.relabellings import Relabelling

MOST_NAMED = 5
"""Unknowns that one note names, the worst first."""


class Chained(Protocol):
    """A result with draws by chain."""

    @property
    def derivation(self) -> Any: ...
    @property
    def slow(self) -> tuple[Slow, ...]: ...
    @property
    def sums(self) -> Mapping[str, tuple[Sums, ...]]: ...
    @property
    def chains(self) -> Mapping[str, Array]: ...
    @property
    def matched(self) -> Mapping[str, Array]: ...
    @property
    def matching(self) -> Matching: ...
    @property
    def symmetries(self) -> tuple[Symmetry, ...]: ...


def about_labels(symmetries: Iterable[Symmetry], done: str) -> list[str]:
    """Labels that could be swapped, and what was done about it."""
    return [f"{symmetry.sentence}; {done}" for symmetry in symmetries]


def relabelled(fit: Chained) -> str:
    """What was done about labels that differ from draw to draw."""
    if any(name in fit.sums for symmetry in fit.symmetries for name in (*symmetry.levelled, *symmetry.along)):
        return "draws that were not kept are summed under the labels that they had"
    return "draws were relabelled to agree" if fit.matching.switched else "all draws agree"


def warn_of_chains(fit: Chained) -> None:
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


def about_chains(fit: Chained) -> list[str]:
    """Unknowns and functions of them whose numbers are not yet those of the posterior."""
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


def about_sides(blocks: Iterable[Block]) -> list[str]:
    """What only priors tell: signs of unknowns, and which element of a plate is which."""
    jumps = [block.jump for block in blocks if isinstance(block, JumpBlock)]
    said = "which side of zero is told by priors alone; what they make together is identified"
    notes = list(dict.fromkeys(f"{', '.join(jump.variables)}: {said}" for jump in jumps if isinstance(jump, Mirror)))
    for jump in jumps:
        if isinstance(jump, Relabelling):
            told = ", ".join(dict.fromkeys(factor.owner for factor in jump.broken))
            which = f"told by the density of {told} alone" if told else "told by nothing"
            notes.append(f"which element of `{jump.symmetry.plates[0]}` is which is {which}")
    return notes


def about_sizes(fit: Outcome) -> list[str]:
    """Unknowns that are not shown because their plate has no size; nothing was learned about them."""
    graph = fit.derivation.graph
    gone = [name for name in graph.unknown if plates_without_size(graph, name, fit.sizes)]
    return [f"{', '.join(gone)}: no size of the plate is known, so the prior is not shown"] if gone else []


def _some(named: list[str]) -> str:
    """The first of a list."""
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return ", ".join(named[:MOST_NAMED]) + more
