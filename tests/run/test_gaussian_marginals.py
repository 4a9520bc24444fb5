"""Two ways to the spread of a Gaussian unknown: covariances followed through blocks, and linear forms one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from independent import gaussians, plates
from laws.random_models import random_model
from platewright.elimination.state import GaussianConditional
from platewright.errors import NotSolvable
from platewright.run.exact import gaussian_marginal
from run.test_large_groups import groups, three_levels


def compared(fit: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many unknowns were compared; both ways must give the same precision."""
    count = 0
    for conditional in fit.plan.conditionals:
        if not isinstance(conditional, GaussianConditional):
            continue
        for name in conditional.variables:
            followed = fit.posterior.marginal(name)
            with monkeypatch.context() as without:
                without.setattr(gaussian_marginal, "chained_covariance", lambda *_: None)
                one_by_one = fit.posterior.marginal(name)
            if followed is None or one_by_one is None:
                assert followed is None and one_by_one is None  # a scale without a closed form
                continue
            for key, value in followed.parameters.items():
                np.testing.assert_allclose(value, one_by_one.parameters[key], rtol=1e-8, atol=1e-10)
            count += 1
    return count


def test_both_ways_agree_on_models_written_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = [made() for made in (*plates.PROBLEMS, *gaussians.PROBLEMS)]
    fits = [p.model.learn(dict(p.data), by="exact", backend="numpy") for p in solved if p.by_hand is not None]
    assert sum(compared(fit, monkeypatch) for fit in fits) > 40


@pytest.mark.parametrize("chunk", range(4))
def test_both_ways_agree_on_random_models(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    for seed in range(70_000 + chunk * 50, 70_050 + chunk * 50):
        sample = random_model(seed)
        if sample.kind not in ("gaussian", "sequence"):
            continue
        try:
            fit = sample.model.learn(dict(sample.data), by="exact", backend="numpy")
        except NotSolvable:
            continue
        count += compared(fit, monkeypatch)
    assert count > 10


def test_many_nested_groups_have_closed_marginals() -> None:
    fit = three_levels().learn(groups(500, 5_000, 15_000))
    found = fit.posterior.marginal("b")
    assert found is not None and found.mean.shape == (5_000,) and (found.sd > 0).all()
