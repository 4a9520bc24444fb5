"""What emitted programs for the evidence do; copied into them as it stands here, without type hints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from platewright.backends.kernels.enumeration import Listing, enumerated
from platewright.backends.kernels.impossible import possible_evidence
from platewright.backends.kernels.quadrature import Surface, integrated
from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]


def evidence_given(data: Data, size: Sizes) -> Callable[[Data], float]:
    """The exact log evidence as a function of the held unknowns; what they do not enter is computed once."""
    fixed = statistics(data, size)

    def evidence_at(values: Data) -> float:
        everything = {**data, **values}
        with np.errstate(all="ignore"):
            found = {**fixed, **statistics_given(everything, size)}
            value = log_evidence(found, everything, size)
        return possible_evidence(value, found)

    return evidence_at


def enumeration_learn(data: Data, size: Sizes, most: int = 10_000) -> dict[str, float]:
    """The log evidence: the log of the sum over all values of the discrete unknowns, at most so many."""
    listed = listing(data, size)
    if listed.count > most:
        raise ValueError(f"{listed.count} assignments would have to be listed; most={most} allows no more")
    return {"log_evidence": enumerated(listed, evidence_given(data, size)), "assignments": listed.count}


def quadrature_learn(data: Data, size: Sizes, most: int = 20_000) -> dict[str, float]:
    """The log evidence: the log of the integral over the held numbers, from at most so many points of a grid."""
    surface = Surface(evidence_given(data, size), *held(size))
    value, error = integrated(surface, most)
    return {"log_evidence": value, "error": error, "points": surface.points}


def statistics(data: Data, size: Sizes) -> dict[str, Any]:
    """Stands in for the statistics of a program, which the emitter writes."""
    raise NotImplementedError


def statistics_given(data: Data, size: Sizes) -> dict[str, Any]:
    """Stands in for the statistics that held unknowns enter, which the emitter writes."""
    raise NotImplementedError


def log_evidence(found: Mapping[str, Any], data: Data, size: Sizes) -> float:
    """Stands in for the exact evidence of a program, which the emitter writes."""
    raise NotImplementedError


def listing(data: Data, size: Sizes) -> Listing:
    """Stands in for the cells to fill, which the emitter writes."""
    raise NotImplementedError


def held(size: Sizes) -> tuple[Any, Any]:
    """Stands in for the numbers to integrate over, which the emitter writes."""
    raise NotImplementedError
