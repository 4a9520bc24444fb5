"""Least squares along a chain give what one large problem gives, whatever the number of steps."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.backends.numpy.chained import solved_along, times_along, triangularised_along
from platewright.backends.numpy.least_rows import rotated_rows
from platewright.family import Array
from platewright.run.exact.chain_moments import noise_along, step_covariances, whole_root

SHAPES = [(1, 0, 1, ()), (2, 3, 1, ()), (3, 1, 2, (2,)), (1, 2, 1, (2, 3))]
"""State, outer columns, outputs, batch."""
STEPS = [1, 2, 3, 4, 5, 8, 9, 21]


def rows_of_chain(steps: int, state: int, outer: int, outputs: int, batch: tuple[int, ...]) -> Array:
    generator = np.random.default_rng(steps)
    width = 2 * state + outer + outputs
    rows = generator.normal(size=(*batch, steps, state + 2, width + outputs + 1))
    rows[..., width:-1] = 0.0
    rows[..., -1] = 0.1 + np.abs(rows[..., -1])
    return rows


def at_once(rows: Array, state: int, outer: int, outputs: int) -> Array:
    """The same rows in the columns of all steps; before the first step is the first."""
    plain = rows[..., : -1 - outputs] * rows[..., -1:]
    *batch, steps, count, _ = plain.shape
    design = np.zeros((*batch, steps * count, steps * state + outer + outputs))
    for t in range(steps):
        lines, before = slice(t * count, (t + 1) * count), max(t - 1, 0)
        design[..., lines, t * state : (t + 1) * state] += plain[..., t, :, state : 2 * state]
        design[..., lines, before * state : (before + 1) * state] += plain[..., t, :, :state]
        design[..., lines, steps * state :] = plain[..., t, :, 2 * state :]
    return design


def squares(rows: Array) -> Array:
    return np.swapaxes(rows, -1, -2) @ rows


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("steps", STEPS)
def test_a_chain_is_one_large_problem(steps: int, shape: tuple[int, int, int, tuple[int, ...]]) -> None:
    state, outer, outputs, batch = shape
    rows = rows_of_chain(steps, state, outer, outputs, batch)
    found = triangularised_along(rows, state, outputs)
    whole = rotated_rows(at_once(rows, state, outer, outputs), steps * state, outputs, "all")
    np.testing.assert_allclose(found["log_root"], whole["log_root"], rtol=1e-10)
    np.testing.assert_allclose(squares(found["rest"]), squares(whole["rest"]), rtol=1e-9)
    np.testing.assert_allclose(squares(found["left"]), squares(whole["left"]), rtol=1e-9, atol=1e-9)
    for side in ("right", "cross"):
        expected = np.linalg.solve(whole["root"], whole[side])
        np.testing.assert_allclose(solved_along(found, found[side]), expected, rtol=1e-7, atol=1e-9)
    covariance = np.linalg.inv(squares(whole["root"]))
    places = np.arange(steps * state).reshape(steps, state)
    expected = covariance[..., places[:, :, None], places[:, None, :]]
    np.testing.assert_allclose(step_covariances(found), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("steps", STEPS)
def test_parts_of_a_triangle_are_the_whole_one(steps: int) -> None:
    found = triangularised_along(rows_of_chain(steps, 2, 1, 1, (3,)), 2, 1)
    root = whole_root(found)
    values = np.random.default_rng(1).normal(size=(3, 2 * steps, 1))
    np.testing.assert_allclose(times_along(found, values), root @ values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(solved_along(found, root @ values), values, rtol=1e-6, atol=1e-9)
    expected = np.linalg.solve(np.swapaxes(root, -1, -2), values)[..., 0]
    np.testing.assert_allclose(noise_along(found, values[..., 0]), expected, rtol=1e-6, atol=1e-9)


def test_a_residual_keeps_its_digits_far_from_zero() -> None:
    rows = np.zeros((4, 2, 5))  # a walk seen through noise, from 1.7e12
    far = 1.7e12 + np.array([0.0, 1.0, 0.0, 1.0])
    rows[:, 0, :3] = [-1.0, 1.0, 0.0]
    rows[0, 0, :3] = [0.0, 1.0, far[0]]
    rows[:, 1, 1], rows[:, 1, 2] = 1.0, far
    rows[..., -1] = 1.0
    found = triangularised_along(rows, 1, 1)
    near = rows.copy()
    near[0, 0, 2] -= 1.7e12
    near[:, 1, 2] -= 1.7e12
    expected = triangularised_along(near, 1, 1)
    np.testing.assert_allclose(squares(found["rest"]), squares(expected["rest"]), rtol=1e-9)


@pytest.mark.parametrize("steps", STEPS)
def test_a_chain_that_nothing_ties_down_is_refused(steps: int) -> None:
    rows = np.zeros((steps, 1, 5))
    rows[:, 0, :2] = [-1.0, 1.0]
    rows[..., -1] = 1.0
    with pytest.raises(ArithmeticError, match="1 more independent observations are needed for a level"):
        triangularised_along(rows, 1, 1, "a level")
