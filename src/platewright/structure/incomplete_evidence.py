"""The log evidence of a network where cells are missing  (Chib, 1995).

    log p(seen) = log p(seen | theta) + log p(theta) - log p(theta | seen)           at any one theta

The last term is the average over draws of the missing cells of the conjugate densities at theta. The first is exact
(`seen_likelihood.py`). Families without a missing cell have their evidence as it is. A chain stays with one naming of
the levels of a hidden node, so each of the K! namings is added back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from platewright.structure.columns import Rows
from platewright.structure.conjugate_posteriors import Posterior
from platewright.structure.drawn_conditionals import Conditional, inputs_of
from platewright.structure.missing_cells import first_filling, refilled
from platewright.structure.scorer import Parents, Scorer
from platewright.structure.seen_likelihood import seen_likelihood

DRAWS, WARM_UP = 300, 60
BATCHES = 20
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A log evidence and the standard error of its estimate."""

    value: float
    error: float


@dataclass(eq=False)
class Gathered(Conditional):
    """What complete rows say of the parameters of each group of a node; nothing is drawn."""

    found: dict[int, Posterior] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = self._places(self.rows.codes)
        order = np.argsort(places, kind="stable")
        chosen = np.split(order, np.cumsum(np.bincount(places, minlength=len(self.groups)))[:-1])
        self.found = {key: self.posterior(chosen[group]) for key, group in self.groups.items()}


@dataclass(eq=False)
class Fixed(Conditional):
    """A node at given parameters; a group that no draw met has those that its prior expects."""

    def __post_init__(self) -> None:
        """Nothing is drawn."""

    def _drawn(self, chosen: NDArray[np.int64]) -> Values:
        return self.posterior(chosen).mean


def estimated_evidence(rows: Rows, parents: Parents, scorer: Scorer, generator: np.random.Generator) -> Estimate:
    """From a chain over the missing cells under one network."""
    missing = rows.missing
    families = [sorted({node, *above}) for node, above in enumerate(parents)]
    holed = [node for node, family in enumerate(families) if missing[family].any()]
    whole = sum(scorer.local_evidence(node, parents[node]) for node in range(len(parents)) if node not in holed)
    filled = first_filling(rows, generator)
    gathered: list[list[Gathered]] = []
    for sweep in range(-WARM_UP, DRAWS):
        filled = refilled(filled, missing, parents, scorer.evidence, scorer.centres, generator)
        if sweep >= 0:
            gathered.append([_gathered(filled, parents, node, scorer, generator) for node in holed])
    prior, posterior, fixed = 0.0, np.zeros(DRAWS), []
    for place in range(len(holed)):
        one = gathered[0][place]
        expected = one.posterior(np.zeros(0, dtype=np.int64))
        draws = [draw[place].found for draw in gathered]
        point = {key: _centre(one.kind, draws, key, expected) for key in dict.fromkeys(k for d in draws for k in d)}
        prior += sum(expected.log_density(at) for at in point.values())
        posterior += [sum(draw.get(key, expected).log_density(at) for key, at in point.items()) for draw in draws]
        groups = {key: number for number, key in enumerate(point)}
        given = (one.node, one.tables, one.numbers, rows, one.prior, one.centres, generator)
        fixed.append(Fixed(*given, groups, list(point.values())))
    top = posterior.max()
    shares = np.exp(posterior - top)
    height = float(np.log(shares.mean()) + top)
    batches = shares.reshape(BATCHES, -1).mean(axis=1)
    error = float(batches.std(ddof=1) / np.sqrt(len(batches)) / shares.mean())
    names = sum(lgamma(len(column.levels) + 1) for column in rows.columns if column.hidden)
    return Estimate(whole + seen_likelihood(rows, fixed) + prior - height + names, error)


def _gathered(filled: Rows, parents: Parents, node: int, scorer: Scorer, generator: np.random.Generator) -> Gathered:
    return Gathered(node, *inputs_of(filled, parents[node]), filled, scorer.evidence, scorer.centres, generator)


def _centre(kind: str, draws: list[dict[int, Posterior]], key: int, expected: Posterior) -> Values:
    """Where the densities are taken: the mean over the draws of what each expects."""
    means = np.array([draw.get(key, expected).mean for draw in draws])
    return np.asarray(np.log(np.exp(means).mean(axis=0)) if kind == "category" else means.mean(axis=0))
