"""What inference answers: probabilities with their labels, mixtures of Gaussians, and states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.errors import UnseenLevel, shown_name
from platewright.family import Array
from platewright.inference.finite import Finite


@dataclass(frozen=True, eq=False)
class Probabilities:
    """The joint probabilities of one or more variables with finitely many levels: one axis each."""

    variables: tuple[Finite, ...]
    probabilities: Array

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the axes."""
        return tuple(variable.name for variable in self.variables)

    @property
    def labels(self) -> tuple[object, ...]:
        """The levels of a single variable; of several, the levels of each."""
        if len(self.variables) == 1:
            return self.variables[0].labels
        return tuple(variable.labels for variable in self.variables)

    def __getitem__(self, at: object) -> float:
        """The probability of a label, or of one label for each variable."""
        wanted = at if isinstance(at, tuple) and len(self.variables) != 1 else (at,)
        if len(wanted) != len(self.variables):
            raise UnseenLevel(f"{len(wanted)} labels for {', '.join(self.names)}", expected="one label a variable")
        places = tuple(variable.position(label) for variable, label in zip(self.variables, wanted, strict=True))
        return float(self.probabilities[places])

    def as_dict(self) -> dict[object, float]:
        """Probabilities by label (by tuples of labels for several variables)."""
        result: dict[object, float] = {}
        for at in np.ndindex(self.probabilities.shape):
            key = tuple(variable.labels[place] for variable, place in zip(self.variables, at, strict=True))
            result[key[0] if len(key) == 1 else key] = float(self.probabilities[at])
        return result

    @property
    def mode(self) -> object:
        """The most probable label, or labels."""
        at = np.unravel_index(int(self.probabilities.argmax()), self.probabilities.shape)
        key = tuple(variable.labels[int(place)] for variable, place in zip(self.variables, at, strict=True))
        return key[0] if len(key) == 1 else key

    def __str__(self) -> str:
        return "\n".join(
            f"{shown_name(str(label)):>12}  {probability:.6f}" for label, probability in self.as_dict().items()
        )

    def __repr__(self) -> str:
        return f"<Probabilities of {', '.join(self.names)}>"


@dataclass(frozen=True, eq=False)
class ProbabilitiesByRow:
    """The probabilities of one variable's levels, a row for each row of evidence."""

    variable: Finite
    probabilities: Array

    @property
    def labels(self) -> tuple[object, ...]:
        """The levels, in the order of the columns."""
        return self.variable.labels

    def __getitem__(self, label: object) -> Array:
        """The probability of a label in each row."""
        return np.asarray(self.probabilities[:, self.variable.position(label)])

    @property
    def mode(self) -> list[object]:
        """The most probable label of each row."""
        return [self.labels[at] for at in self.probabilities.argmax(axis=1)]

    def __repr__(self) -> str:
        return f"<Probabilities of {self.variable.name} in {len(self.probabilities)} rows>"


@dataclass(frozen=True, eq=False)
class GaussianMixture:
    """Real variables: jointly Gaussian given each combination of the discrete variables they depend on.

    `means` has a row, `covariances` a matrix, for each of `weights`; one of each in a linear Gaussian network.
    """

    names: tuple[str, ...]
    weights: Array
    means: Array
    covariances: Array

    @property
    def mean(self) -> Array | float:
        """The mean, a number for one variable and a vector for several."""
        result = self.weights @ self.means
        return float(result[0]) if len(self.names) == 1 else result

    @property
    def covariance(self) -> Array:
        """The covariance over all components: within them and between them."""
        centred = self.means - self.weights @ self.means
        between = np.einsum("c,ci,cj->ij", self.weights, centred, centred)
        return np.asarray(np.einsum("c,cij->ij", self.weights, self.covariances) + between)

    @property
    def variance(self) -> Array | float:
        """The variance of each variable."""
        result = np.diagonal(self.covariance)
        return float(result[0]) if len(self.names) == 1 else result

    @property
    def sd(self) -> Array | float:
        """The standard deviation of each variable."""
        result = np.sqrt(self.variance)
        return float(result) if len(self.names) == 1 else result

    def __str__(self) -> str:
        lines = []
        for name, mean, sd in zip(self.names, np.atleast_1d(self.mean), np.atleast_1d(self.sd), strict=True):
            lines.append(f"{name:>12}  mean {mean:.6g}, sd {sd:.6g}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        kind = "Gaussian" if len(self.weights) == 1 else f"mixture of {len(self.weights)} Gaussians"
        return f"<{', '.join(self.names)}: {kind}>"


@dataclass(frozen=True)
class MostProbable:
    """The state of all unknowns with the largest probability (density) given the evidence, and the log of it."""

    state: Mapping[str, object]
    log_probability: float

    def __getitem__(self, name: str) -> object:
        return self.state[name]
