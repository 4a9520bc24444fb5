"""What is believed of the numbers of a network before data: one prior for each node given any parents.

tables     bdeu   Dirichlet(strength / (levels x states of the parents)): as many rows seen before, spread evenly
           bde    the same, spread as a prior network says
           k2     Dirichlet(1);    jeffreys  Dirichlet(1/2)
numbers    bge    regression whose precision ~ Gamma((w - n + p + 1)/2, t/2), intercept ~ N(mean, 1/(mu precision)),
                  slopes ~ N(0, 1/(t precision)), t = mu (w - n - 1)/(mu + 1); n numbers, p parents: the conditionals
                  of one normal-Wishart of all columns, mean of the sample, w = n + 2 degrees, mu = 1
           nig    the same with precision ~ Gamma(shape, rate) and slopes ~ N(0, 1/precision), whatever the parents
counts     Poisson, rate ~ Gamma(shape, rate)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from platewright.errors import ParameterError, UnknownName
from platewright.structure.prior_network import PriorNetwork

TABLES = ("bdeu", "k2", "jeffreys")
NUMBERS = ("bge", "nig")


@dataclass(frozen=True)
class EvidencePrior:
    """The priors of all conditionals of a family."""

    tables: str = "bdeu"
    numbers_by: str = "bge"
    sample_size: float = 1.0
    degrees: float | None = None
    shape: float = 1.0
    rate: float = 1.0
    network: PriorNetwork | None = None

    def __post_init__(self) -> None:
        if self.tables not in TABLES:
            raise UnknownName(str(self.tables), TABLES, where="tables=")
        if self.network is not None and self.tables != "bdeu":
            raise ParameterError(f"tables={self.tables!r} beside a prior network", expected="one of them")
        if self.numbers_by not in NUMBERS:
            raise UnknownName(str(self.numbers_by), NUMBERS, where="numbers=")
        for name in ("sample_size", "shape", "rate"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < float("inf"):
                raise ParameterError(f"{name} is {value!r}", expected="a number above 0")

    @property
    def is_equivalent(self) -> bool:
        """Whether Markov-equivalent networks of one kind of column score the same."""
        return self.tables == "bdeu" and self.numbers_by == "bge"

    def alpha(self, levels: int, states: float) -> float:
        """The parameter of each cell of a table."""
        return {"bdeu": self.sample_size / (levels * states), "k2": 1.0, "jeffreys": 0.5}[self.tables]

    def cells(self, nodes: Sequence[int], sizes: Sequence[int]) -> NDArray[np.float64]:
        """The parameters of a whole table: the parents' axes, then the node's."""
        if self.network is not None:
            return self.sample_size * self.network.of(nodes)
        return np.full(sizes, self.alpha(sizes[-1], float(np.prod(sizes[:-1], dtype=float))))

    def degrees_of(self, count: int) -> float:
        """Degrees of freedom of the normal-Wishart over so many numbers."""
        found = count + 2.0 if self.degrees is None else float(self.degrees)
        if not found > count + 1:
            raise ParameterError(f"degrees is {found:g} for {count} numbers", expected=f"more than {count + 1}")
        return found

    def normal(self, count: int, parents: int) -> tuple[float, float, float, float]:
        """Shape and rate of the precision, strength of the intercept and of each slope."""
        if self.numbers_by == "nig":
            return self.shape, self.rate, self.sample_size, 1.0
        degrees = self.degrees_of(count)
        scale = self.sample_size * (degrees - count - 1) / (self.sample_size + 1)
        return (degrees - count + parents + 1) / 2, scale / 2, self.sample_size, scale

    def numbers(self, count: int) -> dict[str, float]:
        """The same for the C of scores."""
        shape, rate, centre, slope = self.normal(count, 0)
        per_parent = 0 if self.numbers_by == "nig" else 1
        return {
            "spread": 0 if self.tables == "bdeu" else 1,
            "strength": self.sample_size if self.tables == "bdeu" else self.alpha(1, 1),
            "degrees": 2 * shape,
            "gain": per_parent,
            "scale": 2 * rate,
            "centre": centre,
            "slope": slope,
        }
