"""Predictions averaged over networks, from the evidence alone.

log p(row | network, rows) = log evidence(rows and row) - log evidence(rows) = a sum over nodes of local terms
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from platewright.structure.columns import Rows
from platewright.structure.moves import State
from platewright.structure.scorer import Scorer


def log_predictive(scorer: Scorer, weighed: Mapping[State, float], new: Rows) -> NDArray[np.float64]:
    """For each new case the log of its density, averaged over networks with these probabilities."""
    families = {(node, above) for state in weighed for node, above in enumerate(state)}
    found = np.empty(new.count)
    for row in range(new.count):
        codes = np.column_stack([scorer.rows.codes, new.codes[:, row]])
        values = np.column_stack([scorer.rows.values, new.values[:, row]])
        more = Scorer(
            scorer.rows.with_cells(codes, values), scorer.rules, scorer.prior, scorer.evidence, scorer.centres
        )
        gain = {family: more.local(*family) - scorer.local(*family) for family in families}
        terms = [
            np.log(weight) + sum(gain[node, above] for node, above in enumerate(state))
            for state, weight in weighed.items()
        ]
        found[row] = np.logaddexp.reduce(terms)
    return found
