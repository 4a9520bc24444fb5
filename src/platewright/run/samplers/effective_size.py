"""How many independent draws Markov chains are worth: Geyer's initial monotone sequence over all chains.

    rho_t = 1 - (within-chain variance - mean autocovariance at lag t) / (variance over all chains)
    size  = chains x draws / (1 + 2 sum_t rho_t)

Chains that have not found each other raise the variance over all chains, and so lower the size (Gelman et al. 2013).
"""

from __future__ import annotations

import numpy as np

from platewright.family import Array


def effective_size(chains: Array) -> float:
    """The effective number of draws of a scalar quantity (chain, draw)."""
    count, draws = chains.shape
    if draws < 4 or np.ptp(chains) == 0:
        return float(count * draws)
    covariance = np.array([_autocovariance(chain) for chain in chains])
    within = float(covariance[:, 0].mean()) * draws / (draws - 1)
    overall = within * (draws - 1) / draws
    if count > 1:
        overall += float(np.var(chains.mean(axis=1), ddof=1))
    if overall <= 0:
        return float(count * draws)
    correlation = 1 - (within - covariance.mean(axis=0)) / overall
    correlation[0] = 1.0
    pairs = correlation[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: negative[0]] if len(negative) else pairs)
    time = max(-1 + 2 * float(pairs.sum()), 1 / np.log10(count * draws))
    return float(count * draws / time)


def split_r_hat(chains: Array) -> float:
    """The largest split R-hat over the elements of a variable (chain, draw, then its axes)  (Gelman et al. 2013)."""
    half = chains.shape[1] // 2
    if half < 2 or chains.size == 0:
        return 1.0
    parts = np.concatenate([chains[:, :half], chains[:, half : 2 * half]]).reshape(2 * len(chains), half, -1)
    with np.errstate(all="ignore"):
        within = parts.var(axis=1, ddof=1).mean(axis=0)
        ratio = np.sqrt((half - 1) / half + parts.mean(axis=1).var(axis=0, ddof=1) / within)
    return float(np.max(np.where(within > 0, ratio, 1.0)))


FEWEST = 20
"""Draws of a chain below which it may stand still by chance."""


def frozen_elements(chains: Array) -> int:
    """Elements of a discrete variable (chain, draw, then its axes) that no chain changes, though the chains differ."""
    if len(chains) < 2 or chains.shape[1] < FEWEST or chains.size == 0:
        return 0
    flat = chains.reshape(*chains.shape[:2], -1)
    still = (flat == flat[:, :1]).all(axis=(0, 1))
    return int(np.sum(still & (flat[0, 0] != flat[:, 0]).any(axis=0)))


def _autocovariance(chain: Array) -> Array:
    """Autocovariances at all lags, by the Fourier transform of the padded chain."""
    draws = len(chain)
    spectrum = np.fft.rfft(chain - chain.mean(), 2 * draws)
    found: Array = np.fft.irfft(spectrum * np.conj(spectrum), 2 * draws)[:draws] / draws
    return found
