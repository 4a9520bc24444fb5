"""Unlisted models with hidden values: every schema that takes one agrees with weights of draws from its prior.

evidence = mean of the likelihood over the prior,   posterior mean = mean weighted by the likelihood
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from independent.unlisted_hidden import CASES, Case
from platewright.errors import NotSolvable

DRAWS = 100_000
EXACT_EVIDENCE = [found for found in CASES if found.__name__ != "unknown_trials"]


@cache
def weighed(build: object) -> tuple[Case, float, float, dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """The case with its log evidence, the error of that, and mean, spread and error of each parameter."""
    case: Case = build()  # type: ignore[operator]
    drawn = case.prior(np.random.default_rng(1), DRAWS)
    logs = case.log_likelihood(drawn)
    weights = np.exp(logs - logs.max())
    evidence = float(logs.max() + np.log(weights.mean()))
    error = float(weights.std() / weights.mean() / np.sqrt(DRAWS))
    weights = weights / weights.sum()
    found = {}
    for name, values in drawn.items():
        mean = np.tensordot(weights, values, axes=(0, 0))
        spread = np.sqrt(np.tensordot(weights, (values - mean) ** 2, axes=(0, 0)))
        found[name] = mean, spread, np.sqrt(np.tensordot(weights**2, (values - mean) ** 2, axes=(0, 0)))
    return case, evidence, error, found


@pytest.mark.parametrize("build", EXACT_EVIDENCE)
def test_enumerated_evidence_is_the_mean_likelihood(build: object) -> None:
    case, evidence, error, _ = weighed(build)
    assert abs(case.model.learn(case.data, goal="evidence").log_evidence - evidence) < 5 * error


@pytest.mark.parametrize("by", ["gibbs", "collapsed-gibbs"])
@pytest.mark.parametrize("build", CASES)
def test_draws_have_the_weighted_means(build: object, by: str) -> None:
    case, _, _, means = weighed(build)
    try:
        fit = case.model.learn(case.data, by=by, chains=2, draws=800, warm_up=200, seed=3)
    except NotSolvable:
        assert by == "collapsed-gibbs"
        return
    for name, (mean, spread, error) in means.items():
        # five errors of chains that are worth four hundred independent draws
        assert (np.abs(fit[name].mean - mean) <= 5 * error + 0.25 * spread).all(), name


@pytest.mark.parametrize("build", EXACT_EVIDENCE)
def test_a_mean_field_bound_is_below_the_evidence(build: object) -> None:
    case, evidence, error, _ = weighed(build)
    fit = case.model.learn(case.data, by="mean-field")
    assert evidence - 3 < fit.lower_bound < evidence + 5 * error
    assert all(np.isfinite(fit[name].value).all() for name in fit.posterior.unknown)


@pytest.mark.parametrize("build", EXACT_EVIDENCE)
def test_the_mode_is_as_likely_by_hand(build: object) -> None:
    case, _, _, _ = weighed(build)
    fit = case.model.learn(case.data, goal="map")
    point = {name: np.asarray(value)[None] for name, value in fit.estimate.values.items()}
    assert fit.log_likelihood == pytest.approx(float(case.log_likelihood(point)[0]), rel=1e-9)
