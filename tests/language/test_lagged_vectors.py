"""The previous value of a vector has its components: a vector autoregression is the one that is written elementwise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.errors import ModelError, PlateError

STEPS = np.random.default_rng(0).normal(size=(12, 2)).cumsum(axis=0)


def whole(mean: str) -> pw.Model:
    """Values that are vectors; the matrix of weights, or one weight for all components."""
    m = pw.Model("vectors")
    step, part = m.plate("step", ordered=True), m.plate("part", 2)
    other = m.plate("other", like=part)
    begin = pw.MultivariateNormal(0.0, precision=pw.identity(part), over=part)
    if mean == "matrix":
        m.w = pw.Normal(0, sd=1.0, plates=(part, other))
        centre = pw.dot(m.w, m.lag("y")[other], over=other)
    else:
        m.w = pw.Normal(0, sd=1.0)
        centre = m.w * m.lag("y")
    m.y = pw.MultivariateNormal(centre, precision=pw.identity(part), start=begin, over=part, plates=step)
    return m


def apart(mean: str) -> pw.Model:
    """The same components as elements of a plate."""
    m = pw.Model("elements")
    step, part = m.plate("step", ordered=True), m.plate("part", 2)
    other = m.plate("other", like=part)
    if mean == "matrix":
        m.w = pw.Normal(0, sd=1.0, plates=(part, other))
        centre = pw.dot(m.w, m.lag("y")[other], over=other)
    else:
        m.w = pw.Normal(0, sd=1.0)
        centre = m.w * m.lag("y")
    m.y = pw.Normal(centre, sd=1.0, start=pw.Normal(0, sd=1.0), plates=(step, part))
    return m


@pytest.mark.parametrize("mean", ["matrix", "number"])
def test_vectors_and_elements_are_one_model(mean: str) -> None:
    one, other = whole(mean).learn({"y": STEPS}), apart(mean).learn({"y": STEPS})
    np.testing.assert_allclose(one["w"].mean, other["w"].mean)
    np.testing.assert_allclose(one.log_evidence, other.log_evidence)


def test_the_evidence_by_hand() -> None:
    before, after = STEPS[:-1], STEPS[1:]
    spread = np.eye(len(before)) + before @ before.T
    expected = stats.norm.logpdf(STEPS[0]).sum()
    expected += sum(stats.multivariate_normal.logpdf(after[:, part], np.zeros(len(before)), spread) for part in (0, 1))
    np.testing.assert_allclose(whole("matrix").learn({"y": STEPS}).log_evidence, expected)


def test_a_previous_value_has_no_more_axes_than_the_value() -> None:
    m = pw.Model("too many")
    step, part = m.plate("step", ordered=True), m.plate("part", 2)
    with pytest.raises(ModelError, match="at most 1 beside the step"):
        m.y = pw.MultivariateNormal(
            m.lag("y")[part, part], precision=pw.identity(part), start=0.0, over=part, plates=step
        )


def test_a_previous_value_in_a_sum_over_a_plate_like_its_own_must_say_which() -> None:
    m = pw.Model("lag without its index")
    step, part = m.plate("step", ordered=True), m.plate("part", 2)
    other = m.plate("other", like=part)
    m.w = pw.Normal(0, sd=1.0, plates=(part, other))
    m.v = pw.Normal(0, sd=1.0, plates=part)
    with pytest.raises(PlateError, match=r"m.lag\('y'\) does not say that it is on plate `other`"):
        m.y = pw.Normal(pw.dot(m.w, m.lag("y"), over=other), sd=1.0, start=0.0, plates=(step, part))
    with pytest.raises(PlateError, match="does not say that it is on plate `other`"):
        pw.dot(m.w, m.v, over=other)
    m.z = pw.Normal(pw.sum(m.w * m.lag("z"), over=other), sd=1.0, start=0.0, plates=(step, part))
    assert "z" in m.variables and "y" not in m.variables
