"""The source of a collapsed sampler runs alone, and makes the draws that the library makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from backends.running import running
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.backends.numpy.collapsed import CollapsedEmitter, numpy_collapsed_source
from platewright.run.samplers.collapsed import CollapsedSampler
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.parameters_given import ParametersGiven, by_numpy
from platewright.schemas.collapsed import CollapsedPlan, plan_collapsed
from schemas.collapsed_models import COLLAPSED
from schemas.small_instance import Case, instance


def emitted(plan: CollapsedPlan) -> tuple[dict[str, Any], Any]:
    """The functions of the program, and the names of things in it."""
    emitter = CollapsedEmitter(plan)
    emitter.module()
    return running(numpy_collapsed_source(plan)), emitter.names


@pytest.mark.parametrize("case", COLLAPSED, ids=lambda case: case.name)
def test_sweeps_and_parameters_are_the_library_s(case: Case) -> None:
    plan = plan_collapsed(case.graph, "posterior")
    assert isinstance(plan, CollapsedPlan)
    space, names = emitted(plan)
    small = instance(case, 0)
    known = {name: value for name, value in small.columns.items() if name not in plan.hidden}
    data = space["prepared"]({names(name): value for name, value in known.items()}, sized(names, small.sizes))
    size = sized(names, small.sizes)
    held = CollapsedData(plan, known, small.sizes)
    start = {name: np.array(small.hidden[name], dtype=np.int64) for name in plan.hidden}
    sampler = CollapsedSampler(held, start, Xoshiro.seeded(np.random.SeedSequence(4)))
    hidden = {names(name): np.array(value) for name, value in start.items()}
    random = space["Xoshiro"].seeded(np.random.SeedSequence(4))
    for _ in range(3):
        sampler.sweep()
        space["sweep"](hidden, data, size, random)
        assert all((hidden[names(name)] == value).all() for name, value in sampler.hidden.items())
    wanted = ParametersGiven(held, by_numpy(held))(sampler.hidden, np.random.default_rng(6))[0]
    found = space["draw_parameters"]({**data, **hidden}, size, np.random.default_rng(6))
    assert wanted.keys() and all(np.allclose(found[names(name)], value, rtol=1e-9) for name, value in wanted.items())


def sized(names: Any, sizes: dict[str, int]) -> dict[str, int]:
    return {names(plate): value for plate, value in sizes.items()}
