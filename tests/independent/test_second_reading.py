"""Random models read twice: our log joint is that of a small interpreter built on xarray and scipy.stats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from independent.second_reading import second_log_joint
from laws.random_models import random_model
from platewright.errors import NotSolvable

FIRST, CHUNKS, EACH = 50_000, 6, 50


def point_of(fit: Any) -> dict[str, np.ndarray]:
    """Between two draws of the posterior; a draw where values are discrete."""
    drawn = fit.draws(2, seed=1)
    nodes = fit.plan.graph.nodes
    discrete = {name for name in drawn if name in nodes and nodes[name].domain.kind in ("integer", "levels")}
    return {
        name: drawn[name][0] if name in discrete else 0.6 * drawn[name][0] + 0.4 * drawn[name][1]
        for name in fit.posterior.unknown
    }


def check(seed: int) -> bool:
    """Whether the model was solved; its log joint must be the one of the second reading."""
    sample = random_model(seed)
    try:
        fit = sample.model.learn(dict(sample.data), by="exact", backend="numpy")
    except NotSolvable:
        return False
    if fit.plan.barren:
        return False  # variables that nothing depends on have no place in our joint
    point = point_of(fit)
    groups = {sample.inner[name]: value for name, value in sample.data.items() if name in sample.inner}
    values = {**{name: value for name, value in sample.data.items() if name not in sample.inner}, **point}
    expected = second_log_joint(sample.lines, values, groups, sample.sizes)
    found = fit.log_joint_at(point)
    assert abs(found - expected) <= 1e-8 * (1 + abs(expected)), f"{found}, by xarray and scipy {expected}\n\n{sample}"
    return True


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_models_mean_what_their_lines_say(chunk: int) -> None:
    solved = sum(check(seed) for seed in range(FIRST + chunk * EACH, FIRST + (chunk + 1) * EACH))
    assert solved > EACH * 0.3, "most models should be solved, or nothing is compared"
