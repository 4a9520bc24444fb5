"""The log evidence of a network where cells are missing  (Chib, 1995).

    log p(seen) = log p(seen | theta) + log p(theta) - log p(theta | seen)                    at any one theta
    p(theta | seen) / p(theta) = mean over fillings of p(filled | theta) / p(filled)          drawn given what is seen

So the prior drops out, and what is divided by is the derived evidence of complete rows. The first term is exact
(`seen_likelihood.py`). Families without a missing cell have their evidence as it is. A chain stays with one naming of
the levels of a hidden node, so each of the K! namings is added back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.run.heard import told_to_stop
from platewright.structure.columns import Rows
from platewright.structure.drawn_conditionals import Conditional, inputs_of
from platewright.structure.missing_cells import first_filling, refilled
from platewright.structure.scorer import Parents, Scorer
from platewright.structure.seen_likelihood import seen_likelihood

DRAWS, WARM_UP, LOOKS = 300, 60, 30
BATCHES = 20
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A log evidence and the standard error of its estimate."""

    value: float
    error: float


@dataclass(eq=False)
class Expected(Conditional):
    """A node at the parameters that complete rows let expect; nothing is drawn."""

    def _drawn(self, chosen: NDArray[np.int64]) -> Values:
        return self.posterior(chosen).mean


@dataclass(eq=False)
class Fixed(Expected):
    """A node at given parameters; a group that was not met has those that its prior lets expect."""

    def __post_init__(self) -> None:
        """They are given."""


def estimated_evidence(rows: Rows, parents: Parents, scorer: Scorer, generator: np.random.Generator) -> Estimate:
    """From a chain over the missing cells under one network; after Ctrl-C from as much of it as there is."""
    missing = rows.missing
    holed = [node for node, above in enumerate(parents) if missing[[node, *above]].any()]
    whole = sum(scorer.local_evidence(node, parents[node]) for node in range(len(parents)) if node not in holed)

    def draw(filled: Rows) -> Rows:
        return refilled(filled, missing, parents, scorer.evidence, scorer.centres, generator)

    filled, looks = first_filling(rows, generator), []
    for sweep in range(WARM_UP):
        filled = draw(filled)
        if sweep >= WARM_UP - LOOKS:
            looks.append([Expected(*_given(filled, parents, node, scorer, generator)) for node in holed])
    at = [_centre(each) for each in zip(*looks, strict=True)]
    ratios: list[float] = []
    with told_to_stop() as listener:
        while len(ratios) < DRAWS and not (listener.stopped and len(ratios) > BATCHES):
            filled = draw(filled)
            complete = replace(scorer, rows=filled, held={})
            density = sum(float(one.log_density(filled.codes, filled.values).sum()) for one in at)
            ratios.append(density - sum(complete.local_evidence(node, parents[node]) for node in holed))
    logs = np.array(ratios)
    shares = np.exp(logs - logs.max())
    batches = np.array([batch.mean() for batch in np.array_split(shares, BATCHES)])
    error = float(batches.std(ddof=1) / np.sqrt(BATCHES) / shares.mean())
    names = sum(lgamma(len(column.levels) + 1) for column in rows.columns if column.hidden)
    return Estimate(whole + seen_likelihood(rows, at) - float(np.log(shares.mean()) + logs.max()) + names, error)


def _given(
    filled: Rows, parents: Parents, node: int, scorer: Scorer, generator: np.random.Generator
) -> tuple[Any, ...]:
    return node, *inputs_of(filled, parents[node]), filled, scorer.evidence, scorer.centres, generator


def _centre(looks: Sequence[Expected]) -> Fixed:
    """A node at the mean over some fillings of what each lets expect."""
    one = looks[0]
    unmet = one.posterior(np.zeros(0, dtype=np.int64)).mean
    keys = dict.fromkeys(key for look in looks for key in look.groups)
    met = [[look.parameters[look.groups[key]] if key in look.groups else unmet for look in looks] for key in keys]
    logs = one.kind == "category"
    centres = [np.log(np.exp(values).mean(axis=0)) if logs else np.mean(values, axis=0) for values in met]
    places = {key: place for place, key in enumerate(keys)}
    return Fixed(one.node, one.tables, one.numbers, one.rows, one.prior, one.centres, one.generator, places, centres)
