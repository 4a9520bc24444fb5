"""One look in C may say that pools are sound only where the closer look finds nothing."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from example_models import MAKERS, Example
from platewright.data.bind import bind
from platewright.pipeline import signature
from platewright.run.exact.runner import Passed, all_finite, choose_runner
from platewright.run.execute import columns_of


def passed(example: Example) -> Passed:
    model, data = example
    dataset = bind(signature(model), data)
    inputs = {name for name, variable in model.variables.items() if variable.kind == "input"}
    plan = model.derive(dataset.known - inputs).plan
    runner = choose_runner(plan.program, "c", 0)
    return runner.passed(columns_of(plan.graph, dataset), {**plan.program.sizes, **dataset.sizes})


def skewed(seed: int) -> Example:
    """A regression whose columns are more or less alike, far out and explained."""
    rng = np.random.default_rng(seed)
    m, data = MAKERS["regression"](rng, 200)
    x = data["X"]
    x[:, 2] = x[:, 0] + x[:, 1] + 10.0 ** rng.uniform(-5, 1) * x[:, 2]
    x += 10.0 ** rng.uniform(-1, 7)
    y = x @ rng.normal(size=3) + 10.0 ** rng.uniform(-6, 1) * data["y"]
    return m, {"X": x, "y": y}


def test_what_is_called_sound_is_finite_and_keeps_its_digits() -> None:
    called = {True: 0, False: 0}
    for seed in range(300):
        found = passed(skewed(seed))
        called[found.is_sound] += 1
        if found.is_sound:
            assert found.module.ill_conditioned is not None
            assert found.module.ill_conditioned(found.statistics) == [], seed
            assert all_finite(found.statistics)
    assert min(called.values()) > 30, called


@pytest.mark.parametrize("name", MAKERS)
def test_usual_data_are_called_sound_or_looked_at_closely(name: str) -> None:
    found = passed(MAKERS[name](np.random.default_rng(1), 400))
    if found.is_sound and found.module.ill_conditioned is not None:
        assert found.module.ill_conditioned(found.statistics) == []
    if name in ("regression", "normal_gamma", "groups", "normal_wishart", "autoregression"):
        assert found.is_sound


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("column", ["X", "y"])
def test_what_is_not_finite_is_not_sound(column: str, value: float) -> None:
    m, data = MAKERS["regression"](np.random.default_rng(2), 50)
    data[column].flat[7] = value
    assert not passed_unchecked(m, data).is_sound


def passed_unchecked(model: pw.Model, data: dict[str, np.ndarray]) -> Passed:
    plan = model.derive(["y"]).plan
    sizes = {**plan.program.sizes, "n": len(data["y"]), "c": data["X"].shape[1]}
    return choose_runner(plan.program, "c", 0).passed(data, sizes)
