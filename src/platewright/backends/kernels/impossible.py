"""Held values that the model gives no probability: nothing can be expected, and the log evidence is minus infinity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from platewright.family import Array

NEVER = -5e299
"""Log weights below this are those of values that cannot be."""


class ImpossibleData(ArithmeticError):
    """Data that have probability zero whatever is hidden."""

    def __init__(self, name: str, place: tuple[int, ...]) -> None:
        self.name, self.place = name, place
        where = f" at element {', '.join(map(str, place))}" if place else ""
        super().__init__(f"the data have probability zero whatever `{name}` is{where}")


def check_possible(name: str, log_weight: Array) -> None:
    """Refuse data that no value of a hidden variable allows: they are an error, never a NaN."""
    impossible = np.argwhere(np.asarray(log_weight) <= NEVER)
    if len(impossible):
        raise ImpossibleData(name, tuple(int(number) for number in impossible[0]))


def possible_evidence(value: Any, found: Mapping[str, object]) -> Any:
    """A log evidence from its statistics; where one of these is minus infinity the rest may be no number at all.

    With 2 successes in 1 trial the statistic `log[successes <= trials]` says so, and a posterior whose second
    parameter came out negative has no normaliser.
    """
    if np.ndim(value):  # at many points: where there is no number, it is as improbable as it looks
        return np.where(np.isnan(value), -np.inf, value)
    if not np.isnan(value):
        return value
    floats = [np.asarray(one) for one in found.values() if not isinstance(one, dict | tuple | list)]
    never = any(one.dtype.kind == "f" and bool(np.isneginf(one).any()) for one in floats)
    return -np.inf if never else value
