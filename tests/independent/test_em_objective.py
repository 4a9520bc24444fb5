"""What EM maximises is log p(data, parameters): hidden values summed and integrated out, never maximised with them.

The judge is `brute_force`, which has no part of the library's own objective in it; a joint mode of parameters and
hidden values is another number at another place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import platewright as pw
from independent.brute_force import BruteForce, Space
from independent.hidden_lines import HIDDEN, Hidden

OFF = 0.01
"""How far from the top of the objective an estimate may be, in standard deviations of its curvature."""


def learned(case: Hidden, backend: str) -> Any:
    """The estimate by EM from the best of several starts."""
    m = pw.Model("hidden")
    for line in case.each:
        exec(line, {"pw": pw, "m": m, **{name: plate for name, plate in m.plates.items()}})
    outer = {str(m.plates[inner].within): codes for inner, codes in case.groups.items()}
    return m.learn({**case.data, **outer}, goal="map", by="em", backend=backend, seed=1, tolerance=1e-13)


def summed(case: Hidden, values: Mapping[str, np.ndarray]) -> float:
    """The log of the sum and integral over all that is hidden, at these parameters."""
    data = {name: value for name, value in case.data.items() if name not in case.hidden}
    whole = BruteForce(case.each, {**data, **values}, case.groups, case.sizes, case.hidden)
    return whole.integrated(1e-9).log_evidence


def steps(name: str, value: np.ndarray) -> list[np.ndarray]:
    """Ways to move one parameter inside its domain; shares (rows that sum to one) move in pairs."""
    shares = name in ("p", "r", "begin", "move")
    found = []
    for at in np.ndindex(value.shape):
        change = np.zeros(value.shape)
        if shares:
            if at[-1] == value.shape[-1] - 1:
                continue
            change[at], change[(*at[:-1], -1)] = 1.0, -1.0
        else:
            change[at] = 1.0
        found.append(change)
    return found


def off_the_top(case: Hidden, values: Mapping[str, np.ndarray]) -> float:
    """The largest distance to the top along any parameter, in standard deviations."""
    middle, worst = summed(case, values), 0.0
    for name, value in values.items():
        for change in steps(name, value):
            size = 1e-3 * (1 + np.abs(value[change != 0]).max())
            up, down = (summed(case, {**values, name: value + sign * size * change}) for sign in (1, -1))
            bend = (up + down - 2 * middle) / size**2
            assert bend < 0, f"`{name}` is at no top"
            worst = max(worst, abs(up - down) / (2 * size) / np.sqrt(-bend))
    return worst


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("name", HIDDEN)
def test_the_estimate_is_the_top_of_the_sum_over_hidden_values(name: str, backend: str) -> None:
    case = HIDDEN[name]
    fit = learned(case, backend)
    values = {key: np.asarray(value, dtype=float) for key, value in fit.estimate.values.items()}
    assert set(values).isdisjoint(case.hidden)
    assert fit.log_joint == pytest.approx(summed(case, values), abs=1e-6)
    assert off_the_top(case, values) < OFF


def test_a_joint_mode_would_be_noticed() -> None:
    """The top of log p(data, hidden, parameters) is neither the same number nor at the same place."""
    case = HIDDEN["effects of groups"]
    fit = learned(case, "numpy")
    values = {key: np.asarray(value, dtype=float) for key, value in fit.estimate.values.items()}
    whole = BruteForce(case.each, case.data, case.groups, case.sizes, {"e": Space((2,)), "tau": Space((), low=0.0)})
    best, at = -np.inf, values["tau"]
    for tau in np.linspace(0.05, 6.0, 300):
        e = np.array([_joint_effect(case, g, tau, float(values["mu"])) for g in range(2)])
        height = whole.log_joint_at({**values, "tau": np.array(tau), "e": e})
        best, at = max((best, at), (height, tau))
    assert abs(best - fit.log_joint) > 1e-3
    assert off_the_top(case, {**values, "tau": np.array(at)}) > 10 * OFF


def _joint_effect(case: Hidden, group: int, tau: float, mu: float) -> float:
    rows = case.data["y"][case.groups["n"] == group]
    weight = len(rows) / 0.7**2
    return float((weight * rows.mean() + tau * mu) / (weight + tau))
