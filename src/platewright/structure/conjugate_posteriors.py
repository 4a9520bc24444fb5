"""What is known of the parameters of one group of rows: of a table or of a regression, each conjugate.

    table         theta ~ Dirichlet(weights)
    regression    precision ~ Gamma(shape, rate),    coefficients ~ Normal(mean, (precision root'root)^-1)

The numbers of a regression are its precision first, then intercept and slopes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TablePosterior:
    """Probabilities of the levels; parameters and draws are their logs."""

    weights: Values

    @property
    def mean(self) -> Values:
        """The logs of the mean probabilities."""
        return np.log(self.weights / self.weights.sum())

    def draw(self, generator: np.random.Generator) -> Values:
        """Also for weights so small that a gamma draw would be zero."""
        weights = self.weights
        logs = np.log(generator.standard_gamma(weights + 1.0)) + np.log1p(-generator.random(weights.shape)) / weights
        return np.asarray(logs - np.logaddexp.reduce(logs))


@dataclass(frozen=True, eq=False)
class RegressionPosterior:
    """Precision, intercept and slopes; `root` is the triangular factor of the least-squares rows."""

    shape: float
    rate: float
    centre: Values
    root: Values

    @property
    def mean(self) -> Values:
        """The mean precision, and the mean coefficients."""
        return np.array([self.shape / self.rate, *self.centre])

    def draw(self, generator: np.random.Generator) -> Values:
        """One precision with its coefficients."""
        precision = generator.gamma(self.shape, 1 / self.rate)
        noise = generator.standard_normal(len(self.centre)) / np.sqrt(precision)
        return np.array([precision, *(self.centre + np.linalg.solve(self.root, noise))])


Posterior = TablePosterior | RegressionPosterior


def regression_posterior(
    inputs: Values, own: Values, strength: Values, shape: float, rate: float
) -> RegressionPosterior:
    """From rows and the precisions that the prior gives each coefficient."""
    width = len(strength)
    whole = np.vstack([np.column_stack([inputs, own]), np.column_stack([np.diag(np.sqrt(strength)), np.zeros(width)])])
    root = np.asarray(np.linalg.qr(whole, mode="r"))
    residual = float(root[width, width] ** 2) if root.shape[0] > width else 0.0
    centre = np.linalg.solve(root[:width, :width], root[:width, width])
    return RegressionPosterior(shape + len(own) / 2, rate + residual / 2, centre, root[:width, :width])
