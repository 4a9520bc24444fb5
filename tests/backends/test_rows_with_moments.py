"""A few rows with weights have exactly the count, mean and scatter of those that they stand for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from platewright.backends.kernels.few_rows import even_directions, few_rows, gathered, gathered_with
from platewright.family import Array


def moments(rows: Array, weight: Array) -> tuple[Fraction, list[Fraction], Array]:
    """Count and mean as they are, and the centred scatter, all without rounding but for that of the last."""
    exact = [[Fraction(value) for value in row] for row in rows.tolist()]
    heavy = [Fraction(value) for value in weight.tolist()]
    total = sum(heavy, Fraction(0))
    width = rows.shape[1]
    mean = [sum((w * row[j] for w, row in zip(heavy, exact, strict=True)), Fraction(0)) / total for j in range(width)]
    scatter = np.zeros((width, width))
    for i in range(width):
        for j in range(width):
            parts = (w * (row[i] - mean[i]) * (row[j] - mean[j]) for w, row in zip(heavy, exact, strict=True))
            scatter[i, j] = float(sum(parts, Fraction(0)))
    return total, mean, scatter


@pytest.mark.parametrize("shift", [0.0, 3.0, -1e4, 1e9])
@pytest.mark.parametrize("width", [1, 3])
def test_moments_are_those_of_all_rows(width: int, shift: float) -> None:
    generator = np.random.default_rng(width)
    rows = generator.normal(size=(200, width)) @ generator.normal(size=(width, width)) + shift
    kind = generator.integers(0, 2, 200)
    few, (kinds,), weight = few_rows(rows, [kind])
    assert len(few) == 2 * (width + 2)
    for value in (0, 1):
        total, mean, scatter = moments(rows[kind == value], np.ones(np.sum(kind == value)))
        found = moments(few[kinds == value], weight[kinds == value])
        assert float(found[0]) == pytest.approx(float(total), rel=1e-14)
        for one, other in zip(found[1], mean, strict=True):
            assert float(one - other) == pytest.approx(0.0, abs=1e-15 * (1 + abs(shift)))
        np.testing.assert_allclose(found[2], scatter, rtol=1e-12, atol=1e-12 * np.abs(scatter).max())


def test_rows_may_come_in_any_lots() -> None:
    generator = np.random.default_rng(0)
    rows, kind = generator.normal(2, 1, size=(300, 2)), generator.integers(0, 3, 300)
    at_once = gathered(rows, [kind], np.ones(300))
    lots = [slice(0, 7), slice(7, 150), slice(150, 151), slice(151, 300)]
    found = gathered(rows[lots[0]], [kind[lots[0]]], np.ones(7))
    for lot in lots[1:]:
        found = gathered_with(found, (rows[lot], [kind[lot]], np.ones(len(rows[lot]))))
    np.testing.assert_array_equal(found[1][0], at_once[1][0])
    np.testing.assert_allclose(found[0], at_once[0], rtol=1e-10)
    np.testing.assert_allclose(found[2], at_once[2], rtol=1e-10)


def test_columns_that_follow_from_others_or_do_not_vary_do_no_harm() -> None:
    one = np.random.default_rng(0).normal(size=100)
    rows = np.stack([one, 2 * one, np.full(100, 7.0)], axis=1)
    few, _, weight = few_rows(rows, [])
    _, mean, scatter = moments(few, weight)
    assert [float(value) for value in mean] == pytest.approx(rows.mean(axis=0).tolist(), abs=1e-14)
    np.testing.assert_allclose(scatter, 99 * np.cov(rows.T), rtol=1e-12, atol=1e-10)


def test_rows_that_are_too_few_or_too_different_stay_what_they_are() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(40, 2))
    for squared, kept in ((rows[:7], []), (rows, [generator.permutation(40)]), (rows[:0], [])):
        found, held, weight = few_rows(squared, kept)
        np.testing.assert_array_equal(found, squared)
        assert len(held) == len(kept)
        np.testing.assert_array_equal(weight, np.ones(len(squared)))


def test_directions_are_even() -> None:
    found = even_directions(4)
    np.testing.assert_allclose(found.T @ found, np.eye(4), atol=1e-15)
    np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-15)
