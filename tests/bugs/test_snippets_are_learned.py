"""Every snippet is learned from end to end: each has a plan, and what it draws is possible under the model."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from bugs.snippets import SNIPPETS
from platewright.run.exact.fit import Fit
from platewright.run.points.fit import QuadratureFit
from platewright.run.samplers.sampling import SampledFit


@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_is_learned(name: str) -> None:
    text, data = SNIPPETS[name]
    model = pw.read_bugs(text, data)
    known = model.read_from.data()
    plan = model.derive(set(known) & {one for one, node in model.variables.items() if node.family is not None})
    options = {} if plan.schema == "exact" else {"chains": 1, "warm_up": 3, "draws": 4}
    fit = model.learn(known, backend="numpy", **options)
    if isinstance(fit, Fit | QuadratureFit):
        assert np.isfinite(fit.log_evidence)
    assert isinstance(fit, Fit | QuadratureFit | SampledFit)
    for drawn in (fit.chains if isinstance(fit, SampledFit) else fit.draws(4)).values():
        assert np.isfinite(drawn).all()
