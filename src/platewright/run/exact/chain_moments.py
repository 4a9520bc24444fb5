"""Second moments of a Gaussian chain that was eliminated in rounds: variances of all steps, and of linear forms.

    root x[t] + before x[t - s] + after x[t + s] = right + noise       s: the round in which step t was eliminated

Last eliminated first: the two neighbours of a step were settled in the rounds after its own, and their covariance with
each other too, so all steps of a round are worked on at once. Nothing grows faster than the number of steps.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.family import Array


def step_covariances(found: Mapping[str, Array]) -> Array:
    """The covariance of the state of each step for noise of variance one: (batch, steps, state, state)."""
    root, before, after = found["root"], found["before"], found["after"]
    *batch, steps, state, _ = root.shape
    total = 1 << steps.bit_length()
    own = np.zeros((*batch, total + 1, state, state))  # step t at t + 1; nothing before the first and after the last
    next_to = np.zeros((*batch, 1, state, state))  # covariance of each step with the next one that is settled
    stride = total // 2
    while stride:
        now = slice(stride - 1, None, 2 * stride)
        inverse = np.linalg.inv(root[..., now, :, :])
        count = inverse.shape[-3]
        lower = own[..., 0 : total : 2 * stride, :, :][..., :count, :, :]
        upper = own[..., 2 * stride :: 2 * stride, :, :][..., :count, :, :]
        between = next_to[..., :count, :, :]
        gains = -inverse @ before[..., now, :, :], -inverse @ after[..., now, :, :]
        with_lower = gains[0] @ lower + gains[1] @ _turned(between)
        with_upper = gains[0] @ between + gains[1] @ upper
        spread = with_lower @ _turned(gains[0]) + with_upper @ _turned(gains[1])
        own[..., stride : steps + 1 : 2 * stride, :, :] = inverse @ _turned(inverse) + spread
        closer = np.zeros((*batch, total // stride, state, state))
        closer[..., 0 : 2 * count : 2, :, :] = _turned(with_lower)
        closer[..., 1 : 2 * count : 2, :, :] = with_upper
        next_to = closer
        stride //= 2
    return own[..., 1 : steps + 1, :, :]


def noise_along(found: Mapping[str, Array], weights: Array) -> Array:
    """The weights `R^-T g` of the noise in a linear form with weights g on the steps; both (..., steps * state)."""
    root, before, after = found["root"], found["before"], found["after"]
    steps, state = root.shape[-3:-1]
    total = 1 << steps.bit_length()
    lead = weights.shape[:-1]
    left = np.zeros((*lead, total + 1, state, 1))
    left[..., 1 : steps + 1, :, :] = weights.reshape(*lead, steps, state, 1)
    result = np.zeros((*lead, steps, state, 1))
    stride = 1
    while stride < total:
        now = slice(stride - 1, None, 2 * stride)
        noise = np.linalg.solve(_turned(root[..., now, :, :]), left[..., stride : steps + 1 : 2 * stride, :, :])
        result[..., now, :, :] = noise
        count = noise.shape[-3]
        left[..., 0 : total : 2 * stride, :, :][..., :count, :, :] -= _turned(before[..., now, :, :]) @ noise
        left[..., 2 * stride :: 2 * stride, :, :][..., :count, :, :] -= _turned(after[..., now, :, :]) @ noise
        stride *= 2
    return result.reshape(*lead, steps * state)


def whole_root(found: Mapping[str, Array]) -> Array:
    """The triangle of all steps as one matrix, its rows and columns in the order of the steps."""
    root, before, after = found["root"], found["before"], found["after"]
    *batch, steps, state, _ = root.shape
    whole = np.zeros((*batch, steps, state, steps, state))
    for t in range(steps):
        stride = (t + 1) & -(t + 1)
        whole[..., t, :, t, :] = root[..., t, :, :]
        if t - stride >= 0:
            whole[..., t, :, t - stride, :] = before[..., t, :, :]
        if t + stride < steps:
            whole[..., t, :, t + stride, :] = after[..., t, :, :]
    return whole.reshape(*batch, steps * state, steps * state)


def _turned(matrices: Array) -> Array:
    return np.swapaxes(matrices, -1, -2)
