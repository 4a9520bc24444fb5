"""Parameters given the hidden variables of a collapsed chain: C computes what NumPy does, with the same draws."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.parameters_given import ParametersGiven, by_c, by_numpy
from platewright.schemas.collapsed import CollapsedPlan, plan_collapsed
from schemas.collapsed_models import COLLAPSED
from schemas.small_instance import Case, instance
from schemas.test_native_conditionals import needs_compiler


@needs_compiler
@pytest.mark.parametrize("case", COLLAPSED, ids=lambda case: case.name)
def test_c_computes_what_numpy_computes(case: Case) -> None:
    plan = plan_collapsed(case.graph, "posterior")
    assert isinstance(plan, CollapsedPlan)
    native = None
    for seed in range(3):  # hidden variables move, so nothing that they enter may be kept
        small = instance(case, 0)
        moved = instance(case, seed)
        known = {name: value for name, value in small.columns.items() if name not in plan.hidden}
        data = CollapsedData(plan, known, small.sizes)
        hidden = {name: np.array(moved.hidden[name], dtype=np.int64) for name in plan.hidden}
        native = native or by_c(data, hidden, 1000)
        found, wanted = native(hidden), by_numpy(data)(hidden)
        for name, value in wanted.items():
            scale = np.max(np.abs(value), initial=1e-300)
            assert np.max(np.abs(found[name] - value), initial=0.0) < 1e-9 * scale, name
        one = ParametersGiven(data, native)(hidden, np.random.default_rng(seed))
        other = ParametersGiven(data, by_numpy(data))(hidden, np.random.default_rng(seed))
        for ours, theirs in zip(one[:2], other[:2], strict=True):
            assert all(np.allclose(ours[name], value, rtol=1e-9, atol=1e-12) for name, value in theirs.items())
