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
    return float(effective_sizes(chains[..., None])[0])


def effective_sizes(chains: Array) -> Array:
    """The effective number of draws of each of several quantities (chain, draw, quantity)."""
    count, draws, many = chains.shape
    whole = np.full(many, float(count * draws))
    if draws < 4:
        return whole
    covariance = _autocovariances(chains)
    within = covariance[:, 0].mean(axis=0) * draws / (draws - 1)
    overall = within * (draws - 1) / draws
    if count > 1:
        overall = overall + chains.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(all="ignore"):
        correlation = 1 - (within - covariance.mean(axis=0)) / overall
    correlation[0] = 1.0
    varies = (np.ptp(chains, axis=(0, 1)) > 0) & (overall > 0)
    time = np.array([_time(correlation[:, k]) if varies[k] else 1.0 for k in range(many)])
    return np.where(varies, whole / np.maximum(time, 1 / np.log10(count * draws)), whole)


def _time(correlation: Array) -> float:
    """`1 + 2 sum_t rho_t`, cut where a pair of neighbours is negative, and never rising."""
    last = max((len(correlation) - 1) // 2, 1)
    pairs = correlation[: 2 * last].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    end = int(negative[0]) if len(negative) else last - 1
    return -1 + 2 * float(np.minimum.accumulate(pairs[:end]).sum()) + max(float(correlation[2 * end]), 0.0)


def halves(chains: Array) -> Array:
    """Each chain as two (chain, draw, then axes); of an odd number of draws that in the middle is left out."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def r_hats(parts: Array) -> Array:
    """How far the means of chains are apart, for what their draws vary (chain, draw, then axes)."""
    draws = parts.shape[1]
    with np.errstate(all="ignore"):
        within = parts.var(axis=1, ddof=1).mean(axis=0)
        return np.asarray(np.sqrt((draws - 1) / draws + parts.mean(axis=1).var(axis=0, ddof=1) / within))


FEWEST = 20
"""Draws of a chain below which it may stand still by chance."""


def frozen_elements(chains: Array) -> int:
    """Elements of a discrete variable (chain, draw, then its axes) that no chain changes, though the chains differ."""
    if len(chains) < 2 or chains.shape[1] < FEWEST or chains.size == 0:
        return 0
    flat = chains.reshape(*chains.shape[:2], -1)
    still = (flat == flat[:, :1]).all(axis=(0, 1))
    return int(np.sum(still & (flat[0, 0] != flat[:, 0]).any(axis=0)))


def _autocovariances(chains: Array) -> Array:
    """Autocovariances at all lags (chain, lag, quantity), by the Fourier transform of the padded chains."""
    draws = chains.shape[1]
    spectrum = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), 2 * draws, axis=1)
    found: Array = np.fft.irfft(spectrum * np.conj(spectrum), 2 * draws, axis=1)[:, :draws] / draws
    return found
