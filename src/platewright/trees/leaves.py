"""What stands at a leaf: the exact log evidence of its rows from their statistics, and what it predicts  (Lemma 6.4).

    classes     counts n_c                  Dirichlet(alpha_c share): the derived evidence of a table of categories
    numbers     n, sum y, sum y^2           normal, its precision gamma: the derived evidence of a regression on a one

`share` is 1, or the part of the pseudo-counts of the whole tree that reaches the leaf. Statistics add up over rows, and
their last axis is that of one leaf; all others are batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import Expression
from platewright.structure.derived import derived_evidences

Floats = NDArray[np.float64]


@lru_cache(maxsize=1)
def _derived() -> dict[str, Expression]:
    return {found.name: found.value for found in derived_evidences()}


def _value(name: str, **numbers: object) -> Floats:
    arrays = {key: np.asarray(value, dtype=float) for key, value in numbers.items()}
    return np.asarray(elementwise(_derived()[name], arrays))


@dataclass(frozen=True, eq=False)
class ClassLeaf:
    """A distribution over classes at each leaf, Dirichlet before data."""

    alpha: Floats
    shared: bool = False
    labels: tuple[object, ...] = ()

    kind = 0

    @property
    def size(self) -> int:
        """How many statistics a leaf has."""
        return len(self.alpha)

    def statistics(self, target: NDArray[np.int64]) -> Floats:
        """Those of each row."""
        return np.eye(self.size)[target]

    def total(self, target: NDArray[np.int64]) -> Floats:
        """Those of all rows together."""
        return np.bincount(target, minlength=self.size).astype(float)

    def log_evidence(self, statistics: Floats, share: float | Floats = 1.0) -> Floats:
        """`log p(classes of the rows)` for each leaf."""
        part = np.asarray(share, dtype=float)[..., None] if self.shared else np.ones(1)
        cells = _value("table_cell", alpha=self.alpha * part, count=statistics, levels=1.0).sum(axis=-1)
        whole = self.alpha.sum() * part[..., 0]
        return np.asarray(cells + _value("table_group", alpha=whole, count=statistics.sum(axis=-1), levels=1.0))

    def probabilities(self, statistics: Floats, share: float | Floats = 1.0) -> Floats:
        """The predictive probability of each class."""
        part = np.asarray(share, dtype=float)[..., None] if self.shared else np.ones(1)
        found = statistics + self.alpha * part
        return np.asarray(found / found.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class NumberLeaf:
    """A normal distribution at each leaf; precision gamma, mean normal and known as well as from `worth` rows."""

    shape: float
    rate: float
    mean: float = 0.0
    worth: float = 1.0
    centre: float = field(default=0.0)
    """Statistics are those of numbers less this one, so that sums of squares lose nothing."""

    kind = 1
    shared = False
    size = 3

    def statistics(self, target: Floats) -> Floats:
        """Those of each row."""
        apart = target - self.centre
        return np.stack((np.ones_like(apart), apart, apart * apart), axis=-1)

    def total(self, target: Floats) -> Floats:
        """Those of all rows together."""
        return self.statistics(target).sum(axis=0)

    def log_evidence(self, statistics: Floats, share: float | Floats = 1.0) -> Floats:
        """`log p(numbers of the rows)` for each leaf."""
        count, _, residual = self._pooled(statistics)
        return _value(
            "regression",
            shape=self.shape,
            rate=self.rate,
            sum_k=np.log(self.worth),
            rows=count,
            log_root=0.5 * np.log(self.worth + count),
            residual=residual,
        )

    def _pooled(self, statistics: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows, distance of their mean from the prior's, and what is left of squares around the posterior mean."""
        count, total, squares = np.moveaxis(np.asarray(statistics, dtype=float), -1, 0)
        rows = np.maximum(count, 1.0)
        scatter = np.maximum(squares - total * total / rows, 0.0)
        away = np.where(count > 0, total / rows + self.centre - self.mean, 0.0)
        return count, away, scatter + self.worth * count / (self.worth + count) * away * away

    def student(self, statistics: Floats) -> tuple[Floats, Floats, Floats]:
        """The predictive of one more row: degrees of freedom, location and scale of a Student t."""
        count, away, residual = self._pooled(statistics)
        shape, rate = self.shape + 0.5 * count, self.rate + 0.5 * residual
        centre = self.mean + count / (self.worth + count) * away
        return 2 * shape, centre, np.sqrt(rate / shape * (1 + 1 / (self.worth + count)))

    @cached_property
    def labels(self) -> tuple[object, ...]:
        """Numbers have no names."""
        return ()


Leaf = ClassLeaf | NumberLeaf
