"""Law of starts: rows are as far apart as if each level had a standardised column of its own."""

from __future__ import annotations

import numpy as np

from platewright.backends.numpy.em_support import soft_start, standardised


def by_columns(wide: np.ndarray, levels: int, generator: np.random.Generator) -> np.ndarray:
    """The same start, with a column for each level and all distances at once."""
    seeds = [int(generator.integers(len(wide)))]
    for _ in range(levels - 1):
        distance = np.min([((wide - wide[seed]) ** 2).sum(axis=1) for seed in seeds], axis=0)
        seeds.append(int(generator.choice(len(wide), p=distance / distance.sum())))
    nearest = np.argmin([((wide - wide[seed]) ** 2).sum(axis=1) for seed in seeds], axis=0)
    return 0.1 / levels + 0.9 * (nearest[:, None] == np.arange(levels))


def test_labels_are_as_far_apart_as_columns_of_zeros_and_ones() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 4, (60, 2)), generator.poisson(3.0, 60)
    x[:, 1] = np.minimum(x[:, 1], 2)  # a level that nobody has
    apart = (x[:, :, None] == np.arange(4)).reshape(60, -1)
    wide = standardised(np.concatenate([apart, y[:, None]], axis=1))
    for seed in range(20):
        found = soft_start([y], [x], (60,), 3, np.random.default_rng(seed))
        np.testing.assert_allclose(found, by_columns(wide, 3, np.random.default_rng(seed)))


def test_rows_that_are_all_alike_have_a_start() -> None:
    found = soft_start([np.ones(5)], [np.zeros(5, dtype=int)], (5,), 3, np.random.default_rng(0))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
