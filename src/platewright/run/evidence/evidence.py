"""The log evidence of a model, with the method it was found by and how far off it may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from platewright.errors import NotFinite
from platewright.family import Array
from platewright.run.samplers.effective_size import effective_size


@dataclass(frozen=True)
class Evidence:
    """`log p(data | model)` and what is known about it."""

    value: float
    method: str
    """exact, enumeration, quadrature, chib, annealed, laplace, or lower bound."""
    error: float | None = None
    """Monte Carlo standard error, or what the last refinement of a grid changed: 0 where the value is exact or a bound,
    None where the method does not know."""
    detail: str = ""
    proper: bool = True
    """Whether the prior is proper; the evidence of an improper one is known up to a constant."""

    def __post_init__(self) -> None:
        if np.isnan(self.value):
            raise NotFinite(f"the log evidence by {self.method} came out as NaN", hint="try another method with by=")

    @property
    def is_exact(self) -> bool:
        """Whether nothing but rounding stands between the value and the truth."""
        return self.method in ("exact", "enumeration")

    def __str__(self) -> str:
        spread = f" +- {self.error:.2g}" if self.error else ""
        constant = "" if self.proper else " (up to a constant)"
        detail = f": {self.detail}" if self.detail else ""
        return f"log evidence {self.value:.6g}{spread}{constant} by {self.method}{detail}"


def error_of_log_mean(chains: Array) -> float:
    """The standard error of `log_mean` of Markov chains (chain, draw), by their effective size and the delta method."""
    weights = np.exp(chains - np.max(chains))
    return float(np.std(weights) / np.sqrt(effective_size(weights)) / np.mean(weights))
