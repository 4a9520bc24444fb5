"""A slice step keeps its target: many independent elements start in it, move, and are still in it (level 1e-5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from platewright.backends.kernels.slices import slice_step
from platewright.family import Array

COUNT = 20_000
LEVEL = 1e-5


class Mixture:
    """Two peaks with a gap, so that brackets matter."""

    def rvs(self, size: int, random_state: np.random.Generator) -> Array:
        side = np.where(random_state.random(size) < 0.3, -2.0, 2.0)
        return side + 0.7 * random_state.standard_normal(size)

    def cdf(self, x: Array) -> Array:
        return 0.3 * stats.norm.cdf(x, -2, 0.7) + 0.7 * stats.norm.cdf(x, 2, 0.7)

    def logpdf(self, x: Array) -> Array:
        return np.logaddexp(np.log(0.3) + stats.norm.logpdf(x, -2, 0.7), np.log(0.7) + stats.norm.logpdf(x, 2, 0.7))


TARGETS = {
    "normal": stats.norm(1, 2),
    "gamma": stats.gamma(0.7),
    "two peaks": Mixture(),
    "uniform": stats.uniform(0, 1),
    "heavy tails": stats.t(3),
}


def stays(target: object, width: float, move: Callable[..., Array] = slice_step) -> None:
    generator = np.random.default_rng(5)
    value = target.rvs(size=COUNT, random_state=generator)  # type: ignore[attr-defined]
    for _ in range(3):
        value = move(target.logpdf, value, np.full(COUNT, width), generator)  # type: ignore[attr-defined]
    assert stats.kstest(value, target.cdf).pvalue > LEVEL  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [0.3, 1.5, 10.0])
@pytest.mark.parametrize("name", TARGETS)
def test_a_slice_step_keeps_its_target(name: str, width: float) -> None:
    stays(TARGETS[name], width)


def test_a_start_of_density_zero_does_not_leave_the_domain() -> None:
    moved = slice_step(
        lambda x: np.full(x.shape, -np.inf), np.array([0.5, 2.0]), np.array([1.0, 1.0]), np.random.default_rng(0)
    )
    np.testing.assert_array_equal(moved, [0.5, 2.0])
