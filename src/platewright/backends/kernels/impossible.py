"""Held values that the model gives no probability: the log evidence is minus infinity, whatever else comes out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def possible_evidence(value: float, found: Mapping[str, object]) -> float:
    """A log evidence from its statistics; where one of these is minus infinity the rest may be no number at all.

    With 2 successes in 1 trial the statistic `log[successes <= trials]` says so, and a posterior whose second
    parameter came out negative has no normaliser.
    """
    if not np.isnan(value):
        return value
    floats = [np.asarray(one) for one in found.values() if not isinstance(one, dict | tuple | list)]
    never = any(one.dtype.kind == "f" and bool(np.isneginf(one).any()) for one in floats)
    return -np.inf if never else value
