"""Few rows in the place of many: every step of EM is the step on all rows, and what moments do not tell is declined."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from backends.running import running
from platewright.backends.numpy.em import em_emitter
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.hidden.em import Runner
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.few_rows import FewRunner, Gathered, few_runner, gathered_once
from platewright.run.hidden.mean_field import Runner as Updates
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from schemas.row_moments import FIELDS, GATHERED, NEAR_MISSES, Gathering

CLOSE = 1e-10


def both_ways(case: Gathering, seed: int = 0, shift: float = 0.0) -> tuple[Runner, FewRunner, dict[str, Array]]:
    """The steps on all rows and on few, and parameters to begin with."""
    data = case.data(np.random.default_rng(seed))
    if shift:
        data = {name: values + shift if name == "x" else values for name, values in data.items()}
    fit = case.build().learn(data, goal="map", restarts=1, iterations=3)
    assert isinstance(fit, EstimatedFit)
    plan, columns, sizes = fit.derivation, fit.columns, fit.sizes
    found = gathered_once(plan, columns, sizes)
    assert isinstance(found, Gathered), found.reason
    assert 0 < found.sizes[found.few.weigher.few] <= case.most
    return Runner(plan, columns, sizes), few_runner(found, dict), fit.estimate.values


@pytest.mark.parametrize("case", GATHERED, ids=str)
def test_a_step_on_few_rows_is_the_step_on_all(case: Gathering) -> None:
    whole, few, values = both_ways(case)
    for _ in range(4):
        expected, less = whole.look(values), few.look(values)
        assert less.objective == pytest.approx(expected.objective, rel=CLOSE)
        next_values, found = whole.next_values(expected, values), few.next_values(less, values)
        for name, value in next_values.items():
            np.testing.assert_allclose(found[name], value, rtol=CLOSE, atol=CLOSE, err_msg=name)
        values = next_values


@pytest.mark.parametrize("case", [case for case in GATHERED if "factor" in case.name or "cells" in case.name], ids=str)
def test_data_far_from_zero_keep_their_digits(case: Gathering) -> None:
    whole, few, values = both_ways(case, shift=1e9)
    for _ in range(3):
        expected, less = whole.look(values), few.look(values)
        assert less.objective == pytest.approx(expected.objective, rel=1e-9)
        next_values, found = whole.next_values(expected, values), few.next_values(less, values)
        for name, value in next_values.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-8, atol=1e-8, err_msg=name)
        values = next_values


@pytest.mark.parametrize("case, reason", NEAR_MISSES, ids=str)
def test_what_moments_do_not_tell_is_declined(case: Gathering, reason: str) -> None:
    fit = case.build().learn(case.data(np.random.default_rng(0)), goal="map", restarts=1, iterations=2)
    assert isinstance(fit, EstimatedFit)
    found = gathered_once(fit.derivation, fit.columns, fit.sizes)
    assert isinstance(found, Declined)
    assert reason in found.reason
    assert "stand for" not in fit.how


@pytest.mark.parametrize("case", GATHERED, ids=str)
def test_what_is_expected_of_each_row_is_there(case: Gathering) -> None:
    fit = case.build().learn(case.data(np.random.default_rng(0)), goal="map", restarts=2, iterations=30)
    assert isinstance(fit, EstimatedFit)
    assert "stand for" in fit.how
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(fit.estimate.objective))
    whole = Runner(fit.derivation, fit.columns, fit.sizes).expected(fit.estimate.values)
    assert fit.log_joint == pytest.approx(whole.objective, rel=CLOSE)
    for name in fit.derivation.latent.names:
        member = next(m for g in fit.derivation.latent.gaussian for m in g.members if m.name == name)
        found = fit.expected(name)
        assert found.shape == tuple(fit.sizes[axis.plate] for axis in member.axes)
        point = whole.expectations[member.point]
        np.testing.assert_allclose(found, point.mean(axis=point.ndim - 1 - len(member.inner)), atol=1e-12)


@pytest.mark.parametrize("case", GATHERED, ids=str)
def test_the_source_gathers_rows_too_and_ends_where_the_library_does(case: Gathering) -> None:
    fit = case.build().learn(case.data(np.random.default_rng(0)), goal="map", restarts=1, iterations=15)
    assert isinstance(fit, EstimatedFit)
    emitter = em_emitter(fit.derivation)
    emitter.module()
    space = running(fit.source())
    data = {emitter.names(name): value for name, value in fit.columns.items()}
    size = {emitter.names(plate): value for plate, value in fit.sizes.items()}
    few = space["gather_rows"](data, size)[1]
    assert few[emitter.names("n.few")] <= case.most
    found = space["learn"](data, size, seed=fit.seed, restarts=1, iterations=15)
    assert found["log_joint"] == pytest.approx(fit.log_joint, rel=1e-9)
    for name, value in fit.estimate.values.items():
        np.testing.assert_allclose(found[emitter.names(name)], value, rtol=1e-6, atol=1e-8)


def test_plans_tell_whether_rows_are_gathered() -> None:
    case, (other, reason) = GATHERED[0], NEAR_MISSES[0]
    told = case.build().derive(["x"], goal="map").explain()
    assert "rows of n enter by count, mean and scatter of x, gathered in one pass" in told
    assert f"every iteration goes over all rows: {reason}" in other.build().derive(["x"], goal="map").explain()


@pytest.mark.parametrize("case", FIELDS, ids=str)
def test_an_update_on_few_rows_is_the_update_on_all(case: Gathering) -> None:
    fit = case.build().learn(case.data(np.random.default_rng(0)), by="mean-field", restarts=1, iterations=4)
    assert isinstance(fit, MeanFieldFit) and "stand for" in fit.how
    plan, columns, sizes = fit.derivation, fit.columns, fit.sizes
    less = gathered_once(plan, columns, sizes)
    assert isinstance(less, Gathered) and less.sizes[less.few.weigher.few] <= case.most
    whole, few = Updates(plan, columns, sizes), Updates(less.few.plan, less.columns, less.sizes)
    moments = {name: value for name, value in fit.result.expectations.items() if not name.endswith(".point")}
    for _ in range(3):
        (expected, entropy), (fewer, less_entropy) = whole.hidden(moments), few.hidden(moments)
        assert less_entropy == pytest.approx(entropy, rel=CLOSE)
        settled, found = whole.posterior({**moments, **expected}), few.posterior({**moments, **fewer})
        assert found.evidence == pytest.approx(settled.evidence, rel=CLOSE)
        for name, value in settled.moments.items():
            np.testing.assert_allclose(found.moments[name], value, rtol=CLOSE, atol=CLOSE, err_msg=name)
        moments = settled.moments
    for member in (member for group in plan.latent.gaussian for member in group.members):
        assert fit.expected(member.name).shape == tuple(sizes[axis.plate] for axis in member.axes)
