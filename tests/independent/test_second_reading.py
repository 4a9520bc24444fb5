"""Random models read twice: our log joint is that of a small interpreter built on xarray and scipy.stats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import platewright as pw
from independent.second_reading import second_log_joint
from independent.written import MODELS, Written
from laws.identity import check_identity
from laws.random_models import random_model
from platewright.errors import NotSolvable

FIRST, CHUNKS, EACH = 50_000, 6, 50
SOLVED = [name for name, written in MODELS.items() if not written.declined]
DECLINED = [name for name, written in MODELS.items() if written.declined]


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


def read(written: Written) -> tuple[pw.Model, dict[str, Any]]:
    """The model and its data as a user would give them: groups under the names of the outer plates."""
    m = pw.Model("written")
    exec(written.lines, {"pw": pw, "m": m})
    outer = {str(m.plates[inner].within): codes for inner, codes in written.groups.items()}
    return m, {**written.data, **outer}


@pytest.mark.parametrize("name", SOLVED)
def test_a_written_model_means_what_its_lines_say(name: str) -> None:
    written = MODELS[name]
    m, data = read(written)
    fit = m.learn(data, by="exact")
    assert not fit.plan.barren
    check_identity(fit)
    point = point_of(fit)
    values = {key: np.asarray(value) for key, value in {**written.data, **point}.items()}
    expected = second_log_joint(written.lines.split(";"), values, written.groups, fit.sizes)
    found = fit.log_joint_at(point)
    assert abs(found - expected) <= 1e-8 * (1 + abs(expected)), f"{found}, by xarray and scipy {expected}"


@pytest.mark.parametrize("name", DECLINED)
def test_a_written_model_without_a_closed_form_is_declined(name: str) -> None:
    m, data = read(MODELS[name])
    with pytest.raises(NotSolvable, match=MODELS[name].declined):
        m.learn(data, by="exact")
