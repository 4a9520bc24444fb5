"""More numbers than lattices go over: importance sampling from a mixture of Student t that is fitted to the density.

    q(u) = sum_k share_k t(u; mean_k, root_k)        one about each mode, then one where the weights p / q are largest
    weights are those of all points under the whole mixture, so no point of an earlier round is lost

(Incremental mixtures: Raftery & Bao 2010.) Densities that elimination leaves are all but normal on coordinates without
ends, so a few rounds do. Student's tails are heavier than those of logs of scales: the weights stay bounded; where the
largest do not, or few points have them all, there is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.algebra.lazy import special
from platewright.backends.kernels.held_density import Density_of, Unsettled
from platewright.family import Array

FREEDOM = 6.0
"""Degrees of freedom of the mixture's parts."""
FIRST = 1000
"""Points of the first parts together."""
ROUND = 500
"""And of each that is added."""
WANTED = 4000
"""So many independent draws the points are worth: then no more are taken."""
GOOD = 0.5
"""The points are worth so many of their number when no part is added."""
POOR = 0.05
"""Points worth so little of their number do not suit the density."""
MOST_POOR = 8000
"""So many are enough to see it."""
MOST_PARTS = 30
HEAVY = 0.7
"""The shape of the tail of the weights beyond which their sums do not settle (Vehtari et al. 2024)."""

Part = tuple[Array, Array]


def fitted(density: Density_of, modes: Sequence[Part], most: int) -> dict[str, Array]:
    """Points, their shares of the posterior, the log of the integral, and the error of both, as of lattices."""
    generator = np.random.default_rng(len(modes[0][0]))
    parts, counts = list(modes), [max(ROUND, FIRST // len(modes))] * len(modes)
    u = np.concatenate([about(part, count, generator) for part, count in zip(parts, counts, strict=True)])
    logs, heights = density(u), np.stack([log_student(u, part) for part in parts])
    while True:
        ratio = logs - mixture(heights, counts)
        worth = worth_of(ratio)
        if worth >= WANTED or len(u) + ROUND > most:
            break
        if len(u) > MOST_POOR and worth < POOR * len(u):
            raise Unsettled(f"{len(u):,} points are worth {worth:.0f} draws")
        if worth < GOOD * len(u) and len(parts) < MOST_PARTS:
            parts.append(added(u, logs, ratio, len(parts) - len(modes)))
            counts.append(0)
            heights = np.concatenate([heights, log_student(u, parts[-1])[None]])
            more = [ROUND if k == len(parts) - 1 else 0 for k in range(len(parts))]
        else:
            missing = min(max(ROUND, int(1.1 * (WANTED - worth) * len(u) / worth)), len(u), most - len(u))
            more = [missing * count // sum(counts) for count in counts]
        fresh = np.concatenate([about(part, count, generator) for part, count in zip(parts, more, strict=True)])
        counts = [count + new for count, new in zip(counts, more, strict=True)]
        u, logs = np.concatenate([u, fresh]), np.concatenate([logs, density(fresh)])
        heights = np.concatenate([heights, np.stack([log_student(fresh, part) for part in parts])], axis=1)
    if (shape := tail_of(ratio)) > HEAVY:
        raise Unsettled(f"weights of points have a tail of shape {shape:.2f}, and their sums do not settle")
    return as_points(u, ratio, worth, parts, heights)


def as_points(u: Array, ratio: Array, worth: float, parts: Sequence[Part], heights: Array) -> dict[str, Array]:
    """What lattices give, of weighed points: each is a cell of its own, of the part that it most likely came from."""
    total = np.logaddexp.reduce(ratio)
    share = np.exp(ratio - total)
    kept = share > 1e-12 * share.max()
    u, share = u[kept], share[kept] / share[kept].sum()
    return {"u": u, "share": share, "log_evidence": np.asarray(total - np.log(len(ratio))),
            "error": np.asarray(1 / np.sqrt(worth)), "step": np.asarray(1.0), "is_line": np.ones(u.shape[1], bool),
            "modes": np.array([mean for mean, _ in parts]), "roots": np.array([root for _, root in parts]),
            "cell_share": share, "cell_mean": u, "cell_variance": np.zeros_like(u),
            "cell_mode": heights.argmax(axis=0)[kept], "freedom": np.asarray(FREEDOM)}  # fmt: skip


def worth_of(ratio: Array) -> float:
    """How many independent draws of the posterior weighed points are worth."""
    weight = np.exp(ratio - ratio.max())
    return float(weight.sum() ** 2 / (weight**2).sum())


def tail_of(ratio: Array) -> float:
    """The shape of the upper tail of the weights, from the largest of them (Hill 1975)."""
    count = int(min(0.2 * len(ratio), 3 * np.sqrt(len(ratio))))
    largest = np.sort(ratio)[-count - 1 :]
    return float((largest[1:] - largest[0]).mean())


def added(u: Array, logs: Array, ratio: Array, number: int) -> Part:
    """A further part: of the weighed points as a whole at first, then of those about the largest weight."""
    weight = np.exp(ratio - ratio.max())
    mean, root = spread(u, weight)
    if number < 2:
        return mean, root
    top = u[int(np.argmax(ratio))]
    away = (np.linalg.solve(root, (u - top).T) ** 2).sum(axis=0)
    near = np.argsort(away)[: max(ROUND, 10 * u.shape[1])]
    return top, spread(u[near], 0.5 * (weight[near] / weight[near].sum() + 1 / len(near)), top)[1]


def spread(u: Array, weight: Array, centre: Array | None = None) -> Part:
    """Weighed mean, and a root of the weighed squares about it or another centre."""
    weight = weight / weight.sum()
    mean = weight @ u if centre is None else centre
    away = u - mean
    square = (away * weight[:, None]).T @ away
    size = np.sqrt(np.maximum(np.diagonal(square), 1e-300))
    values, vectors = np.linalg.eigh(square / np.outer(size, size))
    return mean, size[:, None] * vectors * np.sqrt(np.maximum(values, 1e-4))


def about(part: Part, count: int, generator: np.random.Generator) -> Array:
    """Points of one part."""
    mean, root = part
    shaken = generator.standard_normal((count, len(mean)))
    size = np.sqrt(generator.chisquare(FREEDOM, count) / FREEDOM)
    return np.asarray(mean + (shaken / size[:, None]) @ root.T)


def log_student(u: Array, part: Part) -> Array:
    """The log density of a part."""
    mean, root = part
    count = len(mean)
    away = (np.linalg.solve(root, (u - mean).T) ** 2).sum(axis=0)
    gammas = special.gammaln([(FREEDOM + count) / 2, FREEDOM / 2]) @ [1.0, -1.0]
    level = gammas - 0.5 * count * np.log(FREEDOM * np.pi) - np.linalg.slogdet(root)[1]
    return np.asarray(level - 0.5 * (FREEDOM + count) * np.log1p(away / FREEDOM))


def mixture(heights: Array, counts: Sequence[float]) -> Array:
    """The log density of parts that gave so many points each."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(counts, dtype=float) / np.sum(counts))
    return np.asarray(np.logaddexp.reduce(heights + logs[:, None], axis=0))
