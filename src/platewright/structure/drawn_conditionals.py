"""The conditionals of a network with parameters drawn from their posterior given complete rows.

    table        theta[group] ~ Dirichlet(alpha + counts)
    regression   precision ~ Gamma, intercept and slopes ~ Normal, by group
    rate         ~ Gamma, by group

Groups of rows that agree in the parents' categories are found as they are met: one that no row shows yet has its
parameters drawn from the prior, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from platewright.structure.columns import Rows
from platewright.structure.conjugate_posteriors import (
    Posterior,
    TablePosterior,
    regression_posterior,
)
from platewright.structure.evidence_prior import EvidencePrior
from platewright.structure.one_group import GroupPosterior, OneGroup, posterior_of

FEW_ROWS = 64
Codes = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(eq=False)
class Conditional:
    """One node given its parents; `parameters` has a row for each group met so far."""

    node: int
    tables: tuple[int, ...]
    numbers: tuple[int, ...]
    rows: Rows
    prior: EvidencePrior
    centres: Values
    generator: np.random.Generator
    groups: dict[int, int] = field(default_factory=dict)
    parameters: list[Values] = field(default_factory=list)

    def __post_init__(self) -> None:
        places = self._places(self.rows.codes)
        for group in range(len(self.parameters)):
            self.parameters[group] = self._drawn(np.flatnonzero(places == group))

    @property
    def kind(self) -> str:
        """What the node holds."""
        return self.rows.columns[self.node].kind

    @property
    def group(self) -> OneGroup | None:
        """Its model, where it has one of its own."""
        return self.rows.columns[self.node].group

    def at(self, codes: Codes) -> NDArray[np.float64]:
        """The parameters for each of some rows."""
        places = self._places(codes)
        for group, found in enumerate(self.parameters):
            if not found.size:
                self.parameters[group] = self._drawn(np.zeros(0, dtype=np.int64))
        return np.stack(self.parameters)[places]

    def log_density(self, codes: Codes, values: Values) -> Values:
        """Of each of some rows."""
        found = self.at(codes)
        if self.kind == "category":
            return np.asarray(np.take_along_axis(found, codes[self.node][:, None], axis=1)[:, 0])
        own = values[self.node]
        if self.group is not None:
            return self.group.log_density(own, found)
        gap = own - self.mean(found, values)
        return np.asarray(0.5 * np.log(found[:, 0] / (2 * np.pi)) - 0.5 * found[:, 0] * gap**2)

    def mean(self, parameters: Values, values: Values) -> Values:
        """Of a regression."""
        slopes = sum(
            (parameters[:, 2 + place] * (values[parent] - self.centres[parent]))
            for place, parent in enumerate(self.numbers)
        )
        return np.asarray(self.centres[self.node] + parameters[:, 1] + slopes)

    def _places(self, codes: Codes) -> NDArray[np.int64]:
        """The group of each row; new groups get an empty row of parameters."""
        if not self.tables:
            if not self.parameters:
                self.parameters.append(np.zeros(0))
                self.groups[0] = 0
            return np.zeros(codes.shape[1], dtype=np.int64)
        keys = np.zeros(codes.shape[1], dtype=np.int64)
        for parent in self.tables:  # wraps around beyond 2^64 states: mixed, so that few would meet
            keys = keys * np.int64(2 * len(self.rows.columns[parent].levels) + 1) + codes[parent]
        if len(keys) < FEW_ROWS:
            return np.array([self._group(key) for key in keys.tolist()], dtype=np.int64)
        distinct, inverse = np.unique(keys, return_inverse=True)
        places = np.array([self._group(key) for key in distinct.tolist()], dtype=np.int64)
        return np.asarray(places[inverse.reshape(-1)])

    def _group(self, key: int) -> int:
        if key not in self.groups:
            self.groups[key] = len(self.parameters)
            self.parameters.append(np.zeros(0))
        return self.groups[key]

    def _drawn(self, chosen: NDArray[np.int64]) -> Values:
        return self.posterior(chosen).draw(self.generator)

    def posterior(self, chosen: NDArray[np.int64]) -> Posterior | GroupPosterior:
        """What the chosen rows say of the parameters of their group; of no rows, the prior."""
        if self.kind == "category":
            return TablePosterior(self.weights(chosen))
        own = self.rows.values[self.node, chosen]
        if self.group is not None:
            return posterior_of(self.group, own)
        numbers = sum(column.kind == "number" for column in self.rows.columns)
        shape, rate, centre, slope = self.prior.normal(numbers, len(self.numbers))
        inputs = np.ones((len(chosen), 1 + len(self.numbers)))
        for place, parent in enumerate(self.numbers):
            inputs[:, 1 + place] = self.rows.values[parent, chosen] - self.centres[parent]
        strength = np.array([centre, *(slope for _ in self.numbers)])
        return regression_posterior(inputs, own - self.centres[self.node], strength, shape, rate)

    def weights(self, chosen: NDArray[np.int64]) -> Values:
        """Counts of the chosen rows and the prior's."""
        levels = [len(column.levels) for column in self.rows.columns]
        states = float(np.prod([levels[parent] for parent in self.tables], dtype=float))
        counts = np.bincount(self.rows.codes[self.node, chosen], minlength=levels[self.node])
        return np.asarray(counts + self.prior.alpha(levels[self.node], states))


def inputs_of(rows: Rows, above: frozenset[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Parents that are categories, and those that are numbers."""
    tables = tuple(sorted(p for p in above if rows.columns[p].kind == "category"))
    return tables, tuple(sorted(above - set(tables)))


def drawn_conditionals(
    rows: Rows,
    parents: Sequence[frozenset[int]],
    prior: EvidencePrior,
    centres: Values,
    generator: np.random.Generator,
    wanted: Iterable[int],
) -> dict[int, Conditional]:
    """Those of the nodes that are wanted, by number."""
    found = {}
    for node in sorted(wanted):
        found[node] = Conditional(node, *inputs_of(rows, parents[node]), rows, prior, centres, generator)
    return found
