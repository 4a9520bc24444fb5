"""A chain of Gaussian blocks has the moments that its whole precision matrix has."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.backends.kernels.gaussian_chain import ChainSystem


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7, 8, 9, 20])
def test_rounds_give_what_the_whole_matrix_gives(steps: int, width: int) -> None:
    generator = np.random.default_rng(steps)
    first = generator.random(steps) < 0.3
    first[0] = True
    pairs = generator.normal(size=(steps, 2 * width, 2 * width))
    pairs = pairs @ np.swapaxes(pairs, -1, -2) + 0.1 * np.eye(2 * width)
    now, earlier, across = pairs[:, :width, :width], pairs[:, width:, width:], pairs[:, width:, :width]
    slopes = generator.normal(size=(2, steps, width))
    system = ChainSystem.eliminated(now, earlier, across, first)

    precision, right = np.zeros((steps, width, steps, width)), np.array(slopes[0])
    for t in range(steps):
        precision[t, :, t] += now[t]
        if not first[t]:
            precision[t - 1, :, t - 1] += earlier[t]
            precision[t - 1, :, t] += across[t]
            precision[t, :, t - 1] += across[t].T
            right[t - 1] += slopes[1, t]
    flat = precision.reshape(steps * width, steps * width)
    covariance = np.linalg.inv(flat)
    np.testing.assert_allclose(system.solved(*slopes).ravel(), covariance @ right.ravel(), rtol=1e-8, atol=1e-10)

    starts = np.flatnonzero(first)
    for begin, end in zip(starts, [*starts[1:], steps], strict=True):
        own = slice(begin * width, end * width)
        expected = 0.5 * np.linalg.slogdet(flat[own, own])[1]
        assert system.log_root[begin:end].sum() == pytest.approx(expected, rel=1e-10, abs=1e-10)

    root = system.pair_root()
    found = root @ np.swapaxes(root, -1, -2)
    blocks = covariance.reshape(steps, width, steps, width)
    for t in range(steps):
        np.testing.assert_allclose(found[t, :width, :width], blocks[t, :, t], rtol=1e-8, atol=1e-12)
        expected = np.zeros((2, width, width)) if first[t] else [blocks[t - 1, :, t], blocks[t - 1, :, t - 1]]
        np.testing.assert_allclose(found[t, width:, :width], expected[0], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(found[t, width:, width:], expected[1], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("width", [1, 2])
def test_a_precision_that_is_not_positive_is_refused(width: int) -> None:
    now = np.broadcast_to(np.eye(width), (5, width, width)).copy()
    now[3] = -now[3]
    nothing = np.zeros_like(now)
    with pytest.raises(np.linalg.LinAlgError):
        ChainSystem.eliminated(now, nothing, nothing, np.arange(5) == 0)
