"""Have chains found each other, and what are they worth: rank-normalised split R-hat and bulk effective size.

    z      =  probit((rank - 3/8) / (S + 1/4))                     over the S draws of all half chains
    R-hat  =  larger of the R-hats of z(x) and of z(|x - median|)
    size   =  effective size of z(x)                               (Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021)

Of unknowns with many elements only those are looked at whose means over batches of draws vary most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from platewright.family import Array
from platewright.recognition.exchangeable import Symmetry
from platewright.run.samplers.effective_size import effective_size, halves, r_hats

MOST_R_HAT = 1.01
"""Beyond this, chains have not found each other."""
LEAST_SIZE = 400.0
"""Effective draws below which means and quantiles are rough."""
LOOKED_AT = 4
"""Elements of an unknown that are looked at: those that seem the slowest."""
CELLS = 2_000_000
"""Draws that are weighed at once."""
LEAST_VARIANCE = 0.05
"""A discrete unknown that varies less hardly ever changes: its few changes say nothing of its chains."""


@dataclass(frozen=True)
class Slow:
    """The slowest element of an unknown."""

    name: str
    at: tuple[int, ...]
    r_hat: float
    size: float

    @property
    def burden(self) -> float:
        """How far from what is wanted: above 1 something is amiss."""
        apart = (self.r_hat - 1) / (MOST_R_HAT - 1) if self.r_hat == self.r_hat else 0.0
        return max(apart, LEAST_SIZE / self.size)

    @property
    def is_amiss(self) -> bool:
        """Whether its numbers are not to be relied on yet."""
        return self.r_hat > MOST_R_HAT or self.size < LEAST_SIZE

    def __str__(self) -> str:
        place = f"[{', '.join(map(str, self.at))}]" if self.at else ""
        return f"{self.name}{place} (R-hat {self.r_hat:.3f}, {self.size:.0f} effective draws)"


def converged(chains: Array) -> tuple[Array, Array]:
    """R-hat and effective size of each element of a variable (chain, draw, then its axes); R-hat of a constant: NaN."""
    shape = chains.shape[2:]
    flat = np.asarray(chains, dtype=float).reshape(*chains.shape[:2], -1)
    found = np.array([_of_element(flat[:, :, k]) for k in range(flat.shape[2])]).reshape(-1, 2)
    return found[:, 0].reshape(shape), found[:, 1].reshape(shape)


def slowest(name: str, chains: Array, discrete: bool = False) -> Slow | None:
    """The element with the worst diagnostics, if there is one that varies."""
    flat = chains.reshape(*chains.shape[:2], -1)
    found: list[Slow] = []
    for k in suspects(flat, discrete):
        r_hat, size = _of_element(np.asarray(flat[:, :, k], dtype=float))
        found.append(Slow(name, tuple(int(at) for at in np.unravel_index(k, chains.shape[2:])), r_hat, size))
    return max(found, key=lambda slow: slow.burden, default=None)


def suspects(flat: Array, discrete: bool = False) -> list[int]:
    """The elements (chain, draw, element) whose batch means vary most for what their draws vary."""
    count, draws, elements = flat.shape
    length = max(int(np.sqrt(draws)), 1)
    whole = draws // length * length
    share = np.full(elements, -1.0)
    step = max(1, CELLS // max(count * draws, 1))
    for begin in range(0, elements, step):
        part = np.asarray(flat[:, draws - whole :, begin : begin + step], dtype=float)
        with np.errstate(all="ignore"):
            variance = part.var(axis=(0, 1))
            means = part.reshape(count, whole // length, length, -1).mean(axis=2)
            found = means.var(axis=(0, 1)) / variance
        least = LEAST_VARIANCE if discrete else 0.0
        share[begin : begin + step] = np.where((variance > least) & np.isfinite(found), found, -1.0)
    order = np.argsort(-share, kind="stable")[:LOOKED_AT]
    return [int(k) for k in order if share[k] >= 0]


def without_labels(symmetries: Sequence[Symmetry], chains: Mapping[str, Array]) -> dict[str, Array]:
    """Draws in which labels that could be swapped have no part: elements in order of size; no hidden labels."""
    found = dict(chains)
    for symmetry in symmetries:
        for name in symmetry.levelled:
            found.pop(name, None)
        for name, axes in symmetry.along.items():
            if name not in found:
                continue
            for axis in reversed(axes):
                values = np.moveaxis(found[name], 2 + axis, -1).copy()
                for members in symmetry.classes:
                    values[..., list(members)] = np.sort(values[..., list(members)], axis=-1)
                found[name] = np.moveaxis(values, -1, 2 + axis)
    return found


def _of_element(chains: Array) -> tuple[float, float]:
    """R-hat and effective size of one number (chain, draw)."""
    if chains.shape[1] < 4 or not np.isfinite(chains).all():
        return float("nan"), float(chains.size)
    parts = halves(chains)
    if np.ptp(chains) == 0:
        return float("nan"), float(parts.size)
    bulk = normal_scores(parts)
    folded = normal_scores(np.abs(parts - np.median(parts)))
    r_hat = np.fmax(r_hats(bulk), r_hats(folded))
    return float(r_hat), effective_size(bulk)


def normal_scores(values: Array) -> Array:
    """Normal quantiles of ranks; equal values share the mean of theirs."""
    flat = values.ravel()
    quantiles = _quantiles(flat.size)
    order = np.argsort(flat, kind="stable")
    found = np.empty(flat.size)
    if (np.diff(flat[order]) > 0).all():
        found[order] = quantiles[2::2]
        return found.reshape(values.shape)
    _, where, counts = np.unique(flat, return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - (counts - 1))[where.ravel()]
    return np.asarray(quantiles[ranks]).reshape(values.shape)


@lru_cache(maxsize=8)
def _quantiles(size: int) -> Array:
    """Normal quantiles of whole and half ranks, by twice the rank; the first two are of no rank."""
    found = [NormalDist().inv_cdf((rank / 2 - 0.375) / (size + 0.25)) for rank in range(2, 2 * size + 1)]
    return np.array([np.nan, np.nan, *found])
